//! The line that names a launch.

/// A launch as its line names it.
#[derive(Debug, PartialEq)]
pub(super) struct LaunchLine<'a> {
    /// The kernel with its parameters.
    pub name: &'a str,
    /// `(64, 64, 1)`.
    pub grid: Option<&'a str>,
    /// `(16, 16, 1)`.
    pub block: Option<&'a str>,
    /// Number of the device.
    pub device: Option<&'a str>,
    /// `8.6`.
    pub compute_capability: Option<&'a str>,
    /// Launches that a summary adds up.
    pub invocations: Option<u64>,
}

impl<'a> LaunchLine<'a> {
    /// Reads a line from its end, since names hold commas and parentheses of their own.
    pub fn of(line: &'a str) -> Option<Self> {
        let mut rest = line.trim();
        let (mut context, mut stream) = (false, false);
        let (mut device, mut compute_capability, mut invocations) = (None, None, None);
        while let Some((before, clause)) = rest.rsplit_once(", ") {
            match clause.split_once(' ') {
                Some(("Context", id)) if is_number(id) => context = true,
                Some(("Stream", id)) if is_number(id) => stream = true,
                Some(("Device", id)) if is_number(id) => device = Some(id),
                Some(("CC", version)) if is_version(version) => compute_capability = Some(version),
                Some(("Invocations", count)) if is_number(count) => invocations = count.parse().ok(),
                Some((date, time)) if is_time(date, time) => {}
                _ => break,
            }
            rest = before;
        }
        if !(context && stream || device.is_some() && compute_capability.is_some()) {
            return None;
        }
        let (name, sizes) = match sizes(rest) {
            Some((name, grid, block)) => (name, Some((grid, block))),
            None => (rest, None),
        };
        let name = name.trim();
        (!name.is_empty()).then_some(LaunchLine {
            name,
            grid: sizes.map(|s| s.0),
            block: sizes.map(|s| s.1),
            device,
            compute_capability,
            invocations,
        })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_version(text: &str) -> bool {
    text.split_once('.').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

/// `2020-Mar-20` and `14:53:13`.
fn is_time(date: &str, time: &str) -> bool {
    let digits = |text: &str, mark: char| text.chars().all(|c| c.is_ascii_alphanumeric() || c == mark);
    date.matches('-').count() == 2 && digits(date, '-') && time.matches(':').count() == 2 && digits(time, ':')
}

/// The name, the grid and the block of `name (64, 64, 1)x(16, 16, 1)`.
fn sizes(text: &str) -> Option<(&str, &str, &str)> {
    let middle = text.rfind(")x(")?;
    let (before, block) = text.split_at_checked(middle + 2)?;
    let grid_at = before.rfind('(')?;
    let (name, grid) = before.split_at_checked(grid_at)?;
    let grid = grid.strip_suffix('x')?;
    let triple = |size: &str| {
        let inner = size.strip_prefix('(')?.strip_suffix(')')?;
        (inner.split(", ").filter(|part| is_number(part)).count() == 3).then_some(())
    };
    triple(grid)?;
    triple(block)?;
    Some((name, grid, block))
}

/// The number in `[23414] program@host`, the line above a process's launches.
pub(super) fn process(line: &str) -> Option<u64> {
    let (id, program) = line.strip_prefix('[')?.split_once("] ")?;
    program.contains('@').then(|| id.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_version() {
        let new = LaunchLine::of(
            "  void k<int, (A)1>(float *, (x)2) (64, 5, 1)x(16, 16, 1), Context 1, Stream 7, Device 0, CC 8.6",
        );
        let expected = LaunchLine {
            name: "void k<int, (A)1>(float *, (x)2)",
            grid: Some("(64, 5, 1)"),
            block: Some("(16, 16, 1)"),
            device: Some("0"),
            compute_capability: Some("8.6"),
            invocations: None,
        };
        assert_eq!(new, Some(expected));
        let old = LaunchLine::of("  Kernel, 2020-Mar-20 14:53:13, Context 1, Stream 7").expect("a launch");
        assert_eq!((old.name, old.grid, old.device), ("Kernel", None, None));
        let summary =
            LaunchLine::of("  k(int) (2, 2, 2)x(8, 8, 8), Device 0, CC 8.9, Invocations 4").expect("a launch");
        assert_eq!((summary.invocations, summary.block), (Some(4), Some("(8, 8, 8)")));
        for none in [
            "==PROF== Profiling \"k\" - 0: 0%....50%....100% - 8 passes",
            "Using Device 0, CC 8.6",
            "(1, 2, 3)x(4, 5, 6), Context 1, Stream 7",
            "step 3, Context of it, Stream 7",
            ", Context 1, Stream 7",
            "",
        ] {
            assert_eq!(LaunchLine::of(none), None, "{none}");
        }
        assert_eq!(process("[23414] a program@127.0.0.1"), Some(23414));
        assert_eq!((process("[info] mail@host"), process("[5] no host")), (None, None));
    }
}
