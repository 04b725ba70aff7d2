//! The controls: a label, a number and a slider each; without script the number alone.

mod runs;

use maud::{Markup, html};

use super::lab;
use crate::{
    gpu::{Gpu, Limits},
    page::{
        course::Card,
        run::Run,
        site::{Shown, Site},
        state::State,
    },
};

/// A number with a slider.
#[derive(Clone)]
pub(super) struct Slider<'a> {
    pub key: &'a str,
    pub label: &'a str,
    pub value: Option<String>,
    pub least: f64,
    pub most: f64,
    pub step: f64,
    /// Whether equal steps of the slider are equal factors.
    pub log: bool,
}

/// Which controls are open.
#[derive(Clone, Copy)]
pub(super) struct Controls<'a>(Option<&'a [String]>);

impl<'a> Controls<'a> {
    /// All of them.
    pub const ALL: Self = Self(None);

    /// Those that the lab of a page leaves open; all where there is none.
    fn of(shown: &'a Shown) -> Self {
        Self(shown.card.as_ref().and_then(Card::open))
    }

    /// Whether a control is open.
    fn has(self, key: &str) -> bool {
        self.0.is_none_or(|open| open.iter().any(|known| known == key))
    }

    /// A number with its slider; what is closed is shown, and kept by the form.
    pub fn slider(self, slider: &Slider) -> Markup {
        let Slider { key, label, value, least, most, step, log } = slider;
        if !self.has(key) {
            return fixed(key, label, value.as_deref().unwrap_or(""), value.as_deref().unwrap_or(""));
        }
        html! {
            div.control {
                label for=(key) { (label) }
                input type="number" id=(key) name=(key) value=[value] min=(least) max=(most) step="any" inputmode="decimal";
                input type="range" hidden data-for=(key) data-least=(least) data-most=(most) data-step=(step)
                    data-log=[log.then_some("")] aria-label={ (label) ", slider" } min="0" max="1000" step="1";
            }
        }
    }

    /// A slider of whole numbers, by factors.
    pub fn count(self, key: &str, label: &str, value: u64, (least, most): (f64, f64), step: f64) -> Markup {
        let log = least >= 1.0 && most > 2000.0;
        self.slider(&Slider { key, label, value: Some(value.to_string()), least, most, step, log })
    }

    /// A list to choose from, as (value, label).
    pub fn select(self, key: &str, label: &str, chosen: &str, options: &[(String, String)]) -> Markup {
        if !self.has(key) {
            let text = options.iter().find(|(value, _)| value == chosen).map_or(chosen, |(_, text)| text);
            return fixed(key, label, chosen, text);
        }
        html! {
            div.control {
                label for=(key) { (label) }
                select id=(key) name=(key) {
                    @for (value, text) in options {
                        option value=(value) selected[value == chosen] { (text) }
                    }
                }
            }
        }
    }
}

/// What a lab keeps closed; nothing where there is no value.
fn fixed(key: &str, label: &str, value: &str, text: &str) -> Markup {
    html! {
        @if !text.is_empty() {
            p.control.fixed { span { (label) } b { (text) } }
            input type="hidden" name=(key) value=(value);
        }
    }
}

fn same(word: &str) -> (String, String) {
    (word.into(), word.into())
}

fn listed(items: &[(&str, &str)]) -> Vec<(String, String)> {
    items.iter().map(|(value, text)| ((*value).to_owned(), (*text).to_owned())).collect()
}

pub(super) fn form(site: &Site, shown: &Shown) -> Markup {
    let state = &shown.state;
    let controls = Controls::of(shown);
    html! {
        @for (key, value) in hidden(state) { input type="hidden" name=(key) value=(value); }
        @if shown.locked() {
            // What the controls hold may give the answer away.
            fieldset disabled {
                legend { "Controls" }
                p { "Predict first: the controls open with your number." }
            }
        } @else {
            @if controls.0.is_some() { p.notice { "This lab moves what is open below; close it for all controls." } }
            (open(controls, site, shown))
        }
        button.noscript type="submit" { "Show" }
        (lab::menu(site, state))
    }
}

