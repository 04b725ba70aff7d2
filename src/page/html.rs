//! The page as HTML: a form that works without script, and the parts of it that a change replaces.

mod calculator;
mod controls;
mod lab;

pub(super) use calculator::{calculator, part as calculator_part};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    query::Refusals,
    site::{Shown, Site},
    state::{State, Tab},
    view::View,
};
use crate::chart::{Chart, Theme};

/// The whole document around its body.
fn shell(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " - Wavecast" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/style.css";
                script type="module" src="/app.js" {}
            }
            body { (body) }
        }
    }
}

/// The head of every page, with the kinds of runs.
fn header(current: &str, gpu: Option<&str>) -> Markup {
    let gpu = gpu.map_or_else(String::new, |gpu| format!("&gpu={}", super::encoded(gpu)));
    let kinds = [
        ("gemm", "Matrix product", format!("/?op=gemm{gpu}")),
        ("kernel", "Kernel", format!("/?op=kernel{gpu}")),
        ("simulate", "Last wave", format!("/?op=simulate{gpu}")),
        ("memory", "Memory", format!("/?op=memory{gpu}")),
        ("crossover", "CPU or GPU", format!("/?op=crossover{gpu}")),
        ("occupancy", "Occupancy calculator", "/occupancy".into()),
    ];
    html! {
        a.skip href="#verdict" { "To the answer" }
        header {
            h1 { a href="/" { "Wavecast" } }
            nav aria-label="What runs" {
                @for (word, label, link) in &kinds {
                    a href=(link) aria-current=[(*word == current).then_some("page")] { (label) }
                }
            }
        }
    }
}

/// The page of a state.
pub(super) fn page(site: &Site, shown: &Shown) -> Markup {
    let state = &shown.state;
    let body = html! {
        (header(state.run.word(), Some(&state.gpu)))
        div.columns {
            form #controls method="get" action="/" data-part="/part" aria-label="Controls" {
                (controls::form(site, shown))
            }
            main {
                // Alone in the middle while nothing else is to be seen.
                @if shown.locked() { (into("card", &lab::card(shown))) }
                (into("middle", &middle(site, shown)))
                (into("below", &below(shown)))
            }
            aside aria-label="Answer" {
                div #verdict data-into="verdict" role="status" aria-live="polite" { (verdict(shown)) }
                @if !shown.locked() { (into("card", &lab::card(shown))) }
                (into("numbers", &numbers(shown)))
            }
        }
        (into("foot", &bottom(shown)))
    };
    shell(title(shown), &body)
}

/// A part that a change replaces.
fn into(id: &str, inside: &Markup) -> Markup {
    html! { div id=(id) data-into=(id) { (inside) } }
}

/// Everything that a change replaces.
pub(super) fn part(site: &Site, shown: &Shown) -> Markup {
    html! {
        div data-query=(shown.state.query()) data-title=(title(shown)) {
            div data-into="verdict" { (verdict(shown)) }
            (into("middle", &middle(site, shown)))
            (into("below", &below(shown)))
            (into("card", &lab::card(shown)))
            (into("numbers", &numbers(shown)))
            (into("slices", &controls::slices(site, shown)))
            (into("foot", &bottom(shown)))
        }
    }
}

/// The title of the page, which says nothing of an answer that is to be predicted.
fn title(shown: &Shown) -> &str {
    match &shown.card {
        Some(card) if shown.locked() => &card.exercise.title,
        _ => &shown.view.title,
    }
}

fn bottom(shown: &Shown) -> Markup {
    if shown.locked() {
        html! {}
    } else {
        foot(&shown.view.assumptions, &shown.state.command())
    }
}

/// What is refused, in the place of the verdict; all else stays as it was.
pub(super) fn refused_part(refused: &Refusals) -> Markup {
    html! { div { div data-into="verdict" { (refusals(refused)) } } }
}

/// A page that says what is refused.
pub(super) fn refused(refused: &Refusals) -> Markup {
    let body = html! {
        (header("", None))
        main.plain {
            h2 { "This address cannot be answered" }
            (refusals(refused))
            p { a href="/" { "Start over" } }
        }
    };
    shell("Refused", &body)
}

fn refusals(refused: &Refusals) -> Markup {
    html! {
        div.refused role="alert" {
            @for one in &refused.0 { p { b { (one.key) " = " (one.value) } ": " (one.problem) } }
        }
    }
}

fn verdict(shown: &Shown) -> Markup {
    if shown.locked() {
        return html! { h2 { (title(shown)) } p.verdict { "Predict first: chart and numbers open with your answer." } };
    }
    said(&shown.view, &shown.notices)
}

