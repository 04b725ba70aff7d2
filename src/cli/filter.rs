//! Which kernels of profiles, traces and compiler reports are shown.

use anyhow::{Result, bail};
use clap::Args;
use regex::Regex;

/// Which kernels of profiles and traces are shown.
#[derive(Args, Clone, Debug, Default)]
pub struct Filter {
    /// Only kernels whose full name this regular expression matches
    #[arg(long, value_name = "REGEX")]
    filter: Option<Regex>,
    /// Only this kernel of the file, counted from 1 (in a trace the group, longest time first)
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    kernel: Option<u64>,
    /// Only so many kernels, the first ones (of a trace those that take longest)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    top: Option<u64>,
}

impl Filter {
    /// What is left of the kernels of one file; an error where nothing is.
    pub fn of<T>(&self, kernels: Vec<T>, name: impl Fn(&T) -> &str) -> Result<Vec<T>> {
        let all = kernels.len();
        let numbered = (1u64..).zip(kernels).filter(|(number, _)| self.kernel.is_none_or(|wanted| wanted == *number));
        let named = numbered.map(|(_, kernel)| kernel);
        let matching = named.filter(|kernel| self.filter.as_ref().is_none_or(|regex| regex.is_match(name(kernel))));
        let most = self.top.and_then(|top| usize::try_from(top).ok()).unwrap_or(usize::MAX);
        let left: Vec<T> = matching.take(most).collect();
        if left.is_empty() && all > 0 {
            bail!("no kernel of the file is left: --filter and --kernel choose among its {all}");
        }
        Ok(left)
    }

    /// Refuses to choose where there are no measured kernels: `what` has none.
    pub fn refuse(&self, what: &str) -> Result<()> {
        let given = [
            self.filter.as_ref().map(|regex| format!("--filter '{regex}'")),
            self.kernel.map(|number| format!("--kernel {number}")),
            self.top.map(|count| format!("--top {count}")),
        ];
        match given.into_iter().flatten().next() {
            Some(option) => bail!("{option} chooses among the kernels of a profile, trace or compiler report: {what}"),
            None => Ok(()),
        }
    }
}
