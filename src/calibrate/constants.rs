//! The constants that measurements can determine: where they live, which values they may have, what shows them.

use crate::{
    gpu::{Calibration, Gpu},
    op::table::PREDICTED,
};

/// A constant of one GPU, or a figure of how a table was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constant {
    /// Share of the tensor peak that a large product holds.
    SustainedTensor,
    /// Share of the DRAM bandwidth before overlap loss.
    DramEfficiency,
    /// Share of the vector peak that a large product on vector units holds.
    SustainedSgemm,
    /// Share of the vector peak of other kernels; a roofline benchmark sets it, products do not.
    SustainedVector,
    /// Time of a launch on the host in rows of `gemm`; of the table, not of the GPU.
    LaunchGemm,
    /// The same in rows of `bmm`.
    LaunchBmm,
    /// The same in rows of `grouped_gemm`.
    LaunchGrouped,
    /// Factor on the fixed cost of a kernel.
    FixedFactor,
    /// Loss of clock of long products on tensor cores.
    PowerDroop,
    /// The same on vector units.
    SgemmDroop,
}

/// Number of constants.
pub(super) const COUNT: usize = Constant::ALL.len();

impl Constant {
    /// Every constant.
    pub const ALL: [Self; 10] = [
        Self::SustainedTensor,
        Self::DramEfficiency,
        Self::SustainedSgemm,
        Self::SustainedVector,
        Self::LaunchGemm,
        Self::LaunchBmm,
        Self::LaunchGrouped,
        Self::FixedFactor,
        Self::PowerDroop,
        Self::SgemmDroop,
    ];

    /// Its key in `[calibration]`; of a host's time its name alone.
    pub fn name(self) -> &'static str {
        match self {
            Self::SustainedTensor => "sustained_tensor",
            Self::DramEfficiency => "dram_efficiency",
            Self::SustainedSgemm => "sustained_sgemm",
            Self::SustainedVector => "sustained_vector",
            Self::LaunchGemm => "launch_overhead of gemm",
            Self::LaunchBmm => "launch_overhead of bmm",
            Self::LaunchGrouped => "launch_overhead of grouped_gemm",
            Self::FixedFactor => "fixed_factor",
            Self::PowerDroop => "power_droop",
            Self::SgemmDroop => "sgemm_droop",
        }
    }

    /// The host's time in rows of an operation.
    pub(super) fn launch(op: &str) -> Self {
        match PREDICTED.iter().position(|known| *known == op) {
            Some(1) => Self::LaunchBmm,
            Some(2) => Self::LaunchGrouped,
            _ => Self::LaunchGemm,
        }
    }

    /// The host's times.
    pub(super) const LAUNCHES: [Self; 3] = [Self::LaunchGemm, Self::LaunchBmm, Self::LaunchGrouped];

    /// Whether it belongs to the table that was measured, not to the GPU.
    pub fn of_table(self) -> bool {
        Self::LAUNCHES.contains(&self)
    }

    /// Whether it only bends what the others set: these need more evidence, and give way where they cannot be told apart.
    pub(super) fn second_order(self) -> bool {
        matches!(self, Self::FixedFactor | Self::PowerDroop | Self::SgemmDroop)
    }

    fn droop(self) -> bool {
        matches!(self, Self::PowerDroop | Self::SgemmDroop)
    }

    /// Least and largest value that make sense. Shares end at the datasheet's rate.
    pub fn range(self) -> (f64, f64) {
        match self {
            Self::FixedFactor => (0.2, 5.0),
            Self::PowerDroop | Self::SgemmDroop => (0.0, 1.0),
            // Seconds.
            Self::LaunchGemm | Self::LaunchBmm | Self::LaunchGrouped => (1e-8, 1e-1),
            _ => (0.01, 1.0),
        }
    }

    /// A measurement that would show it on a GPU.
    pub fn measure(self, gpu: &Gpu) -> String {
        match self {
            Self::SustainedTensor => "a large product such as 4096 x 4096 x 4096 in bf16 or fp16".into(),
            Self::SustainedSgemm | Self::SustainedVector => {
                "a large product such as 4096 x 4096 x 4096 in fp32 (true FP32, no TF32)".into()
            }
            Self::DramEfficiency => {
                // Cold also where a benchmark repeats the call.
                let least = (2.0 * gpu.memory.l2.capacity.get()).max(2e8) / (2.0 * 8192.0);
                let columns = (least as u64).clamp(8192, 1 << 20).next_power_of_two();
                format!("16 x {columns} x 8192, whose weights are larger than L2, and a few like it")
            }
            Self::LaunchGemm | Self::LaunchBmm | Self::LaunchGrouped => {
                "short products such as 16 x 256 x 256, timed around a launch".into()
            }
            Self::FixedFactor => {
                "some short products such as 16 x 256 x 256 with the time of the kernel alone (timing = device)".into()
            }
            Self::PowerDroop | Self::SgemmDroop => {
                "large products of several durations, some around 0.2 ms and some of 3 ms or more".into()
            }
        }
    }
}

