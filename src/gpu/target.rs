//! What blocks must fit in, for every kind of device: an SM, a compute unit or a CPU core.

use super::{ComputeCapability, CuLimits, SmLimits};

/// The limits of the unit that runs whole blocks, by the kind of device.
#[derive(Clone, Debug, PartialEq)]
pub enum Limits {
    /// An SM of an NVIDIA GPU.
    Sm(SmLimits),
    /// A compute unit of an AMD GPU, or a pair of them.
    Cu(CuLimits),
    /// A core of a CPU: it runs one block, a chunk of the work, at a time.
    Core,
}

impl Limits {
    /// Compute capability, gfx target or "cpu".
    pub fn target(&self) -> String {
        match self {
            Self::Sm(sm) => sm.compute_capability.to_string(),
            Self::Cu(cu) => cu.gfx.clone(),
            Self::Core => "cpu".into(),
        }
    }

    /// The target in a sentence: "compute capability 9.0", "gfx942", "a CPU".
    pub fn named(&self) -> String {
        match self {
            Self::Sm(sm) => format!("compute capability {}", sm.compute_capability),
            Self::Cu(cu) => cu.gfx.clone(),
            Self::Core => "a CPU".into(),
        }
    }

    /// The compute capability of an NVIDIA GPU.
    pub fn capability(&self) -> Option<ComputeCapability> {
        self.sm().map(|sm| sm.compute_capability)
    }

    /// The limits of an NVIDIA GPU.
    pub fn sm(&self) -> Option<&SmLimits> {
        if let Self::Sm(sm) = self { Some(sm) } else { None }
    }

    /// The limits of an AMD GPU.
    pub fn cu(&self) -> Option<&CuLimits> {
        if let Self::Cu(cu) = self { Some(cu) } else { None }
    }

    /// Threads in a warp or wavefront.
    pub fn warp_size(&self) -> u32 {
        match self {
            Self::Sm(sm) => sm.warp_size,
            Self::Cu(cu) => cu.wave_size,
            Self::Core => 1,
        }
    }

    /// Warp or wavefront slots of the unit.
    pub fn max_warps(&self) -> u32 {
        match self {
            Self::Sm(sm) => sm.max_warps_per_sm,
            Self::Cu(cu) => cu.max_waves(),
            Self::Core => 1,
        }
    }

    /// Most threads in one block.
    pub fn max_threads_per_block(&self) -> u32 {
        match self {
            Self::Sm(sm) => sm.max_threads_per_block,
            Self::Cu(cu) => cu.max_threads_per_workgroup,
            Self::Core => u32::MAX,
        }
    }

    /// Most (vector) registers of one thread.
    pub fn max_registers_per_thread(&self) -> u32 {
        match self {
            Self::Sm(sm) => sm.max_registers_per_thread,
            Self::Cu(cu) => cu.addressable_vgprs,
            Self::Core => 0,
        }
    }

    /// Most shared memory of one block in bytes, with or without opting in.
    pub fn max_shared(&self, opt_in: bool) -> u32 {
        match self {
            Self::Sm(sm) if opt_in => sm.max_shared_per_block_optin,
            Self::Sm(sm) => sm.max_shared_per_block,
            Self::Cu(cu) => cu.max_lds_per_workgroup,
            Self::Core => 0,
        }
    }

    /// Shared memory is given to a block in multiples of this, in bytes.
    pub fn shared_unit(&self) -> u32 {
        match self {
            Self::Sm(sm) => sm.shared_allocation_unit,
            Self::Cu(cu) => cu.lds_granule,
            Self::Core => 1,
        }
    }

    /// Shared memory that the driver takes of every block, in bytes.
    pub fn reserved_shared(&self) -> u32 {
        self.sm().map_or(0, |sm| sm.reserved_shared_per_block)
    }

    /// Units of the file's count (SMs, compute units, cores) that one block may use: 2 where AMD pairs them.
    pub fn pairing(&self) -> u32 {
        self.cu().map_or(1, CuLimits::cus_per_unit)
    }

