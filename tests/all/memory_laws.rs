//! Laws of memory: what grows, what dividing saves, parts that add up, the largest that fits.

use proptest::prelude::*;
use wavecast::{
    memory::{Cache, Grows, Inference, Parallel, Part, Recipe, Recompute, Request, Subject, Training, Zero, largest},
    network::{Mixer, named, names},
    units::Bytes,
};

use crate::memory_published::GIB;

fn any_training() -> impl Strategy<Value = Training> {
    let degrees = (
        proptest::sample::select(vec![1u64, 2, 8]),
        proptest::sample::select(vec![1u64, 2, 4]),
        proptest::sample::select(vec![(1u64, 1u64), (2, 1), (4, 1), (2, 2)]),
        any::<bool>(),
        proptest::sample::select(Zero::ALL.to_vec()),
    );
    let rest = (
        1u64..=16,
        proptest::sample::select(vec![64u64, 512, 1000]),
        proptest::sample::select(vec![Recompute::None, Recompute::Selective, Recompute::Full]),
        any::<bool>(),
        proptest::sample::select(Recipe::NAMED.map(|named| named.0).to_vec()),
        proptest::option::of(1u64..=8),
    );
    (degrees, rest).prop_map(|((data, tensor, (pipeline, interleave), sequence, zero), rest)| {
        let (batch, tokens, recompute, flash, recipe, rounds) = rest;
        Training {
            recipe,
            parallel: Parallel { data, tensor, sequence: sequence && tensor > 1, pipeline, interleave, zero },
            recompute,
            batch,
            sequence: tokens,
            micro_batches: rounds.map(|rounds| rounds * pipeline),
            flash,
            ..Training::default()
        }
    })
}

/// Networks whose layers every degree above divides.
const DIVISIBLE: [&str; 4] = ["llama-3.1-8b", "mixtral-8x7b", "gpt3-175b", "qwen3-30b-a3b"];

/// At most as much, up to rounding.
fn at_most(smaller: f64, greater: f64) -> bool {
    smaller <= greater * (1.0 + 1e-12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// More sequences or tokens never take less, a finer division never more states or activations; parts add up; the peak over
    /// a step is the whole.
    #[test]
    fn training(training in any_training(), name in proptest::sample::select(DIVISIBLE.to_vec())) {
        let network = named(name).unwrap();
        let subject = Subject::Network(&network);
        let anatomy = training.anatomy(subject).unwrap();
        let total = anatomy.total().get();
        let sum: f64 = Part::ALL.iter().map(|part| anatomy.of(*part).get()).sum();
        prop_assert!((sum / total - 1.0).abs() < 1e-12);
        let of = |other: Training| other.anatomy(subject).unwrap().total().get();
        let larger = of(Training { batch: training.batch + 1, ..training });
        let longer = of(Training { sequence: training.sequence + 8, ..training });
        prop_assert!(at_most(total, larger) && at_most(total, longer));

        // Gathered weights and buffers of collectives are what dividing costs.
        let parallel = training.parallel;
        let with = |parallel: Parallel| Training { parallel, ..training }.anatomy(subject).unwrap();
        let states = |parallel| with(parallel).states().get();
        let more_data = states(Parallel { data: 2 * parallel.data, ..parallel });
        let more_tensor = states(Parallel { tensor: 2 * parallel.tensor, ..parallel });
        prop_assert!(at_most(more_data, anatomy.states().get()) && at_most(more_tensor, anatomy.states().get()));
        let staged = Zero::ALL.map(|zero| states(Parallel { zero, ..parallel }));
        prop_assert!(staged.windows(2).all(|pair| at_most(pair[1], pair[0])), "{:?}", staged);
        if parallel.tensor > 1 {
            let [whole, along] = [false, true].map(|sequence| {
                with(Parallel { sequence, ..parallel }).of(Part::Activations).get()
            });
            prop_assert!(along < whole);
        }
        let kept = [Recompute::None, Recompute::Selective, Recompute::Full].map(|recompute| {
            Training { recompute, ..training }.anatomy(subject).unwrap().of(Part::Activations).get()
        });
        prop_assert!(kept[1] <= kept[0] && kept[2] < kept[1], "{:?}", kept);
        let fused = [true, false].map(|flash| {
            let plain = Training { flash, recompute: Recompute::None, ..training };
            plain.anatomy(subject).unwrap().total().get()
        });
        prop_assert!(fused[0] < fused[1]);

        let moments = training.iteration(subject).unwrap();
        let passing = [Part::Activations, Part::Ends, Part::Recomputed, Part::Gathered];
        let peak = moments.iter().map(|moment| moment.total().get()).fold(0.0, f64::max);
        let whole: f64 = passing.iter().map(|part| anatomy.of(*part).get()).sum();
        prop_assert!((peak / whole - 1.0).abs() < 1e-9, "{} {}", peak, whole);
        prop_assert_eq!(moments.last().unwrap().total().get(), 0.0);
        for technique in Request::Training(training).techniques(subject).unwrap() {
            let before = (technique.anatomy.total() + technique.saves).get();
            prop_assert!(technique.saves.get() > 0.0 && (before / total - 1.0).abs() < 1e-9);
        }
    }

    /// Caches and weights of every built-in network grow with batch and context and shrink with ranks; the largest that fits
    /// does, and one more does not.
    #[test]
    fn inference(
        name in proptest::sample::select(names().collect::<Vec<_>>()),
        batch in 1u64..=64,
        tokens in 1u64..=512,
        gib in 1.0f64..2000.0,
        expanded in any::<bool>(),
    ) {
        let network = named(name).unwrap();
        let latent = network.layers.iter().any(|layer| matches!(layer.mixer, Some(Mixer::Latent(_))));
        let cache = Cache { expanded: expanded && latent, ..Cache::default() };
        let inference = Inference { batch, sequence: tokens, cache, ..Inference::default() };
        let subject = Subject::Network(&network);
        let of = |inference: Inference| inference.anatomy(subject).unwrap();
        let total = of(inference).total();
        let larger = of(Inference { batch: batch + 1, ..inference }).total();
        let longer = of(Inference { sequence: tokens.min(network.longest - 1) + 1, ..inference }).total();
        prop_assert!(total <= larger && total <= longer);
        if let Ok(half) = (Inference { tensor: 2, ..inference }).anatomy(subject) {
            prop_assert!(half.of(Part::Weights) <= of(inference).of(Part::Weights));
            prop_assert!(half.of(Part::Cache) <= of(inference).of(Part::Cache));
        }
        prop_assert!(inference.read_per_step(subject).unwrap() <= total);
        let capacity = Bytes(gib * GIB);
        for grows in [Grows::Batch, Grows::Context] {
            let request = Request::Inference(inference);
            let fits = |count| request.with(grows, count).anatomy(subject).unwrap().fit(capacity).fits();
            match largest(request, subject, grows, "a GPU", capacity) {
                Ok((most, ended)) => prop_assert!(fits(most) && (ended || !fits(most + 1)), "{} {}", name, most),
                Err(_) => prop_assert!(!fits(1)),
            }
        }
    }
}