/// GPU, run and what-ifs.
fn open(controls: Controls, site: &Site, shown: &Shown) -> Markup {
    let state = &shown.state;
    let what_ifs = controls.what_ifs(state);
    html! {
        fieldset {
            legend { "GPU" }
            (gpus(controls, site, &state.gpu))
            div #slices data-into="slices" { (slices(site, shown)) }
        }
        fieldset {
            @match &state.run {
                Run::Product(product) => (controls.product(product)),
                Run::Launch(launch) => (controls.launch(launch)),
                Run::Blocks(blocks) => (controls.blocks(*blocks)),
                Run::Network(network) => (controls.network(network)),
                Run::Race(race) => (controls.race(race, site)),
            }
        }
        @if !what_ifs.is_empty() {
            fieldset {
                legend { "What if" }
                p.hint { "Empty: as the GPU is." }
                @for what_if in what_ifs { (what_if) }
            }
        }
    }
}

/// What the address holds besides the controls.
fn hidden(state: &State) -> Vec<(&'static str, String)> {
    let mut pairs = vec![("op", state.run.word().to_owned()), ("tab", state.tab.word().to_owned())];
    pairs.extend(state.lab.map(|lab| ("lab", lab.to_string())));
    for (key, value) in [("seed", &state.seed), ("guess", &state.guess), ("answer", &state.answer), ("pin", &state.pin)]
    {
        pairs.extend(value.clone().map(|value| (key, value)));
    }
    pairs.extend((state.hints > 0).then(|| ("hints", state.hints.to_string())));
    pairs
}

fn gpus(controls: Controls, site: &Site, chosen: &str) -> Markup {
    let kind = |gpu: &Gpu| match gpu.limits {
        Limits::Sm(_) => "NVIDIA",
        Limits::Cu(_) => "AMD",
        Limits::Core => "CPU",
    };
    let all: Vec<&Gpu> = site.catalog.gpus().collect();
    // A name of the address may be an alias: the list shows what it means.
    let chosen = site.catalog.find(chosen).map_or_else(|_| chosen.to_owned(), |found| found.gpu.id);
    if !controls.has("gpu") {
        let name = all.iter().find(|gpu| gpu.id == chosen).map_or(&*chosen, |gpu| &gpu.name);
        return fixed("gpu", "GPU", &chosen, name);
    }
    html! {
        div.control {
            label for="gpu" { "GPU" }
            select #gpu name="gpu" {
                @for vendor in ["NVIDIA", "AMD"] {
                    optgroup label=(vendor) {
                        @for gpu in all.iter().filter(|gpu| kind(gpu) == vendor) {
                            option value=(gpu.id) selected[gpu.id == chosen] { (gpu.name) }
                        }
                    }
                }
            }
        }
    }
}

/// The MIG slices of the GPU, and what it has.
pub(super) fn slices(site: &Site, shown: &Shown) -> Markup {
    let (controls, state) = (Controls::of(shown), &shown.state);
    if shown.locked() {
        return html! {};
    }
    let Ok(found) = site.catalog.find(&state.gpu) else { return html! {} };
    let gpu = &shown.answer.gpu;
    let table = site.catalog.mig(&found.gpu);
    let profiles = table.into_iter().flat_map(|t| &t.profiles).filter(|p| p.sourced_sm().is_some());
    let none = (String::new(), "whole GPU".to_owned());
    let options: Vec<_> = [none].into_iter().chain(profiles.map(|profile| same(&profile.name))).collect();
    let words = gpu.limits.words();
    html! {
        @if options.len() > 1 { (controls.select("mig", "MIG slice", state.mig.as_deref().unwrap_or(""), &options)) }
        p.hint { (gpu.sm.count) " " (if words.unit == "SM" { "SMs" } else { "CUs" }) ", " (gpu.memory.dram.bandwidth) ", " (gpu.clocks.vector) }
    }
}
