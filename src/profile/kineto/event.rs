//! One event and one GPU as a file writes them. Numbers stay text until they are asked for: some files put them in
//! quotes, and times of an absolute clock have more digits than a float keeps.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::repair::repair;

/// A value as written.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Written<'a>(#[serde(borrow)] Option<&'a RawValue>);

impl<'a> Written<'a> {
    /// The text, without the quotes of a string.
    fn text(self) -> &'a str {
        self.0.map_or("", |raw| raw.get().trim_matches('"').trim())
    }

    /// A finite number.
    pub fn real(self) -> Option<f64> {
        self.text().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// A count, also one written with a fraction of 0.
    pub fn whole(self) -> Option<u64> {
        // Up to here every whole number is a float of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let rounded = || self.real().filter(|number| number.fract() == 0.0 && (0.0..=EXACT).contains(number));
        self.text().parse().ok().or_else(|| rounded().map(|number| number as u64))
    }

    /// A smaller count.
    pub fn small(self) -> Option<u32> {
        self.whole().and_then(|number| number.try_into().ok())
    }

    /// Microseconds as nanoseconds, to the last digit where the number has no exponent.
    pub fn nanoseconds(self) -> Option<i64> {
        let text = self.text();
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !whole.is_empty() && digits(whole) && digits(fraction) {
            let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
            return whole.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(thousandths.parse().ok()?);
        }
        // Nearly 300 years either way; what is beyond is no time.
        self.real().map(|micros| micros * 1e3).filter(|nanos| nanos.abs() < 9e18).map(|nanos| nanos as i64)
    }

    /// Three sizes of at least 1.
    pub fn sizes(self) -> Option<[u64; 3]> {
        let written: [Written<'_>; 3] = serde_json::from_str(self.0?.get()).ok()?;
        let [x, y, z] = written.map(|size| size.whole().filter(|size| *size > 0));
        Some([x?, y?, z?])
    }
}

/// An event: what is read of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    /// `X` for what has a beginning and a duration.
    #[serde(borrow)]
    pub ph: Cow<'a, str>,
    #[serde(borrow)]
    pub cat: Cow<'a, str>,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub pid: Written<'a>,
    #[serde(borrow)]
    pub ts: Written<'a>,
    #[serde(borrow)]
    pub dur: Written<'a>,
    #[serde(borrow)]
    pub args: Option<Arguments<'a>>,
}

/// The arguments of an event.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Arguments<'a> {
    #[serde(borrow)]
    pub device: Written<'a>,
    #[serde(borrow)]
    pub correlation: Written<'a>,
    #[serde(borrow)]
    pub grid: Written<'a>,
    #[serde(borrow)]
    pub block: Written<'a>,
    #[serde(borrow, rename = "registers per thread")]
    pub registers: Written<'a>,
    #[serde(borrow, rename = "shared memory")]
    pub shared: Written<'a>,
    #[serde(borrow, rename = "blocks per SM")]
    pub blocks_per_sm: Written<'a>,
    #[serde(borrow)]
    pub bytes: Written<'a>,
    /// What AMD's tracer calls the activity.
    #[serde(borrow)]
    pub kind: Written<'a>,
}

impl Arguments<'_> {
    /// Whether AMD's tracer wrote them.
    pub fn amd(&self) -> bool {
        self.kind.text().starts_with("Dispatch")
    }
}

/// A GPU; the spellings of 2021 and later.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Properties<'a> {
    #[serde(borrow)]
    pub id: Written<'a>,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow, rename = "totalGlobalMem")]
    pub memory: Written<'a>,
    #[serde(borrow, rename = "computeMajor", alias = "major")]
    pub major: Written<'a>,
    #[serde(borrow, rename = "computeMinor", alias = "minor")]
    pub minor: Written<'a>,
    #[serde(borrow, rename = "maxThreadsPerMultiprocessor", alias = "maxThreadsPerMultiProcessor")]
    pub threads_per_sm: Written<'a>,
    #[serde(borrow, rename = "warpSize")]
    pub warp_size: Written<'a>,
    #[serde(borrow, rename = "numSms", alias = "multiProcessorCount")]
    pub sms: Written<'a>,
    #[serde(borrow, rename = "regsPerMultiprocessor")]
    pub registers_per_sm: Written<'a>,
    #[serde(borrow, rename = "sharedMemPerMultiprocessor", alias = "maxSharedMemoryPerMultiProcessor")]
    pub shared_per_sm: Written<'a>,
}

/// Members of an object, the last of equal keys alone.
type Members = BTreeMap<String, Box<RawValue>>;

/// Text that says the same as damaged text: repaired, and with the last of equal keys alone.
///
/// # Errors
/// What is wrong with it beyond repair.
pub(super) fn mended(bytes: &[u8]) -> Result<String, serde_json::Error> {
    let mut members: Members = serde_json::from_str(&repair(bytes))?;
    if let Some(arguments) = members.get_mut("args")
        && let Ok(inner) = serde_json::from_str::<Members>(arguments.get())
    {
        *arguments = serde_json::value::to_raw_value(&inner)?;
    }
    serde_json::to_string(&members)
}
