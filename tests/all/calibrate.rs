//! Constants from measurements: two products suffice, what they do not determine stays, and bad rows do no harm.

use std::fmt::Write;

use wavecast::{
    calibrate::{CalibrateError, Calibrated, Ceiling, Constant, Request, Table, calibrate, whole},
    gpu::{Catalog, DataKind, DataType, Gpu},
    op::{
        gemm::{Planner, Precision, Reuse, Shape},
        predict::Predictor,
        table::Columns,
    },
    units::{BytesPerSecond, FlopsPerSecond},
    validate::Score,
};

/// Every 15th row of a public collection; see `tests/data/NOTICE`.
const SAMPLE: &str = include_str!("../data/gemm_bf16_sample.csv");
const HEADER: &str = "op,dtype,batch,m,n,k,timing,measured_us,notes\n";

/// The file of a GPU, calibrated by the datasheet: nothing of it was measured.
fn datasheet(id: &str) -> (Catalog, String) {
    let catalog = Catalog::embedded().unwrap();
    let rates = "[calibration]\nsustained_tensor = 1.0\nsustained_sgemm = 1.0\ndram_efficiency = 1.0\n\
                 power_droop = 0.0\nsgemm_droop = 0.0\nsource = \"datasheet\"\n";
    let text = whole(catalog.text(id).unwrap(), rates).unwrap();
    (catalog, text)
}

fn run(catalog: &Catalog, gpu: &Gpu, text: &str, ceilings: &[Ceiling]) -> Result<Calibrated, CalibrateError> {
    let tables: Vec<Table> =
        if text.is_empty() { Vec::new() } else { vec![Table::read("rows.csv", text.as_bytes()).unwrap()] };
    calibrate(catalog, &Request { gpu, tables: &tables, ceilings, data: DataKind::Uninitialised, any_gpu: false })
}

fn value(found: &Calibrated, constant: Constant) -> f64 {
    found.constants.iter().find(|one| one.constant == constant).unwrap().after
}

fn determined(found: &Calibrated) -> Vec<&'static str> {
    found.constants.iter().filter(|one| one.determined()).map(|one| one.constant.name()).collect()
}

/// Mean error of a GPU's predictions of rows, in percent.
fn error(catalog: &Catalog, gpu: &Gpu, rows: &str) -> f64 {
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let columns = Columns::new(reader.byte_headers().unwrap()).unwrap();
    let mut predictor = Predictor::new(catalog, Some(gpu.clone()));
    let pairs = reader.byte_records().map(Result::unwrap).map(|record| {
        let measured = columns.measured(&record).unwrap().unwrap();
        (predictor.predict(&columns.request(&record).unwrap()).unwrap().time, measured)
    });
    Score::of(&pairs.collect::<Vec<_>>()).mape
}

