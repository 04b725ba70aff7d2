//! `chart gemm`, the roofline of a list of matrix products, and the page that reproduces the guide's figures.

use std::{fs, path::Path};

use crate::place::{Place, text};

const A100: [&str; 4] = ["--gpu", "a100-sxm4-80gb", "--dtype", "fp16"];

/// The data of `chart gemm` with these words: header and rows.
fn data(place: &Place, words: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    place.out(&[&["chart", "gemm"], words, &A100, &["-o", "c.csv"]].concat());
    let csv = text(&place.read("c.csv"));
    let mut lines = csv.lines().map(|l| l.split(',').map(str::to_owned).collect::<Vec<_>>());
    (lines.next().unwrap(), lines.collect())
}

#[test]
fn a_sweep_has_the_teeth_of_its_waves() {
    let place = Place::new();
    let words = ["2304", "3072", "4096", "--over", "n", "--range", "1024:8192", "--tile", "256x128", "--split", "1"];
    let (header, rows) = data(&place, &words);
    let column = |name: &str| header.iter().position(|h| h == name).unwrap();
    let at = |n: u64| {
        let row = rows.iter().find(|r| r[column("n")] == n.to_string()).unwrap_or_else(|| panic!("{n} is not sampled"));
        let number = |name: &str| row[column(name)].parse::<f64>().unwrap();
        (number("blocks"), number("waves"), number("utilization_pct"), number("time_us"))
    };
    for (n, blocks, waves, utilization) in
        [(1536, 108.0, 1.0, 100.0), (1537, 117.0, 2.0, 54.2), (3072, 216.0, 2.0, 100.0), (3073, 225.0, 3.0, 69.4)]
    {
        let (found_blocks, found_waves, found_utilization, _) = at(n);
        assert_eq!((found_blocks, found_waves), (blocks, waves), "{n}");
        assert!((found_utilization - utilization).abs() < 0.05, "{n}: {found_utilization}");
    }
    assert!(at(1537).3 > 1.8 * at(1536).3 && rows.len() <= 2000);
    let current: Vec<_> = rows.iter().filter(|r| r[column("current")] == "yes").map(|r| &r[column("n")]).collect();
    assert_eq!(current, ["3072"]);
    assert!(rows.iter().all(|r| r[column("kernel")] == "256x128"));
}

#[test]
fn every_dimension_and_several_tiles() {
    let place = Place::new();
    for (over, column) in [("m", "m"), ("n", "n"), ("k", "k"), ("batch", "batch"), ("mn", "m_n")] {
        let (header, rows) = data(&place, &["512", "512", "256", "--over", over]);
        assert_eq!(header[1], column);
        assert!(rows.len() > 1 && rows.iter().any(|r| r[9] == "yes"), "{over}: the size in question is marked");
    }
    let (_, rows) = data(
        &place,
        &["512", "512", "256", "--over", "k", "--range", "64:512:64", "--tile", "256x128", "--tile", "64x64"],
    );
    let labels: Vec<&str> = rows.iter().map(|r| r[0].as_str()).collect();
    assert_eq!(labels, [["256x128"; 8], ["64x64"; 8]].concat());
    let svg = place.out(&["chart", "gemm", "64", "64", "64", "--over", "m", "--cold"]);
    assert!(svg.starts_with("<svg") && svg.contains("nothing is in L2 at the start"));
    assert_eq!(svg, place.out(&["chart", "gemm", "64", "64", "64", "--over", "m", "--cold"]));
    assert!(place.out(&["chart", "gemm", "64", "64", "64", "--over", "m", "--dtype", "int8"]).contains("TOP/s"));
    let amd = place.out(&["chart", "gemm", "64", "64", "64", "--over", "m", "--gpu", "instinct-mi300x"]);
    assert!(amd.contains("one tile on each of the 304 CUs"), "{amd}");
}

