//! Names of compiled kernels for people.

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

/// Most bytes of a demangled name. Substitutions can make a short symbol grow without end.
const MOST: usize = 1 << 14;

/// Deepest nesting that is followed.
const DEEPEST: u32 = 64;

/// The demangled name of a symbol. OpenMP compilers put a prefix and the source line around a C++ name
/// (`nvkernel__Z3foov_F1L160_9`, `__omp_offloading_10305_40788d__Z3foov_l23`): the line stays, in brackets.
pub(super) fn plain(symbol: &str) -> String {
    let start = match symbol.find("_Z") {
        Some(0) => 0,
        Some(at) if symbol.starts_with("nvkernel_") || symbol.starts_with("__omp_offloading_") => at,
        _ => return symbol.to_string(),
    };
    let mangled = symbol.get(start..).unwrap_or_default();
    let options = ParseOptions::default().recursion_limit(DEEPEST);
    let Ok((parsed, tail)) = BorrowedSymbol::with_tail_and_options(mangled.as_bytes(), &options) else {
        return symbol.to_string();
    };
    let tail = String::from_utf8_lossy(tail);
    let tail = tail.trim_start_matches('_');
    let mut out = Short(String::new());
    let wanted = DemangleOptions::new().recursion_limit(DEEPEST);
    if parsed.structured_demangle(&mut out, &wanted).is_err() || out.0.is_empty() {
        return symbol.to_string();
    }
    match tail {
        "" => out.0,
        // A symbol of C++ alone that does not end here is something else.
        _ if start == 0 => symbol.to_string(),
        tail => format!("{} [{tail}]", out.0),
    }
}

/// Text that stops growing.
struct Short(String);

impl cpp_demangle::DemangleWrite for Short {
    fn write_string(&mut self, part: &str) -> std::fmt::Result {
        if self.0.len() + part.len() > MOST {
            return Err(std::fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_compiler() {
        for (symbol, expected) in [
            ("_Z4copyPf", "copy(float*)"),
            ("_Z4tileILi64EEv4ArgsIXT_EE", "void tile<64>(Args<64>)"),
            ("nvkernel__Z3sumPKdPdii_F1L160_9", "sum(double const*, double*, int, int) [F1L160_9]"),
            ("__omp_offloading_10305_40788d__Z3sumPd_l23", "sum(double*) [l23]"),
            ("__omp_offloading_10305_40788d_main_l23", "__omp_offloading_10305_40788d_main_l23"),
            ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
            ("my_Zebra", "my_Zebra"),
            ("_Z", "_Z"),
            ("_Z4copyPf and more", "_Z4copyPf and more"),
            ("", ""),
        ] {
            assert_eq!(plain(symbol), expected, "{symbol}");
        }
    }

    #[test]
    fn names_that_grow_stay_as_they_are() {
        // f(A<int, int>, A<the one before, the one before>, ...): 30 of them are 3 GB.
        let id = |n: u32| char::from_digit(n, 36).unwrap_or('0').to_ascii_uppercase();
        let doubled: String = (0..30).map(|n| format!("S_IS{0}_S{0}_E", id(n))).collect();
        let symbol = format!("_Z1f1AIiiE{doubled}");
        assert_eq!(plain(&symbol), symbol);
        assert_eq!(plain("_Z1f1AIiiES_IS0_S0_E"), "f(A<int, int>, A<A<int, int>, A<int, int> >)");
        for symbol in [format!("_Z1f{}v", "P".repeat(100_000)), format!("_Z1f{}", "I1a".repeat(50_000))] {
            assert_eq!(plain(&symbol), symbol);
        }
    }
}
