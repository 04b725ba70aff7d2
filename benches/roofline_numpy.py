#!/usr/bin/env python3
"""A million matrix products by `wavecast sweep`, beside the plain roofline in numpy over the same table.

    cargo build --release
    python benches/roofline_numpy.py target/release/wavecast

Prints a Markdown table (docs/performance.md). Needs `pip install numpy pyarrow`, Linux or macOS, and takes about a minute.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES, DTYPE, BYTES, GPU = (64, 6400, 64), "bf16", 2, "h100-sxm5-80gb"
POINTS = len(range(SIZES[0], SIZES[1] + 1, SIZES[2])) ** 3


def peaks(wavecast):
    """Peak in FLOP/s and bandwidth in B/s, as the program knows them."""
    shown = subprocess.run([wavecast, "gpus", "show", GPU], capture_output=True, text=True, check=True).stdout
    peak = re.search(r"^# BF16 tensor +([\d.]+)", shown, re.MULTILINE)
    bandwidth = re.search(r"^# DRAM ([\d.]+) TB/s", shown, re.MULTILINE)
    return float(peak[1]) * 1e12, float(bandwidth[1]) * 1e12


def roofline(peak, bandwidth):
    """The columns m, n, k, math_us, dram_us, predicted_us: each operand once through DRAM, perfect overlap."""
    import numpy

    sizes = numpy.arange(SIZES[0], SIZES[1] + 1, SIZES[2], dtype=numpy.int64)
    m, n, k = (axis.ravel() for axis in numpy.meshgrid(sizes, sizes, sizes, indexing="ij"))
    math = 2.0 * m * n * k / peak * 1e6
    dram = BYTES * (m * k + k * n + m * n) / bandwidth * 1e6
    return {"m": m, "n": n, "k": k, "math_us": math, "dram_us": dram, "predicted_us": numpy.maximum(math, dram)}


def write(columns, path):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def timed(work):
    """Seconds of wall clock and of CPU that `work` takes in this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def timed_program(command):
    """The same of a program, its start included."""
    start = time.perf_counter()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"exit code {child.returncode}: {command}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description="a million products: wavecast beside a roofline in numpy")
    parser.add_argument("wavecast", nargs="?", default="target/release/wavecast", help="the program, a release build")
    parser.add_argument("--repeat", type=int, default=2, metavar="N", help="runs of each; the fastest counts")
    # What the comparison starts of this file as a program of its own.
    parser.add_argument("--only-roofline", metavar="FILE", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    roofs = peaks(asked.wavecast)
    if asked.only_roofline:
        write(roofline(*roofs), asked.only_roofline)
        return

    sizes = "{}:{}:{}".format(*SIZES)
    sweep = [asked.wavecast, "sweep", "--op", "gemm", "--fix", f"dtype={DTYPE}", "--gpu", GPU, "--quiet"]
    sweep += [word for axis in "mnk" for word in ("--axis", f"{axis}={sizes}")]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        parquet, csv = Path(folder) / "all.parquet", Path(folder) / "all.csv"
        columns = roofline(*roofs)  # also imports numpy, and pyarrow below, before the clock runs
        write(columns, parquet)
        program = [sys.executable, __file__, asked.wavecast, "--only-roofline", parquet]
        # The numbers of numpy are over so soon that few runs say little.
        often = 5 * asked.repeat
        works = [
            ("roofline in numpy: columns", often, None, lambda: timed(lambda: roofline(*roofs))),
            ("roofline in numpy: to Parquet", often, parquet, lambda: timed(lambda: write(roofline(*roofs), parquet))),
            ("roofline in numpy: to Parquet, as a program", often, parquet, lambda: timed_program(program)),
        ]
        for jobs, threads in ((1, "1 thread"), (2, "2 threads")):
            for path, form in ((parquet, "Parquet"), (csv, "CSV")):
                command = [*sweep, "--jobs", jobs, "--output", path]
                name = f"`wavecast sweep`: to {form}, {threads}"
                works.append((name, asked.repeat, path, lambda command=command: timed_program(command)))
        for name, repeat, path, work in works:
            wall, cpu = (min(seconds) for seconds in zip(*(work() for _ in range(repeat))))
            rows.append((name, wall, cpu, path and path.stat().st_size / 1e6))

    base_wall, base_cpu = rows[1][1:3]
    print(f"{POINTS:,} points, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, the fastest of {asked.repeat} runs\n")
    print("| | wall s | CPU s | points/s | points per CPU s | MB | wall ratio | CPU ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for name, wall, cpu, size in rows:
        rates = [f"{float(f'{POINTS / seconds:.3g}'):,.0f}" for seconds in (wall, cpu)]
        ratios = [f"{wall / base_wall:.3g}", f"{cpu / base_cpu:.3g}"]
        cells = [name, f"{wall:.3g}", f"{cpu:.3g}", *rates, f"{size:.0f}" if size else "", *ratios]
        print("| " + " | ".join(cells) + " |")
    print("\nRatios are to the roofline in numpy, written as Parquet.")
    print(f"Speed-up of 2 threads over 1, to Parquet: {rows[3][1] / rows[5][1]:.2f}.")


if __name__ == "__main__":
    main()
