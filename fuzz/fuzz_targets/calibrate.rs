//! Calibration from anything: a table of measured products, measured ceilings, which are also drawn over a roofline, and a GPU
//! file that gets the new table, with lines `---` between them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::{
    calibrate::{Request, Table, benchmark, calibrate, whole},
    ceilings,
    chart::{
        Theme,
        figures::{product_roofline, with_ceilings},
    },
    gpu::DataKind,
    op::gemm::Reuse,
};
use wavecast_fuzz::{CATALOG, check_chart, check_gpu, gpu, said};

/// Rows that are read: a search takes its time.
const ROWS: usize = 24;

fuzz_target!(|text: &str| {
    let Some((choice, text)) = text.split_at_checked(1) else { return };
    let mut parts = text.split("---\n");
    let mut part = || parts.next().unwrap_or_default();
    let rows: String = part().split_inclusive('\n').take(ROWS).collect();
    let gpu = gpu(choice.as_bytes()[0]);
    let ceilings = match ceilings::read(part().as_bytes()) {
        Ok(found) => {
            assert!(!found.ceilings.is_empty());
            for one in &found.ceilings {
                assert!(one.rate > 0.0 && one.rate.is_finite(), "{one:?}");
                let share = one.datasheet(gpu).map(|datasheet| one.rate / datasheet);
                assert!(share.is_none_or(|share| share > 0.0), "{one:?}");
            }
            let mut figure = product_roofline("Roofline", gpu, &[], Reuse::Cold);
            with_ceilings(&mut figure, &found, "fuzz");
            check_chart(&figure.draw(Theme::Light));
            match benchmark(&found) {
                Ok(found) => found.ceilings,
                Err(error) => {
                    said(error);
                    Vec::new()
                }
            }
        }
        Err(error) => {
            said(error);
            Vec::new()
        }
    };
    let file = part();
    let tables = match Table::read("fuzz.csv", rows.as_bytes()) {
        Ok(table) => vec![table],
        Err(error) => {
            said(error);
            Vec::new()
        }
    };
    let any_gpu = file.is_empty();
    let data = if any_gpu { DataKind::Random } else { DataKind::Uninitialised };
    let found = match calibrate(&CATALOG, &Request { gpu, tables: &tables, ceilings: &ceilings, data, any_gpu }) {
        Ok(found) => found,
        Err(error) => {
            said(error);
            return;
        }
    };
    check_gpu(&found.after);
    for one in &found.constants {
        let (least, most) = one.constant.range();
        let legal = !one.determined() || (least..=most).contains(&one.after);
        assert!(one.before.is_finite() && one.after.is_finite() && legal, "{one:?}");
    }
    for scores in &found.scores {
        assert!(scores.rows > 0 && scores.before.mape.is_finite() && scores.after.mape.is_finite(), "{scores:?}");
    }
    // What is written is what was found.
    let own = CATALOG.text(&gpu.id).expect("a built-in GPU has a file");
    let table = found.table(own, data.word(), "fuzz").expect("a built-in file is valid");
    let written = whole(own, &table).expect("built-in files have a [calibration] that can be replaced");
    let mut read = CATALOG.read("fuzz", &written, &[]).expect("the file is a GPU file").calibration;
    // The family's constants may stand for the other kind of data.
    read.fold(data);
    assert_eq!(read.sustained_tensor, found.after.calibration.sustained_tensor);
    assert_eq!(read.dram_efficiency, found.after.calibration.dram_efficiency);
    assert_eq!(read.power_droop, found.after.calibration.power_droop);
    match found.table(file, "random", "fuzz\"\n").and_then(|table| whole(file, &table)) {
        Ok(text) => assert!(text.contains("[calibration]")),
        Err(error) => drop(said(error)),
    }
});
