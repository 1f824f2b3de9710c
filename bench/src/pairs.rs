//! Two things measured against each other: interleaved, in random order, so that a drift of the machine hits both alike.

use std::time::Duration;

/// The medians of both sides, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs {
    /// How many times each side ran.
    pub(crate) runs: usize,
    /// Median of the baseline, in microseconds.
    pub(crate) base: f64,
    /// Median of the subject, in microseconds.
    pub(crate) subject: f64,
    /// Median of what the subject took longer than the baseline of its pair, in microseconds.
    pub(crate) difference: f64,
}

impl Pairs {
    /// How many times faster the subject is than the baseline.
    pub(crate) fn speedup(&self) -> f64 {
        self.base / self.subject
    }

    /// How many times as long as the baseline the subject takes.
    pub(crate) fn times(&self) -> f64 {
        self.subject / self.base
    }

    /// What the subject adds to the baseline, as a share of the baseline. The two of a pair run one right after the other, so
    /// their difference keeps out most of what the rest of the machine does; that of the medians would not.
    pub(crate) fn added(&self) -> f64 {
        self.difference / self.base
    }
}

/// Runs both sides `runs` times each. Which of the two goes first is drawn anew for every pair; three pairs before that warm up
/// caches and are thrown away. Each call measures itself and returns the time it took.
///
/// # Errors
///
/// The first error of either side.
pub(crate) fn measure<E>(
    runs: usize,
    mut base: impl FnMut() -> Result<Duration, E>,
    mut subject: impl FnMut() -> Result<Duration, E>,
) -> Result<Pairs, E> {
    blocks(runs, || base().map(|time| vec![time]), || subject().map(|time| vec![time]))
}

/// The same with `rounds` blocks of each side. A block is several runs in a row, so that work which one run leaves to the next
/// counts for the side that caused it; it returns the time of each.
///
/// # Errors
///
/// The first error of either side.
pub(crate) fn blocks<E>(
    rounds: usize,
    mut base: impl FnMut() -> Result<Vec<Duration>, E>,
    mut subject: impl FnMut() -> Result<Vec<Duration>, E>,
) -> Result<Pairs, E> {
    let mut order = Coin::new();
    for _ in 0..3 {
        base()?;
        subject()?;
    }
    let (mut bases, mut subjects, mut differences) = (Vec::new(), Vec::new(), Vec::with_capacity(rounds));
    for _ in 0..rounds {
        let (one, other) = if order.flip() {
            let one = base()?;
            (one, subject()?)
        } else {
            let other = subject()?;
            (base()?, other)
        };
        let (one, other) = (micros(&one), micros(&other));
        differences.push(median(other.clone()) - median(one.clone()));
        bases.extend(one);
        subjects.extend(other);
    }
    let runs = subjects.len();
    Ok(Pairs { runs, base: median(bases), subject: median(subjects), difference: median(differences) })
}

fn micros(times: &[Duration]) -> Vec<f64> {
    times.iter().map(|time| time.as_secs_f64() * 1e6).collect()
}

/// The median; of an even number of values the mean of the middle two.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

/// A fair coin: SplitMix64 over a seed from the system.
pub(crate) struct Coin(u64);

impl Coin {
    pub(crate) fn new() -> Self {
        Coin(getrandom::u64().unwrap_or(0x9e37_79b9_7f4a_7c15))
    }

    fn flip(&mut self) -> bool {
        self.draw() & 1 == 1
    }

    /// Any number, evenly.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn each_side_runs_as_often_as_asked_besides_the_warm_up() {
        let (a, b) = (Cell::new(0), Cell::new(0));
        let count = |cell: &Cell<usize>, micros| {
            cell.set(cell.get() + 1);
            Ok::<_, ()>(Duration::from_micros(micros))
        };
        let pairs = measure(10, || count(&a, 100), || count(&b, 145)).unwrap();
        assert_eq!((a.get(), b.get()), (13, 13));
        assert!((pairs.added() - 0.45).abs() < 1e-9);
        assert!((pairs.speedup() - 100.0 / 145.0).abs() < 1e-9);
    }

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middle() {
        assert!((median(vec![4.0, 1.0, 3.0, 2.0]) - 2.5).abs() < 1e-9);
        assert!((median(vec![4.0, 1.0, 3.0]) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_drift_that_hits_both_of_a_pair_is_not_added() {
        // The machine takes ten times as long in the second half; the subject always takes 10 more.
        let (base, subject) = (Cell::new(0_u64), Cell::new(0_u64));
        let timed = |cell: &Cell<u64>, more: u64| {
            cell.set(cell.get() + 1);
            Ok::<_, ()>(Duration::from_micros(if cell.get() <= 13 { 100 } else { 1000 } + more))
        };
        let pairs = measure(21, || timed(&base, 0), || timed(&subject, 10)).unwrap();
        assert!((pairs.difference - 10.0).abs() < 1e-6);
        assert!((pairs.added() - 0.01).abs() < 1e-9);
    }

    #[test]
    fn blocks_are_pooled_and_compared_round_by_round() {
        let micros = Duration::from_micros;
        let round = Cell::new(0_u64);
        let base = || Ok::<_, ()>(vec![micros(100), micros(100), micros(1000)]);
        // Each later round is 10 slower; the first three only warm up.
        let subject = || {
            round.set(round.get() + 1);
            Ok(vec![micros(200 + 10 * round.get().saturating_sub(3)); 3])
        };
        let pairs = blocks(3, base, subject).unwrap();
        assert_eq!((pairs.runs, round.get()), (9, 6));
        assert!((pairs.times() - 2.2).abs() < 1e-9 && (pairs.difference - 120.0).abs() < 1e-6);
    }

    #[test]
    fn an_error_ends_the_measurement() {
        assert_eq!(measure(5, || Err("gone"), || Ok(Duration::ZERO)).unwrap_err(), "gone");
    }

    #[test]
    fn the_coin_falls_on_both_sides() {
        let mut coin = Coin::new();
        let heads = (0..1000).filter(|_| coin.flip()).count();
        assert!((300..700).contains(&heads), "{heads}");
    }
}
