//! A layer of experts as tables write it: tokens, inner and hidden width in `m`, `n` and `k`, the rest in `notes`:
//! `experts=;topk=;ep=;routing=`.

use super::{MoeError, Routing, Shape};

/// The checked shape and the routing of a row: m tokens, experts of hidden width k and inner width n. `ep` and `routing` may be
/// absent: 1, balanced; other keys are passed over.
///
/// # Errors
/// `experts` or `topk` is absent, a number is none, or there is no such layer.
pub fn row(tokens: u64, inter: u64, hidden: u64, notes: &str) -> Result<(Shape, Routing), MoeError> {
    let value = |key: &'static str| {
        let pairs = notes.split(';').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find_map(|(found, value)| (found.trim() == key).then_some(value.trim()))
    };
    let number = |key: &'static str, default: Option<u64>| match (value(key), default) {
        (Some(text), _) => text.parse().map_err(|_| MoeError::Note { key, value: text.into() }),
        (None, Some(default)) => Ok(default),
        (None, None) => Err(MoeError::Absent { key }),
    };
    let (experts, top_k) = (number("experts", None)?, number("topk", None)?);
    let expert_parallel = number("ep", Some(1))?;
    let routing = value("routing").map_or(Ok(Routing::Balanced), str::parse)?;
    let shape = Shape { tokens, experts, top_k, hidden, inter, expert_parallel }.checked()?;
    Ok((shape, routing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_or_say_what_is_wrong() {
        let (shape, routing) = row(64, 128, 256, "experts=8; topk=2;ep=4;routing=power:1.2;kernel=x").unwrap();
        assert_eq!((shape.experts, shape.top_k, shape.expert_parallel), (8, 2, 4));
        assert_eq!((shape.tokens, shape.inter, shape.hidden, routing), (64, 128, 256, Routing::Power(1.2)));
        assert_eq!(row(1, 1, 1, "experts=1;topk=1").unwrap().1, Routing::Balanced);
        for (notes, message) in [
            ("topk=2", "notes: experts= is absent"),
            ("experts=8", "notes: topk= is absent"),
            ("experts=x;topk=2", "notes: experts=x"),
            ("experts=4;topk=5", "top-k = 5 is more than the 4 experts"),
            ("experts=4;topk=2;routing=zipf", "routing `zipf`"),
        ] {
            let error = row(64, 128, 256, notes).unwrap_err().to_string();
            assert!(error.contains(message), "{notes}: {error}");
        }
    }
}
