//! Axes of every kind, and what a Parquet file says: slices, limits, policies, types, metadata.

use std::fs;

use tempfile::TempDir;

use super::sweep::{GEMM, get, number, rows, said, with};

#[test]
fn slices_and_limits_are_axes_too() {
    let base =
        ["sweep", "--op", "kernel", "--kernel", "demo#saxpy", "--gpu", "a100-sxm4-80gb", "--format", "csv", "--quiet"];
    let found = rows(&said(&with(&base, &["--axis", "mig=whole,1g.10gb,9g.10gb"])));
    let slice = rows(&said(&with(&base[..5], &["--gpu", "a100-sxm4-80gb:1g.10gb", "--format", "csv", "--quiet"])));
    assert_eq!(get(&found[1], "predicted_us"), get(&slice[0], "predicted_us"));
    assert!(number(&found[1], "predicted_us") > 6.0 * number(&found[0], "predicted_us"));
    assert!(get(&found[2], "error").contains("9g.10gb"), "{:?}", found[2]);
    let axes = ["--fix", "registers_per_thread=128", "--axis", "limits.registers_per_sm=65536,131072"];
    let found = rows(&said(&with(&base, &axes)));
    assert_eq!(found.iter().map(|row| get(row, "blocks_per_sm")).collect::<Vec<_>>(), ["2", "4"]);
}

