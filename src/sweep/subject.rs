//! What is swept: operations as rows of `predict`, described kernels, launches block by block.

mod call;
mod kernel;
mod simulation;

pub(super) use call::Calls;
pub(super) use kernel::Kernels;
pub(super) use simulation::Simulations;

use toml::{Table, Value};

/// Puts the text of a value at a path of a table, as the type that it looks like; a number picks from a list.
fn put(table: &mut Table, path: &[String], text: &str) -> Result<(), String> {
    let wrong = || format!("nothing can be set at {}", path.join("."));
    let Some((last, parents)) = path.split_last() else { return Err(wrong()) };
    let mut place = table;
    for part in parents {
        let inner = place.entry(part.as_str()).or_insert_with(|| Value::Table(Table::new()));
        place = inner.as_table_mut().ok_or_else(wrong)?;
    }
    let known = place.get(last.as_str());
    let value = match (known, text) {
        // What is text in the file stays text, be it `8x8` or `64`.
        (Some(Value::String(_)), text) if text.parse::<i64>().is_err() => Value::String(text.into()),
        (_, "true") => Value::Boolean(true),
        (_, "false") => Value::Boolean(false),
        (_, text) => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(whole), _) => Value::Integer(whole),
            (_, Ok(number)) => Value::Float(number),
            _ => Value::String(text.into()),
        },
    };
    place.insert(last.clone(), value);
    Ok(())
}
