//! Two profiles or traces of one program, before and after a change: which launch belongs to which, and where they ran.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

use super::{KernelGroup, ObservedDevice, ObservedKernel, Profile, Trace, plain_name};
use crate::units::Seconds;

/// What a file holds of a kernel: one launch of a profile, or equal launches of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// What is known of the launch, or what the launches have in common.
    pub kernel: &'a ObservedKernel,
    /// Number of the device.
    pub device: Option<u32>,
    /// Launches.
    pub launches: u64,
    /// Launches without a duration.
    pub untimed: u64,
    /// Time of those with a duration, added up; absent where none has one.
    pub total: Option<Seconds>,
}

impl Profile {
    /// The launches, to be paired with those of another profile.
    pub fn seen(&self) -> Vec<Seen<'_>> {
        let seen = |kernel| {
            let ObservedKernel { duration, device, .. }: &ObservedKernel = kernel;
            let untimed = u64::from(duration.is_none());
            Seen { kernel, device: device.index, launches: 1, untimed, total: *duration }
        };
        self.kernels.iter().map(seen).collect()
    }
}

impl Trace {
    /// The groups of launches, to be paired with those of another trace.
    pub fn seen(&self) -> Vec<Seen<'_>> {
        let seen = |group| {
            let KernelGroup { kernel, device, launches, timed, total, .. }: &KernelGroup = group;
            let total = (*timed > 0).then_some(*total);
            Seen { kernel, device: Some(*device), launches: *launches, untimed: launches.saturating_sub(*timed), total }
        };
        self.groups.iter().map(seen).collect()
    }
}

/// A kernel of one file with its partner in the other; at least one of the two is there.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// In the first file.
    pub before: Option<Seen<'a>>,
    /// In the second file.
    pub after: Option<Seen<'a>>,
    /// Whether the names differ, so that the pairing rests on their equal plain names.
    pub renamed: bool,
}

/// What two partners must have in common besides their names.
#[derive(Clone, Copy)]
struct Step {
    /// The plain name is enough, of names that stand in one file alone.
    plain: bool,
    device: bool,
    /// Grid and block in x, y, z.
    shape: bool,
    threads: bool,
    blocks: bool,
}

const NAME: Step = Step { plain: false, device: false, shape: false, threads: false, blocks: false };

/// From what tells launches apart best to their plain names.
const STEPS: [Step; 7] = [
    Step { device: true, shape: true, threads: true, blocks: true, ..NAME },
    Step { shape: true, threads: true, blocks: true, ..NAME },
    Step { threads: true, blocks: true, ..NAME },
    Step { blocks: true, ..NAME },
    NAME,
    Step { plain: true, blocks: true, ..NAME },
    Step { plain: true, ..NAME },
];

/// Equal for possible partners.
type Key<'a> = (Cow<'a, str>, Option<u32>, [Option<[u64; 3]>; 2], [Option<u64>; 2]);

impl Step {
    fn key<'a>(self, seen: &Seen<'a>) -> Key<'a> {
        let Seen { kernel, device, .. } = *seen;
        let name = if self.plain { plain_name(&kernel.name).into() } else { Cow::Borrowed(&*kernel.name) };
        let shape = |dims: Option<[u64; 3]>| dims.filter(|_| self.shape);
        let threads = kernel.threads_per_block.filter(|_| self.threads).map(u64::from);
        (
            name,
            device.filter(|_| self.device),
            [shape(kernel.grid), shape(kernel.block)],
            [kernel.grid_blocks.filter(|_| self.blocks), threads],
        )
    }
}

