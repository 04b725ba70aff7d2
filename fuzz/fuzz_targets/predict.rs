//! Tables of products: each row predicted, and measured rows compared with the model.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::{
    op::{batch::batch, predict::Predictor},
    validate::{Key, Validation},
};
use wavecast_fuzz::{CATALOG, check_numbers, said};

fuzz_target!(|bytes: &[u8]| {
    let mut out = Vec::new();
    match batch(bytes, &mut out, &mut Predictor::new(&CATALOG, None)) {
        Ok(summary) => {
            assert!(summary.errors <= summary.rows && summary.rows <= bytes.len() as u64);
            let quoted = |word: &[u8]| bytes.windows(3).any(|w| w.eq_ignore_ascii_case(word));
            for word in [b"nan", b"inf"] {
                assert!(quoted(word) || !out.windows(5).any(|w| w[0] == b',' && &w[1..4] == word && w[4] == b','));
            }
        }
        Err(error) => drop(said(error)),
    }
    let mut validation = Validation::new(&Key::ALL);
    match validation.add("fuzz.csv", bytes, &mut Predictor::new(&CATALOG, None)) {
        Ok(()) => {
            for group in validation.groups() {
                assert!(group.rows > 0);
                check_numbers(&group, false);
            }
        }
        Err(error) => drop(said(error)),
    }
});
