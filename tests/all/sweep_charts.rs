//! `chart lines`, `heatmap`, `pareto`, `tornado` and `multiples`: tables of points drawn, thinned and refused.

use std::fmt::Write;

use crate::place::{Place, table, text};

const HEADER: &str =
    "point,m,n,k,dtype,gpu,memory.dram.bandwidth,predicted_us,low_us,high_us,bound,usd_per_million,gpu_name,error";

/// A table as a sweep writes it: two GPUs, two bandwidths, sizes; one point cannot run.
fn sweep() -> String {
    let mut text = format!("{HEADER}\n");
    let mut point = 0;
    for (gpu, name, rate) in [("h100-sxm5-80gb", "H100 SXM5 80 GB", 2), ("l40s", "L40S", 1)] {
        for bandwidth in ["3.35 TB/s", "800 GB/s"] {
            for m in [128, 1024, 64, 4096] {
                for n in [512, 1024] {
                    point += 1;
                    let start = format!("{point},{m},{n},4096,bf16,{gpu},{bandwidth}");
                    if (m, n, gpu) == (64, 512, "l40s") {
                        writeln!(text, "{start},,,,,,{name},\"too small, says nobody\"").unwrap();
                        continue;
                    }
                    let us = f64::from(5 + m * n / 40_000 / rate);
                    let bound = if m > 128 { "math" } else { "memory" };
                    writeln!(
                        text,
                        "{start},{us},{},{},{bound},{},{name},",
                        us * 0.9,
                        us * 1.1,
                        us / f64::from(4 - rate)
                    )
                    .unwrap();
                }
            }
        }
    }
    text
}

const SENSITIVITY: &str = "parameter,low_value,high_value,low_us,base_us,high_us,elasticity\n\
    sm.count,106,158,44.3,44.3,44.3,0\nmemory.dram.bandwidth,2.68 TB/s,4.02 TB/s,52.1,44.3,39,-0.62\n\
    registers_per_thread,128,255,45.1,44.3,47.9,0.03\n";

const KINDS: [&[&str]; 5] = [
    &["lines", "s.csv", "--x", "m", "--by", "gpu,memory.dram.bandwidth", "--only", "n=512"],
    &["heatmap", "s.csv", "--x", "m", "--y", "n", "--only", "gpu=l40s", "--only", "memory.dram.bandwidth=0.8 TB/s"],
    &["pareto", "s.csv", "--x", "usd_per_million"],
    &["tornado", "t.csv"],
    &["multiples", "s.csv", "--x", "m", "--panels", "memory.dram.bandwidth", "--by", "gpu", "--only", "n=1024"],
];

fn place() -> Place {
    let place = Place::new();
    place.file("s.csv", sweep());
    place.file("t.csv", SENSITIVITY);
    place
}

fn chart<'a>(words: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["chart"], words, more].concat()
}

#[test]
fn each_kind_has_its_words_in_every_form() {
    let place = place();
    let says: [&[&str]; 5] = [
        &[
            "Predicted time over M",
            "h100-sxm5-80gb, 800 GB/s",
            "K = 4,096",
            "2 points without predicted_us",
            "too small",
        ],
        &["Predicted time over M and N", "memory", "math", "no value", "L40S"],
        &[
            "Predicted time against USD per million",
            "L40S: M = 64",
            "of USD per million less is better",
            "H100 SXM5 80 GB",
        ],
        &["Sensitivity of the time", "2.68 TB/s: 52.1 us", "4.02 TB/s: 39 us", "hollow at its low value", "elasticity"],
        &["by DRAM bandwidth", "800 GB/s", "3.35 TB/s", "l40s", "N = 1,024"],
    ];
    for (words, says) in KINDS.into_iter().zip(says) {
        let svg = place.out(&chart(words, &[]));
        assert!(
            svg.starts_with("<svg role=\"img\"") && svg.contains("<desc>") && svg.contains("Wavecast 0.1.0"),
            "{words:?}"
        );
        for part in says {
            assert!(svg.contains(part), "{words:?}: no `{part}`");
        }
        assert!(svg == place.out(&chart(words, &[])), "{words:?}");
        assert!(svg != place.out(&chart(words, &["--theme", "dark"])), "{words:?}");
        let data = place.out(&chart(words, &["--data"]));
        table(&data);
        place.out(&chart(words, &["-o", "c.csv"]));
        place.out(&chart(words, &["-o", "c.svg"]));
        assert!((text(&place.read("c.csv")), text(&place.read("c.svg"))) == (data, svg), "{words:?}");
        if cfg!(feature = "png") {
            place.out(&chart(words, &["-o", "c.png"]));
            assert!(place.read("c.png").starts_with(b"\x89PNG"), "{words:?}");
        }
    }
}

