//! `docs/report.md` is the report's own documentation of its fields.

#[test]
fn docs_are_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/report.md");
    let page = wavecast::report::schema_markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/report.md is out of date: run the tests once with UPDATE_DOCS=1");
}
