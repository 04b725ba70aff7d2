//! Where the time of a file goes, as a chart and in the report; the roofline of a profile with many kernels.

use crate::place::Place;

/// A made-up profile of Nsight Compute's raw page on an A100: `kernels` kernels, of each third two launches more, with
/// counters for the roofline. Kernel `k` takes 100 - k us per launch at an intensity of 2^(k mod 9 - 3) FLOP/B.
fn profile(kernels: u64) -> String {
    let head = "ID,Kernel Name,Block Size,Grid Size,Device,CC,launch__block_size,launch__grid_size,\
                launch__registers_per_thread,launch__shared_mem_per_block_static,launch__shared_mem_per_block_dynamic,\
                gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,\
                smsp__sass_thread_inst_executed_op_fadd_pred_on.sum,\
                smsp__sass_thread_inst_executed_op_fmul_pred_on.sum,\
                smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,device__attribute_display_name";
    let units = ",,,,,,,,register/thread,byte/block,byte/block,us,byte,byte,inst,inst,inst,";
    let mut text = format!("{head}\n{units}\n");
    for k in 0..kernels {
        for launch in 0..if k % 3 == 0 { 3 } else { 1 } {
            let (us, blocks, bytes) = (100 - k, 200 * (k + 1), 60_000_000_u64);
            let fma = (bytes << (k % 9)) >> 4;
            text += &format!(
                "{launch},void stage_{k}(float*),\"(256, 1, 1)\",\"({blocks}, 1, 1)\",0,8.0,256,{blocks},32,0,0,{us},\
                 {bytes},0,0,0,{fma},NVIDIA A100-SXM4-80GB\n"
            );
        }
    }
    text
}

#[test]
fn a_profile_is_summed_by_bound_and_operation() {
    let place = Place::new();
    place.file("p.csv", profile(4));
    let report: serde_json::Value =
        serde_json::from_str(&place.out(&["analyze", "p.csv", "--format", "json"])).unwrap();
    let trace = &report["traces"][0];
    // 3 x 100 + 99 + 98 + 3 x 97 us.
    assert_eq!((&trace["launches"], &trace["groups"], &trace["kernels_us"]), (&8.into(), &4.into(), &788.into()));
    assert_eq!((&trace["bound_source"], &trace["gaps_us"]), (&"measured".into(), &serde_json::Value::Null));
    let parts = trace["parts"].as_array().unwrap();
    for by in ["bound", "operation"] {
        let shares = parts.iter().filter(|part| part["by"] == by).map(|p| p["kernel_share_pct"].as_f64().unwrap());
        assert!((shares.sum::<f64>() - 100.0).abs() < 1e-3, "{parts:?}");
    }
    let text = place.out(&["analyze", "p.csv"]);
    assert!(
        text.starts_with("p.csv: 8 launches in 4 groups, Nsight Compute, raw page\n  kernels     788 us\n"),
        "{text}"
    );
    for form in ["markdown", "html"] {
        let text = place.out(&["analyze", "p.csv", "--format", form]);
        assert!(text.contains("8 launches in 4 groups") && text.contains("788 us"), "{form}: {text}");
    }
    place.file("one.csv", profile(1).lines().take(3).collect::<Vec<_>>().join("\n"));
    assert!(!place.out(&["analyze", "one.csv"]).contains("1 launch in"), "one launch needs no sum");
}

#[test]
fn the_chart_shows_where_the_time_goes() {
    let place = Place::new();
    place.file("p.csv", profile(30));
    place.out(&["chart", "shares", "p.csv", "-o", "s.csv"]);
    let data = String::from_utf8(place.read("s.csv")).unwrap();
    assert!(data.starts_with("of,what,bound,launches,time_us,share_pct\nkernels by bound,"), "{data}");
    assert!(data.contains("\nkernel,stage_0,latency,3,300,") && data.contains("\nkernel,stage_29,"), "{data}");
    let svg = place.out(&["chart", "shares", "p.csv"]);
    assert!(svg.contains("Where the time goes: p.csv") && svg.contains("the 20 longest of 30 groups"), "{svg}");
    place.out(&["analyze", "p.csv", "--out", "o", "--quiet"]);
    assert_eq!(String::from_utf8(place.read("o/shares.csv")).unwrap(), data);
    place.refused(&["chart", "shares", "demo"], &["needs a trace or a profile"]);
}

#[test]
fn the_roofline_of_a_profile_shows_each_kernel_once_and_the_longest() {
    let place = Place::new();
    place.file("p.csv", profile(30));
    let svg = place.out(&["chart", "roofline", "p.csv"]);
    assert!(svg.contains("of equal launches the one of median time; the 20 longest of 30 kernels"), "{svg}");
    let data = place.out(&["chart", "roofline", "p.csv", "--data"]);
    let of = |kernel: &str| data.lines().filter(|line| line.contains(kernel)).count();
    // Kernels of three launches come first, all ten of them; then the others by their time. Each has a point for DRAM and
    // one for L2.
    assert_eq!((of("stage_0,"), of("stage_27,"), of("stage_1,"), of("stage_29,")), (2, 2, 2, 0), "{data}");
}