fn said(view: &View, notices: &[String]) -> Markup {
    html! {
        h2 { (view.title) }
        p.verdict { (view.verdict) }
        @for notice in notices { p.notice { "Note: " (notice) } }
    }
}

/// The tabs, the chart of the current one, what to do with it.
fn middle(site: &Site, shown: &Shown) -> Markup {
    let state = &shown.state;
    let tabs = state.run.tabs();
    if shown.locked() {
        return html! {};
    }
    html! {
        div role="tablist" aria-label="Charts" {
            @for tab in tabs {
                @let current = *tab == state.tab;
                a id={ "tab-" (tab.word()) } role="tab" data-tab=(tab.word()) href={ "/?" (State { tab: *tab, ..state.clone() }.query()) }
                    aria-selected=(if current { "true" } else { "false" }) aria-controls="panel"
                    tabindex=(if current { "0" } else { "-1" }) { (tab.label()) }
            }
        }
        div #panel role="tabpanel" aria-labelledby={ "tab-" (state.tab.word()) } {
            @match (site.drawn(state.tab, shown, Theme::Light), site.drawn(state.tab, shown, Theme::Dark)) {
                (Ok(light), Ok(dark)) => (figure(state.tab.label(), &light, &dark)),
                (Err(reason), _) | (_, Err(reason)) => p.notice { "No chart: " (reason) "." },
            }
        }
    }
}

/// A chart in both themes, of which the reader's shows. The drawings are ours and need no escaping.
fn figure(label: &str, light: &Chart, dark: &Chart) -> Markup {
    html! {
        figure tabindex="0" aria-label=(label) {
            div.light { (PreEscaped(light.svg())) }
            div.dark { (PreEscaped(dark.svg())) }
        }
    }
}

/// Downloads, pin, what would help.
fn below(shown: &Shown) -> Markup {
    let state = &shown.state;
    if shown.locked() {
        return html! {};
    }
    let query = state.query();
    let pin = State { pin: Some(state.bare().query()), ..state.clone() };
    let free = State { pin: None, ..state.clone() };
    html! {
        p.tools {
            (downloads(state.tab.word(), &query))
            @match &state.pin {
                None => a.button #pin href={ "/?" (pin.query()) } { "Pin to compare" },
                Some(pinned) => {
                    a.button #pin href={ "/?" (pin.query()) } { "Pin this instead" }
                    a.button href={ "/?" (free.query()) } { "Unpin" }
                    a.button href={ "/?" (pinned) } { "Back to the pinned" }
                }
            }
        }
        @if state.tab == Tab::Mig && state.pin.is_some() { p.notice { "This chart compares slices and leaves the pin out." } }
        (list("What would help", &shown.view.helps))
        (list("Found", &shown.view.findings))
    }
}

fn downloads(name: &str, query: &str) -> Markup {
    let png = cfg!(feature = "png");
    html! {
        "Download "
        @for form in ["svg", "png", "csv"] {
            @if form != "png" || png {
                a href={ "/chart/" (name) "." (form) "?" (query) } download={ (name) "." (form) } { (form.to_uppercase()) }
                " "
            }
        }
    }
}

fn list(heading: &str, items: &[String]) -> Markup {
    html! {
        @if !items.is_empty() {
            h3 { (heading) }
            ul { @for item in items { li { (item) } } }
        }
    }
}

/// The numbers with their formulas, and those of what is pinned.
fn numbers(shown: &Shown) -> Markup {
    if shown.locked() {
        return html! {};
    }
    table(&shown.view, shown.pinned.as_ref().map(|(_, _, view)| view))
}

fn table(view: &View, pinned: Option<&View>) -> Markup {
    let other = |name: &str| pinned?.numbers.iter().find(|number| number.name == name).map(|number| &number.value);
    html! {
        table {
            caption { "Numbers" @if let Some(pinned) = pinned { ", beside those of " (pinned.title) } }
            thead.unseen { tr { th scope="col" { "Name" } th scope="col" { "Value" } @if pinned.is_some() { th scope="col" { "Pinned" } } } }
            @for number in &view.numbers {
                tbody {
                    tr {
                        th scope="row" { (number.name) }
                        td { (number.value) }
                        @if pinned.is_some() { td.pinned { (other(&number.name).map_or("-", String::as_str)) } }
                    }
                    tr.formula { td colspan=(if pinned.is_some() { "3" } else { "2" }) { (number.formula) } }
                }
            }
        }
    }
}

fn foot(assumptions: &[String], command: &str) -> Markup {
    html! {
        footer {
            p.command {
                span { "The same at a terminal:" }
                code #command { (command) }
                button type="button" data-copy="command" hidden { "Copy" }
            }
            (list("Assumed", assumptions))
        }
    }
}
