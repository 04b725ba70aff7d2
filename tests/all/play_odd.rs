//! The page under odd addresses: extreme and random values of every key, on every path; always an answer, never a panic.

use proptest::prelude::*;
use wavecast::{
    gpu::Catalog,
    page::{Site, encoded},
};

/// Keys of every kind of run with the values that are most likely to break something.
const KEYS: [(&str, &[&str]); 38] = [
    ("op", &["gemm", "kernel", "simulate", "memory", "crossover"]),
    ("gpu", &["h100-sxm5-80gb", "mi300x", "v100-sxm2-16gb", "rtx-4090", "b200", "epyc-9654"]),
    ("mig", &["1g.10gb", "7g.80gb", ""]),
    ("m", &["1", "1048576", "37"]),
    ("n", &["1", "1048576", "4294967296", "2"]),
    ("k", &["1", "1048576", "8191"]),
    ("dtype", &["fp64", "int8", "fp4", "bf16", "fp8"]),
    ("tile", &["64x64", "256x128", "1x1"]),
    ("sparse", &["0", "1"]),
    ("l2", &["cold", "warm", "weights"]),
    ("grid", &["1", "2147483647", "20000"]),
    ("block", &["1", "1024", "33"]),
    ("regs", &["1", "255", "512"]),
    ("smem", &["0", "232448", "1048576"]),
    ("pipe", &["vector.fp64", "tensor.fp8", "tensor.int8", "vector.int32"]),
    ("flop", &["0", "1e9", "1e-300"]),
    ("read", &["0", "1e9", "1e-300"]),
    ("write", &["0", "1e9"]),
    ("flight", &["1", "1024"]),
    ("blocks", &["1", "20000", "132"]),
    ("ms", &["0.000001", "1000000"]),
    ("net", &["llama-3.1-8b", "none", "deepseek-v3"]),
    ("billions", &["0.001", "1000000"]),
    ("phase", &["train", "inference"]),
    ("batch", &["1", "65536"]),
    ("seq", &["1", "1048576"]),
    ("dp", &["1", "65536"]),
    ("zero", &["0", "3"]),
    ("kind", &["gemm", "axpy", "reduction", "softmax", "copy"]),
    ("cpu", &["epyc-9654", "h100-sxm5-80gb"]),
    ("place", &["host", "input", "resident"]),
    ("reuse", &["1", "1000000"]),
    ("low", &["1", "4294967295"]),
    ("sm", &["1", "1024"]),
    ("bw", &["0.01", "100"]),
    ("clock", &["0.1", "5"]),
    ("lab", &["1", "5", "9", "12"]),
    ("guess", &["1e308", "-1", "0", "%", "1 ms"]),
];

/// Pages and charts; a timeline of a long grid is refused, so that each of them is fast.
const PATHS: [&str; 9] = [
    "/",
    "/part",
    "/api/state.json",
    "/chart/roofline.csv",
    "/chart/waves.svg",
    "/chart/timeline.svg",
    "/chart/occupancy.svg",
    "/chart/mig.svg",
    "/chart/crossover.svg",
];

/// A query of some of the keys, some with a random value.
fn query() -> impl Strategy<Value = String> {
    let pair = (0..KEYS.len(), any::<prop::sample::Index>(), "[-0-9a-z.%é<]{1,6}", 0..10_u8);
    prop::collection::vec(pair, 0..14).prop_map(|pairs| {
        let mut taken = std::collections::BTreeMap::new();
        for (key, value, random, odd) in pairs {
            let (key, values) = KEYS[key];
            let value = if odd == 0 { random } else { value.get(values).to_string() };
            taken.entry(key).or_insert_with(|| encoded(&value));
        }
        taken.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn every_address_is_answered(query in query(), path in 0..PATHS.len()) {
        thread_local!(static SITE: Site = Site::new(Catalog::embedded().unwrap()));
        let reply = SITE.with(|site| site.reply(PATHS[path], &query));
        prop_assert!([200, 400, 404].contains(&reply.status), "{} {query}: {}", PATHS[path], reply.status);
        let text = String::from_utf8_lossy(&reply.body);
        prop_assert!(!text.is_empty());
        for odd in ["NaN", ">inf<", " inf ", ">inf "] {
            prop_assert!(reply.status != 200 || !text.contains(odd), "{odd} at {} {query}", PATHS[path]);
        }
    }
}
