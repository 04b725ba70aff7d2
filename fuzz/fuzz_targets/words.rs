//! Short words: units of an SM, data types, compute capabilities, extents, kernel names, names of GPUs.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::{
    gpu::{ComputeCapability, DataType, Pipe, split_profile},
    op::gemm::{Over, Range},
    profile::{short_name, telling_names},
    scenario::Dims,
};
use wavecast_fuzz::{CATALOG, said};

fuzz_target!(|text: &str| {
    match text.parse::<Pipe>() {
        Ok(pipe) => {
            assert_eq!(pipe.to_string().parse(), Ok(pipe));
            assert!(!pipe.label().is_empty());
        }
        Err(error) => drop(said(error)),
    }
    if let Ok(data) = text.parse::<DataType>() {
        assert_eq!(data.name().parse(), Ok(data));
    }
    match text.parse::<ComputeCapability>() {
        Ok(capability) => assert_eq!(capability.to_string().parse(), Ok(capability)),
        Err(error) => drop(said(error)),
    }
    match text.parse::<Dims>() {
        Ok(dims) => {
            assert_eq!(dims.to_string().parse(), Ok(dims));
            let _ = dims.total();
        }
        Err(error) => drop(said(error)),
    }
    match text.parse::<Range>() {
        Ok(range) => assert!(0 < range.low && range.low < range.high),
        Err(error) => drop(said(error)),
    }
    match text.parse::<Over>() {
        Ok(over) => assert_eq!(over.to_string().parse(), Ok(over)),
        Err(error) => drop(said(error)),
    }
    let short = short_name(text);
    assert!(!short.trim().is_empty() && short.chars().count() <= 40, "{short:?}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(telling_names(&lines).len(), lines.len());
    let (name, profile) = split_profile(text);
    if let (Ok(found), Some(profile)) = (CATALOG.find(name), profile) {
        match CATALOG.slice(found.gpu, profile, &[]) {
            Ok(slice) => assert!(slice.sm.count > 0),
            Err(error) => drop(said(error)),
        }
    }
    match CATALOG.find(text) {
        Ok(found) => assert!(!found.gpu.id.is_empty()),
        Err(error) => drop(said(error)),
    }
});
