//! The kernels of a report as its lines give them.

use std::{borrow::Cow, collections::HashMap};

use super::{CompiledKernel, Compiler, CompilerReport, name};
use crate::profile::text::Warnings;

/// Kernels and warnings in the order found.
#[derive(Default)]
pub(super) struct Collector {
    compiler: Option<Compiler>,
    kernels: Vec<CompiledKernel>,
    /// The last kernel of each symbol.
    last: HashMap<String, usize>,
    warnings: Warnings,
}

impl Collector {
    /// Adds a kernel, with its name for people.
    pub fn kernel(&mut self, compiler: Compiler, mut kernel: CompiledKernel) {
        self.compiler.get_or_insert(compiler);
        kernel.name = name::plain(&kernel.symbol);
        self.last.insert(kernel.symbol.clone(), self.kernels.len());
        self.kernels.push(kernel);
    }

    /// The kernel last added of this symbol.
    pub fn last(&mut self, symbol: &str) -> Option<&mut CompiledKernel> {
        self.kernels.get_mut(*self.last.get(symbol)?)
    }

    /// Adds a warning.
    pub fn warn(&mut self, warning: impl FnOnce() -> String) {
        self.warnings.push(warning);
    }

    /// What was found; `None` without a kernel.
    pub fn report(self) -> Option<CompilerReport> {
        let mut seen: HashMap<CompiledKernel, usize> = HashMap::new();
        let mut kernels: Vec<CompiledKernel> = Vec::new();
        for kernel in self.kernels {
            let facts = CompiledKernel { line: 0, times: 0, ..kernel.clone() };
            let place = *seen.entry(facts).or_insert(kernels.len());
            match kernels.get_mut(place) {
                Some(known) => known.times = known.times.saturating_add(1),
                None => kernels.push(CompiledKernel { times: 1, ..kernel }),
            }
        }
        Some(CompilerReport { compiler: self.compiler?, kernels, warnings: self.warnings.finish() })
    }
}

/// A line without the terminal's colour sequences.
pub(super) fn without_colours(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    for (index, part) in line.split('\u{1b}').enumerate() {
        let visible = match part.strip_prefix('[') {
            Some(sequence) if index > 0 => {
                let end = sequence.find(|c: char| !matches!(c, '0'..='9' | ';'));
                end.and_then(|at| sequence.get(at..)).map_or("", |rest| rest.get(1..).unwrap_or(""))
            }
            _ => part,
        };
        plain.push_str(visible);
    }
    Cow::Owned(plain)
}

/// A number before a word: `38 registers` is 38.
pub(super) fn count_before(clause: &str, word: &str) -> Option<u32> {
    clause.trim().strip_suffix(word)?.trim().rsplit(' ').next()?.parse().ok()
}
