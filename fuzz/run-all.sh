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
# No sanitizer: neither the package nor its fuzz targets have unsafe code (SQLite under them does), and without one several
# times as many inputs are tried. Arithmetic overflow and debug assertions are panics.
options=(-s none -O -a)
cargo +nightly fuzz build "${options[@]}" > logs/build.log 2>&1 || { tail -n 40 logs/build.log; exit 2; }

echo '| Target | Seconds | Executions | Executions/s | Coverage (edges) | Corpus | Peak memory (MB) | Crashes | Over 1 s |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|'
failed=0
for target in "${targets[@]}"; do
    case $target in
        profile | compiler) dictionary=csv length=32768 ;;
        trace) dictionary=trace length=32768 ;;
        batch | predict) dictionary=batch length=4096 ;;
        units | words) dictionary=words length=256 ;;
        *) dictionary=toml length=16384 ;;
    esac
    mkdir -p "artifacts/$target"
    rm -f "artifacts/$target"/*
    "target/$host/release/$target" "-max_total_time=$seconds" -rss_limit_mb=1024 -timeout=5 -report_slow_units=1 \
        "-max_len=$length" "-dict=dictionaries/$dictionary.dict" "-artifact_prefix=artifacts/$target/" \
        -print_final_stats=1 "corpus/$target" > "logs/$target.log" 2>&1 || failed=1
    last() { grep -oE "$1" "logs/$target.log" | tail -n 1 | grep -oE '[0-9]+$' || echo '?'; }
    executions=$(last 'number_of_executed_units: [0-9]+')
    rate=$(last 'average_exec_per_sec: +[0-9]+')
    edges=$(last 'cov: [0-9]+')
    corpus=$(last 'corp: [0-9]+')
    memory=$(last 'peak_rss_mb: +[0-9]+')
    crashes=$(find "artifacts/$target" -type f ! -name 'slow-unit-*' | wc -l)
    # Slow is what takes more than a second by itself, not what waited for a busy machine.
    slow=0
    for input in "artifacts/$target"/slow-unit-*; do
        [ -e "$input" ] || continue
        took=$("target/$host/release/$target" "$input" 2>&1 | grep -oE 'in [0-9]+ ms' | grep -oE '[0-9]+' || echo 9999)
        if [ "$took" -gt 1000 ]; then slow=$((slow + 1)); else rm "$input"; fi
    done
    [ "$slow" -eq 0 ] || failed=1
    echo "| \`$target\` | $seconds | $executions | $rate | $edges | $corpus | $memory | $crashes | $slow |"
done
exit "$failed"
