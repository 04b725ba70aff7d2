//! Kernel names short enough for a table: demangled C++ names run to several kB.

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
    if chosen.is_empty() { "(unnamed)".to_string() } else { ellipsis(&chosen) }
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

/// At most forty characters, the first nineteen and the last twenty around an ellipsis.
fn ellipsis(text: &str) -> String {
    let count = text.chars().count();
    if count <= LIMIT {
        return text.to_string();
    }
    let head: String = text.chars().take(LIMIT / 2 - 1).collect();
    let tail: String = text.chars().skip(count - LIMIT / 2).collect();
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
            let expected = ellipsis(short);
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
}
