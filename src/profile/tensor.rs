//! Tensor operations by path, from counters that overlap: totals, their accumulate types, their sparse and dense parts.

use super::observed::ObservedPipe;

/// Operations by pipe from totals by path (`fp16`, `fp16_dst_fp32`, `fp16_dst_fp32_sparsity_off`), each operation once.
pub(super) fn operations(paths: &[(&str, f64)]) -> Vec<(ObservedPipe, f64)> {
    let mut wholes: Vec<(&str, f64)> = Vec::new();
    for &(path, value) in paths {
        let whole = without_sparsity(path);
        let has_whole = whole != path && paths.iter().any(|(other, _)| *other == whole);
        match wholes.iter_mut().find(|(known, _)| *known == whole) {
            _ if has_whole => {}
            Some((_, sum)) => *sum += value,
            None => wholes.push((whole, value)),
        }
    }
    let mut found = Vec::new();
    for &(path, value) in &wholes {
        let (input, accumulate) = split(path);
        let rest = if accumulate.is_some() { value } else { value - by_accumulate(&wholes, input) };
        // Rates are printed in three digits, so a small rest is rounding.
        if rest > 1e-3 * value {
            let pipe =
                ObservedPipe::Tensor { input: input.to_string(), accumulate: accumulate.map(ToString::to_string) };
            found.push((pipe, rest));
        }
    }
    found
}

fn without_sparsity(path: &str) -> &str {
    path.strip_suffix("_sparsity_off").or(path.strip_suffix("_sparsity_on")).unwrap_or(path)
}

fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once("_dst_").map_or((path, None), |(input, accumulate)| (input, Some(accumulate)))
}

/// What the paths of one input type with a stated accumulate type sum to.
fn by_accumulate(wholes: &[(&str, f64)], input: &str) -> f64 {
    let of_input = |path: &str| matches!(split(path), (name, Some(_)) if name == input);
    wholes.iter().filter(|(path, _)| of_input(path)).map(|(_, value)| value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_operation_is_counted_twice() {
        let pipe = |input: &str, accumulate: Option<&str>| ObservedPipe::Tensor {
            input: input.to_string(),
            accumulate: accumulate.map(ToString::to_string),
        };
        let paths =
            [("bf16_dst_fp32", 8.0), ("bf16_dst_fp32_sparsity_off", 8.0), ("fp16", 10.0), ("fp16_dst_fp32", 6.0)];
        assert_eq!(
            operations(&paths),
            [(pipe("bf16", Some("fp32")), 8.0), (pipe("fp16", None), 4.0), (pipe("fp16", Some("fp32")), 6.0)]
        );
        let parts = [("int8_sparsity_off", 3.0), ("int8_sparsity_on", 4.0), ("tf32_dst_fp32", 0.0)];
        assert_eq!(operations(&parts), [(pipe("int8", None), 7.0)]);
        assert_eq!(operations(&[("fp16", 6.0), ("fp16_dst_fp32", 6.0)]), [(pipe("fp16", Some("fp32")), 6.0)]);
    }
}
