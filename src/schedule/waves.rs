//! Waves and tail in closed form, for equal blocks.

/// Below this many blocks NVIDIA's performance guide asks to look at the tail.
pub const FEW_BLOCKS: u64 = 300;

/// Waves of a grid on a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Blocks of the grid.
    pub blocks: u64,
    /// SMs that take blocks.
    pub sms: u64,
    /// Resident blocks per SM; at least 1.
    pub blocks_per_sm: u64,
}

/// The schedule of `blocks` equal blocks on `sms` SMs that hold `blocks_per_sm` each; counts of 0 are taken as 1.
pub fn schedule(blocks: u64, sms: u32, blocks_per_sm: u32) -> Schedule {
    Schedule { blocks: blocks.max(1), sms: u64::from(sms.max(1)), blocks_per_sm: u64::from(blocks_per_sm.max(1)) }
}

impl Schedule {
    /// Blocks that run at once when all slots are filled.
    pub fn wave_blocks(&self) -> u64 {
        self.sms * self.blocks_per_sm
    }

    /// Waves, unrounded: blocks / (SMs x blocks per SM).
    pub fn waves(&self) -> f64 {
        self.blocks as f64 / self.wave_blocks() as f64
    }

    /// Waves that fill every slot.
    pub fn full_waves(&self) -> u64 {
        self.blocks / self.wave_blocks()
    }

    /// Waves begun, the last one perhaps in part.
    pub fn whole_waves(&self) -> u64 {
        self.blocks.div_ceil(self.wave_blocks())
    }

    /// Blocks of the last, partial wave; 0 when the last wave is full.
    pub fn tail_blocks(&self) -> u64 {
        self.blocks % self.wave_blocks()
    }

    /// Filled share of the tail wave's slots; 1 when there is no partial wave.
    pub fn tail_fill(&self) -> f64 {
        match self.tail_blocks() {
            0 => 1.0,
            tail => tail as f64 / self.wave_blocks() as f64,
        }
    }

    /// Filled share of all slots of all waves, 0 to 1: blocks / (whole waves x blocks per wave).
    pub fn utilization(&self) -> f64 {
        self.blocks as f64 / (self.whole_waves() as f64 * self.wave_blocks() as f64)
    }

    /// SMs without any block in the last wave.
    pub fn idle_sms_in_tail(&self) -> u64 {
        match self.tail_blocks() {
            0 => 0,
            tail => self.sms.saturating_sub(tail),
        }
    }

    /// SMs that get at least one block.
    pub fn busy_sms(&self) -> u64 {
        self.sms.min(self.blocks)
    }

    /// Blocks that the busiest SM executes in all, when blocks go round to the least loaded SM.
    pub fn blocks_of_busiest_sm(&self) -> u64 {
        self.blocks.div_ceil(self.sms)
    }

    /// Whether the grid is so small that its tail, if it has one, should be looked at.
    pub fn is_small(&self) -> bool {
        self.blocks < FEW_BLOCKS
    }

    /// The largest grid of the same number of waves.
    pub fn filled(&self) -> u64 {
        self.whole_waves() * self.wave_blocks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guide_figure_of_twelve_blocks_on_eight_sms() {
        let s = schedule(12, 8, 1);
        assert_eq!((s.whole_waves(), s.full_waves(), s.tail_blocks(), s.idle_sms_in_tail()), (2, 1, 4, 4));
        assert_eq!((s.tail_fill(), s.utilization()), (0.5, 0.75));
    }

    #[test]
    fn the_block_after_a_full_wave() {
        let s = schedule(109, 108, 1);
        assert_eq!((s.whole_waves(), s.tail_blocks(), s.idle_sms_in_tail(), s.blocks_of_busiest_sm()), (2, 1, 107, 2));
        assert!((s.utilization() - 109.0 / 216.0).abs() < 1e-15);
        assert_eq!(schedule(108, 108, 1).tail_fill(), 1.0);
        assert_eq!(schedule(32, 82, 1).idle_sms_in_tail(), 50);
    }
}
