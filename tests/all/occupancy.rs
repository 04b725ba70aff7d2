//! Occupancy against the golden table (4,100 rows that agree with NVIDIA's calculator on every column), through the
//! batch command's code, so that its columns are checked too.

use wavecast::{
    gpu::Catalog,
    occupancy::batch::{BatchError, BatchSummary, batch},
};

const GOLDEN: &str = include_str!("../data/nvidia_golden.csv");

fn run(input: &str) -> Result<(BatchSummary, String), BatchError> {
    let limits = Catalog::embedded().unwrap().all_limits().unwrap();
    let mut output = Vec::new();
    let summary = batch(input.as_bytes(), &mut output, &limits)?;
    Ok((summary, String::from_utf8(output).unwrap()))
}

#[test]
fn golden_table() {
    let input: String = GOLDEN.lines().map(|l| l.split(',').take(8).collect::<Vec<_>>().join(",") + "\n").collect();
    let (summary, output) = run(&input).unwrap();
    assert_eq!(summary, BatchSummary { rows: 4100, errors: 20 });
    let mut wrong = Vec::new();
    for (golden, found) in GOLDEN.lines().zip(output.lines()).skip(1) {
        let golden_fields: Vec<&str> = golden.split(',').collect();
        let found_fields: Vec<&str> = found.splitn(21, ',').collect();
        // Column 12 is the percentage, printed with 6 significant digits here and 6 decimals there.
        for column in (0..20).filter(|c| *c != 12) {
            if golden_fields[column] != found_fields[column] {
                wrong.push(format!("column {column}: {found}\n  golden {golden}"));
            }
        }
        let percent = |fields: &[&str]| fields[12].parse::<f64>().unwrap();
        if (percent(&golden_fields) - percent(&found_fields)).abs() > 5e-5 {
            wrong.push(format!("percentage: {found}\n  golden {golden}"));
        }
        assert_eq!(golden_fields[20] == "1", !found_fields[20].is_empty(), "{found}");
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn bad_rows_keep_their_place_and_bad_tables_are_refused() {
    let header = "compute_capability,threads_per_block,registers_per_thread,static_smem_bytes,dynamic_smem_bytes,barriers,note\n";
    let rows = "9.0,256,32,0,0,1,fine\n9.9,256,32,0,0,1,x\n9.0,-1,32,0,0,1,x\n9.0,256,32,1 KiB,0,1,x\n9.0,256\n8.0,1024,32,0,0,1,\"a,b\"\n";
    let (summary, output) = run(&format!("{header}{rows}")).unwrap();
    assert_eq!(summary, BatchSummary { rows: 6, errors: 4 });
    let lines: Vec<&str> = output.lines().collect();
    assert!(lines[1].starts_with("9.0,256,32,0,0,1,fine,8,warps|regs,64,64,100,8,8,228,32,64,8192,1024,"));
    assert!(lines[2].contains("no limits are known for compute capability 9.9"));
    assert!(lines[3].contains("threads_per_block = `-1` is not a whole number"));
    assert!(lines[4].contains("static_smem_bytes = `1 KiB`"));
    assert!(lines[5].contains("the row has no field `registers_per_thread`"));
    assert!(lines[6].starts_with("8.0,1024,32,0,0,1,\"a,b\",2,warps|regs,"));
    let missing = run("compute_capability,threads\n9.0,1\n").unwrap_err();
    assert!(missing.to_string().contains("no column `threads_per_block`"), "{missing}");
    assert!(run("").is_err());
}
