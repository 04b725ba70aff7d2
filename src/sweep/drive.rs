//! Chunks of rows through a pool of threads, their results in order; only a few are in flight, so that memory stays flat.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Mutex, PoisonError, mpsc::channel},
};

use super::{batch::Batch, evaluate::Evaluator, plan::Plan};
use crate::{fit::Prices, gpu::Catalog};

/// Rows cut at the multiples of a chunk.
pub fn chunks(rows: Range<u64>, chunk: u64) -> impl Iterator<Item = Range<u64>> {
    let end = rows.end;
    let first = Some(rows.start).filter(|start| *start < end);
    std::iter::successors(first, move |start| Some((start / chunk + 1) * chunk).filter(|next| *next < end))
        .map(move |start| start..((start / chunk + 1) * chunk).min(end))
}

/// Evaluators that wait for work.
pub struct Sweeper<'a> {
    plan: &'a Plan,
    catalog: &'a Catalog,
    prices: &'a Prices,
    idle: Mutex<Vec<Evaluator<'a>>>,
}

impl<'a> Sweeper<'a> {
    /// For the points of a plan.
    pub fn new(plan: &'a Plan, catalog: &'a Catalog, prices: &'a Prices) -> Self {
        Self { plan, catalog, prices, idle: Mutex::new(Vec::new()) }
    }

    fn rows(&self, rows: Range<u64>) -> Batch {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle().pop();
        let mut evaluator = waiting.unwrap_or_else(|| Evaluator::new(self.plan, self.catalog, self.prices));
        let batch = evaluator.rows(rows);
        idle().push(evaluator);
        batch
    }

    /// Evaluates rows on a pool, chunk by chunk; `finish` makes of each batch what is kept of it, on the thread that
    /// evaluated it, and `take` gets these in order on the thread of the caller.
    ///
    /// # Errors
    /// The first of `take`; nothing more is taken then.
    pub fn run<T: Send, E>(
        &self,
        rows: Range<u64>,
        pool: &rayon::ThreadPool,
        finish: impl Fn(Batch) -> T + Sync,
        mut take: impl FnMut(u64, T) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut all = chunks(rows, self.plan.chunk()).enumerate();
        let (send, receive) = channel::<(usize, u64, T)>();
        let finish = &finish;
        pool.in_place_scope(|scope| {
            let mut start = || {
                let Some((index, rows)) = all.next() else { return false };
                let send = send.clone();
                scope.spawn(move |_| {
                    let count = rows.end - rows.start;
                    // Nobody listens any more after an error.
                    let _ = send.send((index, count, finish(self.rows(rows))));
                });
                true
            };
            // One more than there are threads waits for each of them, so that none is ever idle.
            let mut running = 0;
            while running < 2 * pool.current_num_threads() + 1 && start() {
                running += 1;
            }
            let (mut waiting, mut next) = (BTreeMap::new(), 0);
            while running > 0 {
                let Ok((index, count, result)) = receive.recv() else { break };
                waiting.insert(index, (count, result));
                while let Some((count, result)) = waiting.remove(&next) {
                    take(count, result)?;
                    next += 1;
                    running -= 1;
                    running += usize::from(start());
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_tile_their_rows_on_a_common_grid() {
        let cut = |rows| chunks(rows, 10).collect::<Vec<_>>();
        assert_eq!(cut(0..25), [0..10, 10..20, 20..25]);
        assert_eq!(cut(7..12), [7..10, 10..12]);
        assert_eq!(cut(5..5), []);
    }
}
