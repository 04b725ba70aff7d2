#!/usr/bin/env bash
# Runs every fuzz target for so many seconds, one after another, and prints a row of a Markdown table for each.
#   fuzz/run-all.sh SECONDS_PER_TARGET [TARGET...]
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:?how many seconds per target?}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cargo +nightly fuzz list)

./seeds.sh
mkdir -p logs
host=$(rustc -vV | sed -n 's/^host: //p')
# No sanitizer: neither the package nor its fuzz targets have unsafe code, and without one several times as many inputs
# are tried. Arithmetic overflow and debug assertions are panics.
options=(-s none -O -a)
cargo +nightly fuzz build "${options[@]}" > logs/build.log 2>&1 || { tail -n 40 logs/build.log; exit 2; }

echo '| Target | Seconds | Executions | Executions/s | Coverage (edges) | Corpus | Peak memory (MB) | Slow or crashing inputs |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|'
failed=0
for target in "${targets[@]}"; do
    case $target in
        profile) dictionary=csv length=32768 ;;
        batch) dictionary=batch length=4096 ;;
        units | words) dictionary=words length=256 ;;
        *) dictionary=toml length=16384 ;;
    esac
    mkdir -p "artifacts/$target"
    before=$(find "artifacts/$target" -type f | wc -l)
    "target/$host/release/$target" "-max_total_time=$seconds" -rss_limit_mb=1024 -timeout=5 -report_slow_units=1 \
        "-max_len=$length" "-dict=dictionaries/$dictionary.dict" "-artifact_prefix=artifacts/$target/" \
        -print_final_stats=1 "corpus/$target" > "logs/$target.log" 2>&1 || failed=1
    last() { grep -oE "$1" "logs/$target.log" | tail -n 1 | grep -oE '[0-9]+$' || echo '?'; }
    executions=$(last 'number_of_executed_units: [0-9]+')
    rate=$(last 'average_exec_per_sec: +[0-9]+')
    edges=$(last 'cov: [0-9]+')
    corpus=$(last 'corp: [0-9]+')
    memory=$(last 'peak_rss_mb: +[0-9]+')
    found=$(($(find "artifacts/$target" -type f | wc -l) - before))
    echo "| $target | $seconds | $executions | $rate | $edges | $corpus | $memory | $found |"
done
exit "$failed"
