//! Everything that the address of the page holds, in a fixed order of short keys.

use super::{
    query::{Reader, Refusals, Writer},
    run::{Product, Run},
};

/// Characters of a name, an answer or a seed.
pub(super) const WORDS: usize = 60;

/// What the page shows.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// What runs.
    pub run: Run,
    /// Id of the GPU.
    pub gpu: String,
    /// MIG profile, such as `3g.40gb`.
    pub mig: Option<String>,
    /// What-if: SMs.
    pub sms: Option<u64>,
    /// What-if: DRAM bandwidth in TB/s.
    pub bandwidth: Option<f64>,
    /// What-if: clock of the SMs in GHz.
    pub clock: Option<f64>,
    /// The chart in the middle.
    pub tab: Tab,
    /// The lab that is open.
    pub lab: Option<u64>,
    /// Whose numbers the lab has.
    pub seed: Option<String>,
    /// What was predicted, as typed.
    pub guess: Option<String>,
    /// What was answered to the transfer question, as typed.
    pub answer: Option<String>,
    /// Hints that were opened.
    pub hints: u64,
    /// The query of the state that was pinned.
    pub pin: Option<String>,
}

/// A chart of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// Roofline.
    Roofline,
    /// Terms of the time.
    Time,
    /// Time against the number of blocks or columns.
    Waves,
    /// Blocks on SMs over time.
    Timeline,
    /// Occupancy staircases.
    Occupancy,
    /// Parts of the memory.
    Memory,
    /// The same on every slice.
    Mig,
    /// A CPU and the GPU over the size.
    Crossover,
}

impl Tab {
    /// Every tab with its word in addresses, in the order of the page.
    pub const WORDS: [(&'static str, Self); 8] = [
        ("roofline", Self::Roofline),
        ("time", Self::Time),
        ("waves", Self::Waves),
        ("timeline", Self::Timeline),
        ("occupancy", Self::Occupancy),
        ("memory", Self::Memory),
        ("mig", Self::Mig),
        ("crossover", Self::Crossover),
    ];

    /// The word in addresses.
    pub fn word(self) -> &'static str {
        Self::WORDS.into_iter().find(|(_, tab)| *tab == self).map_or("", |(word, _)| word)
    }

    /// The word for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Roofline => "Roofline",
            Self::Time => "Time",
            Self::Waves => "Waves",
            Self::Timeline => "Timeline",
            Self::Occupancy => "Occupancy",
            Self::Memory => "Memory",
            Self::Mig => "MIG",
            Self::Crossover => "Crossover",
        }
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            run: Run::Product(Product::default()),
            gpu: "h100-sxm5-80gb".into(),
            mig: None,
            sms: None,
            bandwidth: None,
            clock: None,
            tab: Tab::Roofline,
            lab: None,
            seed: None,
            guess: None,
            answer: None,
            hints: 0,
            pin: None,
        }
    }
}

impl State {
    /// Reads the query of an address. Keys that nothing reads are notices; what is out of range is refused with the range.
    ///
    /// # Errors
    /// Every value that is not taken, with what would be.
    pub fn parse(query: &str) -> Result<(Self, Vec<String>), Refusals> {
        let mut reader = Reader::new(query)?;
        let usual = Self::default();
        let run = Run::parse(&mut reader);
        let first = run.tabs()[0];
        let state = Self {
            gpu: reader.short("gpu", WORDS).unwrap_or(usual.gpu),
            mig: reader.short("mig", WORDS),
            sms: reader.count("sm", 1..=1024),
            bandwidth: reader.real("bw", 0.01..=100.0),
            clock: reader.real("clock", 0.1..=5.0),
            // A tab of another kind of run is no mistake: who changes the kind keeps the address otherwise.
            tab: reader.word("tab", &Tab::WORDS).filter(|tab| run.tabs().contains(tab)).unwrap_or(first),
            lab: reader.count("lab", 1..=99),
            seed: reader.short("seed", WORDS),
            guess: reader.short("guess", WORDS),
            answer: reader.short("answer", WORDS),
            hints: reader.count("hints", 0..=3).unwrap_or(0),
            pin: reader.text("pin"),
            run,
        };
        if let Some(pin) = &state.pin {
            match Self::parse(pin) {
                Ok((pinned, _)) if pinned.pin.is_none() => {}
                Ok(_) => reader.refuse("pin", pin, "a pinned state has no pin of its own"),
                Err(refused) => reader.refuse("pin", pin, refused),
            }
        }
        Ok((state, reader.finish()?))
    }

    /// The query that [`State::parse`] reads as this state.
    pub fn query(&self) -> String {
        let mut writer = Writer::default();
        writer.add("op", Some(self.run.word()));
        writer.add("gpu", Some(&self.gpu));
        writer.add("mig", self.mig.as_ref());
        self.run.write(&mut writer);
        writer.add("sm", self.sms);
        writer.add("bw", self.bandwidth);
        writer.add("clock", self.clock);
        writer.add("tab", Some(self.tab.word()));
        writer.add("lab", self.lab);
        writer.add("seed", self.seed.as_ref());
        writer.add("guess", self.guess.as_ref());
        writer.add("answer", self.answer.as_ref());
        writer.add("hints", (self.hints > 0).then_some(self.hints));
        writer.add("pin", self.pin.as_ref());
        writer.finish()
    }

    /// The run alone, without tab, lab and pin: what is compared.
    pub fn bare(&self) -> Self {
        let (run, gpu) = (self.run.clone(), self.gpu.clone());
        let (mig, sms, bandwidth, clock) = (self.mig.clone(), self.sms, self.bandwidth, self.clock);
        Self { tab: run.tabs()[0], run, gpu, mig, sms, bandwidth, clock, ..Self::default() }
    }

    /// The state that was pinned.
    pub fn pinned(&self) -> Option<Self> {
        Self::parse(self.pin.as_ref()?).ok().map(|(state, _)| state)
    }
}
