//! Charts of tables of points: every kind, over the columns that the table has.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::chart::{
    Theme,
    points::{
        Front, FrontAsked, Heat, HeatAsked, Lines, LinesAsked, Multiples, MultiplesAsked, Points, PointsError, Tornado,
    },
};
use wavecast_fuzz::{check_chart, said};

fuzz_target!(|bytes: &[u8]| {
    let points = match Points::read("fuzz.csv", bytes) {
        Ok(points) => points,
        Err(error) => return drop(said(error)),
    };
    // The names that the first line gives, in its order.
    let first = String::from_utf8_lossy(bytes.split(|b| *b == b'\n').next().unwrap_or_default()).into_owned();
    let names: Vec<String> = first.split(',').map(|name| name.trim_matches(['\u{feff}', '"', ' ', '\r']).to_owned()).collect();
    let [x, y, z, by] = std::array::from_fn(|i| names.get(i).cloned().unwrap_or_default());
    let theme = if bytes.len() % 2 == 0 { Theme::Light } else { Theme::Dark };
    let lines = LinesAsked { x: x.clone(), y: y.clone(), by: vec![by.clone()], log: None };
    let heat = HeatAsked { x: x.clone(), y: y.clone(), z: z.clone(), log: None };
    let front = FrontAsked { x: x.clone(), y: y.clone(), by: vec![], max: vec![y.clone()], log: None };
    let panels = MultiplesAsked { x, y, panels: vec![z], by: vec![by], log: None };
    let charts: [Result<_, PointsError>; 5] = [
        Lines::new(&points, &lines).map(|c| c.draw(theme)),
        Heat::new(&points, &heat).map(|c| c.draw(theme)),
        Front::new(&points, &front).map(|c| c.draw(theme)),
        Multiples::new(&points, &panels).map(|c| c.draw(theme)),
        Tornado::new(&points).map(|c| c.draw(theme)),
    ];
    for chart in charts {
        match chart {
            Ok(chart) => check_chart(&chart),
            Err(error) => drop(said(error)),
        }
    }
});
