//! The answers in `docs/cookbook.md`: each question of the public list that the present commands can answer has an
//! entry, and the output shown there holds the right answer. `tests/all/console.rs` runs the same blocks, so that what
//! is shown is what the program says.

/// Id, the question's address, and what the console blocks of its entry must show, one line each.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: [Case; 45] = [
    (
        "Q02",
        "kokkos/kokkos/pull/5739",
        &["2 blocks per SM, 14 of 64 warps, occupancy 21.9 %", "3 blocks per SM, 18 of 64 warps, occupancy 28.1 %"],
    ),
    (
        "Q03",
        "kokkos/kokkos/pull/5624",
        &["10 blocks per SM, 40 of 64 warps, occupancy 62.5 %", "41 -> 48 per thread", "43 -> 48 per thread"],
    ),
    (
        "Q04",
        "pytorch/pytorch/pull/87115",
        &["1 block per SM, 32 of 48 warps, occupancy 66.7 %", "3 blocks per SM, 48 of 48 warps, occupancy 100 %"],
    ),
    ("Q05", "kokkos/kokkos/issues/7191", &["at most 3 blocks of this size fit", "(512, 4): at most 32 registers"]),
    ("Q06", "pytorch/pytorch/pull/45889", &["8.6          1024       255       99     1536      48"]),
    (
        "Q07",
        "inducer/pycuda/pull/199",
        &[
            "7.0          1024       255       96     2048      64",
            "7.5          1024       255       64     1024      32",
            "9.0          1024       255      227     2048      64",
            "12.0         1024       255       99     1536      48",
            "no limits are known for compute capability 9.9",
        ],
    ),
    (
        "Q09",
        "Dao-AILab/flash-attention/pull/2592",
        &["1 block per SM, 4 of 48 warps, occupancy 8.3 %", "2 blocks per SM, 8 of 48 warps, occupancy 16.7 %"],
    ),
    (
        "Q10",
        "unslothai/llama.cpp/pull/198",
        &["1 block per SM, 8 of 48 warps, occupancy 16.7 %", "2 blocks per SM, 8 of 48 warps, occupancy 16.7 %"],
    ),
    ("Q11", "NVIDIA/Fuser/pull/4465", &["232448 B asked = 233472 B taken", "0 blocks per SM", "at most 227 KiB"]),
    (
        "Q12",
        "brian-team/brian2cuda/issues/208",
        &["48 of 64 warps, occupancy 75 %", "100 % takes at most 32 registers", "most occupancy (75 %)"],
    ),
    (
        "Q13",
        "HazyResearch/ThunderKittens/issues/37",
        &["The block cannot run", "the largest legal block is 384 threads"],
    ),
    (
        "Q15",
        "NVIDIA/cutlass/issues/1676",
        &["1 block per SM, 12 of 64 warps, occupancy 18.8 %", "168 per thread = 64512"],
    ),
    (
        "Q17",
        "meta-pytorch/segment-anything-fast/issues/63",
        &[
            "135200 bytes (132.0 KiB)",
            "this is on-chip memory, not GPU memory",
            "(99.0 KiB)",
            "A100 SXM4 40 GB: 1 block",
        ],
    ),
    ("Q19", "HPCToolkit/hpcviewer/issues/52", &["525 % in the file, above 100 %"]),
    (
        "Q20",
        "forums.developer.nvidia.com/t/achieved-occupancy-reported-at-nsight-compute/181881",
        &["not in file achieved occupancy"],
    ),
    (
        "Q21",
        "stas00/ml-engineering/pull/22",
        &["557.6 us", "1.112 ms", "1 full, no tail", "costs 49.4 % of the time", "utilization_pct = 50.463"],
    ),
    (
        "Q22",
        "ggml-org/llama.cpp/pull/5021",
        &[
            "too few blocks: 32 blocks leave 50 of 82 SMs",
            "too few blocks: 32 blocks leave 96 of 128 SMs",
            "1 full and a tail of 2",
            "28 SMs idle",
            "utilization_pct = 53.3333",
            "the same work split over",
        ],
    ),
    (
        "Q26",
        "NVIDIA/cutlass/issues/941",
        &["12 full, no tail", "math-bound", "12.5 TFLOP/s of 31.24 TFLOP/s at 643 FLOP/B", "40 %", "ridge 52.05"],
    ),
    (
        "Q27",
        "NVIDIA/cutlass/issues/981",
        &["32 blocks on 108 SMs, 76 of them", "memory-bound", "(86.31 us", "at 1 FLOP/B"],
    ),
    (
        "Q28",
        "karpathy/nanoGPT/pull/464",
        &["peak 989.4 TFLOP/s, 32.8 % of it reached", "1.04 times the peak", "another GPU"],
    ),
    (
        "Q29",
        "pytorch/pytorch/pull/182023",
        &[
            "# TF32 tensor, 2:4 sparse                        989.4",
            "# TF32 tensor                                    494.7",
        ],
    ),
    (
        "Q32",
        "apoorvkh/academic-pretraining/issues/3",
        &[
            "# FP16 tensor                                    154.8",
            "# FP16 tensor                                    71.16",
            "# FP16 tensor, FP16 accumulate                   142.3",
        ],
    ),
    ("Q34", "ekondis/mixbench/issues/18", &["# FP32 vector                                    19.49"]),
    ("Q35", "ekondis/mixbench/issues/14", &["1.18 times the peak: the clock was 1.828 GHz", "99.9 % of it reached"]),
    (
        "Q36",
        "BytedTsinghua-SIA/CUDA-Agent/issues/16",
        &["6.99x  TF32 tensor instead of FP32 vector", "memory-bound (DRAM)"],
    ),
    (
        "Q37",
        "Dao-AILab/flash-attention/issues/1913",
        &["FP32 vector peak 14.72 TFLOP/s, ridge 9.468 FLOP/B", "FP16 tensor peak 311.9 TFLOP/s, ridge 200.6 FLOP/B"],
    ),
    (
        "Q39",
        "RRZE-HPC/gpu-benches/issues/6",
        &["the data come from L2, not DRAM", "above its peak of 288 GB/s", "(L2)"],
    ),
    ("Q41", "pytorch/pytorch/issues/111339", &["memory-bound (DRAM)", "(21.59 us", "(12.15 us"]),
    (
        "Q42",
        "hahnyuan/LLM-Viewer/issues/12",
        &["K and V 512 MiB (4096 B per token)", "with as many KV heads as query heads it would be 4 times the bytes"],
    ),
    ("Q43", "hahnyuan/LLM-Viewer/issues/4", &["83.7 %", "43.3 %"]),
    ("Q44", "ashalliants/ninfer-3090/pull/36", &["(18.4 ms", "66.5 % of 936.2 GB/s", "72.9 % of 854 GB/s"]),
    (
        "Q45",
        "Dao-AILab/flash-attention/issues/741",
        &["274.9 GFLOP in the two products", "2.5 times where it computes the scores again"],
    ),
    ("Q46", "pytorch/torchtitan/issues/341", &["1.21 times the peak", "causal mask not halved"]),
    ("Q48", "caomaolufei/AIInfraGuide/issues/24", &["13.400", "26.800", "53.600", "(107.2 GB)"]),
    ("Q50", "deepspeedai/DeepSpeed/pull/5099", &["(26.25 GB)"]),
    ("Q52", "jranaraki/vllm-fit/issues/2", &["K and V 2 GiB (524288 B per token)"]),
    ("Q54", "gpustack/gguf-parser-go/issues/8", &["1.072", "4.289", "305.000"]),
    ("Q55", "AlexsJones/llmfit/issues/230", &["72.558", "67.575"]),
    ("Q56", "unslothai/unsloth/pull/6895", &["183359 MiB", "192.3 GB", "kB or KiB?"]),
    (
        "Q58",
        "NVIDIA/DCGM/issues/138",
        &["# 1g.10gb          14", "# 2g.20gb          28", "# 3g.40gb          42", "33 % in 1 of 3"],
    ),
    ("Q62", "andikleen/pmu-tools/pull/539", &["1.234 ms measured", "133.2"]),
    ("Q63", "ROCm/rocprofiler-compute/issues/345", &["axes to,,,,,10000000,", "n-body,DRAM,math-bound,1875000,"]),
    (
        "Q64",
        "ROCm/rocm-systems/pull/11103",
        &["axes from,,,,,0.1,100000000000,,\naxes to,,,,,10000,10000000000000000,,\n...\nestimate,1,128x128"],
    ),
    (
        "Q65",
        "ROCm/rocprofiler-compute/issues/281",
        &["memory roof,,DRAM", "compute roof,,FP32 vector", "estimate,1,saxpy"],
    ),
    ("Q66", "ggml-org/llama.cpp/pull/16643", &["0 blocks per SM", "The block cannot run", "the launch is refused"]),
];

#[test]
fn every_question_has_an_entry_that_shows_the_right_answer() {
    let page = include_str!("../../docs/cookbook.md");
    let entries: Vec<&str> = page.split("\n### ").skip(1).collect();
    for (id, address, answers) in CASES {
        let link = format!("(https://{}{address})", if address.starts_with("forums") { "" } else { "github.com/" });
        let entry = entries.iter().find(|e| e.contains(&link)).unwrap_or_else(|| panic!("{id}: no entry links {link}"));
        let shown: Vec<&str> = entry.split("```console\n").skip(1).map(|b| b.split("\n```").next().unwrap()).collect();
        assert!(!shown.is_empty() && shown.iter().all(|b| b.starts_with("$ wavecast ")), "{id}: no command");
        let shown = shown.join("\n");
        for answer in answers {
            // A sentence may be broken over lines.
            let unbroken = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            let wanted = answer.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(unbroken.contains(&wanted), "{id}: `{answer}` is not in\n{shown}");
        }
        let prose = entry.rsplit("\n```\n").next().unwrap();
        assert!(prose.trim().len() > 80, "{id}: an answer in words follows the command");
    }
    assert!(entries.iter().all(|e| CASES.iter().any(|(_, address, _)| e.contains(address))), "an entry without a case");
}