#[test]
fn sweeps_that_cannot_be_drawn() {
    let place = Place::new();
    let gemm = ["chart", "gemm", "64", "64", "64", "--over", "m"];
    for (words, says) in [
        (&["--range", "9:1"][..], &["`9:1`", "LOW:HIGH"][..]),
        (&["--range", "1:100000:2"], &["2000 sizes", "at least 50"]),
        (&["--tile", "256"], &["256", "HEIGHTxWIDTH"]),
        (&["--tile", "100x7"], &["100x7", "those of this GPU are"]),
        (&["--split", "0"], &["0 shares", "1 to 32"]),
        (&["--dtype", "fp4"], &["FP4", "bf16"]),
        (&["--gpu", "epyc-9654"], &["is a CPU"]),
        (&["--gpu", "a100-sxm4-80gb", "--gpu", "l40s"], &["2 times"]),
        (&["--cold", "--warm"], &["--cold", "--warm"]),
        (&["-o", "c.jpg"], &["c.jpg"]),
    ] {
        place.refused(&[&gemm, words].concat(), says);
    }
    place.refused(&["chart", "gemm", "64", "64", "64", "--over", "q"], &["`q`", "batch"]);
    place.refused(&["chart", "gemm", "9", "9999999", "9999999", "--over", "m", "--range", "1:999999999999"], &["1e24"]);
    place.refused(&["chart", "gemm", "0", "64", "64", "--over", "n"], &["m = 0"]);
    let sides = ["8", "16", "32", "64", "96", "128", "160"].map(|side| format!("64x{side}"));
    let seven: Vec<&str> = sides.iter().flat_map(|tile| ["--tile", tile.as_str()]).collect();
    place.refused(&[&gemm, &seven[..]].concat(), &["7 times", "6 curves"]);
    place.refused(&["chart"], &["KIND"]);
    place.refused(&["chart", "tail"], &["FILE"]);
}

const SHAPES: &str = "name,m,n,k,batch,dtype\nqkv,4096,12288,4096,,\nlogits,1,32000,4096,1,fp16\n,128,128,64,32,bf16\n";

#[test]
fn a_list_of_shapes_under_the_roofs() {
    let place = Place::new();
    place.file("shapes.csv", SHAPES);
    let svg = place.out(&["chart", "roofline", "shapes.csv", "--gpu", "a100-sxm4-80gb"]);
    for name in ["qkv", "logits", "32 of 128x128x64", "math-bound", "memory-bound"] {
        assert!(svg.contains(name), "{name}");
    }
    place.out(&["chart", "roofline", "shapes.csv", "--gpu", "a100-sxm4-80gb", "-o", "r.csv"]);
    let csv = text(&place.read("r.csv"));
    let number = |row: &str, column: usize| row.split(',').nth(column).unwrap().parse::<f64>().unwrap();
    let row = |name: &str| csv.lines().find(|l| l.contains(name)).unwrap();
    let qkv = row(",qkv,");
    assert!(qkv.contains("math-bound") && (200e12..312e12).contains(&number(qkv, 6)), "{qkv}");
    let logits = row(",logits,");
    // Weights come from DRAM; the one row of A and of C does not count.
    assert!((number(logits, 5) - 1.0).abs() < 1e-3 && logits.contains("memory-bound"), "{logits}");
    assert!(number(logits, 6) < number(logits, 5) * 2.039e12, "{logits}");
}

#[test]
fn lists_of_shapes_that_cannot_be_used() {
    let place = Place::new();
    place.file("shapes.csv", SHAPES);
    place.file("bad.csv", "m,n,k\n1,2,x\n");
    place.file("type.csv", "m,n,k,dtype\n1,2,3,fp4\n");
    place.refused(&["chart", "roofline", "bad.csv"], &["`bad.csv`", "line 2", "k `x`"]);
    place.refused(&["chart", "roofline", "type.csv"], &["line 2", "FP4"]);
    place.refused(&["chart", "roofline", "shapes.csv", "--gpu", "epyc-9654"], &["is a CPU"]);
    place.refused(&["chart", "tail", "shapes.csv"], &["needs a scenario"]);
    place.refused(&["analyze", "shapes.csv"], &["`shapes.csv`", "chart roofline"]);
    place.refused(&["compare", "shapes.csv"], &["one scenario, or two profiles"]);
}

#[test]
fn the_commands_of_the_page_draw_its_pictures() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let page = fs::read_to_string(docs.join("gemm_charts.md")).unwrap();
    let place = Place::new();
    let list = page.split("```csv\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    place.file("shapes.csv", list);
    let joined = page.replace(" \\\n", " ");
    let mut drawn = 0;
    for line in joined.lines().filter_map(|l| l.strip_prefix("wavecast ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        place.out(&words);
        let file = *words.last().unwrap();
        if page.contains(&format!("(img/{file})")) {
            drawn += 1;
            let same = fs::read(docs.join("img").join(file)).is_ok_and(|picture| picture == place.read(file));
            assert!(same, "docs/img/{file} is not what its command draws: run `wavecast {line}` there");
        }
    }
    assert_eq!(drawn, page.matches("(img/").count());
}
