//! What a server answers to a path and a query: pages, parts of pages, charts, data, assets. Every answer is made here, from memory.

use super::{
    answer::Answer,
    calculator::Calculator,
    charts::{Scene, chart},
    course::{Card, start},
    html,
    query::Refusals,
    state::{State, Tab},
    view::View,
};
use crate::{
    chart::{Chart, FONT_BOLD, FONT_REGULAR, Theme},
    gpu::Catalog,
};

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const SCRIPT: &str = include_str!("../../assets/page/app.js");
const STYLE: &str = include_str!("../../assets/page/style.css");
const FONT_LICENCE: &str = include_str!("../../assets/fonts/OFL.txt");
/// Pixels of a PNG per unit of the SVG.
#[cfg(feature = "png")]
const SCALE: f32 = 2.0;

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, kind, body: body.into() }
    }

    fn text(status: u16, text: &str) -> Self {
        Self::new(status, TEXT, format!("{text}\n"))
    }
}

/// The page over a catalog of GPUs.
pub struct Site {
    pub(super) catalog: Catalog,
}

/// A state with what was found for it and for what is pinned.
pub(super) struct Shown {
    pub state: State,
    pub notices: Vec<String>,
    pub answer: Answer,
    pub view: View,
    pub pinned: Option<(State, Answer, View)>,
    pub card: Option<Card>,
}

impl Shown {
    /// Whether a lab waits for a prediction: until then nothing that was found is shown.
    pub fn locked(&self) -> bool {
        self.card.as_ref().is_some_and(Card::locked)
    }
}

impl Site {
    /// The page over these GPUs.
    pub fn new(catalog: Catalog) -> Self {
        Self { catalog }
    }

    /// The answer to a GET of a path with a query.
    pub fn reply(&self, path: &str, query: &str) -> Reply {
        match path {
            "/" => self.page(query),
            "/part" => match self.shown(query) {
                Ok(shown) => Reply::new(200, HTML, html::part(self, &shown).into_string()),
                Err(refused) => Reply::new(400, HTML, html::refused_part(&refused).into_string()),
            },
            "/occupancy" => match Calculator::parse(query) {
                Ok((asked, notices)) => match asked.answer(&self.catalog) {
                    Ok(found) => Reply::new(200, HTML, html::calculator(self, &asked, &found, &notices).into_string()),
                    Err(refused) => self.refused(&refused),
                },
                Err(refused) => self.refused(&refused),
            },
            "/occupancy/part" => {
                let found = Calculator::parse(query).and_then(|(asked, notices)| {
                    let found = asked.answer(&self.catalog)?;
                    Ok(html::calculator_part(&asked, &found, &notices))
                });
                match found {
                    Ok(part) => Reply::new(200, HTML, part.into_string()),
                    Err(refused) => Reply::new(400, HTML, html::refused_part(&refused).into_string()),
                }
            }
            "/api/state.json" => match self.shown(query) {
                Ok(shown) => Reply::new(200, "application/json", json(&shown)),
                Err(refused) => Reply::new(400, "application/json", refused_json(&refused)),
            },
            "/app.js" => Reply::new(200, "text/javascript; charset=utf-8", SCRIPT),
            "/style.css" => Reply::new(200, "text/css; charset=utf-8", STYLE),
            "/fonts/regular.ttf" => Reply::new(200, "font/ttf", FONT_REGULAR),
            "/fonts/bold.ttf" => Reply::new(200, "font/ttf", FONT_BOLD),
            "/fonts/OFL.txt" => Reply::new(200, TEXT, FONT_LICENCE),
            _ => match path.strip_prefix("/chart/") {
                Some(name) => self.chart(name, query),
                None => Reply::text(404, "There is no such page; the page is at /"),
            },
        }
    }

    /// Reads a query and runs the model on it and on what it pins.
    pub(super) fn shown(&self, query: &str) -> Result<Shown, Refusals> {
        let (mut state, mut notices) = State::parse(query)?;
        // An address that names a lab alone means the state in which the lab starts.
        if !query.split('&').any(|pair| pair.starts_with("op="))
            && let Some(start) = Card::of(&state, &self.catalog)?.and_then(|card| start(&state, &card.exercise))
        {
            state = start;
        }
        let answer = state.answer(&self.catalog)?;
        let view = View::new(&state, &answer);
        let card = Card::of(&state, &self.catalog)?;
        let pinned = match state.pinned() {
            None => None,
            // What is pinned is shown beside: where it cannot be answered any more, the rest can.
            Some(pinned) => match pinned.answer(&self.catalog) {
                Ok(answer) => Some((pinned.clone(), answer.clone(), View::new(&pinned, &answer))),
                Err(refused) => {
                    notices.push(format!("the pinned state has no answer: {refused}"));
                    None
                }
            },
        };
        Ok(Shown { state, notices, answer, view, pinned, card })
    }

