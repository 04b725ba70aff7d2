//! Kernel names short enough for a table: demangled C++ names run to several kB.

use std::collections::{BTreeMap, BTreeSet};

/// Longest short name, in characters.
const LIMIT: usize = 40;

/// Names that only wrap what their first template argument names.
const WRAPPERS: [&str; 4] = ["Kernel", "Kernel2", "GemmUniversal", "device_kernel"];

/// A kernel name for display, at most 40 characters: without return type, template arguments and parameters, with at
/// most two namespaces, and with an ellipsis in the middle where it is still too long. Generic wrappers such as
/// `cutlass::Kernel2<X>` are shown as their template argument `X`.
pub fn short_name(name: &str) -> String {
    let plain = base(name);
    let own = plain.rsplit("::").next().unwrap_or_default();
    let wrapped = if WRAPPERS.contains(&own) { first_argument(name).map(base) } else { None };
    let chosen = wrapped.filter(|inner| !inner.is_empty()).unwrap_or(plain);
    let chosen = if chosen.is_empty() { name.split_whitespace().collect::<Vec<_>>().join(" ") } else { chosen };
    if chosen.is_empty() { "(unnamed)".to_string() } else { elided(&chosen, LIMIT) }
}

/// Short names of kernels shown together, one per name given. Different kernels whose short names are equal get what
/// tells them apart in brackets: `gemm [float]` and `gemm [half]`.
pub fn telling_names(names: &[&str]) -> Vec<String> {
    let mut groups: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for name in names {
        groups.entry(short_name(name)).or_default().insert(name);
    }
    let telling = |name: &&str| {
        let short = short_name(name);
        let group: Vec<&str> = groups.get(&short).map(|g| g.iter().copied().collect()).unwrap_or_default();
        match difference(name, &group) {
            Some(part) => format!("{short} [{part}]"),
            None => short,
        }
    };
    names.iter().map(telling).collect()
}

/// Longest part that tells names apart, in characters.
const PART: usize = 24;

/// What stands in `name` between the beginning and the end that all names share, in whole words.
fn difference(name: &str, all: &[&str]) -> Option<String> {
    if all.len() < 2 {
        return None;
    }
    let chars: Vec<char> = name.chars().collect();
    let others = || all.iter().filter(|other| **other != name);
    let same = |a: &mut dyn Iterator<Item = char>, b: &mut dyn Iterator<Item = char>| {
        a.zip(b).take_while(|(a, b)| a == b).count()
    };
    let mut start = others().map(|other| same(&mut name.chars(), &mut other.chars())).min()?;
    let mut tail = others().map(|other| same(&mut name.chars().rev(), &mut other.chars().rev())).min()?;
    tail = tail.min(chars.len() - start);
    let word = |c: &char| c.is_alphanumeric() || *c == '_' || *c == ':';
    while start > 0 && chars.get(start - 1).is_some_and(word) {
        start -= 1;
    }
    while tail > 0 && chars.get(chars.len() - tail).is_some_and(word) {
        tail -= 1;
    }
    let part: String = chars.get(start..chars.len() - tail).unwrap_or_default().iter().collect();
    let part = part.trim();
    Some(if part.is_empty() { "-".into() } else { elided(part, PART) })
}

/// The qualified name alone, with at most its last two namespaces.
fn base(name: &str) -> String {
    let name = name.replace("(anonymous namespace)::", "").replace("<unnamed>::", "");
    let name = name.strip_prefix("unnamed>::").unwrap_or(&name);
    let flat = flatten(name);
    let flat = flat.split(" [clone").next().unwrap_or_default().trim();
    // What stands before the last space is the return type, except after `operator`.
    let qualified = match flat.rfind(' ') {
        Some(at) if !flat.contains("operator ") => flat.get(at + 1..).unwrap_or_default(),
        _ => flat,
    };
    let parts: Vec<&str> = qualified.split("::").filter(|part| !part.is_empty()).collect();
    parts.get(parts.len().saturating_sub(3)..).unwrap_or_default().join("::")
}

