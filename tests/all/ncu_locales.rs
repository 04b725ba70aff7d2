//! Synthetic: Nsight Compute's files in the encodings and number formats of other machines. No such file is at hand; these
//! are the fixtures of `tests/data/ncu` written another way, and must read as those do.

use wavecast::{
    profile::{Format, ObservedKernel, detect, read},
    units::Seconds,
};

const DETAILS: &str = include_str!("../data/ncu/details_2025_bom_crlf.csv");
const OLD_DETAILS: &str = include_str!("../data/ncu/details_2019.csv");
const RAW: &str = include_str!("../data/ncu/raw.csv");
const TEXT: &str = include_str!("../data/ncu/text_2025.txt");
const SEMICOLON: &str = include_str!("../data/ncu/synthetic_semicolon_decimal_comma.csv");

fn kernels(bytes: &[u8]) -> Vec<ObservedKernel> {
    read(bytes).unwrap_or_else(|error| panic!("{error}")).kernels
}

fn little(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn big(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

#[test]
fn every_encoding_reads_as_utf8_does() {
    for (file, format) in [
        (DETAILS, Format::NcuDetailsCsv),
        (OLD_DETAILS, Format::NcuDetailsCsv),
        (RAW, Format::NcuRawCsv),
        (TEXT, Format::NcuText),
        (SEMICOLON, Format::NcuDetailsCsv),
    ] {
        let bare = file.trim_start_matches('\u{feff}');
        let expected = kernels(bare.as_bytes());
        let unix = bare.replace("\r\n", "\n");
        let windows = unix.replace('\n', "\r\n");
        for text in [unix, windows] {
            let marked = format!("\u{feff}{text}");
            for bytes in [
                text.clone().into_bytes(),
                marked.clone().into_bytes(),
                little(&text),
                big(&text),
                little(&marked),
                big(&marked),
                [&little(&marked)[..], b"x"].concat(),
            ] {
                assert_eq!(detect(&bytes), Some(format), "{:?}", bytes.get(..8));
                let found = kernels(&bytes);
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(&expected) {
                    assert_eq!(
                        (&found.name, found.duration, found.grid),
                        (&expected.name, expected.duration, expected.grid)
                    );
                    assert_eq!(found.metrics, expected.metrics);
                }
            }
        }
    }
}

#[test]
fn numbers_of_every_locale() {
    let expected = kernels(SEMICOLON.as_bytes());
    // The fixture groups with points; what people's systems print besides.
    for group in ["", "\u{a0}", "\u{202f}", "'", "\u{2019}", " "] {
        let mut text = String::new();
        for line in SEMICOLON.lines() {
            let (head, value) = line.rsplit_once(';').expect("a value");
            text += &format!("{head};{}\n", value.replace('.', group));
        }
        same_values(&kernels(text.as_bytes()), &expected, group);
    }
    // Commas between the columns, decimal commas in the quoted values; tabs.
    for delimiter in [",", "\t"] {
        let text = SEMICOLON.replace("\";\"", &format!("\"{delimiter}\""));
        same_values(&kernels(text.as_bytes()), &expected, delimiter);
    }
    // Decimal points and commas between thousands, columns by semicolons.
    let swap = |c: char| match c {
        ',' => '.',
        '.' => ',',
        other => other,
    };
    let text: String = SEMICOLON
        .lines()
        .map(|line| {
            let (head, value) = line.rsplit_once(';').expect("a value");
            format!("{head};{}\n", value.chars().map(swap).collect::<String>())
        })
        .collect();
    same_values(&kernels(text.as_bytes()), &expected, "points");
}

#[test]
fn text_with_decimal_commas() {
    let swapped: String = TEXT
        .lines()
        .map(|line| match line.rfind(char::is_whitespace) {
            // The value stands last in a row of a table.
            Some(at) if line.starts_with("    ") && line[at..].trim().starts_with(|c: char| c.is_ascii_digit()) => {
                let swap = |c: char| {
                    if c == ',' {
                        '.'
                    } else if c == '.' {
                        ','
                    } else {
                        c
                    }
                };
                format!("{}{}\n", &line[..at], line[at..].chars().map(swap).collect::<String>())
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let found = kernels(swapped.as_bytes());
    assert_ne!(swapped, TEXT);
    assert_eq!((found[0].duration, found[0].achieved_occupancy_pct), (Some(Seconds(100e-6)), Some(68.12)));
    assert_eq!((found[0].grid_blocks, found[0].elapsed_cycles), (Some(2160), Some(114_000.0)));
}

fn same_values(found: &[ObservedKernel], expected: &[ObservedKernel], how: &str) {
    assert_eq!(found.len(), expected.len(), "{how:?}");
    for (found, expected) in found.iter().zip(expected) {
        let plain = |kernel: &ObservedKernel| ObservedKernel { metrics: Vec::new(), ..kernel.clone() };
        assert_eq!(plain(found), plain(expected), "{how:?}");
    }
}
