//! The least value of a function of a few numbers, by steps that halve.

/// A pattern search: from a start, steps along fixed directions are taken while they improve, then halved.
#[derive(Clone, Debug)]
pub struct Search {
    directions: Vec<Vec<f64>>,
    widest: f64,
    finest: f64,
}

impl Search {
    /// Steps from `widest` to above `finest` along each of so many numbers, and along pairs of them that grow together;
    /// `opposed` adds pairs of which one grows while the other shrinks.
    pub fn new(numbers: usize, opposed: bool, widest: f64, finest: f64) -> Self {
        let along = |parts: &[(usize, f64)]| {
            let mut direction = vec![0.0; numbers];
            parts.iter().for_each(|(number, step)| direction[*number] = *step);
            direction
        };
        let both = |i: usize, j: usize, sign: f64| [along(&[(i, 1.0), (j, sign)]), along(&[(i, -1.0), (j, -sign)])];
        let mut directions: Vec<_> = (0..numbers).flat_map(|i| [along(&[(i, 1.0)]), along(&[(i, -1.0)])]).collect();
        for j in (1..numbers).rev() {
            for i in 0..j {
                directions.extend(both(i, j, 1.0));
                if opposed {
                    directions.extend(both(i, j, -1.0));
                }
            }
        }
        Self { directions, widest, finest }
    }

    /// The numbers at which the function was least, and its value there.
    pub fn least(&self, start: &[f64], mut function: impl FnMut(&[f64]) -> f64) -> (Vec<f64>, f64) {
        let (mut at, mut next) = (start.to_vec(), start.to_vec());
        let mut found = function(&at);
        let mut step = self.widest;
        while step > self.finest {
            let mut moved = false;
            for direction in &self.directions {
                for ((next, at), part) in next.iter_mut().zip(&at).zip(direction) {
                    *next = at + step * part;
                }
                let other = function(&next);
                if other < found {
                    found = other;
                    moved = true;
                    at.copy_from_slice(&next);
                }
            }
            if !moved {
                step /= 2.0;
            }
        }
        (at, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_bottom_of_a_bent_valley_with_a_kink() {
        // Along either number alone every step from the start goes up.
        let valley = |at: &[f64]| (at[0] + at[1] - 1.0).abs() + 0.1 * (at[0] - at[1] - 3.0).abs();
        let (at, value) = Search::new(2, true, 0.4, 1e-4).least(&[0.5, 0.5], valley);
        assert!((at[0] - 2.0).abs() < 1e-3 && (at[1] + 1.0).abs() < 1e-3 && value < 1e-3, "{at:?}");
        let (at, value) = Search::new(2, false, 0.4, 1e-4).least(&[0.5, 0.5], valley);
        assert_eq!((at, value > 0.29), (vec![0.5, 0.5], true), "without opposed pairs it stays");
        assert_eq!(Search::new(0, true, 0.4, 1e-4).least(&[], |_| 7.0), (Vec::new(), 7.0));
    }
}