    /// The words of the vendor.
    pub fn words(&self) -> Words {
        match self {
            Self::Sm(_) => Words { unit: "SM", ..CUDA },
            Self::Cu(cu) => Words { unit: if cu.cus_per_unit() == 2 { "WGP" } else { "CU" }, ..AMD },
            Self::Core => Words { unit: CORE, ..CUDA },
        }
    }
}

/// What a vendor calls the parts that occupancy counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// What a block must fit in.
    pub unit: &'static str,
    /// Threads that run in step.
    pub warp: &'static str,
    /// Threads that share on-chip memory.
    pub block: &'static str,
    /// Registers of a thread.
    pub registers: &'static str,
    /// On-chip memory of a block.
    pub shared: &'static str,
}

const CUDA: Words = Words { unit: "SM", warp: "warp", block: "block", registers: "registers", shared: "shared memory" };
const CORE: &str = "core";
const AMD: Words = Words { unit: "CU", warp: "wavefront", block: "workgroup", registers: "VGPRs", shared: "LDS" };

impl Default for Words {
    fn default() -> Self {
        CUDA
    }
}

impl Words {
    /// The words that go with a unit's name: "SM", "CU", "WGP" or "core".
    pub fn of_unit(unit: &str) -> Self {
        match unit {
            "CU" => AMD,
            "WGP" => Self { unit: "WGP", ..AMD },
            CORE => Self { unit: CORE, ..CUDA },
            _ => CUDA,
        }
    }

    /// The plural of `warp`.
    pub fn warps(&self) -> &'static str {
        if self.warp == AMD.warp { "wavefronts" } else { "warps" }
    }

    /// The plural of `block`.
    pub fn blocks(&self) -> &'static str {
        if self.block == AMD.block { "workgroups" } else { "blocks" }
    }

    /// A sentence of the model, which speaks of SMs, warps, blocks, registers and shared memory, in the vendor's
    /// words. Not for text that holds names of the user.
    pub fn say(&self, sentence: &str) -> String {
        if self.unit == CUDA.unit {
            return sentence.to_owned();
        }
        let mut said = sentence.to_owned();
        for (ours, theirs) in [
            ("shared memory", self.shared),
            ("Shared memory", self.shared),
            ("registers", self.registers),
            ("Registers", self.registers),
        ] {
            said = said.replace(ours, theirs);
        }
        let device = if self.unit == CORE { "CPU" } else { "GPU" };
        for (ours, theirs) in [("SM", self.unit), ("warp", self.warp), ("block", self.block), ("GPU", device)] {
            said = replaced(&said, ours, theirs);
        }
        match said.strip_prefix("Blocks").filter(|_| self.block == AMD.block) {
            Some(rest) => format!("Workgroups{rest}"),
            None => said,
        }
    }
}

/// Whole words only, in the singular or with an `s`.
fn replaced(text: &str, word: &str, by: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let end = at + word.len();
        let starts = !rest[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = rest[end..].strip_prefix('s').unwrap_or(&rest[end..]);
        let ends = !after.chars().next().is_some_and(char::is_alphanumeric);
        out += &rest[..at];
        out += if starts && ends { by } else { word };
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_said_in_the_vendors_words() {
        let sentence = "2 blocks of 8 warps leave 3 SMs idle; SMEM is no SM word, blockIdx neither; 1 block of registers and shared memory";
        assert_eq!(
            AMD.say(sentence),
            "2 workgroups of 8 wavefronts leave 3 CUs idle; SMEM is no CU word, blockIdx neither; 1 workgroup of VGPRs and LDS"
        );
        assert_eq!(CUDA.say(sentence), sentence);
        assert_eq!(AMD.say("Registers per thread"), "VGPRs per thread");
        assert_eq!(Words::of_unit("WGP").say("Blocks in the grid, 2 SMs"), "Workgroups in the grid, 2 WGPs");
        assert_eq!(Words::of_unit("core").say("a GPU of SMs"), "a CPU of cores");
    }
}
