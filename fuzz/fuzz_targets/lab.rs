//! Labs and answers: files of labs drawn for a seed, answers in any form, sheets of students graded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::lab::{Lab, Part, Sheet, labs};
use wavecast_fuzz::{CATALOG, said};

fuzz_target!(|text: &str| {
    let own = labs().expect("the built-in labs are valid");
    if let Ok(exercise) = own[text.len() % own.len()].exercise(&CATALOG, Some(text)) {
        for part in [Part::Predict, Part::Transfer] {
            drop(exercise.question(part).check(text).map_err(said));
        }
    }
    match Sheet::parse("fuzz.toml", text) {
        Ok(sheet) => {
            let counted: Vec<&Lab> = own.iter().collect();
            if let Ok(graded) = sheet.grade(&own, &counted, &CATALOG) {
                assert!(graded.score() <= own.len() && !graded.json().to_string().is_empty());
            }
        }
        Err(error) => drop(said(error)),
    }
    let lab = match Lab::parse("fuzz.toml", text) {
        Ok(lab) => lab,
        Err(error) => return drop(said(error)),
    };
    match lab.exercise(&CATALOG, Some("ada")) {
        Ok(exercise) => assert!(!exercise.markdown(true, &|_| None).contains("NaN")),
        Err(error) => drop(said(error)),
    }
});