#[test]
fn a_few_large_products_and_a_few_that_stream_calibrate_a_gpu() {
    let mut wrong = Vec::new();
    // GPU, its file, and the most that the mean error over all other rows may be.
    for (name, id, most) in [
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb", 8.6),
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb", 6.4),
        ("NVIDIA L40S", "l40s", 11.7),
        ("NVIDIA B200", "b200", 7.5),
    ] {
        let (catalog, file) = datasheet(id);
        let gpu = catalog.read("mine", &file, &[]).unwrap();
        let lines: Vec<&str> = SAMPLE.lines().filter(|line| line.starts_with(&format!("{name},"))).collect();
        let shape = |line: &str| -> Vec<f64> { line.split(',').skip(3).take(3).map(|n| n.parse().unwrap()).collect() };
        let far = |line: &str| shape(line).into_iter().map(|side| (side / 4096.0).ln().abs()).sum::<f64>();
        let mut nearest = lines.clone();
        nearest.sort_by(|a, b| far(a).total_cmp(&far(b)));
        let large = &nearest[..3];
        let streams = |line: &str| {
            let (m, weights) = (shape(line)[0], 2.0 * shape(line)[1] * shape(line)[2]);
            (4.0..=17.0).contains(&m) && (1e8..5e8).contains(&weights)
        };
        let (mut few, mut others) = (String::new(), String::new());
        let header = SAMPLE.lines().next().unwrap();
        for text in [&mut few, &mut others] {
            writeln!(text, "{header}").unwrap();
        }
        for line in &lines {
            let chosen = streams(line) || large.contains(line);
            writeln!(if chosen { &mut few } else { &mut others }, "{line}").unwrap();
        }
        let found = run(&catalog, &gpu, &few, &[]).unwrap();
        assert!(found.used < 18 && found.left_out.is_empty(), "{name}: {}", found.used);
        assert_eq!(determined(&found), ["sustained_tensor", "dram_efficiency"], "{name}");
        let [before, after] = [&gpu, &found.after].map(|gpu| error(&catalog, gpu, &others));
        if after > most || after > 0.9 * before {
            wrong.push(format!("{name}: {before:.2} before, {after:.2} after, at most {most}"));
        }
        // What would have to be measured is said.
        assert!(found.warnings.iter().any(|w| w.starts_with("power_droop stays 0: ") && w.contains("3 ms")), "{name}");
        assert!(found.band.is_none(), "a few rows have no band");

        // All rows: the constants that were fitted to them, nearly.
        let all = run(&catalog, &gpu, &format!("{header}\n{}\n", lines.join("\n")), &[]).unwrap();
        let shipped = catalog.find(id).unwrap().gpu.calibration;
        let near = |found: f64, right: f64, most: f64| (found / right - 1.0).abs() < most;
        assert!(near(value(&all, Constant::SustainedTensor), shipped.sustained_tensor, 0.08), "{name}");
        assert!(near(value(&all, Constant::DramEfficiency), shipped.dram_efficiency, 0.06), "{name}");
        assert!(near(value(&all, Constant::FixedFactor), shipped.fixed_factor, 0.08), "{name}");
        let scores = &all.scores[0];
        assert!(scores.after.mape < scores.before.mape && scores.after.mape <= after + 0.3, "{name}: {scores:?}");
        let inside = all.band.unwrap();
        assert!(inside.low.iter().zip(&inside.high).all(|(low, high)| (0.7..*high).contains(low) && *high < 1.5));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rows timed by the model on a GPU, each time multiplied by one of the factors in turn.
fn rows_of(catalog: &Catalog, gpu: &Gpu, rows: &[String], factors: &[f64], host_us: f64) -> String {
    let mut text = HEADER.to_owned();
    let questions = format!("{HEADER}{}\n", rows.join("\n"));
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(questions.as_bytes());
    let columns = Columns::new(reader.byte_headers().unwrap()).unwrap();
    let mut predictor = Predictor::new(catalog, Some(gpu.clone()));
    for (record, (row, factor)) in
        reader.byte_records().map(Result::unwrap).zip(rows.iter().zip(factors.iter().cycle()))
    {
        let found = predictor.predict(&columns.request(&record).unwrap()).unwrap();
        let host = found.launch.map_or(0.0, |launch| host_us - launch * 1e6);
        writeln!(text, "{row},{:.4}", (found.time * 1e6 + host) * factor).unwrap();
    }
    text
}

fn products(dtype: &str, timing: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for (m, n, k) in [
        (16, 64, 64),
        (16, 128, 256),
        (64, 256, 256),
        (32, 512, 128),
        (16, 4096, 12288),
        (8, 16384, 8192),
        (16, 8192, 8192),
        (1024, 4096, 4096),
        (2048, 4096, 4096),
        (4096, 4096, 4096),
        (4096, 8192, 4096),
        (8192, 8192, 8192),
        (16384, 8192, 8192),
        (16384, 16384, 8192),
        (16384, 16384, 16384),
    ] {
        rows.push(format!("gemm,{dtype},,{m},{n},{k},{timing}"));
    }
    rows
}

#[test]
fn the_constants_behind_the_models_own_times_are_found() {
    let (catalog, file) = datasheet("h100-sxm5-80gb");
    let gpu = catalog.read("mine", &file, &[]).unwrap();
    let mut truth = gpu.clone();
    let own = &mut truth.calibration;
    (own.sustained_tensor, own.dram_efficiency, own.fixed_factor, own.power_droop) = (0.81, 0.73, 1.4, 0.25);
    (own.sustained_sgemm, own.sgemm_droop) = (0.66, 0.4);
    let mut rows = products("bf16", "device");
    rows.extend(products("fp32", "launch"));
    // A droop takes more rows than a rate.
    rows.extend_from_within(7..);
    let found = run(&catalog, &gpu, &rows_of(&catalog, &truth, &rows, &[1.0], 31.0), &[]).unwrap();
    for (constant, right) in [
        (Constant::SustainedTensor, 0.81),
        (Constant::DramEfficiency, 0.73),
        (Constant::FixedFactor, 1.4),
        (Constant::PowerDroop, 0.25),
        (Constant::SustainedSgemm, 0.66),
        (Constant::SgemmDroop, 0.4),
        (Constant::LaunchGemm, 31e-6),
    ] {
        let found = value(&found, constant);
        assert!((found / right - 1.0).abs() < 0.02, "{}: {found}, should be {right}", constant.name());
    }
    assert!(found.scores[0].after.mape < 0.3 && found.scores[0].before.mape > 10.0, "{:?}", found.scores[0]);
    assert!(
        found
            .notes
            .iter()
            .any(|n| n.starts_with("launch_overhead of gemm rows is 3") && n.contains("no constant of the GPU"))
    );
    // No key of the file, but said in it.
    let table = found.table(&file, "random", "rows.csv").unwrap();
    assert!(table.contains("# launch_overhead of gemm 3") && !table.contains("\nlaunch"), "{table}");

    // A tenth of wild rows hardly moves them.
    let wild = run(&catalog, &gpu, &rows_of(&catalog, &truth, &rows, &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0], 31.0), &[]);
    let wild = wild.unwrap();
    for (constant, right) in [(Constant::SustainedTensor, 0.81), (Constant::DramEfficiency, 0.73)] {
        assert!((value(&wild, constant) / right - 1.0).abs() < 0.1, "{}", constant.name());
    }
    assert!(wild.warnings.iter().any(|w| w.contains("off by more than 3 times") && w.contains("rows.csv:")));
}

#[test]
fn what_the_rows_do_not_determine_stays_and_says_what_to_measure() {
    let catalog = Catalog::embedded().unwrap();
    let gpu = catalog.find("h100-sxm5-80gb").unwrap().gpu;
    let rows =
        |rows: &[&str]| rows_of(&catalog, &gpu, &rows.iter().map(|r| (*r).to_owned()).collect::<Vec<_>>(), &[1.1], 0.0);
    let warned = |found: &Calibrated, start: &str, part: &str| {
        assert!(found.warnings.iter().any(|w| w.starts_with(start) && w.contains(part)), "{:?}", found.warnings);
    };
    let large = run(&catalog, &gpu, &rows(&["gemm,bf16,,4096,4096,4096,device"]), &[]).unwrap();
    assert_eq!(determined(&large), ["sustained_tensor"]);
    assert_eq!(value(&large, Constant::DramEfficiency), 0.97);
    warned(&large, "dram_efficiency stays 0.97: no row depends on it; measure 16 x ", "larger than L2");
    // Long ones alone: the droop may be anything.
    let long: Vec<String> = (0..12).map(|i| format!("gemm,bf16,,16384,16384,{},device", 16384 + 64 * i)).collect();
    let long = run(&catalog, &gpu, &rows_of(&catalog, &gpu, &long, &[1.1], 0.0), &[]).unwrap();
    assert_eq!(determined(&long), ["sustained_tensor"]);
    warned(&long, "power_droop stays 0.12: what depends on it depends on sustained_tensor", "several durations");
    // Short ones with a launch inside: host or device.
    let short: Vec<String> = (0..12).map(|i| format!("gemm,bf16,,16,{},64,launch", 64 + 32 * i)).collect();
    let short = run(&catalog, &gpu, &rows_of(&catalog, &gpu, &short, &[1.0], 20.0), &[]).unwrap();
    assert_eq!(determined(&short), ["launch_overhead of gemm"]);
    warned(&short, "fixed_factor stays 1: ", "timing = device");
    // Nothing at all.
    let none = run(&catalog, &gpu, &rows(&["gemm,bf16,,16,4096,64,device"]), &[]).unwrap_err().to_string();
    assert!(
        none.starts_with("no constant of H100 SXM5 80 GB follows from 1 row:") && none.contains("measure"),
        "{none}"
    );
}

#[test]
fn measured_rates_are_what_the_model_then_reaches() {
    let (catalog, file) = datasheet("h100-sxm5-80gb");
    let gpu = catalog.read("mine", &file, &[]).unwrap();
    let ceilings = [
        Ceiling::Product(DataType::Bf16, FlopsPerSecond(700e12)),
        Ceiling::Bandwidth(BytesPerSecond(2.8e12)),
        Ceiling::Product(DataType::Fp32, FlopsPerSecond(50e12)),
    ];
    let found = run(&catalog, &gpu, "", &ceilings).unwrap();
    assert_eq!(determined(&found), ["sustained_tensor", "dram_efficiency", "sustained_sgemm"]);
    let plan = |data, m, n, k, reuse| {
        let precision = Precision::new(&found.after, data, false).unwrap();
        Planner::new(&found.after, precision).unwrap().plan(Shape::new(1, m, n, k).unwrap(), reuse)
    };
    let square = 2.0 * 8192_f64.powi(3);
    let large = |data| square / plan(data, 8192, 8192, 8192, Reuse::ColdWeights).time / 1e12;
    let (tensor, vector) = (large(DataType::Bf16), large(DataType::Fp32));
    assert!((tensor - 700.0).abs() < 0.5 && (vector - 50.0).abs() < 0.05, "{tensor} {vector}");
    let stream = plan(DataType::Bf16, 16, 32768, 32768, Reuse::Cold);
    let rate = stream.bytes.get() / stream.time / 1e12;
    assert!((rate - 2.8).abs() < 0.002, "{rate}");
    // Overlap costs the model some percent.
    assert!((1.03..1.1).contains(&(value(&found, Constant::DramEfficiency) / (2.8 / 3.35))));

    // Rows do not move what was given.
    let rows = rows_of(&catalog, &gpu, &["gemm,bf16,,4096,4096,4096,device".into()], &[1.5], 0.0);
    let both = run(&catalog, &gpu, &rows, &ceilings).unwrap();
    assert_eq!(value(&both, Constant::SustainedTensor), value(&found, Constant::SustainedTensor));

    let refused = |ceiling| run(&catalog, &gpu, "", &[ceiling]).unwrap_err().to_string();
    let text = refused(Ceiling::Bandwidth(BytesPerSecond(30e12)));
    assert!(text.starts_with("30 TB/s as a DRAM bandwidth against 3.35 TB/s of the datasheet"), "{text}");
    assert!(refused(Ceiling::Product(DataType::Fp4, FlopsPerSecond(1e15))).contains("has no FP4 tensor unit"));
    let beyond = run(&catalog, &gpu, "", &[Ceiling::Bandwidth(BytesPerSecond(3.4e12))]).unwrap();
    assert_eq!(value(&beyond, Constant::DramEfficiency), 1.0);
    assert!(beyond.warnings[0].starts_with("dram_efficiency is 1 at most"), "{:?}", beyond.warnings);
    let twice = [Ceiling::Bandwidth(BytesPerSecond(2e12)), Ceiling::Bandwidth(BytesPerSecond(3e12))];
    assert!(
        run(&catalog, &gpu, "", &twice).unwrap_err().to_string().contains("two of the given rates set dram_efficiency")
    );
}

#[test]
fn measurements_that_cannot_be_are_named() {
    let catalog = Catalog::embedded().unwrap();
    let gpu = catalog.find("h100-sxm5-80gb").unwrap().gpu;
    let text = |found: Result<Calibrated, CalibrateError>| match found {
        Ok(found) => format!("{}\n{}", found.warnings.join("\n"), found.notes.join("\n")),
        Err(error) => error.to_string(),
    };
    let rows = |factors: &[f64]| {
        let rows = ["gemm,bf16,,4096,4096,4096,device".to_owned(), "gemm,bf16,,16,16384,8192,device".to_owned()];
        text(run(&catalog, &gpu, &rows_of(&catalog, &gpu, &rows, factors, 0.0), &[]))
    };
    // A product in half the time that the datasheet allows: a constant ends at 1, and the row is named.
    let fast = rows(&[0.6, 1.0]);
    assert!(
        fast.contains("sustained_tensor ends at 1, the most it may be; rows.csv:2 (4096 x 4096 x 4096 in bf16)"),
        "{fast}"
    );
    assert!(fast.contains("1 row is faster than the datasheet's rates allow, most of all rows.csv:2"), "{fast}");
    let cached = rows(&[1.0, 0.6]);
    assert!(cached.contains("dram_efficiency ends at 1") && cached.contains("weight_copies="), "{cached}");
    // Milliseconds, and a tenth of the rates.
    assert!(rows(&[1e-3, 1e-3]).contains("measured_us in another unit"), "{}", rows(&[1e-3, 1e-3]));
    assert!(rows(&[10.0, 1.0]).contains("sustained_tensor = 0.0") && rows(&[10.0, 1.0]).contains("very little"));
    let twice = format!("{HEADER}gemm,bf16,,4096,4096,4096,device,170\ngemm,bf16,,4096,4096,4096,device,400\n");
    let twice = text(run(&catalog, &gpu, &twice, &[]));
    assert!(twice.contains("1 product has times more than 1.5 times apart, most of all rows.csv:2 "), "{twice}");
    assert!(twice.contains("with 170 us and rows.csv:3") && twice.contains("with 400 us"), "{twice}");
    let cold =
        text(run(&catalog, &gpu, &format!("{HEADER}gemm,bf16,,4096,4096,4096,device,170,weight_copies=6\n"), &[]));
    assert!(!cold.contains("weight_copies=1"), "{cold}");
    assert!(rows(&[1.0]).contains("2 rows: nothing says what was in L2"));

    let cpu = catalog.find("epyc-9654").unwrap().gpu;
    assert!(text(run(&catalog, &cpu, "", &[])).contains("EPYC 9654 is a CPU"));
    let v100 = catalog.find("v100-sxm2-16gb").unwrap().gpu;
    let none = text(run(&catalog, &v100, &format!("{HEADER}gemm,bf16,,64,64,64,device,10\n"), &[]));
    assert!(none.contains("no row can be used (1 row: V100 SXM2 16 GB has no BF16 tensor unit"), "{none}");
    assert!(text(run(&catalog, &gpu, HEADER, &[])).contains("the tables have no rows"));
}