/// In the place of a host's time: each row has that of its prediction, which may follow from its source.
pub(super) const AS_PREDICTED: f64 = 0.0;

/// A value for each constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values([f64; COUNT]);

impl Values {
    /// Those of a GPU; the host's times are 0, which leaves them to the prediction of each row.
    pub fn of(gpu: &Gpu) -> Self {
        let own = &gpu.calibration;
        Self(Constant::ALL.map(|constant| match constant {
            Constant::SustainedTensor => own.sustained_tensor,
            Constant::DramEfficiency => own.dram_efficiency,
            Constant::SustainedSgemm => own.sustained_sgemm,
            Constant::SustainedVector => own.sustained_vector,
            Constant::FixedFactor => own.fixed_factor,
            Constant::PowerDroop => own.power_droop,
            Constant::SgemmDroop => own.sgemm_droop,
            Constant::LaunchGemm | Constant::LaunchBmm | Constant::LaunchGrouped => AS_PREDICTED,
        }))
    }

    /// The same GPU with these constants.
    pub fn on(&self, gpu: &Gpu) -> Gpu {
        let at = |constant| self.get(constant);
        Gpu {
            calibration: Calibration {
                sustained_tensor: at(Constant::SustainedTensor),
                dram_efficiency: at(Constant::DramEfficiency),
                sustained_sgemm: at(Constant::SustainedSgemm),
                sustained_vector: at(Constant::SustainedVector),
                fixed_factor: at(Constant::FixedFactor),
                power_droop: at(Constant::PowerDroop),
                sgemm_droop: at(Constant::SgemmDroop),
                ..gpu.calibration.clone()
            },
            ..gpu.clone()
        }
    }

    /// The value of a constant; of a host's time in seconds.
    pub fn get(&self, constant: Constant) -> f64 {
        self.0[constant as usize]
    }

    /// Sets a constant.
    pub fn set(&mut self, constant: Constant, value: f64) {
        self.0[constant as usize] = value;
    }

    /// Where a search stands: the logarithm of the value, of a droop that of the factor on the time.
    pub(super) fn place(&self, constant: Constant) -> f64 {
        let value = self.get(constant);
        libm::log(if constant.droop() { 1.0 + value } else { value })
    }

    /// Takes a constant to a place of a search, or to the end of its range.
    pub(super) fn put(&mut self, constant: Constant, place: f64) {
        let (least, most) = constant.range();
        self.shift_to(constant, place);
        self.set(constant, self.get(constant).clamp(least, most));
    }

    /// The same past the ends.
    pub(super) fn shift_to(&mut self, constant: Constant, place: f64) {
        let value = libm::exp(place);
        self.set(constant, if constant.droop() { value - 1.0 } else { value });
    }
}