#[test]
fn policies_and_cases_of_simulations_are_axes() {
    let found = rows(&said(&["sweep", "policy", "--axis", "gemm.n=1536,1664", "--format", "csv", "--quiet"]));
    for row in &found {
        let n = get(row, "gemm.n");
        let asked = [
            "simulate",
            "--gemm",
            "2304",
            n,
            "4096",
            "--dtype",
            "fp16",
            "--tile",
            "256x128",
            "--schedule",
            get(row, "schedule"),
            "--gpu",
            "a100-sxm4-80gb",
            "--format",
            "csv",
            "--quiet",
        ];
        assert_eq!(get(row, "predicted_us"), get(&rows(&said(&asked))[0], "makespan_us"), "{asked:?}");
    }
    assert_eq!(found.len(), 8);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_types_and_says_where_it_comes_from() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let folder = TempDir::new().unwrap();
    let (file, text) = (folder.path().join("rows.parquet"), folder.path().join("rows.csv"));
    let axes = ["--axis", "m=1:9", "--axis", "memory.dram.bandwidth=1 TB/s:3 TB/s:1 TB/s", "--axis", "n=64,0"];
    for path in [&file, &text] {
        said(&with(&with(&GEMM, &axes), &["--output", path.to_str().unwrap()]));
    }
    let reader = SerializedFileReader::new(fs::File::open(&file).unwrap()).unwrap();
    let about = reader.metadata().file_metadata();
    let value = |key: &str| {
        let pairs = about.key_value_metadata().unwrap();
        pairs.iter().find(|pair| pair.key == key).unwrap().value.clone().unwrap()
    };
    assert_eq!((value("wavecast.schema").as_str(), value("wavecast.rows").as_str()), ("1", "54"));
    let command = "wavecast sweep --op gemm --axis m=1:9 --axis 'memory.dram.bandwidth=1 TB/s:3 TB/s:1 TB/s' --axis n=64,0 \
                   --fix dtype=bf16 --fix k=4096 --gpu h100-sxm5-80gb";
    assert_eq!(value("wavecast.command"), command);
    let kinds: Vec<String> =
        about.schema_descr().columns().iter().map(|c| format!("{} {}", c.name(), c.physical_type())).collect();
    for column in [
        "point INT64",
        "m INT64",
        "memory.dram.bandwidth_bytes_per_s DOUBLE",
        "predicted_us DOUBLE",
        "bound BYTE_ARRAY",
    ] {
        assert!(kinds.iter().any(|kind| kind == column), "{kinds:?}");
    }
    // The same rows as the text has, with nulls where that is empty.
    let text = rows(&fs::read_to_string(&text).unwrap());
    let reader = wavecast::sweep::parquet::Reader::new(fs::File::open(&file).unwrap()).unwrap();
    let (batch, inputs) = (reader.group(0).unwrap(), reader.inputs());
    assert_eq!((batch.rows, inputs, text.len()), (54, 4, 54));
    for (number, row) in text.iter().enumerate() {
        for (place, column) in reader.columns().iter().enumerate() {
            assert_eq!(wavecast::sweep::csv::cell(&batch, place, number, inputs), get(row, &column.name));
        }
        assert_eq!(get(row, "error").is_empty(), get(row, "n") == "64");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn damaged_parquet_is_refused_or_read_but_never_a_panic() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("rows.parquet");
    let axes = ["--axis", "m=1:40", "--axis", "n=64,0", "--axis", "gpu=h100-sxm5-80gb,l4"];
    said(&with(&GEMM[..7], &[&axes[..], &["--quiet", "--output", file.to_str().unwrap()]].concat()));
    let whole = fs::read(&file).unwrap();
    let read = |bytes: Vec<u8>| {
        let reader = wavecast::sweep::parquet::Reader::new(bytes::Bytes::from(bytes)).ok()?;
        let batches = (0..reader.groups()).map(|group| reader.group(group).ok()).collect::<Option<Vec<_>>>()?;
        let texts: Vec<Vec<u8>> =
            batches.iter().map(|batch| wavecast::sweep::csv::rows(batch, reader.inputs())).collect();
        Some(texts.concat())
    };
    let text = read(whole.clone()).unwrap();
    let mut refused = 0;
    for place in (0..whole.len()).step_by(whole.len() / 500) {
        for value in [0, whole[place] ^ 1, whole[place] ^ 0x80, 0xFF] {
            let mut bytes = whole.clone();
            bytes[place] = value;
            refused += u32::from(read(bytes).is_none());
        }
        refused += u32::from(read(whole[..place].to_vec()).is_none());
    }
    assert!(refused > 700 && text.len() > 1000, "{refused}");
}

#[test]
fn damaged_manifests_are_refused_at_once() {
    let folder = TempDir::new().unwrap();
    let (out, to) = (folder.path().join("out"), folder.path().join("all.csv"));
    let [out_text, to_text] = [&out, &to].map(|path| path.to_str().unwrap().to_owned());
    said(&with(&GEMM, &["--axis", "m=1:9", "--fix", "n=64", "--parts", "csv", "--out", &out_text]));
    let path = out.join("shard-1-of-1.json");
    let whole = fs::read_to_string(&path).unwrap();
    for (from, to, expected) in [
        ("\"chunk_rows\": 256", "\"chunk_rows\": 0", "chunk_rows = 0"),
        ("\"part_rows\": 1000000", "\"part_rows\": 0", "at least 1 row"),
        ("\"shards\": 1", "\"shards\": 1000000000000", "at most 1000000 are joined"),
        ("\"rows\": 9,", "\"rows\": 9000000000000,", "that shard of 9000000000000 rows"),
        ("\"inputs\": 2", "\"inputs\": 200", "inputs = 200"),
        ("\"schema\": 1", "\"schema\": 2", "schema = 2"),
        ("\"form\": \"csv\"", "\"form\": \"xls\"", "no manifest of a sweep"),
    ] {
        assert!(whole.contains(from), "{from}");
        fs::write(&path, whole.replace(from, to)).unwrap();
        let done = assert_cmd::Command::cargo_bin("wavecast")
            .unwrap()
            .args(["merge", &out_text, "--output", &to_text])
            .assert();
        let error = String::from_utf8(done.code(2).get_output().stderr.clone()).unwrap();
        assert!(error.contains(expected), "{from}: {error}");
    }
    let many = ["--axis", "m=1:3000000", "--fix", "n=64", "--part-rows", "1", "--out", &out_text];
    let done = assert_cmd::Command::cargo_bin("wavecast").unwrap().args(with(&GEMM, &many)).assert();
    let error = String::from_utf8(done.code(2).get_output().stderr.clone()).unwrap();
    assert!(error.contains("take at least 3"), "{error}");
}
