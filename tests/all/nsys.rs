//! Nsight Systems: every layout in `tests/data/nsys`, values by hand, and what files lack.

use wavecast::{
    profile::{Format, KernelGroup, Measured, Trace, detect_trace, read_trace},
    units::{Bytes, Seconds},
};

const OLD: &str = include_str!("../data/nsys/trace_2022.csv");
const NEW: &str = include_str!("../data/nsys/trace_2025_bom_crlf.csv");
const PLAIN: &str = include_str!("../data/nsys/stats_c_locale.txt");
const LOG: &str = include_str!("../data/nsys/stats_in_job_log.txt");
const SEVERAL: &str = include_str!("../data/nsys/several_reports.csv");
const BORDERED: &str = include_str!("../data/nsys/synthetic_bordered_decimal_comma.txt");

fn trace(text: &str) -> Trace {
    let bytes = text.as_bytes();
    assert_eq!(detect_trace(bytes), Some(Format::NsysTables), "{text}");
    read_trace(Format::NsysTables, &mut &*bytes).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn message(text: &str) -> String {
    read_trace(Format::NsysTables, &mut text.as_bytes()).expect_err("no trace").to_string()
}

fn near(found: Seconds, wanted: f64) -> bool {
    (found.get() - wanted).abs() <= 1e-9 * wanted
}

/// Shared memory of a launch from the 3 decimals of a MB.
fn printed(bytes: f64) -> Option<Measured<Bytes>> {
    Some(Measured { value: Bytes(bytes), half_width: Bytes(500.0) })
}

fn find<'a>(trace: &'a Trace, name: &str) -> &'a KernelGroup {
    trace.groups.iter().find(|group| group.kernel.name.starts_with(name)).expect("a group")
}

#[test]
fn trace_of_2022() {
    let trace = trace(OLD);
    assert_eq!((trace.groups.len(), trace.launches()), (2, 3));
    let blend = &trace.groups[0];
    assert_eq!(blend.kernel.name, "void ns::blend<ns::Op<int, (ns::Mode)1>, float>(float *, const char *)");
    assert_eq!((blend.launches, blend.kernel.registers_per_thread), (2, Some(40)));
    assert!(near(blend.total, 50e-6) && near(blend.shortest, 20e-6) && near(blend.longest, 30e-6));
    assert_eq!((blend.kernel.grid, blend.kernel.block), (Some([96, 2, 1]), Some([128, 2, 1])));
    assert_eq!((blend.kernel.static_shared, blend.kernel.dynamic_shared), (printed(0.0), printed(6000.0)));
    let tiny = find(&trace, "tiny");
    assert_eq!((tiny.device, tiny.kernel.device.name.as_deref()), (1, Some("NVIDIA A40")));
    // Copy 1000..1004, kernels 1006..1026 and 1030..1060, fill 1070..1071.
    let time = trace.times[0];
    assert!(near(time.span, 71e-6) && near(time.kernels, 50e-6) && near(time.gaps, 16e-6), "{time:?}");
    assert_eq!(trace.transfers[0].bytes, Some(Bytes(66_000.0)));
    assert_eq!(trace.transfers[1].bytes, None, "0.000 MB is not known to be 0");
    assert_eq!(
        trace.warnings,
        [
            "line 5: row skipped: duration `x` is no time",
            "line 8: row skipped: 12 fields under 20 columns, and the file ends there",
        ]
    );
}

#[test]
fn trace_of_2025_in_every_encoding() {
    let check = |trace: Trace| {
        let heat = &trace.groups[0];
        assert_eq!((heat.launches, heat.device, heat.kernel.static_shared), (2, 3, printed(16_000.0)));
        assert_eq!(heat.kernel.name, "heat_kernel");
        assert_eq!(trace.devices[0].1.name.as_deref(), Some("NVIDIA H100 80GB HBM3"));
        assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
    };
    check(trace(NEW));
    let text = NEW.trim_start_matches('\u{feff}');
    for mark in ["", "\u{feff}"] {
        let marked = [mark, text].concat();
        for bytes in [
            marked.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
            marked.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        ] {
            check(read_trace(Format::NsysTables, &mut &*bytes).unwrap());
        }
    }
    check(trace(&text.replace(',', "\t")));
}

