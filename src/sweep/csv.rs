//! Rows as CSV: numbers of results with at most 6 significant digits, values of axes in full.

use std::io::Write;

use super::batch::{ABSENT, Batch, Cells, Column};

/// The line of names.
pub fn header(columns: &[Column]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = columns.iter().map(|c| c.name.as_bytes());
    // Never fails: memory takes everything.
    let _ = writer.write_record(names);
    writer.into_inner().unwrap_or_default()
}

/// The lines of a batch; the first `inputs` columns are the point and its axes.
pub fn rows(batch: &Batch, inputs: usize) -> Vec<u8> {
    let mut writer =
        csv::WriterBuilder::new().buffer_capacity(1 << 16).from_writer(Vec::with_capacity(batch.rows * 160));
    let mut text = Vec::new();
    for row in 0..batch.rows {
        for place in 0..batch.cells.len() {
            text.clear();
            print(batch, place, row, inputs, &mut text);
            // Never fails: memory takes everything.
            let _ = writer.write_field(&text);
        }
        let _ = writer.write_record(None::<&[u8]>);
    }
    writer.into_inner().unwrap_or_default()
}

/// One cell as text.
pub fn cell(batch: &Batch, place: usize, row: usize, inputs: usize) -> String {
    let mut text = Vec::new();
    print(batch, place, row, inputs, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn print(batch: &Batch, place: usize, row: usize, inputs: usize, to: &mut Vec<u8>) {
    match &batch.cells[place] {
        Cells::Whole(all) if all[row] == ABSENT => {}
        Cells::Whole(all) => to.extend_from_slice(itoa::Buffer::new().format(all[row]).as_bytes()),
        Cells::Number(all) if all[row].is_nan() => {}
        // Never fails, as above.
        Cells::Number(all) if place < inputs => drop(write!(to, "{}", all[row])),
        Cells::Number(all) => six(all[row], to),
        Cells::Text(all) => to.extend_from_slice(all.get(row).as_bytes()),
    }
}

/// A number with 6 significant digits, as `units::significant` prints it, without asking for memory on the way.
fn six(value: f64, to: &mut Vec<u8>) {
    // Beyond these, whose digits are all exact or zeros, the slow way decides.
    if value == 0.0 || !(1e-15..1e15).contains(&value.abs()) {
        to.extend_from_slice(crate::units::significant(value, 6).as_bytes());
        return;
    }
    // -d.ddddde-308 at most.
    let mut text = [0_u8; 16];
    let mut rest = &mut text[..];
    let _ = write!(rest, "{value:.5e}");
    let length = 16 - rest.len();
    let text = &text[..length];
    let (sign, text) = if text[0] == b'-' { (&b"-"[..], &text[1..]) } else { (&b""[..], text) };
    let e = text.iter().position(|c| *c == b'e').unwrap_or(text.len());
    let exponent: i32 = std::str::from_utf8(&text[e + 1..]).ok().and_then(|t| t.parse().ok()).unwrap_or(0);
    let digits = [text[0], text[2], text[3], text[4], text[5], text[6]];
    let kept = digits.iter().rposition(|d| *d != b'0').map_or(1, |last| last + 1);
    let digits = &digits[..kept];
    to.extend_from_slice(sign);
    let before = exponent + 1;
    if before <= 0 {
        to.extend_from_slice(b"0.");
        to.extend(std::iter::repeat_n(b'0', before.unsigned_abs() as usize));
        to.extend_from_slice(digits);
    } else {
        let before = before as usize;
        let (whole, fraction) = digits.split_at(before.min(kept));
        to.extend_from_slice(whole);
        to.extend(std::iter::repeat_n(b'0', before - whole.len()));
        if !fraction.is_empty() {
            to.push(b'.');
            to.extend_from_slice(fraction);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn six_digits_are_those_of_the_slow_way(mantissa in -10.0..10.0_f64, exponent in -20..20_i32) {
            let value = mantissa * 10_f64.powi(exponent);
            let mut text = Vec::new();
            six(value, &mut text);
            prop_assert_eq!(String::from_utf8(text).unwrap(), crate::units::significant(value, 6));
        }
    }

    #[test]
    fn edges_are_as_elsewhere() {
        for value in [0.0, 1.0, 999_999.5, 0.999_999_95, 1e15, 123_456.0, 1e-7, f64::INFINITY, -2.5, 1e300] {
            let mut text = Vec::new();
            six(value, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), crate::units::significant(value, 6), "{value}");
        }
    }
}
