//! `ptxas -v`, `nvcc --resource-usage`, and `nvlink`.
//!
//! A kernel has a line `Compiling entry function 'NAME' for 'sm_80'`, with newer tools `Function properties for NAME` and
//! its stack and spills, then `Used N registers, ...`. Functions that it calls have properties and no `Used` of their own:
//! their registers are in the kernel's. `nvlink` says `Function properties for 'NAME':` and `used N registers, ...`, with
//! `(target: sm_52)` where several are linked; what it says of a kernel counts, since it knows what was linked.

use super::{
    CompiledKernel, Compiler, Target,
    report::{Collector, count_before},
};
use crate::profile::error::shorten;

/// A kernel while its lines go by.
#[derive(Default)]
pub(super) struct Reader {
    /// Named and not yet used.
    open: Option<CompiledKernel>,
    /// The function whose properties come next; `None` where it is the open kernel.
    callee: Option<String>,
    /// The kernel that the linker speaks of.
    linked: Option<(String, Option<Target>, usize)>,
    /// Functions that spill, the first one's name.
    spilling: usize,
    first_spilling: String,
}

/// Whether a line is one of these tools'.
pub(super) fn is_line(line: &str) -> bool {
    line.contains("ptxas info") || line.contains("nvlink info")
}

impl Reader {
    /// Takes a line; whether it was one of these tools'.
    pub fn line(&mut self, number: usize, line: &str, found: &mut Collector) -> bool {
        if line.contains("bytes stack frame") {
            self.frame(line);
            return true;
        }
        if let Some(at) =
            line.find("ptxas warning").or_else(|| line.find("ptxas error")).or_else(|| line.find("ptxas fatal"))
        {
            let said = line.get(at..).unwrap_or_default();
            found.warn(|| format!("line {number}: {}", shorten(said.trim_end(), 200)));
            return true;
        }
        if !is_line(line) {
            return false;
        }
        let Some((_, said)) = line.split_once(" : ") else { return true };
        let said = said.trim();
        if line.contains("nvlink info") {
            self.link(number, said, found);
        } else if let Some(rest) = said.strip_prefix("Compiling entry function ") {
            self.close(found);
            let mut quoted = rest.split('\'').skip(1).step_by(2);
            match (quoted.next(), quoted.next()) {
                (Some(symbol), target) if rest.matches('\'').count() >= 2 && !symbol.is_empty() => {
                    let target = target.and_then(Target::of);
                    let symbol = symbol.to_string();
                    self.open = Some(CompiledKernel { symbol, target, line: number, ..CompiledKernel::default() });
                }
                _ => found.warn(|| format!("line {number}: a kernel without its name is left out")),
            }
            self.callee = None;
        } else if let Some(name) = said.strip_prefix("Function properties for ") {
            let name = name.trim_end_matches(':').trim_matches('\'');
            let own = self.open.as_ref().is_some_and(|open| open.symbol == name);
            self.callee = (!own).then(|| name.to_string());
        } else if let Some(used) = said.strip_prefix("Used ")
            && let Some(mut kernel) = self.open.take()
        {
            match resources(used, &mut kernel) {
                true => found.kernel(Compiler::Ptxas, kernel),
                false => {
                    let name = shorten(&kernel.symbol, 60);
                    found.warn(|| format!("line {number}: {name} is left out: the line has no number of registers"));
                }
            }
        }
        true
    }

    /// Stack and spills of the function that was named last.
    fn frame(&mut self, line: &str) {
        // Between `ptxas` and the figures newer libraries print a dot, older tools nothing.
        let figures = line.trim().strip_prefix("ptxas").map_or(line, |rest| rest.trim_start_matches([' ', '.', ':']));
        let clauses = || figures.split(',');
        let of = |word: &str| clauses().find_map(|clause| count_before(clause, word));
        let (stack, stores, loads) = (of("bytes stack frame"), of("bytes spill stores"), of("bytes spill loads"));
        if let Some(callee) = self.callee.take() {
            if stores.unwrap_or(0) > 0 || loads.unwrap_or(0) > 0 {
                if self.spilling == 0 {
                    self.first_spilling = callee;
                }
                self.spilling += 1;
            }
        } else if let Some(open) = &mut self.open {
            (open.stack, open.spill_stores, open.spill_loads) = (stack, stores, loads);
        }
    }

    fn link(&mut self, number: usize, said: &str, found: &mut Collector) {
        let (said, target) = match said.rsplit_once(" (target: ") {
            Some((said, target)) => (said, Target::of(target.trim_end_matches(')'))),
            None => (said, None),
        };
        if let Some(name) = said.strip_prefix("Function properties for ") {
            let name = name.trim_end_matches(':').trim_matches('\'');
            self.linked = (!name.is_empty()).then(|| (name.to_string(), target, number));
        } else if let Some(used) = said.strip_prefix("used ")
            && let Some((symbol, target, line)) = self.linked.take()
        {
            let mut linked = CompiledKernel { symbol, target, line, ..CompiledKernel::default() };
            if !resources(used, &mut linked) {
                return;
            }
            let compiled = found.last(&linked.symbol).filter(|k| linked.target.is_none() || k.target == linked.target);
            match compiled {
                Some(known) => {
                    known.registers = linked.registers;
                    known.static_shared = linked.static_shared;
                    known.stack = linked.stack.or(known.stack);
                }
                None => found.kernel(Compiler::Ptxas, linked),
            }
        }
    }

    /// A kernel that was named but whose registers never came.
    fn close(&mut self, found: &mut Collector) {
        if let Some(open) = self.open.take() {
            let name = shorten(&open.symbol, 60);
            found.warn(|| format!("line {}: {name} is left out: no line `Used ... registers` follows", open.line));
        }
    }

    /// The end of the file.
    pub fn finish(mut self, found: &mut Collector) {
        self.close(found);
        if self.spilling > 0 {
            let (count, name) = (self.spilling, shorten(&self.first_spilling, 60));
            found.warn(|| {
                format!("functions that kernels call spill registers, first {name} ({count} in the report); the spills listed are the kernels' own")
            });
        }
    }
}

/// The clauses of `Used 40 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]`; whether registers are among
/// them. Shared memory that is not named is none.
fn resources(used: &str, kernel: &mut CompiledKernel) -> bool {
    let mut registers = None;
    kernel.static_shared = Some(0);
    for clause in used.split(',') {
        if let Some(count) = count_before(clause, "registers") {
            registers = Some(count);
        } else if let Some(count) = count_before(clause, "barriers") {
            kernel.barriers = Some(count);
        } else if let Some(size) = clause.trim().strip_suffix("bytes smem") {
            // The first compilers name the program's part and the system's: 44+40.
            kernel.static_shared =
                size.trim().split('+').try_fold(0_u32, |sum, part| sum.checked_add(part.parse().ok()?));
        } else if let Some(size) =
            count_before(clause, "bytes cumulative stack size").or_else(|| count_before(clause, "stack"))
        {
            kernel.stack = Some(size);
        }
    }
    kernel.registers = registers.unwrap_or(0);
    registers.is_some()
}
