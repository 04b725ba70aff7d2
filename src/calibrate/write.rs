//! The constants found as the `[calibration]` table of a GPU file, and a file with that table in the place of its own.

use toml::{Table, Value};

use super::{Calibrated, Constant, Found, Origin, Scores, judge::printed};
use crate::{gpu::Band, units::significant};

/// A file whose table cannot be replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WholeError {
    /// Not TOML.
    #[error("the GPU file is not valid TOML: {0}")]
    Toml(String),
    /// Its table is written in another way.
    #[error(
        "the GPU file writes its calibration in a form that cannot be replaced; give it a table headed [calibration]"
    )]
    Form,
}

impl Calibrated {
    /// The `[calibration]` table, with what was found as comments. `own` is the text of the GPU file: what its table
    /// holds besides is kept. `data` says what the operands of the benchmark held, `from` names the measurements.
    ///
    /// # Errors
    /// `own` is not TOML.
    pub fn table(&self, own: &str, data: &str, from: &str) -> Result<String, WholeError> {
        let own = calibration_of(own)?;
        // Comments under the header: they go with the table when it is replaced.
        let mut text = "[calibration]\n".to_owned() + &self.comments(from);
        // Rate and droop of the tensor cores stand for one kind of data: with one of them the family's other does not fit.
        let pair = |found: &&Found| matches!(found.constant, Constant::SustainedTensor | Constant::PowerDroop);
        let stands = |found: &Found| found.determined() || own.contains_key(found.constant.name());
        let both = self.constants.iter().filter(pair).any(stands);
        for found in self.constants.iter().filter(|found| !found.constant.of_table()) {
            let key = found.constant.name();
            // What nothing determines comes from the family where the file leaves it out, unless a what-if set it.
            let changed = self.before.changes.iter().any(|change| change.starts_with(&format!("calibration.{key} ")));
            if stands(found) || changed || (both && pair(&found)) {
                // What stays keeps every digit.
                let digits = significant(found.after, super::DIGITS);
                let number = float(if found.determined() { digits } else { found.after.to_string() });
                let line = format!("{key} = {number}");
                text += &format!("{line:<28}  # {}\n", self.remark(found));
            }
        }
        let replaced = |key: &str| {
            matches!(key, "data" | "source" | "measured_band")
                || self.constants.iter().any(|found| found.constant.name() == key)
                || (key == "band" && self.band.is_some())
                || (key == "band_sgemm" && self.band_sgemm.is_some())
        };
        let others: Vec<_> = own.iter().filter(|(key, _)| !replaced(key)).collect();
        for (key, value) in &others {
            text += &format!("{key} = {value}\n");
        }
        for (key, band) in [("band", &self.band), ("band_sgemm", &self.band_sgemm)] {
            if let Some(Band { low, high }) = band {
                let list = |ratios: &[f64; 4]| ratios.map(|ratio| significant(ratio, 3)).join(", ");
                text += "# 10th, 90th percentile of measured / predicted of these very rows (in sample)\n";
                text += &format!("{key} = {{ low = [{}], high = [{}] }}\n", list(low), list(high));
            }
        }
        if self.band.is_none() || self.band_sgemm.is_none() {
            text += "measured_band = false         # too few rows for a spread; a band that is absent here is the family's\n";
        }
        text += &format!("data = {}\n", Value::from(data));
        let stays = |found: &Found| own.contains_key(found.constant.name()) && !found.determined();
        let kept = !others.is_empty() || self.constants.iter().any(stays);
        let before = own.get("source").and_then(Value::as_str).filter(|_| kept);
        text += &format!("source = {}\n", Value::from(self.source(from, before)));
        Ok(text)
    }

    fn remark(&self, found: &Found) -> String {
        let was = printed(found.constant, found.before);
        match (&found.origin, &found.evidence) {
            (Origin::Ceiling(_), _) => format!("was {was}; from a measured rate"),
            (Origin::Rows, Some(evidence)) => format!("was {was}; from {}", rows(evidence.rows)),
            _ => "as before: not determined".into(),
        }
    }

    /// One sentence on each constant that was found.
    fn source(&self, from: &str, before: Option<&str>) -> String {
        let of_gpu = self.constants.iter().filter(|found| found.determined() && !found.constant.of_table());
        let found = of_gpu.map(|found| match (&found.origin, &found.evidence) {
            (Origin::Ceiling(how), _) => format!("{} {how}", found.constant.name()),
            (_, evidence) => {
                format!("{} from {}", found.constant.name(), rows(evidence.as_ref().map_or(0, |e| e.rows)))
            }
        });
        let found = found.collect::<Vec<_>>().join(", ");
        let mut text = format!("wavecast calibrate {}, {from}: {found}", env!("CARGO_PKG_VERSION"));
        // Of a table that was calibrated again and again the last steps are enough.
        for before in before.into_iter().flat_map(|before| before.split(REST).take(2)) {
            text += REST;
            text += before;
        }
        text
    }

