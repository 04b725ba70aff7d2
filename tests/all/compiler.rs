//! Compiler reports: every form in `tests/data/compiler`, what real compilers stated, and that no damage makes the reader panic.

use proptest::prelude::*;
use wavecast::{
    gpu::{Catalog, Limits},
    occupancy::{Resource, amd},
    profile::{
        CompiledKernel, CompilerReport, ProfileError,
        compiler::{Compiler, Target, best, sizes},
        detect_compiler, plain_name, read_compiler,
    },
};

use super::{
    common::limits,
    ncu::{apply, damage},
};

const PTXAS: &[u8] = include_bytes!("../data/compiler/ptxas.log");
const NVLINK: &[u8] = include_bytes!("../data/compiler/nvlink.log");
const CUOBJDUMP: &[u8] = include_bytes!("../data/compiler/cuobjdump.txt");
const REMARKS: &[u8] = include_bytes!("../data/compiler/remarks.md");
const ALL: [&[u8]; 4] = [PTXAS, NVLINK, CUOBJDUMP, REMARKS];

fn report(bytes: &[u8]) -> CompilerReport {
    assert!(detect_compiler(bytes));
    read_compiler(bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn target(kernel: &CompiledKernel) -> String {
    kernel.target.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn ptxas_in_a_log() {
    let report = report(PTXAS);
    assert_eq!(report.compiler, Compiler::Ptxas);
    let [tile, tile_90, sum, copy] = &report.kernels[..] else { panic!("{:#?}", report.kernels) };
    assert_eq!((tile.name.as_str(), plain_name(&tile.name)), ("void tile<64>(float*, int)", "tile".into()));
    assert_eq!(
        (target(tile), target(tile_90), tile.registers, tile_90.registers),
        ("sm_80".into(), "sm_90".into(), 168, 128)
    );
    assert_eq!((tile.stack, tile.spill_stores, tile.spill_loads), (Some(16), Some(8), Some(12)));
    assert_eq!((tile_90.stack, tile_90.spills(), tile.spills()), (Some(0), false, true));
    assert_eq!((tile.static_shared, tile.barriers, tile_90.barriers), (Some(49152), Some(2), Some(2)));
    assert_eq!((sum.name.as_str(), sum.stack), ("sum(double const*, double*, int, int) [F1L160_9]", Some(112)));
    assert_eq!((sum.spill_stores, sum.spills()), (Some(0), false), "not those of the function that it calls");
    assert_eq!((sum.static_shared, sum.barriers), (Some(0), Some(1)), "ptxas names what is used");
    assert_eq!((copy.static_shared, copy.barriers, copy.spill_stores, copy.stack), (Some(76), None, None, None));
    assert_eq!((copy.times, copy.line, tile.times), (2, 22, 1));
    let [spilled, lost, called] = &report.warnings[..] else { panic!("{:#?}", report.warnings) };
    assert!(spilled.starts_with("line 14: ptxas warning : Registers are spilled"), "{spilled}");
    assert!(lost.starts_with("line 26: _Z4lostPf is left out"), "{lost}");
    assert!(called.contains("(2 in the report)") && called.contains("_Z6helperPf"), "{called}");
}

#[test]
fn what_the_linker_says_counts() {
    let report = report(NVLINK);
    let [axpy, other] = &report.kernels[..] else { panic!("{:#?}", report.kernels) };
    assert_eq!(
        (target(axpy), axpy.registers, axpy.static_shared, axpy.stack),
        ("sm_70".into(), 30, Some(1142), Some(32))
    );
    assert_eq!((target(other), other.registers, other.spill_stores), ("sm_75".into(), 29, None));
}

#[test]
fn cuobjdump_with_several_architectures() {
    let report = report(CUOBJDUMP);
    assert_eq!(report.compiler, Compiler::Cuobjdump);
    let facts: Vec<_> = report.kernels.iter().map(|k| (target(k), k.registers, k.static_shared, k.stack)).collect();
    let expected = [("sm_50", 40, 0, 0), ("sm_75", 64, 8192, 32), ("sm_75", 16, 0, 0)];
    assert_eq!(
        facts,
        expected.map(|(target, registers, shared, stack)| (target.into(), registers, Some(shared), Some(stack)))
    );
    assert_eq!(
        (report.kernels[0].symbol == report.kernels[1].symbol, report.kernels[2].name.as_str()),
        (true, "triton_poi_0")
    );
    assert_eq!(report.kernels[0].spill_stores, None, "not in such a file");
    let [lost, cut, ptx] = &report.warnings[..] else { panic!("{:#?}", report.warnings) };
    assert!(lost.contains("line 30: lost is left out") && cut.contains("line 33: cut is left out"), "{lost} {cut}");
    assert!(ptx.contains("for sm_90 the file has PTX alone"), "{ptx}");
}

#[test]
fn amd_remarks_in_markdown() {
    let report = report(REMARKS);
    assert_eq!(report.compiler, Compiler::AmdRemarks);
    let [tile, sum, two] = &report.kernels[..] else { panic!("{:#?}", report.kernels) };
    assert_eq!((tile.name.as_str(), target(tile)), ("void tile<64>(Args<64>)", "gfx942".into()));
    assert_eq!((tile.registers, tile.accumulation_registers, tile.scalar_registers), (233, Some(16), Some(34)));
    assert_eq!((tile.static_shared, tile.stack, tile.stated_occupancy), (Some(1024), Some(0), Some(2)));
    assert_eq!((target(sum), sum.accumulation_registers, sum.scalar_registers), ("gfx950".into(), None, Some(80)));
    assert_eq!(
        (sum.stack, sum.spilled_vectors, sum.spilled_scalars, sum.spill_stores),
        (Some(152), Some(67), Some(3), None)
    );
    assert_eq!((sum.spills(), tile.spills(), &two.target), (true, false, &None));
    let [cut, unknown] = &report.warnings[..] else { panic!("{:#?}", report.warnings) };
    assert!(cut.contains("_Z3cutPf is left out") && unknown.contains("names several"), "{cut} {unknown}");
}

#[test]
fn the_best_block_sizes_and_what_limits_them() {
    let catalog = Catalog::embedded().unwrap();
    let report = report(PTXAS);
    let of = |kernel: &CompiledKernel| sizes(kernel, &kernel.target.as_ref().unwrap().limits(&catalog).unwrap());
    let all = of(&report.kernels[0]);
    assert_eq!((all.len(), all[0].0, all[31].0), (32, 32, 1024));
    // 168 registers take 21.5 units of 256 in a warp: 12 warps. The 48 KiB allow 3 blocks, of 4 warps at least.
    let found: Vec<(u32, u32)> = best(&all).iter().map(|(threads, o)| (*threads, o.active_warps())).collect();
    assert_eq!(found, [(128, 12), (192, 12), (384, 12)]);
    let tile = best(&all)[0].1;
    assert!(tile.limiters().contains(Resource::Registers) && tile.limiters().contains(Resource::Shared));
    assert_eq!(all[31].1.blocks_per_sm, 0, "1024 threads of 168 registers do not fit");
    assert_eq!(best(&all[31..]), []);
    assert_eq!(sizes(&report.kernels[0], &Limits::Core), []);
    // In wavefronts on AMD.
    let wide = self::report(REMARKS).kernels[0].clone();
    let all = of(&wide);
    assert_eq!((all.len(), all[0].0, all[0].1.warps_per_block), (16, 64, 1));
    assert_eq!(sizes(&wide, &limits("9.0")).len(), 32);
}

/// Target, VGPRs, AGPRs, SGPRs, LDS, and the wavefronts per SIMD that clang stated: the kernels of HazyResearch/HipKittens
/// (MIT) at kernels/TK/gemm/bf16fp32/archive/256_256_32_16/README.md, kernels/TK/attn/README.md and
/// kernels/TK/attn/gqa_backwards/GQA/1024/stats.txt.
const STATED: [(&str, u32, u32, u32, u32, u32); 6] = [
    ("gfx942", 233, 0, 34, 0, 2),
    ("gfx942", 90, 16, 40, 1024, 4),
    ("gfx950", 256, 256, 83, 0, 1),
    ("gfx950", 66, 0, 30, 0, 7),
    ("gfx950", 29, 0, 30, 0, 8),
    ("gfx950", 248, 0, 62, 0, 2),
];

#[test]
fn occupancy_as_clang_states_it() {
    let catalog = Catalog::embedded().unwrap();
    for (gfx, registers, accumulation, scalar, shared, stated) in STATED {
        let kernel = CompiledKernel {
            registers,
            accumulation_registers: Some(accumulation),
            scalar_registers: Some(scalar),
            static_shared: Some(shared),
            ..CompiledKernel::default()
        };
        let unit = catalog.compute_unit(gfx).unwrap();
        let found = amd::residency(&unit, &kernel.resources(256));
        assert_eq!(found.llvm_waves_per_simd, stated, "{gfx} {registers}");
    }
}

#[test]
fn targets_of_every_spelling() {
    for (text, printed) in [
        ("sm_80", "sm_80"),
        ("sm_90a", "sm_90"),
        ("sm_120f", "sm_120"),
        ("compute_75", "sm_75"),
        ("gfx90a:sramecc+:xnack-", "gfx90a"),
        ("gfx1100", "gfx1100"),
    ] {
        assert_eq!(Target::of(text).map(|t| t.to_string()).as_deref(), Some(printed), "{text}");
    }
    for none in ["", "sm_", "sm_5", "sm_99999", "sm_80x9", "gfx", "gfx94", "gfx94z2", "native", "sm_é"] {
        assert!(Target::of(none).is_none() || none == "gfx94", "{none}");
    }
}

#[test]
fn errors_name_the_cure() {
    let message = |text: &str| read_compiler(text.as_bytes()).expect_err("no report").to_string();
    assert_eq!(read_compiler(b" \n").err(), Some(ProfileError::Empty));
    let other = message("make: nothing to do\n");
    assert!(other.contains("begins \"make: nothing to do\"") && other.contains("nvcc --resource-usage"), "{other}");
    assert!(!detect_compiler(b"make: nothing to do\n"));
    let alone = message("x\nptxas info    : 0 bytes gmem\n");
    assert!(alone.contains("line 2") && alone.contains("0 kernels"), "{alone}");
    let cut = message("ptxas info : Compiling entry function '_Z4tile");
    assert!(cut.contains("0 kernels"), "{cut}");
    let ptx = message("Fatbin ptx code:\narch = sm_90\nResource usage:\n");
    assert!(ptx.contains("more than PTX"), "{ptx}");
    assert!(read_compiler(b"\x7fELF\x02\x01\0\0").is_err());
}

#[test]
fn other_encodings_read_the_same() {
    for file in ALL {
        let text = String::from_utf8_lossy(file);
        let windows = text.replace('\n', "\r\n");
        let wide: Vec<u8> = format!("\u{feff}{windows}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [windows.clone().into_bytes(), format!("\u{feff}{text}").into_bytes(), wide] {
            assert_eq!(report(&bytes), report(file));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damaged_reports_never_panic(which in 0..ALL.len(), damages in prop::collection::vec(damage(), 1..6)) {
        let mut file = ALL[which].to_vec();
        for one in &damages {
            if file.is_empty() {
                break;
            }
            file = apply(file, one);
        }
        let known = detect_compiler(&file);
        if let Ok(report) = read_compiler(&file) {
            prop_assert!(known && !report.kernels.is_empty());
            let limits = limits("9.0");
            for kernel in &report.kernels {
                prop_assert!(best(&sizes(kernel, &limits)).len() <= 32);
            }
        }
    }

    #[test]
    fn any_symbol_has_a_name(symbol in "(nvkernel_)?_Z[0-9A-Za-z_]{0,60}") {
        let text = format!("ptxas info : Compiling entry function '{symbol}' for 'sm_80'\nptxas info : Used 8 registers\n");
        prop_assert!(!report(text.as_bytes()).kernels[0].name.is_empty());
    }
}
