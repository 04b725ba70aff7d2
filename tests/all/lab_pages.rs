//! The pages of the labs in `docs/labs` are what their files and the program say; `UPDATE_DOCS=1` writes them.

use std::{env, fs};

use wavecast::lab::{Lab, Observation};

use crate::{
    lab::{CATALOG, LABS, words},
    place::{Place, text},
};

fn page(lab: &Lab, place: &Place) -> String {
    let output = |observation: &Observation| {
        let words = words(&observation.run);
        let run = place.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let output = run.get_output();
        Some(text(&output.stdout) + &text(&output.stderr))
    };
    lab.exercise(&CATALOG, None).unwrap().markdown(false, &output)
}

#[test]
fn pages_are_current() {
    let place = Place::new();
    for lab in LABS.iter() {
        let name = format!("docs/labs/{:02}-{}.md", lab.number, lab.id);
        let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
        let page = page(lab, &place);
        if env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &page).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == page, "{name} is out of date: run the tests once with UPDATE_DOCS=1");
    }
}

#[test]
fn nothing_is_given_away_before_it_is_opened() {
    for lab in LABS.iter() {
        let exercise = lab.exercise(&CATALOG, None).unwrap();
        let page = exercise.markdown(false, &|_| None);
        // What lies outside of the parts that are folded.
        let open: String = page.split("<details>").map(|part| part.rsplit("</details>").next().unwrap()).collect();
        assert!(open.contains(&exercise.predict.ask) && open.contains(&exercise.transfer.ask));
        for hidden in exercise.explain.iter().chain(&exercise.predict.hints) {
            assert!(page.contains(hidden) && !open.contains(hidden), "lab {}: {hidden}", lab.number);
        }
        for trap in &exercise.predict.traps {
            assert!(page.contains(&trap.reason) && !open.contains(&trap.reason));
        }
        // The graded answer is on no page of a student.
        for trap in &exercise.transfer.traps {
            assert!(!page.contains(&trap.reason));
        }
        let teacher = exercise.markdown(true, &|_| None);
        assert!(exercise.transfer.traps.iter().all(|trap| teacher.contains(&trap.reason)));
    }
}

#[test]
fn the_guide_lists_every_lab() {
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/labs/README.md")).unwrap();
    for lab in LABS.iter() {
        let row = format!("| [{}](", lab.number);
        let line = guide.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("no lab {}", lab.number));
        assert!(line.contains(&lab.title) && line.contains(&format!("| {} |", lab.minutes)), "{line}");
        assert!(line.contains(&format!("{:02}-{}.md", lab.number, lab.id)), "{line}");
    }
}