/// The name without template arguments, up to its parameter list. `operator<`, `operator()` and the like stay.
fn flatten(name: &str) -> String {
    let mut flat = String::new();
    let mut depth = 0_usize;
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if depth == 0 && flat.ends_with("operator") && matches!(c, '<' | '>' | '(' | '-') {
            let symbol = ["<<", ">>", "<=", ">=", "()", "->", "<", ">", "-"];
            let found = symbol.iter().find_map(|s| rest.strip_prefix(s.get(1..)?).filter(|_| s.starts_with(c)));
            flat.push(c);
            if let Some(after) = found {
                flat.push_str(rest.get(..rest.len() - after.len()).unwrap_or_default());
                rest = after;
            }
            continue;
        }
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '(' if !flat.trim().is_empty() => break,
            '(' | ')' => {}
            _ => flat.push(c),
        }
    }
    flat
}

/// The first template argument, without a leading `cutlass::` keyword such as `class`.
fn first_argument(name: &str) -> Option<&str> {
    let start = name.find('<')? + 1;
    let inner = name.get(start..)?;
    let mut depth = 0_usize;
    let end = inner.find(|c: char| {
        match c {
            '<' => depth += 1,
            '>' if depth == 0 => return true,
            '>' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    inner.get(..end.unwrap_or(inner.len()))
}

/// At most `limit` characters, the first and the last ones around an ellipsis.
fn elided(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_string();
    }
    let head: String = text.chars().take(limit / 2 - 1).collect();
    let tail: String = text.chars().skip(count - limit / 2).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_kind() {
        for (name, short) in [
            ("flux(int,int*,float*,float*)", "flux"),
            ("void saxpy<float, 4>(float, const float *)", "saxpy"),
            ("void a::b::c::d::scan<T<1, (Mode)2>, b::U>(T<1>)", "c::d::scan"),
            ("void at::native::vectorized_elementwise_kernel<4, X>(int)", "at::native::vectorized_elementwise_kernel"),
            ("unnamed>::saxpy_kernel(float, const float *)", "saxpy_kernel"),
            ("void (anonymous namespace)::fill<int>(int*)", "fill"),
            ("ns::Op::operator()(int) const", "ns::Op::operator()"),
            ("void ns::operator<< <int>(int)", "ns::operator<<"),
            ("void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16>(P)", "cutlass_80_tensorop_s16816gemm_f16"),
            ("void cutlass::device_kernel<ns::fa::Forward<1, 2>>(P)", "ns::fa::Forward"),
            ("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"),
            ("copy(float*) [clone .kd]", "copy"),
            ("void unclosed<int, (", "unclosed"),
            ("<<<", "<<<"),
            ("", "(unnamed)"),
            ("  ", "(unnamed)"),
        ] {
            let expected = elided(short, LIMIT);
            assert_eq!(short_name(name), expected, "{name}");
        }
    }

    #[test]
    fn long_names_keep_both_ends() {
        let short = short_name("cudnn_generated_fort_native_sdpa_sm100_flash_fprop_f16_knob_7_128x128x128_4x1x1");
        assert_eq!(short, "cudnn_generated_for…_7_128x128x128_4x1x1");
        assert_eq!(short.chars().count(), LIMIT);
        assert_eq!(short_name(&"é".repeat(50)).chars().count(), LIMIT);
    }

    #[test]
    fn names_that_look_alike_are_told_apart() {
        let names = ["void gemm<float, 128>(P)", "void gemm<half_t, 128>(P)", "copy(int*)", "void gemm<float, 128>(P)"];
        assert_eq!(telling_names(&names), ["gemm [float]", "gemm [half_t]", "copy", "gemm [float]"]);
        let names = ["void scan<1>(int)", "void scan<2>(int)", "scan(int)"];
        assert_eq!(telling_names(&names), ["scan [void scan<1>]", "scan [void scan<2>]", "scan [scan]"]);
        let long = |n| format!("void f<{}, {n}, {}>()", "a".repeat(99), "b".repeat(99));
        let (one, two) = (long(1), long(2));
        assert_eq!(telling_names(&[&one, &two]), ["f [1]", "f [2]"]);
    }
}
