//! Kinds of element-wise kernels: tensors read and written, work per element, how memory is accessed.

use std::{fmt, str::FromStr};

/// How a kernel reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Neighbouring threads on neighbouring elements, 16 bytes per thread and load.
    Stream,
    /// The same with one element per load.
    Scalar,
    /// Writes of a warp lie a column apart: each takes a sector of its own.
    Strided,
    /// Transposed through tiles in shared memory: whole sectors on both sides.
    Tiled,
    /// Whole rows from arbitrary places, with an index of 8 bytes each.
    Gather,
}

/// A kind of element-wise kernel.
#[derive(Debug)]
pub struct Facts {
    /// Name on the command line and in tables.
    pub name: &'static str,
    /// Tensors read.
    pub reads: u32,
    /// Tensors written.
    pub writes: u32,
    /// Special-function results per element.
    pub special: f64,
    /// Arithmetic operations per element.
    pub flop: f64,
    /// Bytes written per element besides the tensors.
    pub aside: f64,
    /// Whether frameworks wrap the call: a module, or a scalar operand.
    pub wrapped: bool,
    /// How memory is reached.
    pub access: Access,
}

/// A kind, by reference to what is known of it.
#[derive(Clone, Copy)]
pub struct Kind(&'static Facts);

const fn stream(name: &'static str, reads: u32, special: f64, flop: f64) -> Facts {
    Facts { name, reads, writes: 1, special, flop, aside: 0.0, wrapped: false, access: Access::Stream }
}

const fn wrapped(name: &'static str, special: f64, flop: f64) -> Facts {
    Facts { wrapped: true, ..stream(name, 1, special, flop) }
}

const fn accessed(name: &'static str, reads: u32, access: Access) -> Facts {
    Facts { access, ..stream(name, reads, 0.0, 0.0) }
}

/// Special-function results: one per exponential, reciprocal, root or logarithm in the usual formulas. A dropout draws a
/// quarter of a 10-round Philox number per element and keeps a mask of a byte.
static KINDS: [Facts; 34] = [
    stream("add", 2, 0.0, 1.0),
    stream("sub", 2, 0.0, 1.0),
    stream("mul", 2, 0.0, 1.0),
    stream("max", 2, 0.0, 1.0),
    stream("div", 2, 1.0, 4.0),
    stream("pow", 2, 2.0, POW),
    stream("fma", 3, 0.0, 2.0),
    stream("triad", 2, 0.0, 2.0),
    stream("where", 3, 0.0, 1.0),
    wrapped("addu", 0.0, 1.0),
    wrapped("mulu", 0.0, 1.0),
    wrapped("divu", 1.0, 4.0),
    wrapped("powu", 2.0, POW),
    stream("neg", 1, 0.0, 1.0),
    stream("abs", 1, 0.0, 1.0),
    stream("exp", 1, 1.0, 1.0),
    stream("log", 1, 1.0, 1.0),
    stream("sqrt", 1, 1.0, 1.0),
    stream("rsqrt", 1, 1.0, 0.0),
    stream("tanh", 1, 2.0, 4.0),
    stream("sigmoid", 1, 2.0, 2.0),
    wrapped("relu", 0.0, 1.0),
    wrapped("gelu", 1.0, 24.0),
    wrapped("silu", 2.0, 3.0),
    Facts { access: Access::Scalar, ..stream("silu_and_mul", 2, 2.0, 4.0) },
    Facts { access: Access::Scalar, ..stream("gelu_and_mul", 2, 1.0, 25.0) },
    Facts { aside: 1.0, ..stream("dropout", 1, 0.0, 30.0) },
    stream("cast", 1, 0.0, 1.0),
    accessed("copy", 1, Access::Stream),
    accessed("fill", 0, Access::Stream),
    accessed("transpose", 1, Access::Tiled),
    accessed("transpose-naive", 1, Access::Strided),
    accessed("embedding", 1, Access::Gather),
    stream("other", 1, 0.0, 1.0),
];

/// Operations of a power besides its special functions, where no measurement says more.
const POW: f64 = 40.0;

static COPY: Facts = accessed("copy", 1, Access::Stream);

impl Kind {
    /// A copy.
    pub const COPY: Self = Self(&COPY);
    /// What is known of the kind.
    pub fn facts(self) -> &'static Facts {
        self.0
    }

    /// The name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether it is a power, whose cost differs between vendors' libraries.
    pub fn is_power(self) -> bool {
        matches!(self.0.name, "pow" | "powu")
    }

    /// Whether it moves data without arithmetic, so that any type will do.
    pub fn moves_only(self) -> bool {
        self.0.flop + self.0.special == 0.0 || self.0.name == "cast"
    }

    /// All kinds.
    pub fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().map(Self)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// A text that names no kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is no element-wise kind; known: {}. `other` takes --reads and --writes", known())]
pub struct KindError {
    /// The text as given.
    pub input: String,
}

fn known() -> String {
    KINDS.iter().map(|facts| facts.name).collect::<Vec<_>>().join(" ")
}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        let wanted = text.trim();
        let found = KINDS.iter().find(|facts| facts.name.eq_ignore_ascii_case(wanted));
        found.map(Self).ok_or_else(|| KindError { input: text.into() })
    }
}
