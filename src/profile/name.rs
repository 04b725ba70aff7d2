//! Kernel names short enough for a table: demangled C++ names run to several kB.

use std::collections::{BTreeMap, BTreeSet};

/// Longest short name, in characters.
const LIMIT: usize = 40;

/// Names that only wrap what their first template argument names.
const WRAPPERS: [&str; 4] = ["Kernel", "Kernel2", "GemmUniversal", "device_kernel"];

/// A kernel name for display, at most 40 characters: the [`plain_name`], with an ellipsis in the middle where it is
/// longer.
pub fn short_name(name: &str) -> String {
    elided(&plain_name(name), LIMIT)
}

/// A kernel name without return type, template arguments and parameters, with at most two namespaces. Generic wrappers
/// such as `cutlass::Kernel2<X>` are shown as their template argument `X`.
pub fn plain_name(name: &str) -> String {
    let plain = base(name);
    let own = plain.rsplit("::").next().unwrap_or_default();
    let wrapped = if WRAPPERS.contains(&own) { first_argument(name).map(base) } else { None };
    let chosen = wrapped.filter(|inner| !inner.is_empty()).unwrap_or(plain);
    let chosen = if chosen.is_empty() { name.split_whitespace().collect::<Vec<_>>().join(" ") } else { chosen };
    if chosen.is_empty() { "(unnamed)".to_string() } else { chosen }
}

/// Plain names of kernels shown together, one per name given. Different kernels whose plain names are equal, or too
/// long to see where they differ, get what tells them apart in brackets: `gemm [float]` and `gemm [half]`.
pub fn telling_names(names: &[&str]) -> Vec<String> {
    let mut groups: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for name in names {
        groups.entry(short_name(name)).or_default().insert(name);
    }
    let telling = |name: &&str| {
        let group: Vec<&str> = groups.get(&short_name(name)).map(|g| g.iter().copied().collect()).unwrap_or_default();
        match telling_part(name, &group) {
            Some(part) => format!("{} [{part}]", plain_name(name)),
            None => plain_name(name),
        }
    };
    names.iter().map(telling).collect()
}

/// Longest part that tells names apart, in characters.
const PART: usize = 24;

/// What tells `name` from the others: the fewest words of their difference that no other has there.
fn telling_part(name: &str, all: &[&str]) -> Option<String> {
    if all.len() < 2 {
        return None;
    }
    let own = difference(name, all)?;
    let others: Vec<&str> = all.iter().filter(|n| **n != name).filter_map(|n| difference(n, all)).collect();
    let ends = own.char_indices().filter(|(_, c)| !c.is_alphanumeric()).map(|(at, _)| at).chain([own.len()]);
    let leading = ends.map(|end| own.get(..end).unwrap_or_default()).filter(|part| !part.is_empty());
    let part = leading.into_iter().find(|part| !others.iter().any(|o| starts_with_word(o, part))).unwrap_or(own);
    Some(if part.trim().is_empty() { "-".into() } else { elided(part.trim(), PART) })
}

fn starts_with_word(text: &str, start: &str) -> bool {
    text.strip_prefix(start).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// What stands in `name` between the beginning and the end that all names share, in whole words.
fn difference<'a>(name: &'a str, all: &[&str]) -> Option<&'a str> {
    let others = || all.iter().filter(|other| **other != name);
    let start = others().map(|other| {
        let pairs = name.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        pairs.map(|(c, _)| c.len_utf8()).sum::<usize>()
    });
    let start = start.min()?;
    let rest = name.get(start..)?;
    let tail = others().map(|other| {
        let pairs = rest.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b);
        pairs.map(|(c, _)| c.len_utf8()).sum::<usize>()
    });
    let end = name.len() - tail.min()?;
    let word = |c: char| c.is_alphanumeric();
    let start = start - name.get(..start)?.chars().rev().take_while(|c| word(*c)).map(char::len_utf8).sum::<usize>();
    let end = end + name.get(end..)?.chars().take_while(|c| word(*c)).map(char::len_utf8).sum::<usize>();
    name.get(start..end)
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
        let gemm = |of: &str| format!("void gemm<{of}, 128>(P)");
        let (float, half) = (gemm("float"), gemm("half_t"));
        assert_eq!(
            telling_names(&[&float, &half, "copy(int*)", &float]),
            ["gemm [float]", "gemm [half]", "copy", "gemm [float]"]
        );
        let names = ["void scan<1>(int)", "void scan<2, 3>(int)", "void scan<1, 3>(int)", "scan(int)"];
        assert_eq!(
            telling_names(&names),
            ["scan [void scan<1>]", "scan [void scan<2]", "scan [void scan<1,]", "scan [scan]"]
        );
        let long = |n| format!("void f<{}, {n}, {}>()", "a".repeat(99), "b".repeat(99));
        assert_eq!(telling_names(&[&long(1), &long(2)]), ["f [1]", "f [2]"]);
        let tile = |n| format!("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tile{n}_warps4_segment_k_off_kernel");
        let (one, two) = (tile("64x64"), tile("128x64"));
        assert_eq!(telling_names(&[&one, &two]), [format!("{one} [tile64x64]"), format!("{two} [tile128x64]")]);
    }
}
