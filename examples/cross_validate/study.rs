//! What is fitted on which rows, and what is predicted with it.

use rayon::prelude::*;
use wavecast::{
    gpu::{Band, Gpu, Pipeline, TensorPower},
    op::gemm::Plan,
    units::Seconds,
    validate::{Fitted, Needs, quantile},
};

use super::{
    fit::{Fit, Free, Point, Search, Seen},
    rows::{Board, FOLDS, Row},
};

/// The most of its peak that any tensor core was seen to sustain: issue limit of kernels whose warps start the
/// multiplications one by one (mma.sync, measured on RTX PRO 6000 and A100), and of those of warp groups (H100).
const ISSUE_LIMIT: [f64; 2] = [0.95, 0.93];
/// Fewest rows from which a band of their own is taken.
const LEAST_ROWS: usize = 20;

/// A row with its prediction.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The row.
    pub row: Row,
    /// The plan.
    pub plan: Plan,
    /// Resident waves of blocks.
    pub waves: f64,
    /// The roofline's time.
    pub roofline: f64,
    /// Whether the measured time is in the band.
    pub in_band: bool,
}

/// The answers to rows on a GPU with its constants; all in the band.
pub fn answers(gpu: &Gpu, board: &Board, rows: &[Row], roofline: &Fitted) -> Vec<Answer> {
    let planner = Board::planner(gpu, board.precision);
    let answer = |row: &Row| {
        let plan = planner.plan(row.shape, row.reuse);
        let waves = plan.chosen.blocks / planner.slots(&plan.chosen);
        Answer { row: *row, plan, waves, roofline: roofline.time(&row.needs), in_band: true }
    };
    rows.iter().map(answer).collect()
}

/// The 10th and 90th percentile of measured over predicted, by predicted time; of few rows those of all.
pub fn band<'a>(answers: impl Iterator<Item = &'a Answer>) -> Band {
    let mut ratios: [Vec<f64>; 5] = Default::default();
    for answer in answers {
        let ratio = answer.row.measured / answer.plan.time;
        ratios[Band::regime(Seconds(answer.plan.time))].push(ratio);
        ratios[4].push(ratio);
    }
    for ratios in &mut ratios {
        ratios.sort_by(f64::total_cmp);
    }
    let of = |regime: usize| &ratios[if ratios[regime].len() < LEAST_ROWS { 4 } else { regime }];
    let ends = |share| std::array::from_fn(|regime| quantile(of(regime), share));
    Band { low: ends(0.1), high: ends(0.9) }
}

/// Notes which measured times are in a band.
pub fn judge(answers: &mut [Answer], band: &Band) {
    for Answer { row, plan, in_band, .. } in answers {
        let regime = Band::regime(Seconds(plan.time));
        *in_band = plan.time * band.low[regime] <= row.measured && row.measured <= plan.time * band.high[regime];
    }
}

fn roofline(rows: &[Row]) -> Fitted {
    Fitted::new(&rows.iter().map(|row| (row.needs, row.measured)).collect::<Vec<(Needs, f64)>>())
}

/// Two fits to the same rows, from the constants of the table and from others.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Fold, or the GPU that was left out.
    pub name: String,
    /// From the table.
    pub table: Fit,
    /// From elsewhere.
    pub moved: Fit,
    /// The loss there before the search.
    pub moved_from: f64,
}

impl Pair {
    /// The better of both on the rows that they saw.
    pub fn best(&self) -> &Fit {
        if self.table.loss <= self.moved.loss { &self.table } else { &self.moved }
    }

    fn new(name: String, seen: &[Seen], least_stream: f64, seed: u64) -> Self {
        let start = Point::table(seen.iter().map(|s| s.gpu));
        let away = start.moved(seed);
        let moved_from = Search::new(seen, least_stream).loss(&away);
        let run = |start: Point| Search::new(seen, least_stream).run(start, Free::All);
        let (table, moved) = rayon::join(|| run(start), || run(away));
        Self { name, table, moved, moved_from }
    }
}

/// The whole study.
pub struct Study<'a> {
    boards: &'a [Board],
    most: usize,
    least_stream: f64,
}

/// What was predicted for a GPU of which nothing, or only two constants, were taken from its own rows.
pub struct Transfer {
    /// Its sustained shares of arithmetic and DRAM fitted to its rows.
    pub known: Vec<Answer>,
    /// Those shares.
    pub known_shares: [f64; 2],
    /// Arithmetic at the issue limit, DRAM as the median of the others.
    pub strict: Vec<Answer>,
    /// Those shares.
    pub strict_shares: [f64; 2],
    /// The same, with the factors of the family, too, from another GPU with such kernels; absent where there is none.
    pub foreign: Option<Vec<Answer>>,
    /// Both shares as the mean of the others.
    pub mean: Vec<Answer>,
    /// Arithmetic from the energy per operation of its family, which its own long products of random numbers gave, and from
    /// what short products of the others gain.
    pub power: Option<Vec<Answer>>,
}

impl<'a> Study<'a> {
    /// A study that fits to about so many rows of each GPU.
    pub fn new(boards: &'a [Board], most: usize) -> Self {
        let streams = boards.iter().map(|board| board.gpu.calibration.sm_stream.get());
        Self { boards, most, least_stream: streams.fold(f64::INFINITY, f64::min) }
    }

