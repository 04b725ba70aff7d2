//! `validate` in its other formats, `validate --out`, and `chart validation`.

use crate::place::{Place, table, text};

const SAMPLE: &str = include_str!("../data/gemm_bf16_sample.csv");

fn place() -> Place {
    let place = Place::new();
    place.file("sample.csv", SAMPLE);
    place
}

/// Header and rows of the data of `chart validation` with these words.
fn data(place: &Place, words: &[&str]) -> Vec<Vec<String>> {
    table(&place.out(&[&["chart", "validation"], words, &["--data"]].concat()))
}

#[test]
fn scatter_has_every_row_and_draws_a_share() {
    let place = place();
    let rows = data(&place, &["sample.csv"]);
    assert_eq!(rows[0], ["series", "measured_us", "predicted_us", "roofline_us", "ratio", "drawn"]);
    assert_eq!(rows.len(), 1601);
    let series = |rows: &[Vec<String>]| -> Vec<String> {
        let mut found: Vec<String> = rows.iter().skip(1).map(|r| r[0].clone()).collect();
        found.dedup();
        found
    };
    assert_eq!(series(&rows), ["A100 SXM4 80 GB", "B200", "H100 SXM5 80 GB", "L40S"]);
    assert!(rows[1..].iter().all(|r| r[5] == "yes"), "400 rows each are few enough");
    let by_type = data(&place, &["sample.csv", "--by", "dtype"]);
    assert_eq!(series(&by_type), ["bf16"]);
    assert_eq!(by_type.iter().filter(|r| r[5] == "yes").count(), 400);
    let svg = place.out(&["chart", "validation", "sample.csv"]);
    assert_eq!(svg, place.out(&["chart", "validation", "sample.csv", "--kind", "scatter"]));
    for words in ["25 % above and below", "1,600 rows of sample.csv (aiconfigurator-core-0.12.0)", "1 us", "10 ms"] {
        assert!(svg.contains(words), "{words}");
    }
    let dark = place.out(&["chart", "validation", "sample.csv", "--theme", "dark"]);
    assert_ne!(svg, dark);
}

