//! A resource that its users share evenly: processor sharing by virtual time.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Times of finite, non-negative floats in their own order.
pub fn key(time: f64) -> u64 {
    (time + 0.0).to_bits()
}

/// One resource of capacity 1. Virtual time V runs at min(cap, 1 / users), so a demand w that enters at V0 ends at
/// V0 + w whoever else comes and goes: the order of ends never changes, and a heap of them is exact.
#[derive(Clone, Debug)]
pub struct Server {
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    virtual_time: f64,
    since: f64,
    /// Largest share of one user.
    cap: f64,
}

impl Server {
    /// An idle server that gives each user at most `cap`.
    pub fn new(cap: f64) -> Self {
        Self { ends: BinaryHeap::new(), virtual_time: 0.0, since: 0.0, cap }
    }

    /// Share of the capacity in use.
    pub fn used(&self) -> f64 {
        (self.cap * self.ends.len() as f64).min(1.0)
    }

    /// When virtual time was last brought up to date.
    pub fn since(&self) -> f64 {
        self.since
    }

    fn rate(&self) -> f64 {
        self.cap.min(1.0 / self.ends.len() as f64)
    }

    /// A user with a demand above 0 enters.
    #[inline]
    pub fn enter(&mut self, now: f64, demand: f64, user: u32) {
        if self.ends.is_empty() {
            // Nobody is left whose end counts in the old virtual time; a fresh one keeps its precision.
            (self.virtual_time, self.since) = (0.0, now);
        } else if now > self.since {
            self.virtual_time += self.rate() * (now - self.since);
            self.since = now;
        }
        self.ends.push(Reverse((key(self.virtual_time + demand), user)));
    }

    /// When the next user ends if nobody else comes; infinite without users.
    #[inline]
    pub fn next_end(&self) -> f64 {
        match self.ends.peek() {
            None => f64::INFINITY,
            Some(Reverse((end, _))) => {
                let left = (f64::from_bits(*end) - self.virtual_time).max(0.0);
                self.since + left / self.rate()
            }
        }
    }

    /// The users that end up to a time, each at its own end.
    #[inline]
    pub fn leave(&mut self, until: f64, mut ended: impl FnMut(u32)) {
        loop {
            let end = self.next_end();
            if end > until || end.is_infinite() {
                return;
            }
            if let Some(Reverse((tag, user))) = self.ends.pop() {
                (self.virtual_time, self.since) = (f64::from_bits(tag), end);
                ended(user);
            }
        }
    }
}