/// Pairs what two files hold of equal kernels: by name, grid and block, then by name and grid, then by name; what ties
/// is taken in the order of the files, so that repeated launches meet their partners. Names that stand in one file only
/// are paired last, by plain name: other template arguments, the same kernel.
/// In the order of the first file; what only the second has comes last.
pub fn pair<'a>(before: &[Seen<'a>], after: &[Seen<'a>]) -> Vec<Pair<'a>> {
    fn names<'a>(all: &[Seen<'a>]) -> BTreeSet<&'a str> {
        all.iter().map(|seen| &*seen.kernel.name).collect()
    }
    let (old_names, new_names) = (names(before), names(after));
    let mut partners: Vec<Option<usize>> = vec![None; before.len()];
    let mut free: BTreeSet<usize> = (0..after.len()).collect();
    for step in STEPS {
        let mut open: BTreeMap<Key, VecDeque<usize>> = BTreeMap::new();
        for (index, seen) in after.iter().enumerate().filter(|(index, _)| free.contains(index)) {
            if !step.plain || !old_names.contains(&*seen.kernel.name) {
                open.entry(step.key(seen)).or_default().push_back(index);
            }
        }
        for (seen, partner) in before.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none()) {
            if !step.plain || !new_names.contains(&*seen.kernel.name) {
                *partner = open.get_mut(&step.key(seen)).and_then(VecDeque::pop_front);
                partner.iter().for_each(|index| {
                    free.remove(index);
                });
            }
        }
    }
    let both = before.iter().zip(partners).map(|(seen, partner)| {
        let after = partner.and_then(|index| after.get(index)).copied();
        let renamed = after.is_some_and(|after| after.kernel.name != seen.kernel.name);
        Pair { before: Some(*seen), after, renamed }
    });
    let rest = after.iter().enumerate().filter(|(index, _)| free.contains(index));
    both.chain(rest.map(|(_, seen)| Pair { before: None, after: Some(*seen), renamed: false })).collect()
}

/// What says that the two files do not differ by the code alone, one sentence each: other devices, other clocks.
pub fn circumstances(pairs: &[Pair]) -> Vec<String> {
    let both: Vec<_> = pairs.iter().filter_map(|p| Some((p.before?.kernel, p.after?.kernel))).collect();
    let mut said = Vec::new();
    if let Some((old, new)) = both.iter().find(|(old, new)| differ(&old.device, &new.device)) {
        said.push(format!("before ran on {}, after on {}", words(&old.device), words(&new.device)));
    }
    for (name, clock) in
        [("SM", (|k| k.sm_clock) as fn(&ObservedKernel) -> Option<crate::units::Hertz>), ("memory", |k| k.dram_clock)]
    {
        let mut ratios: Vec<_> = both
            .iter()
            .filter_map(|(old, new)| clock(old).zip(clock(new)))
            .filter(|(old, new)| old.get() > 0.0 && new.get() > 0.0)
            .collect();
        ratios.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
        if let Some((old, new)) = ratios.get(ratios.len() / 2).filter(|(o, n)| (*n / *o - 1.0).abs() > SAME_CLOCK) {
            said.push(format!("the {name} clock was {old} before and {new} after"));
        }
    }
    let end = "the difference is not the code's alone";
    said.into_iter().map(|what| format!("{what}: {end}")).collect()
}

/// Clocks this near to each other are the same one, read twice.
const SAME_CLOCK: f64 = 0.02;

/// Whether two devices contradict each other in what both state.
fn differ(a: &ObservedDevice, b: &ObservedDevice) -> bool {
    fn apart<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
        a.is_some() && b.is_some() && a != b
    }
    let names = |device: &ObservedDevice| device.name.as_deref().map(product).map(str::to_owned);
    apart(&names(a), &names(b))
        || apart(&a.compute_capability, &b.compute_capability)
        || apart(&a.sm_count, &b.sm_count)
        || apart(&a.memory_bus_bits, &b.memory_bus_bits)
}

/// The name of a product without the vendor, which some tools leave out.
fn product(name: &str) -> &str {
    let name = name.trim();
    ["NVIDIA ", "Tesla ", "AMD "].iter().fold(name, |name, vendor| name.strip_prefix(vendor).unwrap_or(name))
}

