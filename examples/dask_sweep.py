#!/usr/bin/env python3
"""A sweep of wavecast as tasks of Dask: one task per shard, retried where it fails, joined by `wavecast merge`.

    python examples/dask_sweep.py --shards 16 --workers 4 --output products.parquet -- \\
        --op gemm --axis m=64:6400:64 --axis n=64:6400:64 --fix k=4096 --fix dtype=bf16 --gpu h100-sxm5-80gb

Behind the -- stand the options of `wavecast sweep`. Needs `pip install "dask[distributed]"`. docs/cluster.md has more.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from dask.distributed import Client, LocalCluster, as_completed

# `sweep` ends with 1 where no point of a shard can run; its rows say why and are as good as others. 2 is a use
# or an input that a second try does not mend.
DONE, REFUSED = (0, 1), 2


def run(command):
    """Runs one shard on a worker. Gives what a refusal says, or nothing; an exception makes Dask try again."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode in DONE:
        return None
    if done.returncode == REFUSED:
        return done.stderr.strip()
    raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()}")


def arguments():
    parser = argparse.ArgumentParser(description="a sweep of wavecast, shard by shard on the workers of Dask")
    parser.add_argument("--wavecast", default="wavecast", metavar="PATH", help="the program, at this path on all workers")
    parser.add_argument("--shards", type=int, default=16, metavar="N", help="shards; several for each worker")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="worker processes on this machine")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="workers of this scheduler instead, as tcp://host:8786")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="threads of a shard")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="further tries of a shard that fails")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the parts, one that all workers see; "
                        "OUTPUT.parts without it")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="all rows: .parquet or .csv")
    parser.add_argument("sweep", nargs="+", metavar="OPTION", help="behind --: what `wavecast sweep` shall run")
    return parser.parse_args()


def main():
    asked = arguments()
    # Absolute, as workers may stand in another folder.
    wavecast = os.path.abspath(shutil.which(asked.wavecast) or sys.exit(f"no program `{asked.wavecast}`: --wavecast PATH"))
    output = asked.output.absolute()
    out = (asked.out or output.with_name(output.name + ".parts")).absolute()
    form = "csv" if output.suffix == ".csv" else "parquet"
    # --resume keeps the parts that an earlier try, or an earlier run of this script, has finished.
    common = ["--out", str(out), "--parts", form, "--resume", "--jobs", str(asked.jobs), "--quiet"]
    shards = [f"{shard}/{asked.shards}" for shard in range(1, asked.shards + 1)]
    commands = [[wavecast, "sweep", *asked.sweep, *common, "--shard", shard] for shard in shards]
    # Options that cannot be are refused once, not by each shard.
    if refused := subprocess.run([wavecast, "sweep", *asked.sweep, "--dry-run"], stdout=sys.stderr).returncode:
        sys.exit(refused)

    local = None
    if asked.scheduler is None:
        # A process each, so that a worker that dies takes one shard with it, which another one goes on with.
        local = LocalCluster(n_workers=asked.workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with Client(asked.scheduler or local) as client:
        tasks = client.map(run, commands, retries=asked.retries, pure=False)
        shard_of = dict(zip((task.key for task in tasks), shards))
        failed = []
        for count, task in enumerate(as_completed(tasks), start=1):
            # An exception here is a shard that failed in every try.
            message = task.exception() or task.result()
            if message:
                failed.append(f"shard {shard_of[task.key]}: {message}")
            else:
                print(f"shard {shard_of[task.key]}, {count} of {asked.shards} done", file=sys.stderr)
    if local:
        local.close()
    if failed:
        sys.exit("\n".join(failed + ["shards that are done are kept: mend this, then start the same again"]))

    merged = subprocess.run([wavecast, "merge", str(out), "--output", str(output)])
    sys.exit(merged.returncode)


if __name__ == "__main__":
    main()
