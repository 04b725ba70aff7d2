//! The page as a parser and its reader see it.

use super::*;

/// Text that ends tags, attributes, comments and scripts, and turns lines around.
const HOSTILE: &str = "</script><b class='x'>&amp;\"--> ]]>\u{202e}\u{1b}\r\n<!--";
/// The start of it without the characters that a page must not hold.
const SHOWN: &str = "</script><b class='x'>&amp;\"--> ]]>  ";

const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>a &lt; b</title><path d=\"M0 0\"/></svg>";

/// The page as XML: void elements closed, the script left out.
fn closed(page: &str) -> String {
    let (before, rest) = page.split_once("<script>").expect("a script");
    let (_, after) = rest.split_once("</script>").expect("an end of the script");
    assert!(!after.contains("<script"), "more than one script");
    let close = |line: &str| if line.starts_with("<meta ") { line.replace("\">", "\"/>") } else { line.into() };
    format!("{before}{after}").lines().map(|line| close(line) + "\n").collect()
}

/// Fails unless every tag is closed, every attribute stands once and every reference is known.
#[track_caller]
fn parsed(xml: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(xml, options)
        .unwrap_or_else(|e| panic!("{e}: {}", xml.lines().nth(e.pos().row as usize - 1).unwrap_or_default()))
}

fn tags(page: &str) -> Vec<String> {
    let xml = closed(page);
    parsed(&xml).descendants().filter(|n| n.is_element()).map(|n| n.tag_name().name().to_owned()).collect()
}

/// A report in which every text is this one.
fn filled(text: &str) -> Report {
    let text = || text.to_owned();
    let list = || vec![text(), text()];
    let described = saxpy();
    let kernel = || KernelReport {
        kernel: text(),
        gpu: Some(text()),
        gpu_name: Some(text()),
        gpu_changes: list(),
        limiters: list(),
        next_steps: list(),
        bound: Some(text()),
        bound_resource: Some(text()),
        verdict: Some(text()),
        pipe: Some(text()),
        peak_tflops: Some(1.0),
        terms: vec![TermReport { resource: text(), bound: text(), time_us: 2.0, least_us: 1.0 }],
        points: vec![PointReport { level: text(), above_roof: list(), ..PointReport::default() }],
        findings: list(),
        what_ifs: vec![WhatIfReport { change: text(), text: text(), speedup: 2.0, bound_after: text() }],
        advice: list(),
        missing: list(),
        ignored: list(),
        confidence: Some(text()),
        calibration: Some(text()),
        differences: list(),
        ..described.clone()
    };
    // Others that ignore nothing, so that lists and sentences stand in the sections of kernels too.
    let mut kernels = vec![kernel(); 7];
    kernels.push(KernelReport { gpu_name: None, ignored: Vec::new(), confidence: None, ..kernel() });
    Report {
        title: Some(text()),
        assumptions: list(),
        warnings: list(),
        errors: vec![RowError { row: None, kernel: text(), gpu: Some(text()), message: text() }],
        ..Report::new(kernels)
    }
}

#[test]
fn no_text_of_a_report_becomes_markup() {
    let page = |text: &str| html(&filled(text), &[(text.to_owned(), SVG.to_owned())]);
    let hostile = page(HOSTILE);
    assert_eq!(tags(&hostile), tags(&page("plain")));
    assert!(!hostile.contains(['\u{202e}', '\u{1b}', '\r']));
    let xml = closed(&hostile);
    let document = parsed(&xml);
    for place in ["title", "h1", "h3", "a", "code", "dd", "li", "th", "td"] {
        let mut found = document.descendants().filter(|n| n.has_tag_name(place)).flat_map(|n| n.descendants());
        assert!(found.any(|n| n.text().is_some_and(|t| t.contains(SHOWN))), "{place}");
    }
    let parts = [
        Part::Text(HOSTILE.into()),
        Part::List { heading: HOSTILE.into(), items: vec![HOSTILE.into()] },
        Part::Table(PageTable {
            caption: HOSTILE.into(),
            columns: vec![PageColumn { heading: HOSTILE.into(), numeric: false }],
            rows: vec![vec![PageCell { text: HOSTILE.into(), full: Some(HOSTILE.into()), ..PageCell::default() }]],
        }),
    ];
    let simple = super::super::page(HOSTILE, &parts);
    let wanted = ["body", "header", "h1", "main", "p", "section", "h2", "ul", "li", "div", "table", "caption"];
    let found = tags(&simple);
    let body: Vec<&str> = found.iter().map(String::as_str).skip_while(|t| *t != "body").take(wanted.len()).collect();
    assert_eq!(body, wanted);
    assert!(!found.contains(&"b".to_owned()));
}

