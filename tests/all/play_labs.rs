//! Labs on the page: locked controls, what a prediction opens, commands as states, predictions on charts.

use wavecast::{
    gpu::Catalog,
    lab::{Exercise, labs},
    page::{Site, State, View, encoded},
};

use crate::place::text;

fn site() -> Site {
    Site::new(Catalog::embedded().unwrap())
}

fn body(site: &Site, path: &str, query: &str) -> (u16, String) {
    let reply = site.reply(path, query);
    (reply.status, text(&reply.body))
}

#[test]
fn a_lab_goes_from_prediction_to_transfer() {
    let site = site();
    let catalog = Catalog::embedded().unwrap();
    let lab = &wavecast::lab::labs().unwrap()[0];
    let exercise = lab.exercise(&catalog, Some("ada")).unwrap();
    let (_, first) = body(&site, "/", "op=kernel&lab=1&seed=ada");
    assert!(first.contains("<fieldset disabled") && first.contains("Predict first"), "{first}");
    assert!(!first.contains("Transfer") && !first.contains("The answer is"));
    assert!(!first.contains(&exercise.predict.hints[0]));
    let (_, hinted) = body(&site, "/", "op=kernel&lab=1&seed=ada&hints=1");
    assert!(hinted.contains("Hint 1:") && !hinted.contains("Hint 2:"));
    let (_, unread) = body(&site, "/", "op=kernel&lab=1&seed=ada&guess=much");
    assert!(unread.contains("cannot be read") && unread.contains("<fieldset disabled"));
    let (_, trapped) = body(&site, "/", &format!("op=kernel&lab=1&seed=ada&guess={}", exercise.predict.traps[0].value));
    assert!(trapped.contains("Not this") && !trapped.contains("<fieldset disabled"));
    let right = |value: f64| encoded(&exercise.predict.unit.print(value));
    let guess = right(exercise.predict.answer);
    let (_, seen) = body(&site, "/", &format!("op=kernel&lab=1&seed=ada&guess={guess}"));
    for part in ["Right. Now see why.", "Observe", "set the page to it", "The answer is", "Transfer"] {
        assert!(seen.contains(part), "{part}");
    }
    let answer = right(exercise.transfer.answer);
    let (_, done) = body(&site, "/", &format!("op=kernel&lab=1&seed=ada&guess={guess}&answer={answer}"));
    assert!(done.contains("The lab is done."));
    assert_eq!(body(&site, "/", "lab=77").0, 400);
}

/// The lab with its number, for everybody.
fn exercise(catalog: &Catalog, number: u32) -> Exercise {
    labs().unwrap()[number as usize - 1].exercise(catalog, None).unwrap()
}

/// Addresses behind "set the page to it".
fn links(html: &str) -> Vec<String> {
    let found = html.match_indices(">set the page to it<").map(|(end, _)| {
        let start = html[..end].rfind("href=\"/?").unwrap() + 8;
        html[start..end - 1].replace("&amp;", "&")
    });
    found.collect()
}

#[test]
fn every_command_of_every_lab_is_a_state_of_the_page() {
    let (site, catalog) = (site(), Catalog::embedded().unwrap());
    for number in 1..=9 {
        let exercise = exercise(&catalog, number);
        let guess = encoded(&exercise.predict.unit.print(exercise.predict.answer));
        let (_, html) = body(&site, "/", &format!("lab={number}&guess={guess}"));
        let links = links(&html);
        assert_eq!(links.len(), exercise.observe.len(), "lab {number}");
        // An address that names the lab alone is the state in which it starts.
        let first = State::parse(&links[0]).unwrap().0;
        assert!(
            html.contains(&first.command().replace('"', "&quot;").replace('\'', "&#39;"))
                || html.contains(&first.command()),
            "lab {number}"
        );
        for link in &links {
            let (state, notices) = State::parse(link).unwrap();
            assert!(notices.is_empty() && state.lab == Some(number.into()), "{link}");
            let (status, html) = body(&site, "/", link);
            assert_eq!(status, 200, "{link}");
            assert!(!html.contains("No chart"), "{link}");
            // What is open has a control, at most three; all else is shown and kept.
            for key in &exercise.unlock {
                assert!(html.contains(&format!(" id=\"{key}\" name=\"{key}\"")) || number == 7, "{key}: {link}");
            }
            let open = html.matches("<input type=\"number\"").count() + html.matches("<select").count();
            assert!((1..=3).contains(&open), "{open} controls: {link}");
            assert!(html.contains("type=\"hidden\" name=\"gpu\""), "{link}");
        }
        // What is done opens all controls.
        let answer = encoded(&exercise.transfer.unit.print(exercise.transfer.answer));
        let (_, done) = body(&site, "/", &format!("{}&answer={answer}", links[0]));
        assert!(done.contains("<select id=\"gpu\"") && done.contains("The lab is done"), "lab {number}");
    }
}

