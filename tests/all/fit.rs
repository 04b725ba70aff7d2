//! `fit`: what holds a network, how fast, at what price; slices of MIG against taking turns.

use serde_json::Value;
use wavecast::{
    fit::Prices,
    gpu::Catalog,
    memory::{Inference, Subject},
    network::named,
};

use crate::place::Place;

fn rows(place: &Place, words: &[&str]) -> Vec<Value> {
    serde_json::from_str(&place.out(&[&["fit"], words, &["--format", "json", "--quiet"]].concat())).unwrap()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row}"))
}

#[test]
fn every_offer_holds_the_network_and_adds_up() {
    let place = Place::new();
    let rows = rows(&place, &["llama-3.1-8b", "--batch", "16", "--seq", "4096"]);
    assert!(rows.len() > 40, "{}", rows.len());
    for row in &rows {
        assert!(number(row, "need_gib") <= number(row, "capacity_gib"), "{row}");
        assert!(number(row, "low_ms") <= number(row, "time_ms") && number(row, "time_ms") <= number(row, "high_ms"));
        let rate = 16.0 / number(row, "time_ms") * 1e3;
        assert!((number(row, "tokens_per_s") / rate - 1.0).abs() < 2e-3, "{row}");
        if let Some(cost) = row["usd_per_million_tokens"].as_f64() {
            let wanted = number(row, "usd_per_hour") / 3600.0 / rate * 1e6;
            assert!((cost / wanted - 1.0).abs() < 2e-3, "{row}");
        }
    }
    // Fewest GPUs first, of these the smallest.
    let size = |row: &Value| (number(row, "gpus"), number(row, "capacity_gib"));
    assert!(rows.windows(2).all(|pair| size(&pair[0]) <= size(&pair[1])), "{rows:?}");
    let h100 = rows.iter().find(|row| row["gpu"] == "h100-sxm5-80gb").unwrap();
    let asked = Inference { batch: 16, sequence: 4096, ..Inference::default() };
    let need = asked.anatomy(Subject::Network(&named("llama-3.1-8b").unwrap())).unwrap().total();
    assert!((number(h100, "need_gib") - need.get() / f64::from(1 << 30)).abs() < 0.06, "{need}");
    let one = model(
        &place,
        &["llama-3.1-8b", "--phase", "decode", "--batch", "16", "--seq", "4096", "--gpu", "h100-sxm5-80gb"],
    );
    assert!((number(h100, "time_ms") * 1e3 / number(&one, "time_us") - 1.0).abs() < 1e-3);
}

fn model(place: &Place, words: &[&str]) -> Value {
    serde_json::from_str(&place.out(&[&["model"], words, &["--format", "json", "--quiet"]].concat())).unwrap()
}

#[test]
fn targets_decide_the_order_and_the_number_of_gpus() {
    let place = Place::new();
    let words = ["llama-3.1-70b", "--batch", "4", "--gpu", "h100-sxm5-80gb", "--gpu", "a100-sxm4-80gb"];
    let plain = rows(&place, &words);
    let fast = rows(&place, &[&words[..], &["--max-latency", "20ms"]].concat());
    let gpus = |rows: &[Value], gpu: &str| number(rows.iter().find(|row| row["gpu"] == gpu).unwrap(), "gpus");
    // 141 GB of weights.
    assert_eq!(gpus(&plain, "h100-sxm5-80gb"), 2.0);
    assert!(gpus(&fast, "a100-sxm4-80gb") >= gpus(&plain, "a100-sxm4-80gb"));
    for row in fast.iter().filter(|row| row["meets_target"] == "yes") {
        assert!(number(row, "time_ms") <= 20.0, "{row}");
    }
    // By time as many as make the step shortest.
    let fastest = rows(&place, &[&words[..], &["--by", "time"]].concat());
    assert!(gpus(&fastest, "h100-sxm5-80gb") > gpus(&plain, "h100-sxm5-80gb"), "{fastest:?}");
    let times: Vec<f64> = fastest.iter().map(|row| number(row, "time_ms")).collect();
    assert!(times.is_sorted(), "{times:?}");
    // Any number of GPUs that divides the heads, not powers of two alone.
    let six = rows(&place, &["gpt3-175b", "--most", "7", "--gpu", "h100-sxm5-80gb"]);
    assert_eq!(gpus(&six, "h100-sxm5-80gb"), 6.0);
    // Nothing meets it: what holds the network is still shown, with exit code 1.
    place.run(&[&["fit"], &words[..], &["--max-latency", "1us"]].concat()).code(1);
    let cheap = rows(&place, &["llama-3.1-8b", "--by", "cost"]);
    let costs: Vec<f64> = cheap.iter().filter_map(|row| row["usd_per_million_tokens"].as_f64()).collect();
    assert!(costs.len() > 5 && costs.is_sorted(), "{costs:?}");
}