    fn comments(&self, from: &str) -> String {
        // A line break in a name would end the comment.
        let line = |text: &str| text.replace(char::is_control, " ");
        let mut text = format!("# {}, calibrated by wavecast {}\n", line(&self.before.name), env!("CARGO_PKG_VERSION"));
        text += &format!("# from {}\n", line(from));
        if !self.scores.is_empty() {
            text += "# |predicted / measured - 1| in %, geometric mean of predicted / measured:\n";
            text += "#               rows         mean       median           ratio\n";
        }
        for Scores { size, rows, before, after } in &self.scores {
            let percent = |of: fn(&crate::validate::Score) -> f64| format!("{:.1} -> {:.1}", of(before), of(after));
            let ratio = format!("{:.3} -> {:.3}", before.ratio, after.ratio);
            let (mean, median) = (percent(|s| s.mape), percent(|s| s.median));
            text += &format!("# {:<12} {rows:>5} {mean:>12} {median:>12} {ratio:>15}\n", size.unwrap_or("all"));
        }
        for found in self.constants.iter().filter(|found| found.constant.of_table() && found.determined()) {
            let value = printed(found.constant, found.after);
            text += &format!("# {} {value}: of the table, no key of [calibration]\n", found.constant.name());
        }
        for found in &self.constants {
            if let Origin::Ceiling(how) = &found.origin {
                text += &format!("# {}: {how}\n", found.constant.name());
            }
        }
        text
    }
}

fn rows(count: usize) -> String {
    if count == 1 { "1 row".into() } else { format!("{count} rows") }
}

/// Before what was known of the constants that stay.
const REST: &str = "; the rest: ";

/// A number that TOML reads as a float.
fn float(text: String) -> String {
    if text.contains('.') { text } else { text + ".0" }
}

fn calibration_of(text: &str) -> Result<Table, WholeError> {
    let whole: Table = toml::from_str(text).map_err(|e: toml::de::Error| WholeError::Toml(e.message().into()))?;
    Ok(whole.get("calibration").and_then(Value::as_table).cloned().unwrap_or_default())
}

/// A GPU file with another `[calibration]` table; the rest of its text stays as it is, comments behind a blank line before
/// the next table among it.
///
/// # Errors
/// The file is not TOML, or its table is not a run of lines under a header.
pub fn whole(file: &str, table: &str) -> Result<String, WholeError> {
    let read = |text: &str| toml::from_str::<Table>(text).map_err(|e| WholeError::Toml(e.message().into()));
    let mut before = read(file)?;
    let mut text = String::with_capacity(file.len() + table.len() + 2);
    let mut place = None;
    let mut inside = false;
    let mut behind = String::new();
    for line in file.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let comment = trimmed.starts_with('#') && !behind.is_empty();
        if inside && (trimmed.is_empty() || comment) {
            behind += line;
            continue;
        }
        if trimmed.starts_with('[') {
            let header = trimmed.trim_start_matches('[').split([']', '.']).next().unwrap_or_default();
            let was_inside = inside;
            inside = header.trim().trim_matches(['"', '\'']) == "calibration";
            if inside && place.is_none() {
                place = Some(text.len());
            }
            if was_inside && !inside {
                text += behind.trim_start_matches(['\r', '\n']);
            }
        }
        behind.clear();
        if !inside {
            text += line;
        }
    }
    // Only a table at the end leaves something here.
    text += behind.trim_start_matches(['\r', '\n']);
    let place = place.unwrap_or_else(|| {
        // As many line breaks as make one empty line.
        let ends = ["\n\n", "\n", ""].into_iter().position(|end| text.ends_with(end)).unwrap_or_default();
        text += if text.is_empty() { "" } else { &"\n\n"[..ends] };
        text.len()
    });
    let gap = if place < text.len() { "\n" } else { "" };
    text.insert_str(place, &format!("{table}{gap}"));
    // A header in a multi-line string, or a table in another form, would have led astray.
    let mut after = read(&text).map_err(|_| WholeError::Form)?;
    let new = read(table)?;
    if after.remove("calibration") != new.get("calibration").cloned() {
        return Err(WholeError::Form);
    }
    before.remove("calibration");
    if before == after { Ok(text) } else { Err(WholeError::Form) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_replaced_where_it_stands_and_the_rest_stays() {
        let new = "[calibration]\na = 1.0\nsource = \"x\"\n";
        let cases = [
            ("", new.to_owned()),
            ("b = 1", format!("b = 1\n\n{new}")),
            ("b = 1\n\n[calibration]\na = 2\n# gone\n", format!("b = 1\n\n{new}")),
            ("b = 1\n\n[calibration]\na = 2\n\n# stays\n", format!("b = 1\n\n{new}\n# stays\n")),
            ("b = 1\n[calibration]\na = 2\n[c] # stays\nd = 1\n", format!("b = 1\n{new}\n[c] # stays\nd = 1\n")),
            ("[calibration]\n# gone\na = 2\n# gone\n\n# stays\n[c]\n", format!("{new}\n# stays\n[c]\n")),
            (
                "b = 1\n\n[calibration]\na = 2\n[c]\nd = 1\n[calibration.tiled]\ne = 1\n[[f]]\ng = 1\n",
                format!("b = 1\n\n{new}\n[c]\nd = 1\n[[f]]\ng = 1\n"),
            ),
        ];
        for (file, right) in cases {
            assert_eq!(whole(file, new).unwrap(), right, "{file}");
        }
        // Other forms, and strings that look like a header.
        for odd in ["calibration = { a = 2 }\n", "calibration.a = 2\n", "b = \"\"\"\n[calibration]\n\"\"\"\n"] {
            assert_eq!(whole(odd, new), Err(WholeError::Form), "{odd}");
        }
        assert!(whole("b = ", new).is_err_and(|e| e.to_string().contains("not valid TOML")));
    }
}
