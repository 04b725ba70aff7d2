//! Pages for a browser, as the program writes them.

use roxmltree::{Document, Node, ParsingOptions};

use super::place::{PROFILE, Place, kernel, table, text};

/// The page as XML, its one script left out.
fn xml(page: &str) -> String {
    let (before, rest) = page.split_once("<script>").expect("a script");
    let (_, after) = rest.split_once("</script>").expect("an end of the script");
    assert!(!after.contains("<script"), "more than one script");
    let close = |line: &str| if line.starts_with("<meta ") { line.replace("\">", "\"/>") } else { line.into() };
    format!("{before}{after}").lines().map(|line| close(line) + "\n").collect()
}

#[track_caller]
fn parsed<'a>(what: &[&str], xml: &'a str) -> Document<'a> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(xml, options).unwrap_or_else(|e| panic!("{what:?}: {e}"))
}

fn all<'a>(document: &'a Document, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(move |n| n.tag_name().name() == name)
}

#[test]
fn every_command_writes_a_page_of_all_its_rows_that_fetches_nothing() {
    let place = Place::new();
    place.file("p2.csv", PROFILE);
    let commands: [&[&str]; 9] = [
        &["analyze", "s.toml", "p.csv", "demo"],
        &["analyze", "p.csv", "--quiet"],
        &["kernel", "--grid", "1000", "--block", "256", "--op", "vector.fp32=1 GFLOP", "--dram-read", "64 MiB"],
        &["kernel", "--grid", "64x2", "--block", "16x16", "--gpu", "l4", "--gpu", "a30"],
        &["compare", "s.toml", "--gpu", "l4", "--gpu", "a30"],
        &["compare", "p.csv", "p2.csv"],
        &["gpus", "list"],
        &["gpus", "check"],
        &["occupancy", "--block", "256", "--regs", "40", "--gpu", "l4", "--want", "5"],
    ];
    for command in commands {
        let page = place.out(&[command, &["--format", "html"]].concat());
        let xml = xml(&page);
        let document = parsed(command, &xml);
        let body = all(&document, "tbody").next().expect("a table");
        let rows = body.children().filter(|n| n.has_tag_name("tr")).count();
        assert_eq!(rows, table(&place.out(&[command, &["--format", "csv"]].concat())).len() - 1, "{command:?}");
        assert!(all(&document, "th").all(|n| n.descendants().any(|t| t.text().is_some_and(|t| !t.trim().is_empty()))));
        assert!(document.descendants().all(|n| n.attribute("src").is_none()), "{command:?}");
        assert!(document.descendants().filter_map(|n| n.attribute("href")).all(|l| l.starts_with('#')), "{command:?}");
        assert!(page.contains("default-src 'none'") && !page.contains("url(") && !page.contains("@import"));
        assert!(!page.replace("=\"http://www.w3.org/2000/svg\"", "").contains("://"), "{command:?}");
    }
    place.refused(&["occupancy", "--batch", "batch.csv", "--format", "html"], &["--batch writes CSV"]);
}

#[test]
fn the_page_of_a_folder_has_all_its_charts_inside() {
    let place = Place::new();
    place.out(&["demo", "--out", "o"]);
    let page = text(&place.read("o/report.html"));
    let xml = xml(&page);
    let document = parsed(&["demo"], &xml);
    let charts: Vec<String> = place.names("o").into_iter().filter(|name| name.ends_with(".svg")).collect();
    assert!(charts.len() > 3, "{charts:?}");
    assert_eq!(all(&document, "svg").count(), charts.len());
    for chart in charts {
        assert!(page.contains(text(&place.read(format!("o/{chart}"))).trim_end()), "{chart} is not in the page");
    }
    let mut labels: Vec<&str> = all(&document, "figure").filter_map(|n| n.attribute("aria-label")).collect();
    labels.dedup();
    assert_eq!(labels.len(), all(&document, "svg").count(), "{labels:?}");
    assert!(page == place.out(&["analyze", "demo", "--format", "html", "--quiet"]), "the same report, other bytes");
}

#[test]
fn a_hostile_name_stays_text() {
    let place = Place::new();
    let name = "f<T, \"x\">(a&&b)'</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>-->";
    let work =
        ["--op", "vector.fp32=1 GFLOP", "--dram-read", "1 MB", "--format", "html", "--gpu", "l4", "--gpu", "a30"];
    let page = |name: &str| place.out(&kernel(&[&work[..], &["--name", name]].concat()));
    let hostile = xml(&page(name));
    let tags = |xml: &str| -> Vec<String> {
        let document = parsed(&["kernel"], xml);
        let outside_charts = |n: &Node| n.is_element() && n.ancestors().all(|a| a.tag_name().name() != "svg");
        document.descendants().filter(outside_charts).map(|n| n.tag_name().name().to_owned()).collect()
    };
    assert_eq!(tags(&hostile), tags(&xml(&page("harmless"))));
    let document = parsed(&["kernel"], &hostile);
    assert!(all(&document, "code").all(|n| n.text() == Some(name)));
    assert_eq!(all(&document, "code").count(), 2);
    assert_eq!(all(&document, "img").count(), 0);
}
