//! The same run as a command line, and the runs of command lines that labs name.

use super::{
    run::{Launch, Network, Phase, Product, Run},
    state::{State, Tab},
};
use crate::{
    gpu::{Override, split_profile},
    op::gemm::{Reuse, sides},
    units::{Bytes, Flops},
};

/// Characters that a shell takes as they are.
fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._:/+=,".contains(c)
}

/// A word as a shell reads it whole.
pub(super) fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The command line of words behind `wavecast`.
pub(super) fn line(words: &[String]) -> String {
    words.iter().fold("wavecast".to_owned(), |line, word| line + " " + &quoted(word))
}

/// The words of a command line, where quotes hold a word together and `\` outside of them takes the next character as it is.
pub(super) fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

impl State {
    /// The GPU as `--gpu` takes it.
    pub fn device(&self) -> String {
        match &self.mig {
            Some(profile) => format!("{}:{profile}", self.gpu),
            None => self.gpu.clone(),
        }
    }

    /// The what-ifs as `--set` takes them. One clock is meant for every unit of the SMs.
    pub fn changes(&self) -> Vec<Override> {
        let mut changes = Vec::new();
        let mut add = |key: &str, value: String| changes.push(Override { key: key.into(), value });
        if let Some(sms) = self.sms {
            add("sm.count", sms.to_string());
        }
        if let Some(rate) = self.bandwidth {
            add("memory.dram.bandwidth", format!("{rate} TB/s"));
        }
        if let Some(clock) = self.clock {
            for key in ["clocks.vector", "clocks.tensor", "clocks.tensor_fp64"] {
                add(key, format!("{clock} GHz"));
            }
        }
        changes
    }

    /// The words behind `wavecast` that ask the same.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![self.run.word().to_owned()];
        let mut add = |some: &[&str]| words.extend(some.iter().map(|word| (*word).to_owned()));
        match &self.run {
            Run::Product(p) => add(&[&p.m.to_string(), &p.n.to_string(), &p.k.to_string()]),
            Run::Network(n) => add(&[&n.name]),
            Run::Launch(_) => {}
        }
        add(&["--gpu", &self.device()]);
        for change in self.changes() {
            add(&["--set", &format!("{}={}", change.key, change.value)]);
        }
        match &self.run {
            Run::Product(p) => {
                add(&["--dtype", p.dtype.name()]);
                if let Some((height, width)) = p.tile {
                    add(&["--tile", &format!("{height}x{width}")]);
                }
                add(if p.sparse { &["--sparse"] } else { &[] });
                add(match p.l2 {
                    Reuse::Cold => &["--cold"],
                    Reuse::Warm => &["--warm"],
                    _ => &[],
                });
            }
            Run::Launch(l) => {
                add(&["--grid", &l.grid.to_string(), "--block", &l.block.to_string()]);
                add(&["--regs", &l.registers.to_string(), "--dynamic-smem", &format!("{} B", l.shared)]);
                add(&["--per", "thread", "--op", &format!("{}={} FLOP", l.pipe, l.flop)]);
                add(&["--dram-read", &format!("{} B", l.read), "--dram-write", &format!("{} B", l.write)]);
                add(&["--bytes-in-flight", &l.flight.to_string()]);
            }
            Run::Network(n) => {
                add(&["--phase", n.phase.word(), "--batch", &n.batch.to_string(), "--seq", &n.seq.to_string()]);
                if n.phase == Phase::Train {
                    add(&["--dp", &n.dp.to_string(), "--zero", &n.zero.to_string()]);
                }
            }
        }
        words
    }

    /// The same run as a command line.
    pub fn command(&self) -> String {
        line(&self.words())
    }

    /// The run of a command line without what-ifs, where the page has it: `gemm`, `kernel`, `memory`, and `occupancy` of a GPU.
    pub fn of_command(words: &[String]) -> Option<Self> {
        let (name, rest) = words.split_first()?;
        let mut state = Self::default();
        let mut places = Vec::new();
        let mut options: Vec<(&str, &str)> = Vec::new();
        let mut rest = rest.iter().map(String::as_str).peekable();
        while let Some(word) = rest.next() {
            match word {
                "--sparse" | "--cold" | "--warm" | "--types" => options.push((word, "")),
                option if option.starts_with("--") => options.push((option, rest.next()?)),
                place => places.push(place),
            }
        }
        let mut take = |name: &str| {
            let place = options.iter().position(|(option, _)| *option == name)?;
            Some(options.remove(place).1)
        };
        let (gpu, profile) = split_profile(take("--gpu")?);
        (state.gpu, state.mig) = (gpu.into(), profile.map(str::to_owned));
        state.run = match name.as_str() {
            "gemm" => {
                let [m, n, k] = places[..] else { return None };
                take("--types");
                Run::Product(Product {
                    m: m.parse().ok()?,
                    n: n.parse().ok()?,
                    k: k.parse().ok()?,
                    dtype: take("--dtype").map_or(Some(Product::default().dtype), |text| text.parse().ok())?,
                    tile: take("--tile").and_then(|text| sides(text).ok()),
                    sparse: take("--sparse").is_some(),
                    l2: match (take("--cold"), take("--warm")) {
                        (Some(_), _) => Reuse::Cold,
                        (_, Some(_)) => Reuse::Warm,
                        _ => Reuse::default(),
                    },
                })
            }
            "kernel" | "occupancy" => {
                let usual = Launch::default();
                let bytes = |text: Option<&str>| text.map_or(Some(0.0), |t| t.parse::<Bytes>().ok().map(Bytes::get));
                let count = |text: Option<&str>, usual| text.map_or(Some(usual), |text| text.parse().ok());
                if name == "kernel" && take("--per") != Some("thread") {
                    return None;
                }
                let operation = take("--op").and_then(|text| text.split_once('='));
                Run::Launch(Launch {
                    grid: count(take("--grid"), usual.grid)?,
                    block: take("--block")?.parse().ok()?,
                    registers: count(take("--regs"), usual.registers)?,
                    shared: bytes(take("--dynamic-smem"))? as u64,
                    pipe: operation.map_or(Some(usual.pipe), |(pipe, _)| pipe.parse().ok())?,
                    flop: operation.map_or(Some(0.0), |(_, amount)| Some(amount.parse::<Flops>().ok()?.get()))?,
                    read: bytes(take("--dram-read"))?,
                    write: bytes(take("--dram-write"))?,
                    flight: count(take("--bytes-in-flight"), usual.flight as u64)? as f64,
                })
            }
            "memory" => Run::Network(Network {
                name: (*places.first()?).into(),
                phase: if take("--phase") == Some("inference") { Phase::Inference } else { Phase::Train },
                batch: take("--batch")?.parse().ok()?,
                seq: take("--seq")?.parse().ok()?,
                dp: take("--dp").map_or(Some(1), |text| text.parse().ok())?,
                zero: take("--zero").map_or(Some(0), |text| text.parse().ok())?,
            }),
            _ => return None,
        };
        state.tab = if name == "occupancy" { Tab::Occupancy } else { state.run.tabs()[0] };
        // What is left over would be another run.
        options.is_empty().then_some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_splits_it() {
        let words = ["kernel", "--op", "vector.fp32=2 FLOP", "it's", ""].map(str::to_owned);
        assert_eq!(split(line(&words).strip_prefix("wavecast ").unwrap()), words);
    }
}
