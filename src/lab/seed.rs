//! Numbers drawn by a name: the same on every machine and in every version.

/// FNV-1a, 64 bits (Fowler, Noll, Vo): spreads a text over all numbers.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// SplitMix64 (Steele, Lea, Flood 2014): a stream of numbers from one.
pub(super) struct Stream(u64);

impl Stream {
    /// The stream of a student in a lab. Case and space around a name do not matter.
    pub(super) fn new(seed: &str, lab: &str) -> Self {
        Self(hash(&format!("{}\n{lab}", seed.trim().to_lowercase())))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A place in a list of `count`, at least 1.
    pub(super) fn place(&mut self, count: usize) -> usize {
        // Lists are short: the remainder favours no place that anyone could notice.
        (self.next() % count.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_names() {
        // The published test value of FNV-1a, and the first number of SplitMix64 from 0.
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(Stream(0).next(), 0xe220_a839_7b1d_cdaf);
        let first = |seed: &str, lab: &str| Stream::new(seed, lab).next();
        assert_eq!(first("Ada", "ridge"), first(" ada ", "ridge"));
        assert!(first("ada", "ridge") != first("ada", "waves") && first("ada", "ridge") != first("bob", "ridge"));
    }
}
