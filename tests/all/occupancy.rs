//! Occupancy against the golden table (4,100 rows that agree with NVIDIA's calculator on every column), through the
//! batch command's code, so that its columns are checked too.

use wavecast::{
    gpu::Catalog,
    occupancy::batch::{BatchError, BatchSummary, batch},
};

const GOLDEN: &str = include_str!("../data/nvidia_golden.csv");
const AMD_GOLDEN: &str = include_str!("../data/amd_golden.csv");

fn run(input: &str) -> Result<(BatchSummary, String), BatchError> {
    let catalog = Catalog::embedded().unwrap();
    let (limits, units) = (catalog.all_limits().unwrap(), catalog.all_compute_units());
    let mut output = Vec::new();
    let summary = batch(input.as_bytes(), &mut output, &limits, units)?;
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

/// 300 rows: hardware rules, LLVM's figure (its rules reproduce 158 values of LLVM's own tests) and HIP's answer.
#[test]
fn amd_golden_table() {
    let input: String = AMD_GOLDEN.lines().map(|l| l.split(',').take(9).collect::<Vec<_>>().join(",") + "\n").collect();
    let (summary, output) = run(&input).unwrap();
    assert_eq!(summary, BatchSummary { rows: 300, errors: 0 });
    assert!(output.starts_with(AMD_GOLDEN.lines().next().unwrap()), "the columns are those of the golden table");
    let mut wrong = Vec::new();
    let mut conventions_differ = 0;
    for (golden, found) in AMD_GOLDEN.lines().zip(output.lines()).skip(1) {
        let golden_fields: Vec<&str> = golden.split(',').collect();
        let found_fields: Vec<&str> = found.split(',').collect();
        assert_eq!(found_fields.len(), golden_fields.len() + 1, "{found}");
        let percent = |fields: &[&str]| fields[22].parse::<f64>().unwrap();
        let equal = (0..25).filter(|c| *c != 22).all(|c| golden_fields[c] == found_fields[c]);
        if !equal || (percent(&golden_fields) - percent(&found_fields)).abs() > 5e-5 {
            wrong.push(format!("{found}\n  golden {golden}"));
        }
        conventions_differ += u32::from(found_fields[18] != found_fields[23]);
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    assert_eq!(conventions_differ, 57, "rows in which HIP's answer is not the resident workgroups");
}

#[test]
fn bad_amd_rows_keep_their_place() {
    let header = "gfx,threads_per_workgroup,vgprs,lds_bytes,wave_size,wgp_mode\n";
    let rows = "gfx942,256,64,0,,\ngfx999,256,64,0,,\ngfx942,256,64,0,32,\ngfx942,256,64,0,,1\ngfx1100,0,64,0,,\ngfx1100,256,64,0,48,2\ngfx942,1025,600,65537,,\n";
    let (summary, output) = run(&format!("{header}{rows}")).unwrap();
    assert_eq!(summary, BatchSummary { rows: 7, errors: 5 });
    let lines: Vec<&str> = output.lines().collect();
    assert!(
        lines[1].starts_with("gfx942,256,64,0,,,4,64,8,8,8,16,8,8,inf,8,waves|vgprs|sgprs,32,32,100,8,8,"),
        "{}",
        lines[1]
    );
    for (line, said) in [
        (2, "no compute unit is known for target `gfx999` (known: gfx900 "),
        (3, "wave_size = 32 must be 64: this target has no other"),
        (4, "workgroup_mode = wgp must be cu: only RDNA"),
        (5, "threads_per_workgroup = 0 must be at least 1"),
        (6, "wgp_mode = 2 is not 0 or 1"),
        (7, ",0,invalid,0,32,0,0,0,"),
    ] {
        assert!(lines[line].contains(said), "{}", lines[line]);
    }
    let missing = run("gfx,vgprs,lds_bytes\n").unwrap_err().to_string();
    assert!(missing.contains("no column `threads_per_workgroup`") && missing.contains("trap_handler"), "{missing}");
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