#[test]
fn summaries_in_text() {
    for text in [PLAIN, LOG] {
        let trace = trace(text);
        assert_eq!((trace.groups.len(), trace.launches()), (3, 15));
        let gemm = find(&trace, "volta_sgemm");
        assert!(near(gemm.total, 880e-6) && near(gemm.shortest, 200e-6) && near(gemm.longest, 240e-6));
        assert_eq!((gemm.launches, gemm.timed, gemm.kernel.grid), (4, 4, None));
        assert!(near(gemm.kernel.duration.unwrap(), 220e-6));
        assert!(trace.groups[1].kernel.name.ends_with('…'), "kept apart though their names are cut to the same");
        assert_eq!([trace.groups[1].launches, trace.groups[2].launches], [10, 1]);
        let copy = &trace.transfers[0];
        assert_eq!(
            (copy.name.as_str(), copy.count, copy.bytes),
            ("[CUDA memcpy Host-to-Device]", 3, Some(Bytes(12_583_000.0)))
        );
        assert!(near(copy.total, 45e-6) && trace.times.is_empty());
        assert_eq!((trace.transfers[1].bytes, trace.warnings.len()), (None, 0), "{:?}", trace.warnings);
    }
    let trace = trace(BORDERED);
    assert_eq!((trace.launches(), trace.transfers[0].count), (4, 3));
    assert!(near(trace.kernel_time(), 880e-6) && near(trace.transfers[0].total, 120e-6));
}

#[test]
fn the_table_that_tells_most_counts() {
    let by_shape = trace(SEVERAL);
    assert_eq!((by_shape.launches(), by_shape.groups[0].kernel.grid), (4, Some([64, 2, 1])));
    assert_eq!(by_shape.groups[0].kernel.block, Some([128, 1, 1]));
    assert_eq!(by_shape.warnings, ["the file has several summaries of kernels: the one that tells most counts"]);
    let both = trace(&[PLAIN, "\n", NEW.trim_start_matches('\u{feff}')].concat());
    assert_eq!((both.launches(), both.warnings.len()), (2, 1));
    let twice = trace(&[PLAIN, PLAIN].concat());
    assert_eq!((twice.launches(), twice.transfers[0].count), (15, 3));
    assert_eq!(twice.warnings, ["a summary of kernels is there twice and counts once"]);
}

#[test]
fn files_without_launches_say_so() {
    let header = NEW.trim_start_matches('\u{feff}').lines().next().unwrap();
    assert!(message(header).contains("0 kernel launches"), "{}", message(header));
    let bad = format!("{header}\n1,2,\"open\n");
    assert_eq!(message(&bad), "none of 1 row can be used: line 2: row skipped: a quote opens and does not close");
    let skipped =
        "Generating SQLite file a.sqlite from a.nsys-rep\nSKIPPED: a.sqlite does not contain CUDA kernel data.\n";
    assert!(message(skipped).contains("0 kernel launches"));
    for other in ["", "Name,Time,Count,Color\n", "hello\n"] {
        assert_eq!(detect_trace(other.as_bytes()), None, "{other}");
    }
}

#[cfg(feature = "sqlite")]
mod export {
    use rusqlite::Connection;
    use wavecast::{
        gpu::Catalog,
        occupancy::Resource,
        profile::{judge, read_sqlite},
    };

    use super::*;

    const EXPORT: &str = include_str!("../data/nsys/export.sql");