#[test]
fn nothing_that_was_found_is_shown_before_a_prediction() {
    let (site, catalog) = (site(), Catalog::embedded().unwrap());
    let menu = body(&site, "/", "").1;
    for number in 1..=9 {
        let start = menu.split("href=\"/?").map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"));
        let start = start.into_iter().find(|query| query.ends_with(&format!("&lab={number}"))).unwrap();
        let shown = State::parse(&start)
            .unwrap()
            .0
            .answer(&catalog)
            .map(|answer| View::new(&State::parse(&start).unwrap().0, &answer));
        for path in ["/", "/part"] {
            let (status, html) = body(&site, path, &start);
            let html = html.split("<details class=\"labs\"").next().unwrap().to_owned()
                + html.split("</form>").last().unwrap();
            assert!(status == 200 && html.contains("Predict first"), "{path} {start}");
            for shows in ["<svg", "<td>", "id=\"command\"", "<select", "role=\"tab\"", "/chart/"] {
                assert!(!html.contains(shows), "{shows} at {path} {start}");
            }
            let verdict = &shown.as_ref().unwrap().verdict;
            assert!(!html.contains(&**verdict), "{verdict} at {path} {start}");
        }
    }
}

#[test]
fn a_prediction_is_drawn_where_it_is_on_the_axes() {
    let (site, catalog) = (site(), Catalog::embedded().unwrap());
    for (number, chart, guess, row) in [
        (1, "occupancy", "44 %", ",44,predicted"),
        (2, "timeline", "1.5 ms", "your prediction"),
        (8, "memory", "112 GB", "your prediction,,104.308,112,"),
    ] {
        let (_, html) = body(&site, "/", &format!("lab={number}&guess={}", encoded(guess)));
        let link = &links(&html)[0];
        let (status, csv) = body(&site, &format!("/chart/{chart}.csv"), link);
        assert!(status == 200 && csv.contains(row), "lab {number}: {csv}");
        let (_, svg) = body(&site, &format!("/chart/{chart}.svg"), link);
        assert!(number == 1 || svg.contains("your prediction"), "lab {number}");
    }
    // A ratio is drawn against the command before, which is pinned.
    for (number, guess, per) in [(3, "1.25x", 1.25), (6, "2x", 0.5), (7, "7x", 7.0)] {
        let (_, html) = body(&site, "/", &format!("lab={number}&guess={guess}"));
        let last = links(&html).pop().unwrap();
        let pinned = State::parse(&last).unwrap().0.pinned().unwrap();
        let time = pinned.answer(&catalog).unwrap().analysis().unwrap().time.estimate.get() * 1e6;
        let (_, csv) = body(&site, "/chart/time.csv", &last);
        let row =
            csv.lines().find(|line| line.contains("your prediction")).unwrap_or_else(|| panic!("lab {number}: {csv}"));
        let drawn: f64 = row.split(',').nth(3).unwrap().parse().unwrap();
        crate::common::close(&last, drawn, time * per, 1e-5);
        let open = exercise(&catalog, number).unlock;
        assert!(last.contains("pin=") && !open.is_empty());
    }
    // A share of something else is no occupancy.
    let (_, csv) = body(&site, "/chart/occupancy.csv", "op=kernel&lab=5&guess=44%25");
    assert!(!csv.contains("predicted"), "{csv}");
}
