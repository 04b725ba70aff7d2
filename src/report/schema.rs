//! The documentation of the report's fields, as a table and as a page.

use super::fields::{
    AskedReport, AskedTotal, ElsewhereReport, KernelReport, PointReport, Report, RowError, SharePart, TermReport,
    TraceReport, WhatIfReport,
};

/// Name, unit and meaning of a field.
pub type Field = (&'static str, &'static str, &'static str);

/// The fields of a kernel: the columns of the CSV (before `error`) and the keys of an entry of `kernels` in JSON.
pub fn schema_fields() -> &'static [Field] {
    KernelReport::FIELDS
}

/// The keys of the JSON report itself.
pub fn report_fields() -> &'static [Field] {
    Report::FIELDS
}

/// The keys of the entries of each list of objects, by the name of the list.
pub fn part_fields() -> [(&'static str, &'static [Field]); 9] {
    [
        ("terms", TermReport::FIELDS),
        ("points", PointReport::FIELDS),
        ("what_ifs", WhatIfReport::FIELDS),
        ("errors", RowError::FIELDS),
        ("traces", TraceReport::FIELDS),
        ("parts", SharePart::FIELDS),
        ("asked", AskedReport::FIELDS),
        ("elsewhere", ElsewhereReport::FIELDS),
        ("traces.asked", AskedTotal::FIELDS),
    ]
}

const HEAD: &str = "\
# The report

Every command that judges launches gives the same report, as text, JSON, CSV, Markdown or HTML. Fields may be added; none
is renamed or changed in meaning while `schema` stays `wavecast.report/1`.

- Numbers have at most 6 significant digits and a point. The unit is part of the name.
- What is not known is absent: `null` in JSON, empty in CSV, `not in file` in the text of a profiled kernel. It is never 0.
- An unlimited block limit is `inf` (in JSON the string `\"inf\"`).
- Nothing above 100 % of a roof is printed as a number: the share is absent and `above_roof` says what may be wrong.
- CSV has one row per launch, always a header, and joins lists by `|` (a `|` inside an entry becomes `/`). A launch that
  could not be evaluated keeps its row, with the reason in the last column, `error`.
";

/// The page `docs/report.md`.
pub fn schema_markdown() -> String {
    let mut page = HEAD.to_owned();
    section(&mut page, "## A kernel: CSV columns and entries of `kernels`", schema_fields());
    section(&mut page, "## The report: keys of the JSON object", report_fields());
    for (list, fields) in part_fields() {
        section(&mut page, &format!("## Entries of `{list}`"), fields);
    }
    page
}

fn section(page: &mut String, heading: &str, fields: &[Field]) {
    *page += &format!("\n{heading}\n\n| field | unit | meaning |\n|---|---|---|\n");
    for (name, unit, meaning) in fields {
        *page += &format!("| `{name}` | {unit} | {meaning} |\n");
    }
}
