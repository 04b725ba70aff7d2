//! The same run as a command line, and the runs of command lines that labs name.

use std::str::FromStr;

use super::{
    blocks::Blocks,
    race::Race,
    run::{Held, Launch, Network, Phase, Product, Run},
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
            Run::Network(n) => match &n.held {
                Held::Network(name) => add(&[name]),
                Held::Parameters(count) => add(&["--params", &count.to_string()]),
            },
            Run::Race(race) => add(&[race.name()]),
            Run::Launch(_) | Run::Blocks(_) => {}
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
            Run::Blocks(blocks) => words.extend(blocks.words()),
            Run::Race(race) => words.extend(race.words()),
            Run::Network(n) => {
                add(&["--phase", n.phase.word()]);
                if let Held::Network(_) = n.held {
                    add(&["--batch", &n.batch.to_string(), "--seq", &n.seq.to_string()]);
                }
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

    /// The run of a command line without what-ifs, where the page has it: `gemm`, `kernel`, `simulate` of equal blocks, `memory`,
    /// `crossover`, `occupancy` of a GPU, and `gpus show` of a slice.
    pub fn of_command(words: &[String]) -> Option<Self> {
        let (name, rest) = words.split_first()?;
        let mut places = Vec::new();
        let mut options = Options::default();
        let mut rest = rest.iter().map(String::as_str);
        while let Some(word) = rest.next() {
            match word {
                "--sparse" | "--cold" | "--warm" | "--types" => options.0.push((word, "")),
                option if option.starts_with("--") => options.0.push((option, rest.next()?)),
                place => places.push(place),
            }
        }
        let device = if name == "gpus" { places.pop()? } else { options.take("--gpu")? };
        let (gpu, profile) = split_profile(device);
        let (run, tab) = match (name.as_str(), &places[..]) {
            ("gemm", &[m, n, k]) => (Run::Product(Product::of_options([m, n, k], &mut options)?), None),
            ("kernel", []) if options.take("--per") == Some("thread") => {
                (Run::Launch(Launch::of_options(&mut options)?), None)
            }
            ("occupancy", []) => (Run::Launch(Launch::of_options(&mut options)?), Some(Tab::Occupancy)),
            // What a slice is shows best beside the others.
            ("gpus", &["show"]) if profile.is_some() => (Run::Launch(Launch::default()), Some(Tab::Mig)),
            ("simulate", []) => (Run::Blocks(Blocks::of_options(&mut options)?), None),
            ("memory", &[]) | ("memory", &[_]) => (Run::Network(Network::of_options(&places, &mut options)?), None),
            ("crossover", &[operation]) => (Run::Race(Race::of_options(operation, &mut options)?), None),
            _ => return None,
        };
        let tab = tab.unwrap_or(run.tabs()[0]);
        // What is left over would be another run.
        options.0.is_empty().then_some(Self {
            run,
            gpu: gpu.into(),
            mig: profile.map(str::to_owned),
            tab,
            ..Self::default()
        })
    }
}

/// The options of a command line, taken one by one.
#[derive(Default)]
pub(super) struct Options<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Options<'a> {
    /// The value of an option, which is then used up.
    pub fn take(&mut self, name: &str) -> Option<&'a str> {
        let place = self.0.iter().position(|(option, _)| *option == name)?;
        Some(self.0.remove(place).1)
    }

    /// A value that its own type reads, or what holds without the option; absent where it cannot be read.
    pub fn or<T: FromStr>(&mut self, name: &str, usual: T) -> Option<T> {
        self.take(name).map_or(Some(usual), |text| text.parse().ok())
    }
}

impl Product {
    fn of_options([m, n, k]: [&str; 3], options: &mut Options) -> Option<Self> {
        options.take("--types");
        Some(Self {
            m: m.parse().ok()?,
            n: n.parse().ok()?,
            k: k.parse().ok()?,
            dtype: options.or("--dtype", Self::default().dtype)?,
            tile: options.take("--tile").and_then(|text| sides(text).ok()),
            sparse: options.take("--sparse").is_some(),
            l2: match (options.take("--cold"), options.take("--warm")) {
                (Some(_), _) => Reuse::Cold,
                (_, Some(_)) => Reuse::Warm,
                _ => Reuse::default(),
            },
        })
    }
}

impl Launch {
    fn of_options(options: &mut Options) -> Option<Self> {
        let usual = Self::default();
        let operation = options.take("--op").and_then(|text| text.split_once('='));
        Some(Self {
            grid: options.or("--grid", usual.grid)?,
            block: options.take("--block")?.parse().ok()?,
            registers: options.or("--regs", usual.registers)?,
            shared: options.or("--dynamic-smem", Bytes(0.0))?.get() as u64,
            pipe: operation.map_or(Some(usual.pipe), |(pipe, _)| pipe.parse().ok())?,
            flop: operation.map_or(Some(0.0), |(_, amount)| Some(amount.parse::<Flops>().ok()?.get()))?,
            read: options.or("--dram-read", Bytes(0.0))?.get(),
            write: options.or("--dram-write", Bytes(0.0))?.get(),
            flight: options.or("--bytes-in-flight", usual.flight)?,
        })
    }
}

impl Network {
    fn of_options(places: &[&str], options: &mut Options) -> Option<Self> {
        let held = match places.first() {
            Some(name) => Held::Network((*name).into()),
            None => Held::Parameters(options.take("--params")?.parse().ok()?),
        };
        // Without it the length is the network's own, which an address does not know.
        let seq = match &held {
            Held::Network(_) => options.take("--seq")?.parse().ok()?,
            Held::Parameters(_) => 1,
        };
        let phase = if options.take("--phase") == Some("inference") { Phase::Inference } else { Phase::Train };
        let batch = options.or("--batch", 1)?;
        let (dp, zero) = (options.or("--dp", 1)?, options.or("--zero", 0)?);
        Some(Self { held, phase, batch, seq, dp, zero })
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