/// A device by its name and the facts that a file states.
fn words(device: &ObservedDevice) -> String {
    let facts: Vec<String> = [
        device.compute_capability.as_ref().map(|c| format!("compute capability {c}")),
        device.sm_count.map(|n| format!("{n} SMs")),
    ]
    .into_iter()
    .flatten()
    .collect();
    match (&device.name, facts.is_empty()) {
        (Some(name), true) => name.clone(),
        (Some(name), false) => format!("{name} ({})", facts.join(", ")),
        (None, false) => format!("a GPU of {}", facts.join(", ")),
        (None, true) => "a GPU that the file does not name".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{profile::Format, units::Hertz};

    fn profile(names: &[&str]) -> Profile {
        let kernel = |name: &&str| ObservedKernel { name: (*name).into(), ..ObservedKernel::default() };
        Profile { format: Format::NcuRawCsv, kernels: names.iter().map(kernel).collect(), warnings: Vec::new() }
    }

    fn paired(before: &[&str], after: &[&str]) -> Vec<(String, String, bool)> {
        rows(&profile(before), &profile(after))
    }

    fn rows(before: &Profile, after: &Profile) -> Vec<(String, String, bool)> {
        let name = |seen: Option<Seen>| {
            seen.map_or("-".to_owned(), |s| {
                format!("{}{}", s.kernel.name, s.kernel.grid_blocks.map_or(String::new(), |b| format!(" {b}")))
            })
        };
        let pairs = pair(&before.seen(), &after.seen());
        pairs.iter().map(|p| (name(p.before), name(p.after), p.renamed)).collect()
    }

    fn row(before: &str, after: &str, renamed: bool) -> (String, String, bool) {
        (before.into(), after.into(), renamed)
    }

    #[test]
    fn names_meet_in_order_and_strangers_by_plain_name() {
        assert_eq!(
            paired(&["a", "b", "a", "void g<int>(int)", "gone"], &["b", "a", "new", "void g<half>(int)"]),
            [
                row("a", "a", false),
                row("b", "b", false),
                row("a", "-", false),
                row("void g<int>(int)", "void g<half>(int)", true),
                row("gone", "-", false),
                row("-", "new", false),
            ]
        );
        // A name that both files have is never taken for another one, however often it came.
        assert_eq!(
            paired(&["void g<1>()", "void g<1>()"], &["void g<1>()", "void g<2>()"]),
            [row("void g<1>()", "void g<1>()", false), row("void g<1>()", "-", false), row("-", "void g<2>()", false)]
        );
        assert_eq!(
            paired(&["void g<1>()", "void g<2>()"], &["void g<3>()", "void g<4>()", "void g<5>()"]),
            [
                row("void g<1>()", "void g<3>()", true),
                row("void g<2>()", "void g<4>()", true),
                row("-", "void g<5>()", false),
            ]
        );
    }

    #[test]
    fn grids_come_before_order() {
        let with = |launches: &[(&str, u64)]| {
            let mut profile = profile(&launches.iter().map(|l| l.0).collect::<Vec<_>>());
            for (kernel, (_, blocks)) in profile.kernels.iter_mut().zip(launches) {
                kernel.grid_blocks = Some(*blocks);
            }
            profile
        };
        let before = with(&[("a", 512), ("a", 64), ("a", 512), ("void g<1>()", 8), ("void g<2>()", 9)]);
        let after = with(&[("a", 64), ("a", 256), ("a", 512), ("void g<3>()", 9), ("void g<4>()", 8)]);
        assert_eq!(
            rows(&before, &after),
            [
                row("a 512", "a 512", false),
                row("a 64", "a 64", false),
                // What is left of the name meets though its grid changed.
                row("a 512", "a 256", false),
                row("void g<1>() 8", "void g<4>() 8", true),
                row("void g<2>() 9", "void g<3>() 9", true),
            ]
        );
    }

    #[test]
    fn other_devices_and_clocks_are_named() {
        let (mut before, mut after) = (profile(&["a", "b"]), profile(&["a", "b"]));
        assert!(circumstances(&pair(&before.seen(), &after.seen())).is_empty());
        for (profile, sms, clock) in [(&mut before, 80, 1.30e9), (&mut after, 80, 1.31e9)] {
            for kernel in &mut profile.kernels {
                kernel.device.sm_count = Some(sms);
                kernel.sm_clock = Some(Hertz(clock));
            }
        }
        assert!(circumstances(&pair(&before.seen(), &after.seen())).is_empty());
        after.kernels[1].device.sm_count = Some(108);
        after.kernels.iter_mut().for_each(|k| k.sm_clock = Some(Hertz(1.41e9)));
        assert_eq!(
            circumstances(&pair(&before.seen(), &after.seen())),
            [
                "before ran on a GPU of 80 SMs, after on a GPU of 108 SMs: the difference is not the code's alone",
                "the SM clock was 1.3 GHz before and 1.41 GHz after: the difference is not the code's alone"
            ]
        );
        // One tool writes the vendor before the product, another does not.
        for (profile, name) in [(&mut before, "NVIDIA A100-SXM4-80GB"), (&mut after, "A100-SXM4-80GB")] {
            profile.kernels.iter_mut().for_each(|k| {
                k.device = ObservedDevice { name: Some(name.into()), ..ObservedDevice::default() };
                k.sm_clock = None;
            });
        }
        assert!(circumstances(&pair(&before.seen(), &after.seen())).is_empty());
    }
}
