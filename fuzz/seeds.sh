#!/usr/bin/env bash
# Fills corpus/ and dictionaries/ from the files of the repository, so that new files and words are seeds at once.
set -euo pipefail
cd "$(dirname "$0")"

# seed TARGET NAME: standard input becomes a seed.
seed() { mkdir -p "corpus/$1" && cat > "corpus/$1/seed-$2"; }
# Lines as entries of a libFuzzer dictionary, which must be ASCII.
entries() { LC_ALL=C grep -E '^[ -~]+$' | sort -u | sed -e 's/[\\"]/\\&/g' -e 's/.*/"&"/'; }

for file in ../gpus/*/*.toml; do
    name=$(basename "$file" .toml)
    seed gpu_file "$name" < "$file"
done
base=../gpus/nvidia/h100-sxm5-80gb.toml
limits=$(awk '/^\[\[limits\]\]/ { on = 0 } on { print } /^\[\[limits\]\]/ { on = 1 }' ../gpus/nvidia/compute_capability.toml |
    awk '/^compute_capability = "9.0"/ { on = 1 } /^$/ { on = 0 } on { print }')
{ cat "$base"; printf '\n[limits]\n%s\n' "$limits"; } | seed gpu_file own-limits
{ cat ../gpus/amd/instinct-mi300x.toml; printf '\n[compute_unit]\n'; awk '/^gfx = "gfx942"/ { on = 1 } /^$/ { on = 0 } on' ../gpus/amd/gfx.toml; } |
    seed gpu_file own-compute-unit
sets=$(awk -F ' = ' '
    /^\[[^[]/ { table = substr($0, 2, index($0, "]") - 2) "."; next }
    /^\[\[/ { exit_table = 1; table = "-"; next }
    NF == 2 && table != "-" && $1 !~ /source|schema|aliases|disagreements/ && $2 !~ /[{[]/ { print table $1 "=" $2 }' "$base")
{ cat "$base"; sed 's/^/#set /' <<< "$sets"; } | seed gpu_file what-ifs
{ cat "$base"; awk -F ' = ' 'NF == 2 && $2 ~ /^("[0-9]|[0-9])/ && $1 != "compute_capability" { print "#set limits." $1 "=" $2 }' <<< "$limits"; } |
    seed gpu_file limits-what-ifs
number=0
while read -r change; do
    number=$((number + 1))
    printf 'A\n%s\n' "$change" | seed overrides "$number"
done <<< "$sets"
printf 'A\n%s\n' "$sets" | seed overrides all
printf 'A\nlimits.max_threads_per_sm=4096\nlimits.shared_per_sm="300 KiB"\nrates.tensor_cap=0.5\n' | seed overrides limits

grep -oE '"[^"]+"' ../src/units.rs | tr -d '"' | sort -u > dictionaries.tmp
while read -r unit; do
    printf '%s' "$unit" | seed units "$(cksum <<< "$unit" | cut -d ' ' -f 1)"
    printf '1.5e3 %s' "$unit" | seed units "n$(cksum <<< "$unit" | cut -d ' ' -f 1)"
done < dictionaries.tmp
rm dictionaries.tmp

words=$(grep -hoE 'name = "[0-9][^"]*"' ../gpus/nvidia/mig.toml | cut -d '"' -f 2 | sort -u | sed 's/^/h100:/'
    grep -ohE '"[^"]{1,120}"' ../src/gpu/pipe.rs ../src/profile/name.rs ../src/scenario/dims.rs | tr -d '"'
    sed -n '/^aliases/,/^]/p' ../gpus/*/*.toml | grep -oE '"[^"]+"' | tr -d '"')
while read -r word; do
    printf '%s' "$word" | seed words "$(cksum <<< "$word" | cut -d ' ' -f 1)"
done < <(sort -u <<< "$words")