    fn open(change: &str) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(EXPORT).unwrap();
        connection.execute_batch(change).unwrap();
        connection
    }

    fn refusal(change: &str) -> String {
        read_sqlite(&open(change)).expect_err(change).to_string()
    }

    #[test]
    fn launches_devices_and_carve_out() {
        let connection = open("");
        let bytes = connection.serialize("main").unwrap().to_vec();
        assert_eq!(detect_trace(&bytes), Some(Format::NsysSqlite));
        for trace in [read_sqlite(&connection).unwrap(), read_trace(Format::NsysSqlite, &mut &*bytes).unwrap()] {
            assert_eq!((trace.format, trace.launches(), trace.groups.len()), (Format::NsysSqlite, 3, 2));
            let blend = &trace.groups[0];
            assert_eq!(
                (blend.kernel.name.as_str(), blend.launches, blend.device),
                ("void ns::blend<float>(float *)", 2, 4)
            );
            assert!(near(blend.total, 50e-6));
            let exact = |bytes| Some(Measured { value: Bytes(bytes), half_width: Bytes::ZERO });
            assert_eq!((blend.kernel.static_shared, blend.kernel.dynamic_shared), (exact(1024.0), exact(6144.0)));
            assert_eq!(blend.kernel.shared_configuration, exact(65_536.0));
            // 7 KiB and the driver's 1 KiB: 8 blocks in the carve-out, 12 in the whole of it.
            let known = wavecast::profile::device(&Catalog::embedded().unwrap(), &blend.kernel.device, None);
            let residency = judge(blend.kernel.clone(), known).occupancy.unwrap();
            assert_eq!(residency.limits.of(Resource::Shared), 8);
            let device = &blend.kernel.device;
            assert_eq!(
                (device.name.as_deref(), device.compute_capability.as_deref()),
                (Some("NVIDIA L4"), Some("8.9"))
            );
            assert_eq!(
                (device.sm_count, device.max_warps_per_sm, device.max_blocks_per_sm),
                (Some(58), Some(48), None)
            );
            // The other process calls its GPU 0 too; a name that is missing is told by the next.
            let halo = &trace.groups[1];
            assert_eq!(
                (halo.kernel.name.as_str(), halo.device, halo.kernel.device.l2_capacity),
                ("halo_pack", 5, None)
            );
            assert_eq!(trace.transfers[0].name, "[CUDA memcpy Host-to-Device]");
            assert_eq!(
                (trace.transfers[0].bytes, trace.transfers[1].name.as_str()),
                (Some(Bytes(65_536.0)), "[CUDA memcpy]")
            );
            // Kernels 1..21 and 31..61, copies 22..27.
            assert!(near(trace.times[0].gaps, 5e-6), "{:?}", trace.times);
            assert_eq!(trace.warnings, ["launches left out because StringIds lacks their name: 1"]);
        }
    }

    #[test]
    fn exports_without_launches_say_what_is_missing() {
        assert!(refusal("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL").contains("no kernel was traced"));
        assert!(refusal("DROP TABLE StringIds").contains("no table StringIds"));
        assert!(refusal("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL").contains("0 kernel launches"));
        let endless = "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
            WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start FROM n) SELECT start FROM n";
        assert!(refusal(endless).contains("no table"), "a view is not run");
        let bare = "DROP TABLE TARGET_INFO_GPU; DROP TABLE TARGET_INFO_CUDA_DEVICE; DROP TABLE ENUM_CUDA_MEMCPY_OPER;
            ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN sharedMemoryExecuted;
            UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 0, gridX = -1, registersPerThread = 'many'";
        let trace = read_sqlite(&open(bare)).unwrap();
        let kernel = &trace.groups[0].kernel;
        assert_eq!((kernel.grid, kernel.registers_per_thread, kernel.shared_configuration), (None, None, None));
        assert_eq!((kernel.duration, trace.devices.len(), trace.groups[0].device), (None, 0, 0));
    }

    #[test]
    fn damaged_databases_are_told() {
        let bytes = open("").serialize("main").unwrap().to_vec();
        for length in (16..bytes.len()).step_by(499) {
            let _ = read_trace(Format::NsysSqlite, &mut &bytes[..length]);
        }
        for place in (16..bytes.len()).step_by(7) {
            let mut bent = bytes.clone();
            bent[place] ^= 0x5a;
            let _ = read_trace(Format::NsysSqlite, &mut &*bent);
        }
        let error = read_trace(Format::NsysSqlite, &mut &bytes[..300]).expect_err("cut").to_string();
        assert!(error.contains("nsys export"), "{error}");
    }
}
