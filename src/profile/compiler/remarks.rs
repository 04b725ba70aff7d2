//! Remarks of `clang -Rpass-analysis=kernel-resource-usage` for AMD: one line per figure, the kernel's name first.
//!
//! A line reads `remark: FILE:LINE:COLUMN: VGPRs: 90 [-Rpass...]` or `FILE:LINE:COLUMN: remark: VGPRs: 90 [-Rpass...]`.
//! The target is not among them: it is taken from the compiler's command above, where that names one alone.

use super::{CompiledKernel, Compiler, Target, report::Collector};
use crate::profile::error::shorten;

/// What ends every line.
const TAG: &str = "[-Rpass-analysis=kernel-resource-usage]";

/// So many targets of a command are told apart.
const MOST_TARGETS: usize = 64;

/// A kernel while its lines go by.
#[derive(Default)]
pub(super) struct Reader {
    open: Option<CompiledKernel>,
    registers: Option<u32>,
    targets: Vec<Target>,
    ambiguous: bool,
    unknown: usize,
}

/// Whether a line is such a remark.
pub(super) fn is_line(line: &str) -> bool {
    line.contains(TAG)
}

impl Reader {
    /// Takes a line; whether it was a remark.
    pub fn line(&mut self, number: usize, line: &str, found: &mut Collector) -> bool {
        let Some((said, _)) = line.split_once(TAG) else {
            self.command(line);
            return false;
        };
        let said = said.trim_end();
        let name = ["Function Name: ", "Kernel Name: "].iter().find_map(|key| Some(said.split_once(key)?.1));
        if let Some(name) = name {
            self.close(found);
            let target = if let [one] = &self.targets[..] { Some(one.clone()) } else { None };
            self.ambiguous |= self.targets.len() > 1;
            self.unknown += usize::from(target.is_none());
            self.open = Some(CompiledKernel {
                symbol: name.trim().to_string(),
                target,
                line: number,
                ..CompiledKernel::default()
            });
        } else if let (Some(open), Some((left, value))) = (&mut self.open, said.rsplit_once(": ")) {
            let value = value.trim().parse::<u32>().ok();
            match left.rsplit(": ").next().unwrap_or_default().trim() {
                "VGPRs" => self.registers = value,
                "AGPRs" => open.accumulation_registers = value,
                "SGPRs" | "TotalSGPRs" => open.scalar_registers = value,
                "ScratchSize [bytes/lane]" => open.stack = value,
                "Occupancy [waves/SIMD]" => open.stated_occupancy = value,
                "SGPRs Spill" => open.spilled_scalars = value,
                "VGPRs Spill" => open.spilled_vectors = value,
                "LDS Size [bytes/block]" => open.static_shared = value,
                _ => {}
            }
        }
        true
    }

    /// The targets that a command names, such as `--offload-arch=gfx942`.
    fn command(&mut self, line: &str) {
        let mut targets: Vec<Target> = Vec::new();
        for word in line.split_whitespace() {
            for option in ["--offload-arch=", "--amdgpu-target=", "-mcpu="] {
                for target in word.strip_prefix(option).into_iter().flat_map(|list| list.split(',')) {
                    let new = Target::of(target).filter(|t| targets.len() < MOST_TARGETS && !targets.contains(t));
                    targets.extend(new);
                }
            }
        }
        if !targets.is_empty() {
            self.targets = targets;
        }
    }

    fn close(&mut self, found: &mut Collector) {
        let registers = self.registers.take();
        match (self.open.take(), registers) {
            (Some(open), Some(registers)) => found.kernel(Compiler::AmdRemarks, CompiledKernel { registers, ..open }),
            (Some(open), None) => {
                let name = shorten(&open.symbol, 60);
                found.warn(|| format!("line {}: {name} is left out: no remark says its VGPRs", open.line));
            }
            (None, _) => {}
        }
    }

    /// The end of the file.
    pub fn finish(mut self, found: &mut Collector) {
        self.close(found);
        if self.unknown > 0 {
            let (count, ambiguous) = (self.unknown, self.ambiguous);
            found.warn(|| {
                let why = if ambiguous {
                    "the compiler's command names several"
                } else {
                    "no command with --offload-arch stands above"
                };
                format!("the target of {count} kernels is not known: {why}")
            });
        }
    }
}
