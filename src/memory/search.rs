//! The largest batch or context that fits.

use super::{MemoryError, Request, Subject, parallel::MOST};
use crate::units::Bytes;

/// What grows in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grows {
    /// Sequences: of a micro-batch in training, at a time in inference.
    Batch,
    /// Tokens of a sequence.
    Context,
}

impl Request {
    /// The same question with another batch or context.
    #[must_use]
    pub fn with(self, grows: Grows, value: u64) -> Self {
        match (self, grows) {
            (Self::Training(training), Grows::Batch) => Self::Training(super::Training { batch: value, ..training }),
            (Self::Training(training), Grows::Context) => {
                Self::Training(super::Training { sequence: value, ..training })
            }
            (Self::Inference(inference), Grows::Batch) => {
                Self::Inference(super::Inference { batch: value, ..inference })
            }
            (Self::Inference(inference), Grows::Context) => {
                Self::Inference(super::Inference { sequence: value, ..inference })
            }
        }
    }
}

/// The largest batch or context that fits `capacity`, and whether one more is refused by the network or the search's end rather than
/// by memory. Memory never shrinks as either grows, so halving finds it.
///
/// # Errors
/// The question is refused as it stands, its subject has no layers, or not even the least fits `gpu`.
pub fn largest(
    request: Request,
    subject: Subject,
    grows: Grows,
    gpu: &str,
    capacity: Bytes,
) -> Result<(u64, bool), MemoryError> {
    let Subject::Network(network) = subject else {
        return Err(MemoryError::NoLayers { what: "the largest batch or context" });
    };
    // With sequence parallelism, lengths are multiples of the ranks.
    let step = match (request, grows) {
        (Request::Training(training), Grows::Context) if training.parallel.sequence => training.parallel.tensor,
        _ => 1,
    };
    let end = match grows {
        Grows::Batch => MOST,
        Grows::Context => network.longest / step,
    };
    let fits = |count: u64| {
        let anatomy = request.with(grows, count * step).anatomy(subject)?;
        Ok::<_, MemoryError>(anatomy.fit(capacity))
    };
    let least = fits(1)?;
    if !least.fits() {
        let what = match grows {
            Grows::Batch => "a batch of 1".to_owned(),
            Grows::Context => format!("a context of {step}"),
        };
        let gib = |bytes: Bytes| format!("{} GiB", crate::units::significant(bytes.get() / super::anatomy::GIB, 4));
        return Err(MemoryError::NothingFits {
            least: what,
            need: gib(least.need),
            gpu: gpu.into(),
            capacity: gib(capacity),
        });
    }
    if fits(end)?.fits() {
        return Ok((end * step, true));
    }
    let (mut good, mut bad) = (1, end);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        *if fits(middle)?.fits() { &mut good } else { &mut bad } = middle;
    }
    Ok((good * step, false))
}