#[test]
fn data_are_the_rows_by_rising_size() {
    let place = place();
    let data = table(&place.out(&chart(KINDS[0], &["--data"])));
    assert_eq!(data[0], ["series", "m", "predicted_us", "bound"]);
    let series: Vec<&str> = data[1..].iter().step_by(4).map(|r| r[0].as_str()).collect();
    assert_eq!(series, ["h100-sxm5-80gb, 800 GB/s", "h100-sxm5-80gb, 3.35 TB/s", "l40s, 800 GB/s", "l40s, 3.35 TB/s"]);
    let sizes: Vec<&str> = data[9..13].iter().map(|r| r[1].as_str()).collect();
    assert_eq!((sizes, data[9][2].as_str(), data[10][2].as_str()), (vec!["64", "128", "1024", "4096"], "", "6"));
    let data = table(&place.out(&chart(KINDS[1], &["--data"])));
    assert_eq!(data.len(), 9, "a quantity is found by its value: 0.8 TB/s is 800 GB/s");
    let data = table(&place.out(&chart(KINDS[3], &["--data"])));
    let names: Vec<&str> = data[1..].iter().map(|r| r[0].as_str()).collect();
    assert_eq!(names, ["memory.dram.bandwidth", "registers_per_thread", "sm.count"]);
    let best = |more: &[&str]| {
        let rows = table(&place.out(&chart(KINDS[2], &[&["--data"], more].concat())));
        rows.into_iter().filter(|r| r[4] == "yes").map(|r| r[0].clone() + ": " + &r[1]).collect::<Vec<_>>()
    };
    assert!(best(&[]).iter().all(|b| b.contains("M = 64") || b.contains("M = 128")), "{:?}", best(&[]));
    assert!(best(&["--max", "usd_per_million", "--max", "predicted_us"]).iter().all(|b| b.contains("M = 4,096")));
}

#[test]
fn bytes_depend_neither_on_the_order_of_rows_nor_on_line_ends() {
    let place = place();
    let sweep = sweep();
    let mut lines: Vec<&str> = sweep.lines().collect();
    // Words keep the order of their first row.
    lines[3..9].reverse();
    place.file("r.csv", lines.join("\n"));
    place.file("crlf.csv", format!("\u{feff}{}", sweep.replace('\n', "\r\n")));
    for words in KINDS.into_iter().filter(|k| k[1] == "s.csv") {
        let of = |file: &'static str| {
            let words: Vec<&str> = words.iter().map(|w| if *w == "s.csv" { file } else { w }).collect();
            place.out(&chart(&words, &[]))
        };
        assert!(of("crlf.csv") == of("s.csv"), "{words:?}");
        // A reason names its line, and points on one place stand as in the table.
        if words[0] != "pareto" {
            assert!(of("r.csv") == of("s.csv"), "{words:?}");
        }
    }
    let mut command = place.command(&["chart", "lines", "-", "--x", "m", "--by", "gpu"]);
    let run = command.write_stdin(sweep.clone()).assert().success();
    let piped = text(&run.get_output().stdout);
    assert!(piped == place.out(&["chart", "lines", "s.csv", "--x", "m", "--by", "gpu"]));
    // Behind what was varied besides.
    assert!(piped.contains("Several points at") && piped.contains("memory.dram.bandwidth)"), "{piped}");
}