#[test]
fn slices_against_turns_by_hand() {
    let place = Place::new();
    let rows = rows(&place, &["llama-3.1-8b", "--batch", "4", "--gpu", "h100-sxm5-80gb", "--mig"]);
    let three = rows.iter().find(|row| row["slice"] == "3g.40gb").unwrap();
    let one = model(&place, &["llama-3.1-8b", "--phase", "decode", "--batch", "4", "--gpu", "h100-sxm5-80gb:3g.40gb"]);
    let whole = model(&place, &["llama-3.1-8b", "--phase", "decode", "--batch", "4", "--gpu", "h100-sxm5-80gb"]);
    let both = 2.0 * number(&one, "tokens_per_s");
    assert_eq!(number(three, "instances"), 2.0);
    assert!((number(three, "tokens_per_s_of_all_slices") / both - 1.0).abs() < 1e-3, "{three}");
    let turns = number(&whole, "tokens_per_s");
    assert!((number(three, "tokens_per_s_time_shared") / turns - 1.0).abs() < 1e-3, "{three}");
    assert!((number(three, "isolation_cost_pct") - 100.0 * (1.0 - both / turns)).abs() < 0.2, "{three}");
    // A small network takes seven slices.
    let seven = self::rows(&place, &["gpt2", "--seq", "1024", "--gpu", "a100-sxm4-80gb", "--mig"]);
    assert!(seven.iter().any(|row| number(row, "instances") == 7.0), "{seven:?}");
    place.refused(&["fit", "gpt2", "--mig", "--gpu", "l4"], &["no slice of L4"]);
}

#[test]
fn built_in_prices_have_a_source_and_a_gpu() {
    let (prices, catalog) = (Prices::embedded(), Catalog::embedded().unwrap());
    assert!(prices.all().len() >= 14);
    assert_eq!(prices.unknown(&catalog).count(), 0);
    assert!(prices.all().iter().all(|price| !price.source.is_empty() && price.date.starts_with("202")));
}

#[test]
fn prices_of_ones_own_and_what_is_refused() {
    let place = Place::new();
    place.file("p.csv", "gpu,usd_per_gpu_hour\nL4,0.5\nL4,0.4\nno such gpu,1\n");
    let found = rows(&place, &["llama-3.1-8b", "--gpu", "l4", "--prices", "p.csv"]);
    assert_eq!(number(&found[0], "usd_per_hour"), 0.4);
    place.file("bad.csv", "gpu,usd_per_gpu_hour\nL4,free\n");
    place.file("zero.csv", "gpu,usd_per_gpu_hour\nL4,0\n");
    place.file("other.csv", "a,b\n1,2\n");
    let cases: [(&[&str], &[&str]); 10] = [
        (&["llama-3.1-8b", "--prices", "bad.csv"], &["`bad.csv`", "line 2", "free"]),
        (&["llama-3.1-8b", "--prices", "zero.csv"], &["line 2", "L4"]),
        (&["llama-3.1-8b", "--prices", "other.csv"], &["`other.csv`", "usd_per_gpu_hour"]),
        (&["llama-3.1-405b", "--gpu", "l4"], &["fits nowhere", "of 22.4 GiB"]),
        (&["llama-3.1-8b", "--most", "0"], &["--most 0"]),
        (&["llama-3.1-8b", "--min-throughput", "-1"], &["--min-throughput"]),
        (&["llama-3.1-8b", "--seq", "1000000"], &["1000000 tokens", "131072"]),
        (&["llama-3.1-8b", "--set", "sm.count=1"], &["--set needs --gpu"]),
        (&["bert-base"], &["encoder"]),
        (&["llama-3.1-8b", "--most", "1000000"], &["--most 1000000", "1 to 1024"]),
    ];
    for (words, says) in cases {
        place.refused(&[&["fit"], words].concat(), says);
    }
}