    /// The fit of each fold to the rows of the others.
    pub fn folds(&self) -> Vec<Pair> {
        let fit = |fold: usize| {
            let seen: Vec<Seen> = self.boards.iter().map(|b| Seen::new(b, &split(b, fold).0, self.most)).collect();
            Pair::new(format!("fold {}", fold + 1), &seen, self.least_stream, fold as u64 + 1)
        };
        (0..FOLDS).into_par_iter().map(fit).collect()
    }

    /// The answers of a GPU, each by the fit that did not see its pair, with the band of the rows that were seen; and the
    /// same answers by the constants of the table.
    pub fn held_out(&self, place: usize, folds: &[Pair]) -> (Vec<Answer>, Vec<Answer>) {
        let board = &self.boards[place];
        let (mut all, mut table) = (Vec::new(), Vec::new());
        for (fold, pair) in folds.iter().enumerate() {
            let (seen, held) = split(board, fold);
            let line = roofline(&seen);
            let at = &pair.best().at;
            let gpu = at.on(&board.gpu, &at.own[place], self.least_stream);
            let band = band(answers(&gpu, board, &seen, &line).iter());
            let mut found = answers(&gpu, board, &held, &line);
            judge(&mut found, &band);
            all.extend(found);
            table.extend(answers(&board.gpu, board, &held, &line));
        }
        judge(&mut table, &board.gpu.calibration.band);
        (all, table)
    }

    /// The fits without one of the GPUs each; none where there are not two others.
    pub fn without(&self) -> Vec<Pair> {
        let fit = |target: usize| {
            let others = self.boards.iter().enumerate().filter(|(place, _)| *place != target);
            let seen: Vec<Seen> = others.map(|(_, b)| Seen::new(b, &b.rows, self.most)).collect();
            Pair::new(self.boards[target].gpu.name.clone(), &seen, self.least_stream, target as u64 + 11)
        };
        let targets = if self.boards.len() > 2 { self.boards.len() } else { 0 };
        (0..targets).into_par_iter().map(fit).collect()
    }

    /// The answers of a GPU by the constants of the others; the band is that of the others, widened.
    pub fn transfer(&self, target: usize, pair: &Pair, widened: f64) -> Transfer {
        let board = &self.boards[target];
        let at = &pair.best().at;
        let pipeline = board.gpu.calibration.tiled.pipeline;
        let others: Vec<&Board> =
            self.boards.iter().enumerate().filter(|(place, _)| *place != target).map(|(_, b)| b).collect();
        let lines: Vec<Fitted> = others.iter().map(|b| roofline(&b.rows)).collect();
        let mean = |get: &dyn Fn(&Fitted) -> f64| {
            libm::exp(lines.iter().map(|line| libm::log(get(line))).sum::<f64>() / lines.len() as f64)
        };
        let line = Fitted {
            math_share: mean(&|l| l.math_share),
            memory_share: mean(&|l| l.memory_share),
            fixed: mean(&|l| l.fixed),
        };
        let seen = others
            .iter()
            .zip(&at.own)
            .flat_map(|(other, own)| answers(&at.on(&other.gpu, own, self.least_stream), other, &other.rows, &line));
        let band = band(seen.collect::<Vec<_>>().iter()).widened(widened);
        let on = |gpu: &Gpu, own: [f64; 3]| {
            let mut found = answers(&at.on(gpu, &own, self.least_stream), board, &board.rows, &line);
            judge(&mut found, &band);
            found
        };
        let with = |own: [f64; 3]| on(&board.gpu, own);
        let foreign =
            others.iter().map(|other| &other.gpu.calibration).find(|c| c.tiled.pipeline == pipeline).map(|c| {
                let mut gpu = board.gpu.clone();
                (gpu.calibration.tiled, gpu.calibration.fixed_factor) = (c.tiled, c.fixed_factor);
                gpu.calibration.sm_stream = c.sm_stream;
                gpu
            });
        let column = |place: usize| {
            let mut values: Vec<f64> = at.own.iter().map(|own| own[place]).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let median = |place: usize| quantile(&column(place), 0.5);
        let average = |place: usize| column(place).iter().sum::<f64>() / others.len() as f64;
        let (share, droop) = (median(1), median(2));
        let limit = ISSUE_LIMIT[usize::from(pipeline == Pipeline::Persistent)];
        let seen = [Seen::new(board, &board.rows, self.most)];
        let start = Point { shared: at.shared, own: vec![[limit, share, droop]] };
        let known = Search::new(&seen, self.least_stream).run(start, Free::Shares).at.own[0];
        let peak = board.gpu.peak(board.precision.pipe);
        let power = |gpu: &Gpu| gpu.calibration.tensor_power;
        let mut bursts: Vec<f64> = others.iter().filter_map(|other| Some(power(&other.gpu)?.burst)).collect();
        bursts.sort_by(f64::total_cmp);
        let rule = power(&board.gpu).map(|power| TensorPower { burst: quantile(&bursts, 0.5), limit, ..power });
        let power = rule.zip(board.gpu.power).zip(peak).map(|((rule, power), peak)| rule.share(power, peak));
        Transfer {
            known: with(known),
            known_shares: [known[0], known[1]],
            strict: with([limit, share, droop]),
            strict_shares: [limit, share],
            foreign: foreign.map(|gpu| on(&gpu, [limit, share, droop])),
            mean: with([average(0), average(1), droop]),
            power: power.map(|rate| with([rate, share, droop])),
        }
    }
}

/// Rows of a board that a fold's fit sees, and those that it does not.
fn split(board: &Board, fold: usize) -> (Vec<Row>, Vec<Row>) {
    board.rows.iter().copied().partition(|row| row.fold() != fold)
}
