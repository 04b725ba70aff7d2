//! Where the next block goes: the SM with the most free slots, lowest number first.

use std::ops::Range;

use super::{Grid, Machine};

/// Most blocks on an SM that the simulation keeps apart.
pub const LANES: usize = 64;

/// Free slots of the SMs for one grid, found by count.
#[derive(Clone, Debug)]
pub struct Free {
    counts: Vec<u8>,
    /// For each count, the SMs that have it.
    sets: Vec<Vec<u64>>,
    most: usize,
}

impl Free {
    /// SMs without free slots.
    pub fn new(sms: usize) -> Self {
        let words = sms.div_ceil(64);
        let mut sets = vec![vec![0; words]; LANES + 1];
        for sm in 0..sms {
            sets[0][sm / 64] |= 1 << (sm % 64);
        }
        Self { counts: vec![0; sms], sets, most: 0 }
    }

    /// Free slots of an SM.
    pub fn of(&self, sm: usize) -> usize {
        self.counts[sm].into()
    }

    /// Sets the free slots of an SM.
    #[inline]
    pub fn set(&mut self, sm: usize, free: usize) {
        let old = self.of(sm);
        if old == free {
            return;
        }
        let bit = 1u64 << (sm % 64);
        self.sets[old][sm / 64] &= !bit;
        self.sets[free][sm / 64] |= bit;
        self.counts[sm] = free as u8;
        self.most = self.most.max(free);
    }

    /// The SM with the most free slots, the lowest number of those; absent where none is free.
    #[inline]
    pub fn best(&mut self) -> Option<usize> {
        while self.most > 0 {
            let found = self.sets[self.most].iter().enumerate().find(|(_, word)| **word != 0);
            if let Some((word, bits)) = found {
                return Some(64 * word + bits.trailing_zeros() as usize);
            }
            self.most -= 1;
        }
        None
    }

    /// The SM with the most free slots of a range.
    pub fn best_of(&self, sms: Range<usize>) -> Option<usize> {
        sms.filter(|sm| self.counts[*sm] > 0).max_by(|a, b| self.counts[*a].cmp(&self.counts[*b]).then(b.cmp(a)))
    }

    /// Free slots of a range of SMs.
    pub fn sum(&self, sms: Range<usize>) -> usize {
        sms.map(|sm| self.of(sm)).sum()
    }
}

/// The SMs of a GPC that a grid may use.
pub fn within(machine: &Machine, grid: &Grid, number: usize) -> Range<usize> {
    let (own, sms, gpcs) = (grid.range(machine), machine.sms as usize, machine.gpc_numbers().len());
    let start = own.start.max(sms * number / gpcs);
    start..own.end.min(sms * (number + 1) / gpcs).max(start)
}
