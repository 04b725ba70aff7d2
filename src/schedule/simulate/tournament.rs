//! Which of many clocks rings first: a winner tree.

/// Times of a fixed number of players and the least of them.
#[derive(Clone, Debug)]
pub struct Tournament {
    times: Vec<f64>,
    /// Winner of each match; the first is unused, the second the final.
    winners: Vec<u32>,
    leaves: usize,
}

impl Tournament {
    /// Players that never ring.
    pub fn new(players: usize) -> Self {
        let leaves = players.max(2).next_power_of_two();
        let mut winners = vec![0; 2 * leaves];
        for (player, winner) in winners[leaves..].iter_mut().enumerate() {
            *winner = player as u32;
        }
        for game in (1..leaves).rev() {
            winners[game] = winners[2 * game];
        }
        Self { times: vec![f64::INFINITY; leaves], winners, leaves }
    }

    /// The first to ring, the lower number in a tie, and its time.
    pub fn first(&self) -> (usize, f64) {
        let winner = self.winners[1] as usize;
        (winner, self.times[winner])
    }

    /// Sets the time of a player.
    #[inline]
    pub fn set(&mut self, player: usize, time: f64) {
        self.times[player] = time;
        let mut game = (self.leaves + player) / 2;
        while game > 0 {
            let (a, b) = (self.winners[2 * game], self.winners[2 * game + 1]);
            let winner = if self.times[b as usize] < self.times[a as usize] { b } else { a };
            if winner == self.winners[game] && winner as usize != player {
                // Somebody else won before and now: nothing changes further up.
                return;
            }
            self.winners[game] = winner;
            game /= 2;
        }
    }
}
