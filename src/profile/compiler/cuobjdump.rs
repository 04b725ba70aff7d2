//! `cuobjdump --dump-resource-usage`: sections per architecture, in each `Function NAME:` and below it `REG:10 STACK:0 ...`.
//!
//! A kernel compiled for several architectures stands under each. PTX, which the driver compiles, has no resources. A file
//! of one architecture (a cubin) does not name it.

use super::{CompiledKernel, Compiler, Target, report::Collector};
use crate::profile::error::shorten;

/// A section while its lines go by.
#[derive(Default)]
pub(super) struct Reader {
    target: Option<Target>,
    ptx: bool,
    ptx_alone: Vec<Target>,
    compiled: Vec<Target>,
    function: Option<(String, usize)>,
}

/// Whether a line is this tool's.
pub(super) fn is_line(line: &str) -> bool {
    line.trim() == "Resource usage:"
}

impl Reader {
    /// Takes a line.
    pub fn line(&mut self, number: usize, line: &str, found: &mut Collector) {
        let line = line.trim();
        if let Some(kind) = line.strip_prefix("Fatbin ") {
            (self.ptx, self.target) = (kind.starts_with("ptx"), None);
        } else if let Some(target) = line.strip_prefix("arch = ") {
            self.target = Target::of(target.trim()).filter(|target| matches!(target, Target::Sm(_)));
            let list = if self.ptx { &mut self.ptx_alone } else { &mut self.compiled };
            if let Some(target) = self.target.clone().filter(|target| !list.contains(target)) {
                list.push(target);
            }
        } else if let Some(name) = line.strip_prefix("Function ").and_then(|rest| rest.strip_suffix(':')) {
            self.close(found);
            self.function = Some((name.trim().to_string(), number));
        } else if line.starts_with("REG:")
            && let Some((symbol, first)) = self.function.take()
        {
            let of = |key: &str| {
                let value = line.split(' ').find_map(|part| part.strip_prefix(key)?.strip_prefix(':'))?;
                value.parse::<u32>().ok()
            };
            match of("REG") {
                Some(registers) => found.kernel(
                    Compiler::Cuobjdump,
                    CompiledKernel {
                        symbol,
                        target: self.target.clone(),
                        registers,
                        static_shared: of("SHARED"),
                        stack: of("STACK"),
                        barriers: of("BARRIER"),
                        line: first,
                        ..CompiledKernel::default()
                    },
                ),
                None => self.without(found, &symbol, first),
            }
        }
    }

    fn without(&self, found: &mut Collector, symbol: &str, line: usize) {
        found.warn(|| format!("line {line}: {} is left out: no line `REG:...` follows", shorten(symbol, 60)));
    }

    fn close(&mut self, found: &mut Collector) {
        if let Some((symbol, line)) = self.function.take() {
            self.without(found, &symbol, line);
        }
    }

    /// The end of the file.
    pub fn finish(mut self, found: &mut Collector) {
        self.close(found);
        let alone: Vec<String> =
            self.ptx_alone.iter().filter(|target| !self.compiled.contains(target)).map(ToString::to_string).collect();
        if !alone.is_empty() {
            found.warn(|| {
                format!("for {} the file has PTX alone, whose registers the driver decides", alone.join(", "))
            });
        }
    }
}
