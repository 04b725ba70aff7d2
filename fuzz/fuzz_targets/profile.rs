//! Profiler files: read, judged on the GPU that they name and on another, reported and drawn.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::{
    chart::{Theme, figures::profile_roofline},
    profile::{circumstances, detect, device, judge, pair, read},
    report::{KernelReport, Report},
};
use wavecast_fuzz::{CATALOG, check_chart, check_judged, check_report, gpu, said};

/// Launches of one file that are judged.
const LAUNCHES: usize = 3;

fuzz_target!(|bytes: &[u8]| {
    let format = detect(bytes);
    let file = match read(bytes) {
        Ok(file) => file,
        Err(error) => return drop(said(error)),
    };
    assert_eq!(format, Some(file.format));
    // The same launches the other way round, as a second profile to compare with.
    let mut after = file.clone();
    after.kernels.reverse();
    let pairs = pair(&file.seen(), &after.seen());
    assert!(pairs.len() >= file.kernels.len(), "a launch was lost");
    let _ = circumstances(&pairs);
    let text = String::from_utf8_lossy(bytes);
    for chosen in [None, Some(gpu((bytes.len() % 256) as u8))] {
        let judged: Vec<_> = file
            .kernels
            .iter()
            .take(LAUNCHES)
            .map(|kernel| judge(kernel.clone(), device(&CATALOG, &kernel.device, chosen)))
            .collect();
        judged.iter().for_each(check_judged);
        let kernels = judged.iter().map(KernelReport::from_judged).collect();
        let report = Report { kernels, warnings: file.warnings.clone(), ..Report::default() };
        check_report(&report, &text);
        if let Some(figure) = profile_roofline("Roofline", &judged) {
            check_chart(&figure.draw(Theme::Light));
        }
    }
});