    fn page(&self, query: &str) -> Reply {
        match self.shown(query) {
            Ok(shown) => Reply::new(200, HTML, html::page(self, &shown).into_string()),
            Err(refused) => self.refused(&refused),
        }
    }

    fn refused(&self, refused: &Refusals) -> Reply {
        Reply::new(400, HTML, html::refused(refused).into_string())
    }

    /// A chart by its name and form, such as `roofline.svg`; `theme=dark` in front of the state draws on dark ground.
    fn chart(&self, name: &str, query: &str) -> Reply {
        let (query, theme) = match query.strip_prefix("theme=dark&") {
            Some(rest) => (rest, Theme::Dark),
            None => (query, Theme::Light),
        };
        let Some((name, form)) = name.rsplit_once('.') else {
            return Reply::text(404, "Name the chart with its form, such as roofline.svg");
        };
        if name == "calculator" {
            let drawn = Calculator::parse(query).and_then(|(asked, _)| {
                let found = asked.answer(&self.catalog)?;
                Ok(asked.figure(&found).map(|figure| figure.draw(theme)))
            });
            return match drawn {
                Ok(Some(chart)) => formed(&chart, form),
                Ok(None) => Reply::text(404, "This device has no occupancy"),
                Err(refused) => Reply::text(400, &refused.to_string()),
            };
        }
        let Some((_, tab)) = Tab::WORDS.into_iter().find(|(word, _)| *word == name) else {
            let known: Vec<&str> = Tab::WORDS.iter().map(|(word, _)| *word).collect();
            return Reply::text(404, &format!("There is no such chart; there are {}, calculator", known.join(", ")));
        };
        match self.shown(query) {
            Err(refused) => Reply::text(400, &refused.to_string()),
            Ok(shown) => match self.drawn(tab, &shown, theme) {
                Ok(chart) => formed(&chart, form),
                Err(reason) => Reply::text(404, &reason),
            },
        }
    }

    /// A chart of a state, or why there is none.
    pub(super) fn drawn(&self, tab: Tab, shown: &Shown, theme: Theme) -> Result<Chart, String> {
        let (state, answer) = (&shown.state, &shown.answer);
        let pinned = shown.pinned.as_ref().map(|(state, answer, _)| (state, answer));
        let prediction = shown.card.as_ref().and_then(|card| card.prediction(state));
        let scene = Scene { state, answer, pinned, prediction };
        chart(tab, &scene, theme, &self.catalog).map_err(|reason| reason.to_string())
    }
}

fn formed(chart: &Chart, form: &str) -> Reply {
    match form {
        "svg" => Reply::new(200, "image/svg+xml", chart.svg()),
        "csv" => Reply::new(200, "text/csv; charset=utf-8", chart.csv()),
        #[cfg(feature = "png")]
        "png" => match chart.png(SCALE) {
            Ok(bytes) => Reply::new(200, "image/png", bytes),
            Err(error) => Reply::text(500, &error.to_string()),
        },
        _ => Reply::text(404, "A chart has the forms svg, csv, and png where the program was built with it"),
    }
}

fn json(shown: &Shown) -> String {
    let report = View::report(&shown.answer).and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let numbers = shown.view.numbers.iter();
    let numbers = numbers.map(|n| serde_json::json!({ "name": n.name, "value": n.value, "formula": n.formula }));
    let value = serde_json::json!({
        "schema": "wavecast.page/1",
        "query": shown.state.query(),
        "command": shown.state.command(),
        "title": shown.view.title,
        "verdict": shown.view.verdict,
        "numbers": numbers.collect::<Vec<_>>(),
        "notices": shown.notices,
        "assumptions": shown.view.assumptions,
        "report": report,
    });
    format!("{value:#}\n")
}

fn refused_json(refused: &Refusals) -> String {
    let one = |r: &super::Refusal| serde_json::json!({ "key": r.key, "value": r.value, "problem": r.problem });
    format!("{:#}\n", serde_json::json!({ "refused": refused.0.iter().map(one).collect::<Vec<_>>() }))
}
