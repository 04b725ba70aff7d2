//! Which constants the measured ceilings of a file speak of. The arithmetic of roofline benchmarks runs from registers.

use super::ceilings::Ceiling;
use crate::{
    ceilings::{self, Ceilings, Memory, Tool, What},
    gpu::{DataType, Pipe},
    units::{BytesPerSecond, FlopsPerSecond, significant},
};

/// Ceilings that no constant follows from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BenchmarkError {
    /// A run on a CPU.
    #[error("an ERT result of a CPU ({0}); run ERT with ERT_GPU True, or give rates by --bandwidth and --math")]
    Cpu(&'static str),
    /// Nothing that sets one.
    #[error(
        "no bandwidth of DRAM, no FP32 rate and no BF16 or FP16 rate of matrix units is in it; give rates by --bandwidth and --math"
    )]
    Empty,
}

/// What a file gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// The rates.
    pub ceilings: Vec<Ceiling>,
    /// The place of each in the file.
    pub from: Vec<usize>,
    /// What was left aside, in sentences.
    pub notes: Vec<String>,
}

/// The rates of a file that set constants: the first bandwidth of DRAM, the FP32 rate of vector units, and of matrix units
/// the BF16 rate, else that of FP16.
///
/// # Errors
/// The file is the result of a CPU, or holds nothing that a constant follows from.
pub fn benchmark(file: &Ceilings) -> Result<Benchmark, BenchmarkError> {
    if let Some(why) = file.cpu {
        return Err(BenchmarkError::Cpu(why));
    }
    let tensor = |input| Pipe::Tensor { input, accumulate: DataType::Fp32, sparse: false };
    let place = |what: What| file.ceilings.iter().position(|one| one.what == what);
    let unit = |pipe: Pipe| Some((place(What::Rate(Some(pipe)))?, pipe));
    let mut found = Benchmark { ceilings: Vec::new(), from: Vec::new(), notes: file.notes.clone() };
    if let Some(place) = place(What::Bandwidth(Memory::Dram)) {
        found.ceilings.push(Ceiling::Bandwidth(BytesPerSecond(file.ceilings[place].rate)));
        found.from.push(place);
    }
    let matrix = unit(tensor(DataType::Bf16)).or_else(|| unit(tensor(DataType::Fp16)));
    for (place, pipe) in unit(Pipe::Vector(DataType::Fp32)).into_iter().chain(matrix) {
        found.ceilings.push(Ceiling::Unit(pipe, FlopsPerSecond(file.ceilings[place].rate)));
        found.from.push(place);
    }
    if found.ceilings.is_empty() {
        return Err(BenchmarkError::Empty);
    }
    let dram = |one: &&ceilings::Ceiling| one.what == What::Bandwidth(Memory::Dram);
    let others = file.ceilings.iter().filter(dram).skip(1);
    found
        .notes
        .extend(others.map(|one| format!("`{}` of the file was not used: the first bandwidth of DRAM is", one.name)));
    // rocprofiler-compute measures everything it knows: a sentence for each would hide the others.
    if file.tool != Tool::RocprofCompute {
        let rates = file.ceilings.iter().enumerate().filter(|(_, one)| matches!(one.what, What::Rate(_)));
        found.notes.extend(rates.filter(|(place, _)| !found.from.contains(place)).map(|(_, one)| aside(one)));
    }
    Ok(found)
}

/// Why a rate sets no constant.
fn aside(one: &ceilings::Ceiling) -> String {
    match one.what {
        What::Rate(None) => {
            format!("{} GFLOP/s of the file have no type and were not used", significant(one.rate / 1e9, 6))
        }
        _ => format!("`{}` of the file sets no constant; FP32 does, as BF16 or FP16 of matrix units do", one.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(file: &str) -> String {
        match benchmark(&ceilings::read(file.as_bytes()).expect(file)) {
            Ok(found) => format!("{:?} {:?}", found.ceilings, found.notes),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn results_of_ert_and_of_rocprofiler() {
        let ert = |gpu: &str, levels: &str, rates: &str| {
            text(&format!(
                r#"{{"empirical": {{"gbytes": {{"data": [{levels}]}}, "gflops": {{"data": [{rates}]}},
                    "metadata": {{"CONFIG": {{"ERT_GPU": [{gpu}]}}}}}}, "spec": {{}}}}"#
            ))
        };
        let good = ert("true", r#"["L1", 9000.5], ["DRAM", 1400]"#, r#"["FP64 GFLOPs", 7], ["FP32 GFLOPs", 9000]"#);
        assert!(good.contains("Bandwidth(BytesPerSecond(1400000000000.0))"), "{good}");
        assert!(good.contains("Unit(Vector(Fp32), FlopsPerSecond(9000000000000.0))"), "{good}");
        assert!(good.contains("`FP64 GFLOPs` of the file sets no constant"), "{good}");
        let untyped = ert("\"True\"", r#"["DRAM", 500]"#, r#"["GFLOPs", 288.3]"#);
        assert!(untyped.contains("288.3 GFLOP/s of the file have no type"), "{untyped}");
        for gpu in ["false", "\"False\""] {
            assert!(ert(gpu, r#"["DRAM", 5]"#, "").contains("of a CPU (its CONFIG says ERT_GPU False)"));
        }
        assert!(ert("true", r#"["L3", 5], ["DRAM", 5]"#, "").contains("of a CPU (it has an L3)"));
        assert!(ert("true", r#"["L2", 5]"#, "").contains("no bandwidth of DRAM, no FP32 rate"));

        let csv = "device,HBMBw,HBMBwLow,FP32Flops,MFMABF16Flops,MFMAF16Flops\n0,1300,1,20000,170000,1\n1,1500,1,22000,,1,9\n";
        let found = text(csv);
        assert!(found.contains("Bandwidth(BytesPerSecond(1400000000000.0))") && found.contains("2 devices"), "{found}");
        assert!(found.contains("Tensor { input: Bf16, accumulate: Fp32, sparse: false }"), "{found}");
        let own = text("name,rate\ntensor.fp16,200 TFLOP/s\nL2,4 TB/s\n");
        assert!(
            own.contains("Unit(Tensor { input: Fp16, accumulate: Fp32, sparse: false }, FlopsPerSecond(2"),
            "{own}"
        );
    }
}
