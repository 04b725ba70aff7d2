//! The readers of traces, on made-up traces that are never held in memory: `cargo bench --bench trace [MiB]`.
//!
//! Prints speed and the most memory that a process of its own took for each trace (peak resident set, on Linux alone), by
//! default of 200 MiB; `cargo bench --bench trace 2048` is the file of 2 GiB that must stay below 300 MB.

use std::{
    env,
    io::{BufReader, Read},
    process::Command,
    time::Instant,
};

use wavecast::profile::{Format, detect_trace, read_trace};

/// A kind of trace: its name, format, beginning, one step of the program, and end.
type Kind = (&'static str, Format, &'static str, fn(u64) -> String, &'static str);

const KINDS: [Kind; 2] = [
    (
        "PyTorch profiler, JSON",
        Format::Kineto,
        "{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [\n",
        kineto,
        "  {}], \"displayTimeUnit\": \"ms\"}\n",
    ),
    (
        "Nsight Systems, CSV",
        Format::NsysTables,
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),\
         Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n",
        nsys,
        "",
    ),
];

/// MiB of a trace.
const LENGTH: u64 = 200;

/// Of every six events one is a kernel, the others its call, its operator, the frames of Python and an arrow, as with
/// `with_stack=True`.
fn kineto(step: u64) -> String {
    let (at, kernel, blocks) = (10 * step, step % 200, 64 + step % 7);
    let frame = |line: u64| {
        format!(
            "  {{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"torch/nn/modules/module.py({line}): \
             _call_impl\", \"pid\": 9, \"tid\": 9,\n    \"ts\": {at}.125, \"dur\": 9.5,\n    \"args\": {{\n      \
             \"Python id\": {step}, \"Python parent id\": 1, \"Ev Idx\": {step}\n    }}\n  }},\n"
        )
    };
    frame(1736)
        + &frame(1747)
        + &format!(
            "  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::linear\", \"pid\": 9, \"tid\": 9,\n    \"ts\": \
             {at}.250, \"dur\": 8.000,\n    \"args\": {{\n      \"External id\": {step}, \"Record function id\": 0, \"Input \
             Dims\": [[8, 512, 4096], [4096, 4096], []], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\", \"\"]\n    \
             }}\n  }},\n  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9, \"tid\": \
             9,\n    \"ts\": {at}.500, \"dur\": 4.25,\n    \"args\": {{\n      \"cbid\": 211, \"correlation\": {step}\n    }}\n  \
             }},\n  {{\n    \"ph\": \"s\", \"id\": {step}, \"pid\": 9, \"tid\": 9, \"ts\": {at}.500,\n    \"cat\": \"ac2g\", \
             \"name\": \"ac2g\"\n  }},\n  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void \
             cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x{kernel}_tn_align8>(cutlass_80_tensorop_\
             bf16_s16816gemm_relu_bf16_128x128_32x{kernel}_tn_align8::Params)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": {at}.750, \
             \"dur\": 7.168,\n    \"args\": {{\n      \"External id\": {step}, \"queued\": 0, \"device\": 0, \"context\": 1, \
             \"stream\": 7, \"correlation\": {step}, \"registers per thread\": 230, \"shared memory\": 98304, \"blocks per \
             SM\": 0.484848, \"warps per SM\": 1.939394, \"grid\": [{blocks}, 1, 1], \"block\": [128, 1, 1], \"est. achieved \
             occupancy %\": 0\n    }}\n  }},\n"
        )
}

/// Every line a launch, with a gap before it.
fn nsys(step: u64) -> String {
    let (at, kernel, blocks) = (10_000 * step, step % 200, 64 + step % 7);
    format!(
        "{at},8123,{step},{blocks},1,1,128,1,1,168,0.000,0.049,,,,,NVIDIA H100 80GB HBM3 (0),1,,7,\"void \
         step_{kernel}<float>(float *, int)\"\n"
    )
}

/// A trace that is made as it is read.
struct Made {
    step: fn(u64) -> String,
    end: Option<&'static str>,
    ready: Vec<u8>,
    place: usize,
    steps: u64,
    left: u64,
}

impl Read for Made {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.place == self.ready.len() {
            self.place = 0;
            self.ready.clear();
            while self.left > 0 && self.ready.len() < 1 << 16 {
                self.ready.extend((self.step)(self.steps).as_bytes());
                self.steps += 1;
                self.left = if self.ready.len() as u64 >= self.left { 0 } else { self.left };
            }
            self.left = self.left.saturating_sub(self.ready.len() as u64);
            if self.ready.is_empty() {
                self.ready.extend(self.end.take().unwrap_or_default().as_bytes());
            }
        }
        let count = (&self.ready[self.place..]).read(buffer)?;
        self.place += count;
        Ok(count)
    }
}

/// Peak resident set of this process in MB.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1.024e-3)
}

fn read((name, format, head, step, end): Kind, mib: u64) {
    let made = || Made { step, end: Some(end), ready: head.into(), place: 0, steps: 0, left: mib << 20 };
    assert_eq!(detect_trace((head.to_owned() + &step(0)).as_bytes()), Some(format));
    let start = Instant::now();
    let bytes = std::io::copy(&mut made(), &mut std::io::sink()).expect("a sink takes all");
    let (making, start) = (start.elapsed(), Instant::now());
    let trace = read_trace(format, &mut BufReader::with_capacity(1 << 16, made())).expect("the trace is whole");
    let seconds = start.elapsed().saturating_sub(making).as_secs_f64();
    assert!(trace.groups.len() == 1400 && trace.times.len() == 1, "{:?}", trace.warnings);
    let memory = peak().map_or("unknown".into(), |peak| format!("{peak:.0}"));
    let speed = bytes as f64 / 1e6 / seconds;
    println!("| {name} | {mib} | {} | {seconds:.1} | {speed:.0} | {memory} |", trace.launches());
}

fn main() {
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(|word| word.parse::<u64>()).collect::<Result<Vec<_>, _>>().as_deref() {
        // A process for each kind, whose memory is its own.
        Ok([mib, kind]) => read(KINDS[*kind as usize], *mib),
        Ok(rest) => {
            println!("| Trace | MiB | Launches | s | MB/s | Peak memory, MB |\n|---|---:|---:|---:|---:|---:|");
            let mib = rest.first().copied().unwrap_or(LENGTH).to_string();
            for (kind, (name, ..)) in KINDS.iter().enumerate() {
                let own = env::current_exe().expect("a program has a path");
                let status = Command::new(own).args([&mib, &kind.to_string()]).status().expect("it runs again");
                assert!(status.success(), "{name}");
            }
        }
        Err(error) => panic!("MiB of a trace: {error}"),
    }
}