#[test]
fn the_page_fetches_nothing_and_its_links_lead_somewhere() {
    let mut report = all();
    report.kernels.push(observed());
    let charts = [("one".to_owned(), SVG.to_owned()), ("two".to_owned(), SVG.to_owned())];
    let page = html(&report, &charts);
    assert_eq!(page, html(&report, &charts));
    assert!(
        page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src")
    );
    for way_out in ["src=", "url(", "@import", "fetch(", "XMLHttpRequest", "import(", "<link", "https:"] {
        assert!(!page.replace("script-src ", "").replace("style-src ", "").contains(way_out), "{way_out}");
    }
    assert!(!page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "").contains("http:"));
    let xml = closed(&page);
    let document = parsed(&xml);
    assert_eq!(document.descendants().filter(|n| n.tag_name().name() == "svg").count(), 2);
    assert_eq!(document.root_element().attribute("lang"), Some("en"));
    let mut ids: Vec<&str> = document.descendants().filter_map(|n| n.attribute("id")).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    let links: Vec<&str> = document.descendants().filter_map(|n| n.attribute("href")).collect();
    // Overview, charts, and each kernel from the contents and from the table.
    assert_eq!(links.len(), 2 + 2 * report.kernels.len());
    assert!(links.iter().all(|l| l.strip_prefix('#').is_some_and(|id| ids.binary_search(&id).is_ok())), "{links:?}");
    for labelled in document.descendants().filter_map(|n| n.attribute("aria-labelledby")) {
        assert!(ids.binary_search(&labelled).is_ok(), "{labelled}");
    }
}

#[test]
fn the_table_has_every_kernel_with_values_to_sort_by() {
    let mut report = all();
    report.kernels.push(observed());
    let page = html(&report, &[]);
    let xml = closed(&page);
    let document = parsed(&xml);
    let table = document.descendants().find(|n| n.has_tag_name("tbody")).unwrap();
    let rows: Vec<Vec<roxmltree::Node>> = table
        .children()
        .filter(|n| n.has_tag_name("tr"))
        .map(|row| row.children().filter(|n| n.is_element()).collect())
        .collect();
    let heads: Vec<_> = document
        .descendants()
        .filter(|n| n.has_tag_name("th") && n.attribute("scope") == Some("col"))
        .map(|n| (n.text().unwrap_or_default(), n.attribute("class") == Some("number")))
        .collect();
    let wanted = [
        ("Kernel", false),
        ("GPU", false),
        ("Measured, us", true),
        ("Time, us", true),
        ("Bound", false),
        ("Occupancy, %", true),
        ("Achieved, %", true),
        ("Waves", true),
        ("Tail cost, %", true),
        ("Share of roof, %", true),
    ];
    assert_eq!(heads, wanted);
    assert_eq!(rows.len(), report.kernels.len());
    for (row, kernel) in rows.iter().zip(&report.kernels) {
        let name = row[0].descendants().find(|n| n.has_tag_name("a")).unwrap();
        assert!(name.attribute("title").or(name.text()) == Some(&kernel.kernel), "{}", kernel.kernel);
        let sort: f64 = row[3].attribute("data-sort").unwrap().parse().unwrap();
        assert!((sort / kernel.time_us.unwrap() - 1.0).abs() < 1e-5, "{sort}");
        assert_eq!(row[2].attribute("data-sort").is_some(), kernel.measured_us.is_some());
    }
    // Above the roof is above every share; what is unknown has no value.
    assert_eq!(rows[5][9].attribute("data-sort"), Some("Infinity"));
    assert_eq!(rows[5][9].text(), Some("above"));
    assert_eq!(rows[5][8].attribute("data-sort"), None);
}

#[test]
fn very_many_kernels_are_all_in_the_table() {
    let one = tiny();
    let kernel = |n: usize| KernelReport { kernel: format!("kernel {n}"), ..one.clone() };
    let report = Report::new((1..=1234).map(kernel).collect());
    let page = html(&report, &[]);
    assert_eq!(page.matches("<th scope=\"row\" class=\"short\">").count(), 1234);
    assert_eq!(page.matches("<section class=\"kernel").count(), 500);
    assert!(page.contains("The first 500 of 1,234 kernels follow"));
    assert!(!page.contains("href=\"#kernel-501\""));
    assert!(page.contains("<details><summary>"), "a long list of contents is folded");
    // What is true of all is said once.
    assert_eq!(page.matches("constants measured on").count(), 1);
    let few = html(&all(), &[]);
    assert!(!few.contains("kernels follow") && !few.contains("<nav"));
}

#[test]
fn a_small_page() {
    let report = Report {
        title: Some("One addition".into()),
        warnings: vec!["a warning".into()],
        errors: vec![RowError { kernel: "other".into(), message: "does not fit".into(), ..RowError::default() }],
        assumptions: vec!["an assumption".into()],
        ..Report::new(vec![tiny()])
    };
    let page = html(&report, &[("Roofline".into(), SVG.into())]);
    let (_, body) = page.split_once("<body>").unwrap();
    insta::assert_snapshot!(body.split_once("<script>").unwrap().0);
}