for file in ../scenarios/*.toml; do
    for target in scenario charts png; do seed "$target" "$(basename "$file" .toml)" < "$file"; done
done
for file in ../networks/*.json; do
    { printf '\000\004\200\001'; cat "$file"; } | seed network "$(basename "$file" .json)"
done
for file in ../tests/data/ncu/*.csv ../tests/data/ncu/*.txt; do seed profile "$(basename "$file")" < "$file"; done
for file in ../tests/data/kineto/*.json; do seed trace "kineto-$(basename "$file" .json)" < "$file"; done
for file in ../tests/data/{nsys,nvprof,rocprof}/*.{csv,txt}; do
    [ -e "$file" ] || continue
    seed trace "$(basename "$(dirname "$file")")-$(basename "$file")" < "$file"
done
# A small database, where there is a program to make one.
if command -v sqlite3 > /dev/null; then
    mkdir -p corpus/trace && rm -f corpus/trace/seed-nsys-export
    { echo 'PRAGMA page_size = 512;'; cat ../tests/data/nsys/export.sql; } | sqlite3 corpus/trace/seed-nsys-export
fi
for file in ../tests/data/compiler/{*.log,*.txt,remarks.md}; do seed compiler "$(basename "$file")" < "$file"; done
seed batch small < ../tests/data/occupancy_batch.csv
printf '%s\n' compute_capability,threads_per_block,registers_per_thread,static_smem_bytes,dynamic_smem_bytes,carveout_pct,optin,barriers \
    9.0,256,66,0,0,-1,1,1 8.0,1024,32,0,100000,50,0,2 7.5,96,255,49152,0,,, | seed batch optional
head -n 20 ../tests/data/amd_golden.csv | seed batch amd
printf '%s\n' gfx,threads_per_workgroup,vgprs,lds_bytes,wave_size,wgp_mode,agprs,sgprs,trap_handler \
    gfx942,256,128,1024,,,128,100,1 gfx1100,64,96,65536,32,1,,, gfx90a,1024,512,0,64,0,0,0,0 | seed batch amd-optional
seed predict questions < ../tests/data/four_products.csv
head -n 12 ../tests/data/gemm_bf16_sample.csv | seed predict measured
printf '%s\n' gpu,op,dtype,batch,m,n,k,timing,measured_us,notes 'T4,bmm,fp16,,1,2,3,launch,7,bias;weight_copies=6; sparsity=2:4' \
    'h100,grouped_gemm,fp8,8,4096,64,1e3,device,-1,data=uninitialised' | seed predict notes
printf '%s\n' gpu,op,dtype,batch,m,n,k,rows,cols,heads_q,heads_kv,seq_q,seq_kv,head_dim,causal,phase,conv_params,timing,measured_us,notes \
    'a100,attention,bf16,2,,,,,,32,8,512,4096,128,1,prefill,,device,99,window=256;bare;library=fa2' 'h100,attention,fp16,,,,,,,64,8,1,9999,128,,decode,,launch,,' \
    'v100,conv,fp32,,,,,,,,,,,,,bwd_data,N=8;C=6;H=9;W=7;K=4;R=3;S=1;stride=2x1;pad=1;dil=2;groups=2;layout=NHWC,launch,9,' \
    'l40s,moe,bf16,,64,128,256,,,,,,,,,,,device,,experts=8;topk=2;ep=4;routing=power:1.2' 't4,softmax,fp32,,,,,64,99,,,,,,,,,launch,7,' \
    'mi100,elementwise,fp16,,,,,8,1024,,,,,,,,,device,3,kind=gelu;reads=2;writes=1' 'b200,rmsnorm,bf16,,,,,1,1,,,,,,,,,device,1,' | seed predict operations
{ printf 'A'; cat ../tests/data/h100_products.csv; printf -- '---\n{"empirical": {"gbytes": {"data": [["DRAM", 1700.0]]}, "gflops": {"data": [["FP32 GFLOPs", 18500.0]]}, "metadata": {"CONFIG": {"ERT_GPU": [true]}}}}\n---\n'
    cat "$base"; } | seed calibrate whole
{ printf 'B'; cat ../tests/data/four_products.csv; printf -- '---\ndevice,HBMBw,FP32Flops,MFMABF16Flops\n0,1300,20000,170000\n'; } | seed calibrate rocprof
for file in ../tests/data/ceilings/*; do
    { printf 'A---\n'; cat "$file"; printf -- '\n---\n'; } | seed calibrate "ceilings-$(basename "$file")"
done
printf 'C%s\n' source,gpu,op,dtype,batch,m,n,k,timing,measured_us,notes lab,,gemm,bf16,,4096,4096,4096,device,170,weight_copies=6 \
    ,,bmm,fp32,64,512,512,64,launch,60, ,,gemm,fp8,,16,16384,8192,device,1e9, | sed '2,$s/^C//' | seed calibrate rows
for file in ../scenarios/sweep/*.toml; do seed sweep "$(basename "$file")" < "$file"; done
for file in ../docs/labs/*.toml; do seed lab "$(basename "$file")" < "$file"; done
printf 'student = "Ada"\nseed = "ada"\n[answers]\n1 = "37.5 %%"\nlast-wave = "2 ms"\n' | seed lab sheet
printf '37.5 %%' | seed lab answer
printf 'm,predicted_us,n,gpu,bound,error\n64,10.5,1,h100,math,\n128,20,2,l4,memory,\n256,,2,l4,,too large\n' | seed points rows
printf 'parameter,low_value,high_value,low_us,base_us,high_us,elasticity\nm,1,2,10,20,30,0.5\nsm.count,66,132,40,20,15,-1\n' | seed points tornado
# A target that builds its values from bytes starts from bytes.
for target in kernel gemm operations; do head -c 600 ../Cargo.lock | seed "$target" bytes; done

mkdir -p dictionaries
{
    cat ../gpus/*/*.toml ../scenarios/*.toml | grep -v '^ *#' | grep -oE '[a-z_0-9]+ = ' || true
    cat ../gpus/*/*.toml ../scenarios/*.toml | grep -oE '^\[\[?[a-z_0-9.]+\]\]?' || true
    grep -ohE '"[A-Za-z0-9_.]{2,40}"' ../src/scenario/*.rs ../src/gpu/pipe.rs ../src/gpu/read.rs | tr -d '"' || true
    grep -ohE '"[A-Za-z/]{1,9}", [0-9K]' ../src/units.rs | cut -d '"' -f 2 | sed 's/^/ /' || true
    printf '%s\n' '#set limits.' '[limits]' '= nan' '= inf' '= -1' '= 0' '= 1e300' '= 4294967295' '= 9223372036854775807' '"1e300 B"' '"0 B"' '[[vary]]'
} | entries > dictionaries/toml.dict
{
    grep -ohE '"[][A-Za-z0-9_#%/ .()=:-]{2,90}"' ../src/profile/fields/names.rs ../src/profile/{unit,tensor,fields,details,raw}.rs | tr -d '"'
    grep -ohE '"[][A-Za-z /.:()=-]{3,60}"' ../src/profile/compiler/*.rs ../src/profile/ncu_text/*.rs ../src/profile/ncu_text.rs | tr -d '"'
    head -n 3 ../tests/data/ncu/*.csv | grep -oE '"[^"]{1,90}"' | tr -d '"'
    grep -ohE '"[A-Za-z_ /]{3,40}"' ../src/profile/{nsys,nvprof,rocprof}/*.rs | tr -d '"'
    printf '%s\n' '","' '"' ';' '1.234,5' '1e308' '-1' 'nan' 'inf' '18446744073709551615'
} | entries > dictionaries/csv.dict
{
    grep -ohE '"[a-z_]{4,30}"' ../src/occupancy/batch.rs ../src/occupancy/batch/*.rs ../src/op/table.rs | tr -d '"'
    grep -oE 'gfx[0-9a-f]+' ../gpus/amd/gfx.toml
    printf '%s\n' h100 weight_copies= sparsity=2:4 data=random data=uninitialised bf16 fp8 1099511627776 1e308 1e-320 nan 9.0 8.6 12.1 4294967295 4294967296 -1 '"' ','
} | entries > dictionaries/batch.dict
{
    grep -ohE 'rename = "[^"]+"|alias = "[^"]+"|"[A-Za-z_]{3,40}"' ../src/profile/kineto.rs ../src/profile/kineto/*.rs | sed 's/^[a-z]* = //' | tr -d '"'
    printf '%s\n' '"ph": "X"' '"cat": "kernel"' '"ts": ' '"dur": ' '"args": {' '{"ph"' '},' ']}' '\\u' '\\ud83d' '\\"' inf NaN 1e308
} | entries > dictionaries/trace.dict
{
    cat <<< "$words" | grep -E '^.{1,30}$'
    grep -ohE '"[A-Za-z/]{1,9}", [0-9K]' ../src/units.rs | cut -d '"' -f 2
    printf '%s\n' e308 e-320 nan inf operator '<' '::' '(anonymous namespace)::' Kernel2
} | entries > dictionaries/words.dict