#[test]
fn ten_thousand_points_take_at_most_two_megabytes() {
    let place = Place::new();
    let mut rows = String::from("m,n,gpu,predicted_us,usd_per_million,bound,error\n");
    for point in 0..10_000_u64 {
        let (m, n) = (point % 100 + 1, point / 100 + 1);
        let noise = point.wrapping_mul(6_364_136_223_846_793_005) >> 40;
        let bound = ["math", "memory", "latency"][noise as usize % 3];
        let us = if point == 5050 { 99_999_999 } else { noise + 1 };
        writeln!(rows, "{m},{n},g{},{us},{},{bound},", point % 6, noise % 1000 + 1).unwrap();
    }
    place.file("s.csv", rows);
    for words in [
        &["lines", "s.csv", "--x", "m", "--by", "gpu"][..],
        &["heatmap", "s.csv", "--x", "m", "--y", "n"],
        &["pareto", "s.csv", "--x", "usd_per_million"],
        &["multiples", "s.csv", "--x", "n", "--panels", "gpu"],
    ] {
        let svg = place.out(&chart(words, &[]));
        assert!(svg.len() < 2_000_000, "{words:?}: {}", svg.len());
        let data = place.out(&chart(words, &["--data"]));
        assert_eq!(data.lines().count(), 10_001, "{words:?}");
        assert!(svg.contains("99999999") || svg.contains("100000000") || svg.contains("100 s"), "{words:?}");
    }
}

#[test]
fn tables_that_cannot_be_drawn() {
    let place = place();
    let many: String = (0..1000).flat_map(|s| [format!("1,s{s},4\n"), format!("2,s{s},5\n")]).collect();
    for (name, rows) in [
        ("empty.csv", String::new()),
        ("header.csv", "m,predicted_us\n".into()),
        ("word.csv", "m,predicted_us\n1,2\n2,fast\n".into()),
        ("zero.csv", "m,predicted_us\n1,2\n0,3\n".into()),
        ("short.csv", "m,predicted_us\n1,2\n3\n".into()),
        ("twice.csv", "m,m,predicted_us\n1,2,3\n".into()),
        ("errors.csv", "m,n,predicted_us,error\n1,1,,no such type\n2,1,NaN,\n".into()),
        ("many.csv", format!("m,s,predicted_us\n{many}")),
        ("wide.csv", format!("{},predicted_us\n{}1\n", "c".repeat(3000), "1,")),
        ("base.csv", SENSITIVITY.replace("45.1,44.3", "45.1,50")),
    ] {
        place.file(name, rows);
    }
    place.file("latin.csv", b"m,predicted_us\n1,\xb5\n");
    for (words, says) in [
        (&["lines", "s.csv", "--x", "M_"][..], &["`s.csv`", "no column `M_`", "did you mean `m`"][..]),
        (&["lines", "s.csv", "--x", "m", "--y", "predicted"], &["did you mean `predicted_us`"]),
        (&["lines", "s.csv", "--x", "m", "--y", "gpu"], &["line 2", "gpu = `h100-sxm5-80gb`", "not a number"]),
        (&["lines", "s.csv", "--x", "m", "--by", "m"], &["columns that differ"]),
        (&["lines", "s.csv", "--x", "gpu", "--log", "x"], &["gpu holds words"]),
        (&["lines", "s.csv", "--x", "m", "--only", "gpu"], &["--only `gpu`", "COLUMN=VALUE"]),
        (&["lines", "s.csv", "--x", "m", "--only", "gpu=a100"], &["gpu = `a100`", "it has h100-sxm5-80gb, l40s"]),
        (&["lines", "s.csv"], &["--x"]),
        (&["lines", "none.csv", "--x", "m"], &["none.csv"]),
        (&["lines", "empty.csv", "--x", "m"], &["`empty.csv`", "empty", "header"]),
        (&["lines", "header.csv", "--x", "m"], &["no row below the header"]),
        (&["lines", "word.csv", "--x", "m"], &["`word.csv`, line 3", "predicted_us = `fast`", "leave the cell empty"]),
        (&["lines", "zero.csv", "--x", "m", "--log", "xy"], &["line 3", "m = 0", "leave out --log"]),
        (&["lines", "short.csv", "--x", "m"], &["line 3", "1 cell below a header of 2"]),
        (&["lines", "twice.csv", "--x", "m"], &["places 1 and 2"]),
        (&["lines", "latin.csv", "--x", "m"], &["line 2", "UTF-8"]),
        (&["lines", "errors.csv", "--x", "m"], &["no row has both m and predicted_us", "line 2: no such type"]),
        (&["heatmap", "errors.csv", "--x", "m", "--y", "n"], &["line 2: no such type"]),
        (&["lines", "many.csv", "--x", "m", "--by", "s"], &["--by s gives 1000 curves", "6", "--only s="]),
        (&["multiples", "many.csv", "--x", "m", "--panels", "s"], &["--panels s gives 1000 panels", "12"]),
        (&["lines", "wide.csv", "--x", "zzz"], &["no column `zzz`"]),
        (&["heatmap", "s.csv", "--x", "m", "--y", "m"], &["three columns"]),
        (&["pareto", "s.csv", "--x", "usd_per_million", "--max", "m"], &["--max m", "on no axis"]),
        (&["pareto", "s.csv", "--x", "gpu"], &["line 2", "gpu = `h100-sxm5-80gb`"]),
        (&["tornado", "s.csv"], &["no column `parameter`"]),
        (&["tornado", "base.csv"], &["line 4: base_us = 50 is not the 44.3 of line 2"]),
        (&["lines", "s.csv", "--x", "m", "-o", "c.jpg"], &["c.jpg"]),
    ] {
        place.refused(&chart(words, &[]), says);
    }
}

