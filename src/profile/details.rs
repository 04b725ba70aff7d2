//! The details page: one row per metric or rule, many rows per launch.

use std::collections::HashMap;

use super::launch::{Collected, Identity, Keys, Launch, position};
use super::observed::{Metric, Rule, RuleKind};
use super::text::{Body, Header, Warnings, is_header, reader};

/// Where the columns stand that only this page has.
struct Columns {
    identity: Identity,
    section: Option<usize>,
    metric: usize,
    unit: Option<usize>,
    value: usize,
    rule: Option<usize>,
    rule_kind: Option<usize>,
    rule_text: Option<usize>,
    speedup_scope: Option<usize>,
    speedup: Option<usize>,
    count: usize,
}

impl Columns {
    fn of<S: AsRef<str>>(columns: &[S]) -> Option<Self> {
        let at = |name: &str| position(columns, name);
        Some(Columns {
            identity: Identity::of(columns)?,
            section: at("Section Name"),
            metric: at("Metric Name")?,
            unit: at("Metric Unit"),
            value: at("Metric Value")?,
            rule: at("Rule Name"),
            rule_kind: at("Rule Type"),
            rule_text: at("Rule Description"),
            speedup_scope: at("Estimated Speedup Type"),
            speedup: at("Estimated Speedup"),
            count: columns.len(),
        })
    }
}

/// Collects every launch of a details page. Rows of a launch (same host, process and ID) need not be contiguous.
pub(super) fn collect(body: &Body, header: &Header, warnings: &mut Warnings) -> Collected {
    let mut collected = Collected::default();
    let Some(mut columns) = Columns::of(&header.columns) else {
        return collected;
    };
    let mut keys = Keys::default();
    let mut places: HashMap<(String, String, u64), usize> = HashMap::new();
    let mut reader = reader(&body.csv, header.delimiter);
    let mut record = csv::StringRecord::new();
    while let Ok(true) = reader.read_record(&mut record) {
        let field = |column: Option<usize>| column.and_then(|c| record.get(c)).map(str::trim).unwrap_or_default();
        let Ok(id) = field(Some(columns.identity.id)).parse::<u64>() else {
            match Columns::of(&record.iter().map(str::trim).collect::<Vec<_>>()) {
                Some(again) => columns = again,
                None => skip(warnings, body, &record, "its ID is no number"),
            }
            continue;
        };
        if record.get(columns.value).is_none() && field(columns.rule).is_empty() {
            skip(warnings, body, &record, "it ends before the column \"Metric Value\"");
            continue;
        }
        if record.iter().skip(columns.count).any(|extra| !extra.trim().is_empty()) {
            skip(warnings, body, &record, "it has more fields than the header");
            continue;
        }
        let key = (field(columns.identity.host).to_string(), field(columns.identity.process).to_string(), id);
        let place = *places.entry(key).or_insert_with(|| {
            collected.launches.push(Launch::new(id, &record, &columns.identity));
            collected.launches.len() - 1
        });
        let Some(launch) = collected.launches.get_mut(place) else { continue };
        let (name, value) = (field(Some(columns.metric)), field(Some(columns.value)));
        if !name.is_empty() && !value.is_empty() {
            collected.votes.see(value);
            let key = keys.get(field(columns.section), name, field(columns.unit));
            launch.metrics.push(Metric { key, value: value.into() });
        }
        if !field(columns.rule).is_empty() {
            let speedup = field(columns.speedup);
            collected.votes.see(speedup);
            let scope = field(columns.speedup_scope);
            let rule = Rule {
                name: field(columns.rule).to_string(),
                section: field(columns.section).to_string(),
                kind: rule_kind(field(columns.rule_kind)),
                text: field(columns.rule_text).to_string(),
                speedup_scope: (!scope.is_empty()).then(|| scope.to_string()),
                estimated_speedup_pct: None,
            };
            launch.rules.push((rule, speedup.to_string()));
        }
    }
    collected
}

fn skip(warnings: &mut Warnings, body: &Body, record: &csv::StringRecord, why: &str) {
    let fields: Vec<&str> = record.iter().collect();
    if !is_header(&fields) {
        warnings.push(|| format!("line {}: row of {} fields skipped: {why}", body.line_of(record), record.len()));
    } else {
        warnings.push(|| format!("line {}: a table of another page is not read", body.line_of(record)));
    }
}

fn rule_kind(mark: &str) -> RuleKind {
    match mark {
        "OPT" => RuleKind::Optimization,
        "INF" => RuleKind::Information,
        "WRN" => RuleKind::Warning,
        other => RuleKind::Other(other.to_string()),
    }
}
