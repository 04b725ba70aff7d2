//! Data types and the execution pipes that work on them.

use std::{fmt, str::FromStr};

/// The type of an operand or accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum DataType {
    Fp64,
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8,
    Fp6,
    Fp4,
    Int32,
    Int8,
    Int4,
}

impl DataType {
    /// Every data type, widest first.
    pub const ALL: [Self; 11] = [
        Self::Fp64,
        Self::Fp32,
        Self::Tf32,
        Self::Fp16,
        Self::Bf16,
        Self::Fp8,
        Self::Fp6,
        Self::Fp4,
        Self::Int32,
        Self::Int8,
        Self::Int4,
    ];

    /// The name used in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fp64 => "fp64",
            Self::Fp32 => "fp32",
            Self::Tf32 => "tf32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
            Self::Fp6 => "fp6",
            Self::Fp4 => "fp4",
            Self::Int32 => "int32",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
        }
    }

    /// The accumulator that libraries take for this input unless told otherwise.
    pub fn default_accumulate(self) -> Self {
        match self {
            Self::Fp64 => Self::Fp64,
            Self::Int32 | Self::Int8 | Self::Int4 => Self::Int32,
            _ => Self::Fp32,
        }
    }
}

impl FromStr for DataType {
    type Err = PipeError;

    fn from_str(text: &str) -> Result<Self, PipeError> {
        // Read for each row of a table, so without a copy in lower case.
        let named = |t: &Self| t.name().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(named).ok_or_else(|| PipeError { input: text.into() })
    }
}

/// A unit of the SM with a throughput of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pipe {
    /// CUDA-core arithmetic in one data type.
    Vector(DataType),
    /// Matrix multiply-accumulate.
    Tensor {
        /// Type of the multiplied operands.
        input: DataType,
        /// Type of the accumulator.
        accumulate: DataType,
        /// 2:4 structured sparsity in one operand.
        sparse: bool,
    },
    /// Special functions (exp2, sin, rsqrt ...), one result = one operation.
    Special,
}

/// A text that names no pipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{input}` is not a unit: write vector.fp32, tensor.bf16, tensor.fp16.fp16 (input, accumulator), tensor.bf16.fp32.sparse or special (types: fp64 fp32 tf32 fp16 bf16 fp8 fp6 fp4 int32 int8 int4)"
)]
pub struct PipeError {
    /// The text as given.
    pub input: String,
}

impl FromStr for Pipe {
    type Err = PipeError;

    fn from_str(text: &str) -> Result<Self, PipeError> {
        let fail = || PipeError { input: text.into() };
        let mut parts = text.split('.');
        let pipe = match parts.next() {
            Some("special") => Self::Special,
            Some("vector") => Self::Vector(parts.next().ok_or_else(fail)?.parse().map_err(|_| fail())?),
            Some("tensor") => {
                let input: DataType = parts.next().ok_or_else(fail)?.parse().map_err(|_| fail())?;
                let mut rest = parts.next();
                let accumulate = match rest {
                    Some(name) if name != "sparse" => {
                        rest = parts.next();
                        name.parse().map_err(|_| fail())?
                    }
                    _ => input.default_accumulate(),
                };
                let sparse = match rest {
                    None => false,
                    Some("sparse") => true,
                    Some(_) => return Err(fail()),
                };
                Self::Tensor { input, accumulate, sparse }
            }
            _ => return Err(fail()),
        };
        if parts.next().is_some() { Err(fail()) } else { Ok(pipe) }
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vector(data) => write!(f, "vector.{}", data.name()),
            Self::Tensor { input, accumulate, sparse } => {
                write!(f, "tensor.{}.{}{}", input.name(), accumulate.name(), if *sparse { ".sparse" } else { "" })
            }
            Self::Special => f.write_str("special"),
        }
    }
}

impl Pipe {
    /// For people: "FP32 vector", "BF16 tensor", "FP16 tensor, FP16 accumulate".
    pub fn label(self) -> String {
        let upper = |t: DataType| t.name().to_ascii_uppercase();
        match self {
            Self::Vector(data) => format!("{} vector", upper(data)),
            Self::Special => "special functions".into(),
            Self::Tensor { input, accumulate, sparse } => {
                let mut label = format!("{} tensor", upper(input));
                if accumulate != input.default_accumulate() {
                    label += &format!(", {} accumulate", upper(accumulate));
                }
                if sparse {
                    label += ", 2:4 sparse";
                }
                label
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in ["vector.fp32", "tensor.bf16.fp32", "tensor.fp16.fp16", "tensor.int8.int32.sparse", "special"] {
            assert_eq!(text.parse::<Pipe>().map(|p| p.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("tensor.tf32".parse::<Pipe>().map(|p| p.to_string()), Ok("tensor.tf32.fp32".to_owned()));
        assert_eq!("tensor.bf16.sparse".parse::<Pipe>().map(|p| p.label()), Ok("BF16 tensor, 2:4 sparse".to_owned()));
        for bad in ["", "fp32", "vector", "vector.fp32.fp32", "tensor.bf17", "tensor.bf16.fp32.dense", "special.x"] {
            assert!(bad.parse::<Pipe>().is_err(), "{bad}");
        }
    }
}