#[test]
fn odd_values_are_drawn_and_said() {
    let place = Place::new();
    place.file("odd.csv", "m,n,predicted_us\n1,1,NaN\n2,1,inf\n3,1,5\n4,1,1e300\n5,2,-1e300\n5,2,7\n,2,8\n");
    let svg = place.out(&["chart", "lines", "odd.csv", "--x", "m", "--by", "n"]);
    for part in ["2 points without predicted_us", "1 point without M left out", "Several points at 1 value of M"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let svg = place.out(&["chart", "heatmap", "odd.csv", "--x", "m", "--y", "n"]);
    assert!(svg.contains("1 pair with several points: the largest predicted_us is drawn"), "{svg}");
    place.out(&["chart", "pareto", "odd.csv", "--x", "m"]);
    place.file("one.csv", "m,n,predicted_us\n3,4,5\n");
    for words in [
        &["lines", "one.csv", "--x", "m"][..],
        &["heatmap", "one.csv", "--x", "m", "--y", "n", "--log-z"],
        &["pareto", "one.csv", "--x", "m"],
        &["multiples", "one.csv", "--x", "m", "--panels", "n"],
    ] {
        let svg = place.out(&chart(words, &[]));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{words:?}");
    }
}

#[test]
fn predictions_of_a_table_are_drawn_as_they_come() {
    let place = Place::new();
    let rows: String = (1..40).map(|i| format!("gemm,bf16,{},4096,4096,h100-sxm5-80gb\n", i * 128)).collect();
    place.file("ask.csv", format!("op,dtype,m,n,k,gpu\n{rows}gemm,fp4,128,4096,4096,a100-sxm4-80gb\n"));
    place.run(&["predict", "--batch", "ask.csv", "--output", "p.csv"]);
    let svg = place.out(&["chart", "lines", "p.csv", "--x", "m", "--only", "dtype=bf16"]);
    assert!(svg.contains("H100 SXM5 80 GB") && svg.contains("N = 4,096"), "{svg}");
}
