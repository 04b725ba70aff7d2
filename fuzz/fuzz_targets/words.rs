//! Short words: units of an SM, data types, compute capabilities, extents, kernel names, names of GPUs.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::{
    gpu::{ComputeCapability, DataType, Pipe},
    profile::short_name,
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
    let short = short_name(text);
    assert!(!short.trim().is_empty() && short.chars().count() <= 40, "{short:?}");
    match CATALOG.find(text) {
        Ok(found) => assert!(!found.gpu.id.is_empty()),
        Err(error) => drop(said(error)),
    }
});
