//! Copies over the links of a GPU: between host and device by PCIe, between devices by NVLink.

use crate::{gpu::Gpu, time::Bound, units::short};

/// Where a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Within the memory of the device: a kernel.
    DeviceToDevice,
    /// From page-locked memory of the host.
    HostToDevice,
    /// To page-locked memory of the host.
    DeviceToHost,
    /// To another device.
    Peer,
}

impl Direction {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::DeviceToDevice => "d2d",
            Self::HostToDevice => "h2d",
            Self::DeviceToHost => "d2h",
            Self::Peer => "p2p",
        }
    }
}

impl std::str::FromStr for Direction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::DeviceToDevice, Self::HostToDevice, Self::DeviceToHost, Self::Peer];
        let found = all.into_iter().find(|direction| direction.word() == text);
        found.ok_or_else(|| {
            format!(
                "`{text}`: write d2d (within the device), h2d (from the host), d2h (to it) or p2p (to another device)"
            )
        })
    }
}

/// A link that a copy cannot take.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// The GPU file names no link of this kind.
    #[error("{gpu} has no link of a known rate for {direction}: its file needs links.pcie, such as \"Gen4 x16\"")]
    Unknown {
        /// Name of the GPU.
        gpu: String,
        /// The word of the direction.
        direction: &'static str,
    },
    /// Nothing to copy, or more than any memory.
    #[error("{} bytes: a copy moves 1 byte to 2^60 bytes", short(*.bytes, 6))]
    Bytes {
        /// As given.
        bytes: f64,
    },
}

/// A copy over a link; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkCopy {
    /// The link, such as `PCIe Gen4 x16`.
    pub link: String,
    /// Raw rate of one direction, in bytes per second.
    pub rate: f64,
    /// What a copy of nothing takes.
    pub start: f64,
    /// The estimate.
    pub time: f64,
    /// Shortest time: the raw rate.
    pub low: f64,
    /// Longest plausible time.
    pub high: f64,
}

impl LinkCopy {
    /// Memory, or latency where the start takes more than half of the time.
    pub fn bound(&self) -> Bound {
        if self.start > self.time / 2.0 { Bound::Latency } else { Bound::Memory }
    }
}

/// Gigabytes per second and lane of PCIe 1.0 to 7.0, after line coding (8b/10b, from 3.0 on 128b/130b, from 6.0 on flits): PCI-SIG.
const LANE: [f64; 7] = [0.25, 0.5, 0.985, 1.969, 3.938, 7.563, 15.125];
/// Share of the raw rate left by headers: packets of 256 bytes carry 26 bytes besides (3.0 and later, framing included), and
/// acknowledgements and flow control take a further 5 %.
const PAYLOAD: f64 = 256.0 / 282.0 * 0.95;
/// NVLink packets: 16 flits of payload to one of header and, by published copies, 0.8 of the rate.
const NVLINK: f64 = 0.8;
/// Time of an asynchronous copy of nothing: the launch of a copy engine; set by hand.
const START: f64 = 8e-6;
/// Hosts, chipsets and sockets differ: how much longer a copy may take.
const SLOWER: f64 = 1.5;

/// A copy of so many bytes.
///
/// # Errors
/// No link is known, or nothing is to be copied.
pub fn copy(gpu: &Gpu, bytes: f64, direction: Direction) -> Result<LinkCopy, LinkError> {
    if !(1.0..=(1_u64 << 60) as f64).contains(&bytes) {
        return Err(LinkError::Bytes { bytes });
    }
    let links = gpu.links.as_ref();
    let nvlink = links.and_then(|l| l.nvlink).filter(|_| direction == Direction::Peer);
    let (link, rate, share) = match (nvlink, links.and_then(|l| l.pcie.as_deref())) {
        (Some(both), _) => ("NVLink".to_owned(), both.get() / 2.0, NVLINK),
        (None, Some(pcie)) => {
            let rate = pcie_rate(pcie);
            let unknown = LinkError::Unknown { gpu: gpu.name.clone(), direction: direction.word() };
            (format!("PCIe {pcie}"), rate.ok_or(unknown)?, PAYLOAD)
        }
        (None, None) => return Err(LinkError::Unknown { gpu: gpu.name.clone(), direction: direction.word() }),
    };
    Ok(timed(link, rate, share, bytes))
}

/// A copy of so many bytes over a link of `rate` bytes per second in one direction, which packets leave as much of as NVLink's.
///
/// # Errors
/// Nothing is to be copied, or more than any memory.
pub fn copy_over(link: &str, rate: f64, bytes: f64) -> Result<LinkCopy, LinkError> {
    if !(1.0..=(1_u64 << 60) as f64).contains(&bytes) {
        return Err(LinkError::Bytes { bytes });
    }
    Ok(timed(link.to_owned(), rate, NVLINK, bytes))
}

fn timed(link: String, rate: f64, share: f64, bytes: f64) -> LinkCopy {
    let time = START + bytes / (rate * share);
    LinkCopy { link, rate, start: START, time, low: START + bytes / rate, high: time * SLOWER }
}

/// Bytes per second of one direction of "Gen4 x16".
fn pcie_rate(text: &str) -> Option<f64> {
    let (generation, lanes) = text.strip_prefix("Gen")?.split_once(" x")?;
    let generation: usize = generation.parse().ok()?;
    let lanes: u32 = lanes.parse().ok().filter(|lanes| (1..=64).contains(lanes))?;
    Some(LANE.get(generation.checked_sub(1)?)? * 1e9 * f64::from(lanes))
}
