//! Embeds the GPU, scenario, simulation, sweep and lab files, so that the program needs no data folder.

use std::{env, fmt::Write, fs, path::Path};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for (constant, folders, target) in [
        ("GPU_FILES", &["gpus/nvidia", "gpus/amd", "gpus/cpus"][..], "gpus.rs"),
        ("SCENARIO_FILES", &["scenarios"], "scenarios.rs"),
        ("SIMULATION_FILES", &["scenarios/simulate"], "simulations.rs"),
        ("SWEEP_FILES", &["scenarios/sweep"], "sweeps.rs"),
        ("LAB_FILES", &["docs/labs"], "labs.rs"),
    ] {
        // A copied target folder must not keep the paths of the tree that it came from.
        println!("cargo:rerun-if-env-changed=CARGO_MANIFEST_DIR");
        let mut code = String::new();
        let mut files = Vec::new();
        for folder in folders {
            println!("cargo:rerun-if-changed={folder}");
            let entries = fs::read_dir(Path::new(&root).join(folder)).unwrap_or_else(|e| panic!("{folder}: {e}"));
            let paths = entries.map(|entry| entry.expect("a readable folder entry").path());
            files.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "toml")));
        }
        files.sort();
        writeln!(code, "pub(crate) const {constant}: &[(&str, &str)] = &[").expect("writing to a string");
        for path in files {
            let stem = path.file_stem().and_then(|s| s.to_str()).expect("a UTF-8 file name");
            writeln!(code, "    ({stem:?}, include_str!({:?})),", path.display().to_string())
                .expect("writing to a string");
        }
        code.push_str("];\n");
        fs::write(Path::new(&out).join(target), code).expect("a writable OUT_DIR");
    }
}
