//! Parts of a sweep that were damaged, kept or in the way; forms of files by their names; words and what is said of them.

use std::fs;

use crate::place::{Place, text};

const SWEEP: [&str; 9] = ["sweep", "--op", "gemm", "--axis", "m=1:1000", "--fix", "n=64", "--fix", "dtype=bf16"];
const PARTS: [&str; 6] = ["--fix", "k=64", "--parts", "csv", "--part-rows", "250"];

fn swept(place: &Place, more: &[&str]) -> (String, String) {
    let words = [&SWEEP[..], &PARTS, &["--gpu", "l40s", "--out", "rows"], more].concat();
    let run = place.run(&words).success();
    let output = run.get_output();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn damage_is_seen_and_mended() {
    let place = Place::new();
    swept(&place, &[]);
    let part = "rows/rows-0250.csv";
    let whole = place.read(part);
    let merge = ["merge", "rows", "--output", "all.csv", "--quiet"];
    place.run(&merge).success();
    let all = place.read("all.csv");
    // A digit that changed, a part that was cut, a part that a stopped run did not note.
    let mut flipped = whole.clone();
    let digit = flipped.iter().rposition(u8::is_ascii_digit).unwrap();
    flipped[digit] ^= 1;
    for damaged in [&flipped[..], &whole[..whole.len() / 2], b""] {
        place.file(part, damaged);
        place.refused(&merge, &["rows-0250.csv` is not as it was written", "--resume", "wavecast sweep --op gemm"]);
        assert_eq!(place.read("all.csv"), all);
        let (said, notes) = swept(&place, &["--resume"]);
        assert!(
            notes.contains("3 parts of an earlier run kept") && notes.contains("1 part of an earlier run not as"),
            "{notes}"
        );
        assert!(
            said.contains("1,000 rows in `rows`; 750 of an earlier run, which the lines above leave out"),
            "{said}"
        );
        assert_eq!(place.read(part), whole);
    }
    let sums = text(&place.read("rows/shard-1-of-1.sums"));
    let last = sums.lines().last().unwrap();
    place.file("rows/shard-1-of-1.sums", sums.replace(last, &last[..last.len() - 3]));
    place.refused(&merge, &["is not as it was written"]);
    swept(&place, &["--resume"]);
    place.run(&merge).success();
    assert_eq!(place.read("all.csv"), all);
    // With a search all rows are looked at, and the summary is of all.
    let (said, _) = swept(&place, &["--resume", "--best", "time"]);
    assert!(said.contains("1,000 rows in `rows`\n"), "{said}");
    // A folder without sums is believed, as those of older versions have none.
    fs::remove_file(place.0.path().join("rows/shard-1-of-1.sums")).unwrap();
    place.run(&merge).success();
    assert_eq!(place.read("all.csv"), all);
}

#[test]
fn a_part_is_not_written_over_by_the_result() {
    let place = Place::new();
    swept(&place, &[]);
    let part = place.read("rows/rows-0000.csv");
    place.refused(
        &["merge", "rows", "--output", "rows/../rows/rows-0000.csv"],
        &["is a part of what is merged", "another file"],
    );
    assert_eq!(place.read("rows/rows-0000.csv"), part);
}

#[test]
fn the_name_of_a_file_decides_its_form() {
    let place = Place::new();
    fn of<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&SWEEP[..], &["--fix", "k=64", "--gpu", "l40s"], more].concat()
    }
    place.run(&of(&["--sensitivity", "--output", "s.csv"])).success();
    assert!(place.read("s.csv").starts_with(b"parameter,low_value,"));
    place.run(&of(&["--first", "bound = math", "--along", "m", "--output", "f.json"])).success();
    assert!(place.read("f.json").starts_with(b"{"));
    place.run(&of(&["--sensitivity", "--output", "s.txt"])).success();
    assert!(place.read("s.txt").starts_with(b"gemm at "));
    place.refused(&of(&["--sensitivity", "--output", "s.parquet"]), &["s.parquet", ".csv, .json or text"]);
    place.refused(&of(&["--out", "parts", "--format", "csv"]), &["--format csv", "--parts csv"]);
}

#[test]
fn words_are_no_ranges_and_sweeps_say_what_they_mean() {
    let place = Place::new();
    let of = |more: &[&'static str]| {
        [&SWEEP[..3], &["--gpu", "h100-sxm5-80gb", "--fix", "n=4096", "--fix", "k=4096"], more].concat()
    };
    // 2:4 is a word, and its absence has one.
    let csv =
        place.out(&of(&["--fix", "m=64", "--fix", "dtype=bf16", "--axis", "sparsity=dense,2:4", "--format", "csv"]));
    let times: Vec<f64> = csv.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
    assert!(times.len() == 2 && times[1] < 0.9 * times[0], "{csv}");
    let one = place.out(&of(&["--fix", "m=64", "--fix", "dtype=bf16", "--axis", "sparsity=2:4", "--format", "csv"]));
    assert_eq!((one.lines().count(), one.contains(",2:4,")), (2, true), "{one}");
    // A condition that stops to hold names the first value at which it does not.
    let asked =
        of(&["--fix", "dtype=bf16", "--axis", "m=64,128,256,4096", "--first", "bound = memory", "--along", "m"]);
    let said = place.out(&asked);
    let csv = place.out(&of(&["--fix", "dtype=bf16", "--axis", "m=64,128,256,4096", "--format", "csv"]));
    let first =
        csv.lines().skip(1).find(|line| !line.contains(",memory,")).unwrap().split(',').nth(1).unwrap().to_owned();
    assert!(said.contains(&format!("holds below m = {first}, and no longer from there on")), "{said}");
    // Whatever stands first, an operation without what it needs is refused.
    for order in ["op=gemm,softmax", "op=softmax,gemm"] {
        let words = [
            "sweep",
            "--op",
            "gemm",
            "--axis",
            order,
            "--gpu",
            "l40s",
            "--fix",
            "dtype=bf16",
            "--fix",
            "n=64",
            "--fix",
            "m=64",
        ];
        place.refused(&words, &["is empty", "needs it", "--fix or --axis"]);
    }
    place.refused(&of(&["--fix", "n=64"]), &["--fix n stands twice", "--axis n=A,B"]);
    // A key of another operation would change nothing, unless one of several reads it.
    for odd in ["head_dim=64", "conv.C=3", "rows=5"] {
        let words = of(&["--fix", "dtype=bf16", "--axis", "m=64,128", "--fix", odd]);
        place.refused(&words, &[odd.split('=').next().unwrap(), "changes nothing of gemm: leave it out"]);
    }
    // A kernel needs no --op. What a file says does not reach the terminal as it is.
    let said = place.out(&["sweep", "--kernel", "s.toml#copy", "--axis", "grid=100,200", "--gpu", "l40s"]);
    assert!(said.starts_with("kernel: 2 points\n"), "{said}");
    place.file("t.toml", "schema = 1\ntitle = \"a\\u001b[31mb\"\nop = \"gemm\"\n[fixed]\nm = 64\nn = 64\nk = 64\ndtype = \"bf16\"\ngpu = \"l40s\"\n");
    let said = place.out(&["sweep", "t.toml"]);
    assert!(said.starts_with("a [31mb\n") && !said.contains('\u{1b}'), "{said:?}");
}
