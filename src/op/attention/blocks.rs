//! The blocks of a prefill: which keys each of them visits, summed in closed form.

/// Granule of keys in a block that visits one tile alone.
const SHORT_TILE: u64 = 16;

/// Blocks of rows over the queries of one head, or of the query heads that share a KV head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Queries of a sequence.
    pub seq_q: u64,
    /// Keys of a sequence.
    pub seq_kv: u64,
    /// Heads that are packed into the rows; 1 without packing.
    pub packed: u64,
    /// Rows of a tile.
    pub rows: u64,
    /// Keys of a tile.
    pub columns: u64,
    /// Rows that are computed at a time: those of a last, partial tile are rounded up to it.
    pub granule: u64,
    /// Whether a query sees no later key.
    pub causal: bool,
    /// Keys that a query sees.
    pub window: Option<u64>,
}

/// What the blocks do together, and the longest of them; in whole tiles of `rows` by `columns`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sums {
    /// Blocks.
    pub blocks: u64,
    /// Sum of the share of its rows that each block computes.
    pub rows: f64,
    /// Sum of tiles, each weighted with the share of its rows.
    pub tiles: f64,
    /// The most of them in one block.
    pub longest: f64,
    /// Tiles of keys in the block that visits most.
    pub most_columns: f64,
}

/// Sum of floor((a i + b) / m) for i in 0..n. At most 2^53 terms of at most 2^63 each.
fn floor_sum(n: u64, m: u64, a: u64, b: u64) -> f64 {
    let (mut n, mut m, mut a, mut b) = (u128::from(n), u128::from(m), u128::from(a), u128::from(b));
    let mut sum: u128 = 0;
    loop {
        if a >= m {
            sum += n * n.saturating_sub(1) / 2 * (a / m);
            a %= m;
        }
        if b >= m {
            sum += n * (b / m);
            b %= m;
        }
        let last = a * n + b;
        if last < m {
            return sum as f64;
        }
        (n, b) = (last / m, last % m);
        (m, a) = (a, m);
    }
}

impl Grid {
    /// Blocks.
    pub fn blocks(&self) -> u64 {
        (self.seq_q * self.packed).div_ceil(self.rows)
    }

    fn before(&self) -> u64 {
        if self.causal { self.seq_kv - self.seq_q } else { 0 }
    }

    /// First and last key (exclusive) that a block visits; the first one begins a tile.
    fn keys(&self, block: u64) -> (u64, u64) {
        if !self.causal {
            return (0, self.seq_kv);
        }
        let before = self.before();
        let end = self.seq_kv.min(((block + 1) * self.rows).div_ceil(self.packed) + before);
        let first = block * self.rows / self.packed + before;
        let start = self.window.map_or(0, |w| (first + 1).saturating_sub(w) / self.columns * self.columns);
        (start, end)
    }

    /// Tiles of keys that a block visits, a single one in parts of 16 keys.
    fn columns_of(&self, block: u64) -> f64 {
        let (start, end) = self.keys(block);
        let tiles = (end - start).div_ceil(self.columns);
        if tiles > 1 { tiles as f64 } else { self.short(end - start) }
    }

    fn short(&self, keys: u64) -> f64 {
        keys.next_multiple_of(SHORT_TILE) as f64 / self.columns as f64
    }

    /// Share of its rows that a block computes.
    fn rows_of(&self, block: u64) -> f64 {
        let rows = (self.seq_q * self.packed - block * self.rows).min(self.rows);
        rows.next_multiple_of(self.granule).min(self.rows) as f64 / self.rows as f64
    }

    /// Share of its rows that a block computes, and the tiles of keys that it visits.
    pub fn work_of(&self, block: u64) -> (f64, f64) {
        (self.rows_of(block), self.columns_of(block))
    }

    /// Block by block: what [`Self::sums`] gives at once.
    pub fn counted(&self) -> Sums {
        let mut sums = Sums { blocks: self.blocks(), rows: 0.0, tiles: 0.0, longest: 0.0, most_columns: 0.0 };
        for block in 0..sums.blocks {
            let (rows, columns) = self.work_of(block);
            sums.rows += rows;
            sums.tiles += rows * columns;
            sums.longest = sums.longest.max(rows * columns);
            sums.most_columns = sums.most_columns.max(columns);
        }
        sums
    }

    /// The sums in closed form. All blocks but the last have full rows; those before the window begins to slide make two
    /// arithmetic series, those after repeat with a short period.
    pub fn sums(&self) -> Sums {
        let blocks = self.blocks();
        let full = blocks - 1;
        let (last_rows, last_columns) = (self.rows_of(full), self.columns_of(full));
        let mut sums = Sums {
            blocks,
            rows: full as f64 + last_rows,
            tiles: last_rows * last_columns,
            longest: last_rows * last_columns,
            most_columns: last_columns,
        };
        if full == 0 {
            return sums;
        }
        if !self.causal {
            sums.tiles += full as f64 * last_columns;
            sums.longest = last_columns;
            return sums;
        }
        let before = self.before();
        // Blocks that still see the first tile: their first query is no further than a window and a tile.
        let growing = match self.window {
            None => full,
            Some(window) => {
                let end = (window + self.columns - 1).saturating_sub(before);
                (end * self.packed).div_ceil(self.rows).min(full)
            }
        };
        // Of them, those that end in the first tile.
        let short = (self.columns.saturating_sub(before) * self.packed / self.rows).min(growing);
        let wide = self.packed * self.columns;
        let ends = |from: u64, count: u64, unit: u64| {
            let modulus = self.packed * unit;
            floor_sum(count, modulus, self.rows, (from + 1) * self.rows + before * self.packed + modulus - 1)
        };
        sums.tiles += ends(0, short, SHORT_TILE) * SHORT_TILE as f64 / self.columns as f64;
        sums.tiles += ends(short, growing - short, self.columns);
        let mut most: f64 = if growing > 0 { self.columns_of(growing - 1) } else { 0.0 };
        let sliding = full - growing;
        if sliding > 0 {
            let period = wide / gcd(self.rows, wide);
            let (rounds, rest) = (sliding / period, sliding % period);
            for i in 0..period.min(sliding) {
                let columns = self.columns_of(growing + i);
                most = most.max(columns);
                sums.tiles += columns * (rounds + u64::from(i < rest)) as f64;
            }
        }
        sums.longest = sums.longest.max(most);
        sums.most_columns = sums.most_columns.max(most);
        sums
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_sums_by_hand() {
        // floor(i / 3) for 0..7: 0 0 0 1 1 1 2.
        assert_eq!(floor_sum(7, 3, 1, 0), 5.0);
        // floor((5 i + 4) / 3) for 0..4: 1 3 4 6.
        assert_eq!(floor_sum(4, 3, 5, 4), 14.0);
        assert_eq!(floor_sum(0, 3, 5, 4), 0.0);
    }

    #[test]
    fn a_causal_triangle_by_hand() {
        // 300 queries in tiles of 128 by 128: blocks see 128, 256 and 300 keys; the last computes 44 rows, in 64.
        let grid = Grid {
            seq_q: 300,
            seq_kv: 300,
            packed: 1,
            rows: 128,
            columns: 128,
            granule: 64,
            causal: true,
            window: None,
        };
        let expected = Sums { blocks: 3, rows: 2.5, tiles: 1.0 + 2.0 + 1.5, longest: 2.0, most_columns: 3.0 };
        assert_eq!(grid.sums(), expected);
        assert_eq!(grid.counted(), expected);
    }
}