#[test]
fn bins_by_size_hold_all_rows_and_agree_with_the_table() {
    let place = place();
    let rows = data(&place, &["sample.csv", "--kind", "size"]);
    let number = |row: &[String], column: &str| -> f64 {
        row[rows[0].iter().position(|name| name == column).unwrap()].parse().unwrap()
    };
    let json = place.out(&["validate", "sample.csv", "--by", "gpu", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for group in json["groups"].as_array().unwrap() {
        let own: Vec<&Vec<String>> = rows.iter().filter(|r| Some(r[0].as_str()) == group["gpu"].as_str()).collect();
        let count: f64 = own.iter().map(|r| number(r, "rows")).sum();
        assert_eq!((Some(count), group["rows"].as_f64()), (Some(400.0), Some(400.0)));
        for (column, of) in [("mean_abs_error_pct", "mape_pct"), ("roofline_mean_abs_error_pct", "roofline_mape_pct")] {
            let mean = own.iter().map(|r| number(r, column) * number(r, "rows")).sum::<f64>() / count;
            assert!((mean / group[of].as_f64().unwrap() - 1.0).abs() < 1e-4, "{column}: {mean}, {group}");
        }
        for row in &own {
            assert!(number(row, "rows") >= 8.0);
            assert!(number(row, "from_us") <= number(row, "at_us") && number(row, "at_us") <= number(row, "to_us"));
            assert!(number(row, "ratio_p10") <= number(row, "ratio_median"));
            assert!(number(row, "ratio_median") <= number(row, "ratio_p90"));
        }
        assert!(own.windows(2).all(|pair| number(pair[0], "to_us") <= number(pair[1], "from_us") * 1.0001));
    }
}

const FEW: &str = "source,gpu,op,dtype,m,n,k,measured_us\n\
                   a|b_<c>,h100,gemm,bf16,4096,4096,4096,166\n\
                   a|b_<c>,h100,nothing,bf16,1,1,1,166\n";

#[test]
fn markdown_and_html_say_the_same_as_the_text() {
    let place = place();
    place.file("few.csv", FEW);
    let markdown = place.out(&["validate", "sample.csv", "--by", "gpu", "--format", "markdown"]);
    let cells: Vec<Vec<&str>> = markdown.lines().map(|l| l.split('|').map(str::trim).collect()).collect();
    let heads = ["", "GPU", "Rows", "Mean", "Median", "p90", "Ratio", "In band", "Datasheet", "Roofline", ""];
    assert_eq!(cells[0], heads);
    assert!(markdown.ends_with("\n\n1600 rows, 0 left out.\n"), "{markdown}");
    let plain = place.out(&["validate", "sample.csv", "--by", "gpu"]);
    let html = place.out(&["validate", "sample.csv", "--by", "gpu", "--format", "html"]);
    for row in &cells[2..6] {
        for value in &row[1..row.len() - 1] {
            assert!(plain.contains(value) && html.contains(value), "{value} of {row:?}");
        }
        assert!(row[3].contains('.'), "one decimal each: {row:?}");
    }
    assert_eq!(html.matches("<svg ").count(), 2);
    assert!(html.contains("1600 rows, 0 left out."));

    let run = place.run(&["validate", "few.csv", "--by", "source,gpu", "--format", "markdown"]);
    let output = run.get_output();
    let found = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(found.contains("a\\|b\\_\\<c>") && found.contains("2 rows, 1 left out.\n- 1 (few.csv:3): op"), "{found}");
    let page = text(&place.run(&["validate", "few.csv", "--by", "source", "--format", "html"]).get_output().stdout);
    assert!(page.contains("a|b_&lt;c&gt;") && !page.contains("<c>") && page.contains("op `nothing`"), "{page}");
}

#[test]
fn a_folder_has_the_table_in_every_form_and_both_charts() {
    let place = place();
    place.out(&["validate", "sample.csv", "--out", "out", "--quiet"]);
    let mut expected = vec!["error-by-size.csv", "error-by-size.svg", "scatter.csv", "scatter.svg"];
    expected.extend(["validation.csv", "validation.html", "validation.json", "validation.md"]);
    if cfg!(feature = "png") {
        expected.extend(["error-by-size.png", "scatter.png"]);
    }
    expected.sort_unstable();
    assert_eq!(place.names("out"), expected);
    for (file, words) in [
        ("validation.md", &["validate", "sample.csv", "--format", "markdown"][..]),
        ("validation.csv", &["validate", "sample.csv", "--format", "csv"]),
        ("validation.json", &["validate", "sample.csv", "--format", "json"]),
        ("validation.html", &["validate", "sample.csv", "--format", "html"]),
        ("scatter.svg", &["chart", "validation", "sample.csv"]),
        ("error-by-size.svg", &["chart", "validation", "sample.csv", "--kind", "size"]),
    ] {
        assert!(text(&place.read(format!("out/{file}"))) == place.out(words), "{file}");
    }
    place.out(&["validate", "sample.csv", "--by", "gpu,size", "--out", "by_size", "--quiet"]);
    assert!(place.read("by_size/scatter.svg") == place.read("out/scatter.svg"), "panels are those of the first key");
}

#[test]
fn tables_that_cannot_be_drawn() {
    let place = place();
    place.file("none.csv", "op,dtype,m,n,k,measured_us\n");
    place.file("no_gpu.csv", "op,dtype,m,n,k,measured_us\ngemm,bf16,1,1,1,5\n");
    place.refused(&["chart", "validation", "none.csv"], &["no row can be compared", "the tables have no rows"]);
    place.refused(&["chart", "validation", "no_gpu.csv"], &["gpu is empty; name one there or by --gpu"]);
    place.refused(&["chart", "validation", "absent.csv"], &["`absent.csv`"]);
    place.refused(&["chart", "validation", "sample.csv", "--by", "color"], &["color", "gpu, op, dtype"]);
    place.refused(&["chart", "validation", "sample.csv", "--kind", "pie"], &["pie", "scatter, size"]);
    place.refused(&["chart", "validation", "sample.csv", "-o", "c.jpg"], &["c.jpg"]);
    place.refused(&["chart", "validation"], &["FILE"]);
    let one = place.out(&["chart", "validation", "no_gpu.csv", "--gpu", "h100", "--kind", "size"]);
    assert!(one.starts_with("<svg") && one.contains("H100 SXM5 80 GB"), "{one}");
}
