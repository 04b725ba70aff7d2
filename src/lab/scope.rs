//! The names of a lab: drawn numbers, quantities of the program, expressions; and texts with such names in braces.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use serde::Deserialize;

use super::{Lab, Unit, expr::evaluate, measure::measure, short, unit::number};
use crate::{gpu::Catalog, units::significant};

/// A number, or a word such as the name of a GPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Number(f64),
    Word(String),
}

/// Most names that a message lists.
const MOST_NAMED: usize = 40;
/// Most significant digits of a number in a text: a number has no more.
const MOST_DIGITS: usize = 15;
/// Most names that stand for each other in a row.
const DEEPEST: usize = 50;

/// What a measure found, by field.
pub(super) type Fields = BTreeMap<&'static str, Value>;

/// The values of a lab for one draw.
pub(super) struct Scope<'a> {
    lab: &'a Lab,
    pub(super) catalog: &'a Catalog,
    drawn: BTreeMap<&'a str, &'a Value>,
    /// Measures that were asked already.
    found: RefCell<BTreeMap<&'a str, Rc<Fields>>>,
    /// Expressions that were evaluated already.
    computed: RefCell<BTreeMap<&'a str, f64>>,
    /// Names that are being evaluated, to find those that stand for themselves.
    open: RefCell<Vec<String>>,
}

/// How a text prints its numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// 4 significant digits.
    Prose,
    /// As the program reads them.
    Command,
}

impl<'a> Scope<'a> {
    pub(super) fn new(lab: &'a Lab, catalog: &'a Catalog, drawn: BTreeMap<&'a str, &'a Value>) -> Self {
        Self { lab, catalog, drawn, found: RefCell::default(), computed: RefCell::default(), open: RefCell::default() }
    }

    /// How many measures were asked.
    pub(super) fn asked(&self) -> usize {
        self.found.borrow().len()
    }

    /// The value of an expression.
    pub(super) fn number(&self, expression: &str) -> Result<f64, String> {
        evaluate(expression, &mut |name| self.value(name))
    }

    fn value(&self, name: &str) -> Result<Value, String> {
        if let Some(value) = self.drawn.get(name) {
            return Ok((*value).clone());
        }
        if let Some((name, expression)) = self.lab.lets.get_key_value(name) {
            let ready = self.computed.borrow().get(name.as_str()).copied();
            let value = match ready {
                Some(value) => value,
                None => {
                    let value = self.guarded(name, || self.number(expression));
                    let value = value.map_err(|e| format!("let.{name} = {}: {e}", short(expression)))?;
                    self.computed.borrow_mut().insert(name, value);
                    value
                }
            };
            return Ok(Value::Number(value));
        }
        let (head, field) = name.split_once('.').unwrap_or((name, ""));
        if let Some((head, settings)) = self.lab.measure.get_key_value(head) {
            let ready = self.found.borrow().get(head.as_str()).cloned();
            let fields = match ready {
                Some(fields) => fields,
                None => {
                    let found = self.guarded(head, || measure(self, settings));
                    let fields = Rc::new(found.map_err(|e| format!("measure.{head}: {e}"))?);
                    self.found.borrow_mut().insert(head, Rc::clone(&fields));
                    fields
                }
            };
            let known = || fields.keys().copied().collect::<Vec<_>>().join(", ");
            return fields
                .get(field)
                .cloned()
                .ok_or_else(|| format!("`{head}` has no `{}`; it has {}", short(field), known()));
        }
        Err(self.unknown(name))
    }

    /// Evaluates what a name stands for, unless that is the name itself.
    fn guarded<T>(&self, name: &str, value: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        if self.open.borrow().iter().any(|open| open == name) {
            return Err(format!("`{name}` is defined by itself: {} -> {name}", self.open.borrow().join(" -> ")));
        }
        if self.open.borrow().len() > DEEPEST {
            return Err(format!("`{name}` stands behind more than {DEEPEST} other names"));
        }
        self.open.borrow_mut().push(name.to_owned());
        let value = value();
        self.open.borrow_mut().pop();
        value
    }

    fn unknown(&self, name: &str) -> String {
        let lab = self.lab;
        let mut known: Vec<&str> = self.drawn.keys().copied().collect();
        known.extend(lab.lets.keys().chain(lab.measure.keys()).map(String::as_str));
        known.truncate(MOST_NAMED);
        let name = &short(name);
        let near = known.iter().find(|known| strsim::jaro_winkler(known, name) > 0.85);
        let near = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        format!("nothing is called `{name}`{near}; there are {}", known.join(", "))
    }

    /// A text with its placeholders filled in: `{expression}`, `{expression|unit}` with a unit of [`Unit`], or
    /// `{expression|unit:3}` with so many significant digits.
    pub(super) fn text(&self, template: &str, form: Form) -> Result<String, String> {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((inside, after)) = behind.split_once('}') else {
                return Err(format!("the brace before `{}` is not closed", short(behind)));
            };
            text += before;
            text += &self.placeholder(inside.trim(), form).map_err(|e| format!("{{{}}}: {e}", short(inside)))?;
            rest = after;
        }
        Ok(text + rest)
    }

    /// A number that a text can hold.
    fn finite(&self, expression: &str) -> Result<f64, String> {
        let value = self.number(expression)?;
        if value.is_finite() { Ok(value) } else { Err("it is infinite (division by 0?)".into()) }
    }

    fn placeholder(&self, inside: &str, form: Form) -> Result<String, String> {
        if let Some((expression, unit)) = inside.rsplit_once('|') {
            let (unit, digits) = unit.split_once(':').unwrap_or((unit, ""));
            let mut value = self.finite(expression)?;
            if !digits.is_empty() {
                let count = digits.parse().ok().filter(|count| (1..=MOST_DIGITS).contains(count));
                let count = count
                    .ok_or_else(|| format!("`{}` is no number of digits; write 1 to {MOST_DIGITS}", short(digits)))?;
                value = significant(value, count).parse().unwrap_or(value);
            }
            return Ok(Unit::from(unit.to_owned()).print(value));
        }
        // A name alone may stand for a word.
        let name = inside.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
        if name
            && inside.starts_with(|c: char| c.is_ascii_alphabetic())
            && let Value::Word(word) = self.value(inside)?
        {
            return Ok(word);
        }
        let value = self.finite(inside)?;
        Ok(match form {
            Form::Prose => number(value),
            Form::Command => significant(value, 15),
        })
    }
}
