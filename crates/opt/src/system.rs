//! Whether whole numbers can satisfy some equations and inequalities.
//!
//! In: polynomials that are zero, and polynomials that are not negative. Out: [`Answer::Never`], or
//! [`Answer::Perhaps`]. Products of atoms are taken for unknowns of their own, division is done in
//! fractions, and too much work ends the search: each of these can only turn a "never" into a
//! "perhaps".
//!
//! Equations are first tested for divisibility (the GCD test; with one unknown this is the SIV
//! test), then used to eliminate unknowns; inequalities are combined until no unknown is left
//! (Fourier and Motzkin; with constant bounds this is Banerjee's test), each divided by the common
//! divisor of its factors and its constant rounded down.

use std::collections::BTreeMap;

use crate::poly::{Monomial, Poly};

/// What became of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// No whole numbers fit.
    Never,
    /// None were excluded.
    Perhaps,
}

/// Rows beyond this are not made.
const MAX_ROWS: usize = 600;

/// Equations and inequalities.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    /// Polynomials that are zero.
    pub(crate) zero: Vec<Poly>,
    /// Polynomials that are not negative.
    pub(crate) at_least_zero: Vec<Poly>,
}

impl System {
    /// Whether nothing can satisfy all of it.
    pub(crate) fn answer(&self) -> Answer {
        let mut unknowns = BTreeMap::new();
        let equations = self.zero.iter().map(|it| Row::new(it, &mut unknowns)).collect();
        let bounds = self.at_least_zero.iter().map(|it| Row::new(it, &mut unknowns)).collect();
        let parts = apart(equations, bounds, unknowns.len());
        let fails = |(equations, bounds)| eliminate(equations, bounds) == Outcome::Contradiction;
        if parts.into_iter().any(fails) { Answer::Never } else { Answer::Perhaps }
    }

    /// Whether it can never be that `poly` is negative besides.
    pub(crate) fn implies_at_least_zero(&self, poly: &Poly) -> bool {
        if let Some(value) = poly.as_constant()
            && value >= 0
        {
            return true;
        }
        let Some(negative) = poly.negated().and_then(|it| it.plus(-1)) else { return false };
        let mut with = self.clone();
        with.at_least_zero.push(negative);
        with.answer() == Answer::Never
    }
}

/// `sum of factors * unknowns + constant`, compared with zero.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    /// By unknown; none is zero.
    factors: BTreeMap<u32, i128>,
    constant: i128,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Contradiction,
    Open,
}

impl Row {
    fn new<'a>(poly: &'a Poly, unknowns: &mut BTreeMap<&'a Monomial, u32>) -> Row {
        let mut row = Row { factors: BTreeMap::new(), constant: 0 };
        for (monomial, factor) in poly.terms() {
            if monomial.is_empty() {
                row.constant = factor;
            } else {
                let next = unknowns.len() as u32;
                row.factors.insert(*unknowns.entry(monomial).or_insert(next), factor);
            }
        }
        row
    }

    fn factor(&self, unknown: u32) -> i128 {
        self.factors.get(&unknown).copied().unwrap_or(0)
    }

    fn divisor(&self) -> i128 {
        self.factors.values().fold(0, |divisor, &it| gcd(divisor, it))
    }

    /// `self * a + other * b`
    fn combine(&self, a: i128, other: &Row, b: i128) -> Option<Row> {
        let mut sum = Row { factors: BTreeMap::new(), constant: 0 };
        for (row, by) in [(self, a), (other, b)] {
            sum.constant = sum.constant.checked_add(row.constant.checked_mul(by)?)?;
            for (&unknown, &factor) in &row.factors {
                let entry = sum.factors.entry(unknown).or_insert(0);
                *entry = entry.checked_add(factor.checked_mul(by)?)?;
            }
        }
        sum.factors.retain(|_, it| *it != 0);
        Some(sum)
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    // Only the smallest number has no positive counterpart; then 1 divides as well.
    i128::try_from(a).unwrap_or(1)
}

/// Rows in groups that have no unknown in common: each is asked for itself, and what holds of many loops costs no more than
/// the loops that the question is about.
fn apart(equations: Vec<Row>, bounds: Vec<Row>, unknowns: usize) -> Vec<(Vec<Row>, Vec<Row>)> {
    // The group of an unknown is that of the one it leads to, which leads to itself.
    let mut leads: Vec<usize> = (0..unknowns).collect();
    fn root(leads: &mut [usize], mut at: usize) -> usize {
        while let Some(&next) = leads.get(at)
            && next != at
        {
            let beyond = leads.get(next).copied().unwrap_or(next);
            leads.iter_mut().skip(at).take(1).for_each(|it| *it = beyond);
            at = next;
        }
        at
    }
    for row in equations.iter().chain(&bounds) {
        let mut ids = row.factors.keys().map(|it| *it as usize);
        let Some(first) = ids.next() else { continue };
        for other in ids {
            let (to, from) = (root(&mut leads, first), root(&mut leads, other));
            leads.iter_mut().skip(from).take(1).for_each(|it| *it = to);
        }
    }
    let mut groups: BTreeMap<Option<usize>, (Vec<Row>, Vec<Row>)> = BTreeMap::new();
    let mut group = |row: &Row| row.factors.keys().next().map(|it| root(&mut leads, *it as usize));
    for row in equations {
        groups.entry(group(&row)).or_default().0.push(row);
    }
    for row in bounds {
        groups.entry(group(&row)).or_default().1.push(row);
    }
    groups.into_values().collect()
}

/// Eliminates unknowns until a contradiction shows or nothing is left to do.
fn eliminate(mut equations: Vec<Row>, mut bounds: Vec<Row>) -> Outcome {
    while let Some(equation) = next_equation(&mut equations) {
        let Some(equation) = equation else { return Outcome::Contradiction };
        // The unknown with the smallest factor keeps numbers small; a factor of one loses nothing.
        let Some((&unknown, &factor)) =
            equation.factors.iter().min_by_key(|it| it.1.unsigned_abs())
        else {
            continue;
        };
        let solve = |row: &Row| -> Option<Row> {
            let other = row.factor(unknown);
            if other == 0 {
                return Some(row.clone());
            }
            // The row is multiplied by a positive number, so that a bound stays one.
            row.combine(factor.abs(), &equation, other.checked_mul(-factor.signum())?)
        };
        let solved: Option<Vec<Row>> = equations.iter().map(solve).collect();
        let solved_bounds: Option<Vec<Row>> = bounds.iter().map(solve).collect();
        let (Some(solved), Some(solved_bounds)) = (solved, solved_bounds) else {
            return Outcome::Open;
        };
        (equations, bounds) = (solved, solved_bounds);
    }
    let mut tight = Tight::default();
    if !bounds.into_iter().all(|it| tight.add(it)) {
        return Outcome::Contradiction;
    }
    loop {
        let Some(unknown) = tight.cheapest_unknown() else { return Outcome::Open };
        let (lower, upper) = tight.take(unknown);
        let mut rows = tight.best.len();
        for above in &lower {
            for below in &upper {
                let by = (below.factor(unknown).checked_neg(), above.factor(unknown));
                let (Some(a), b) = by else { return Outcome::Open };
                let Some(row) = above.combine(a, below, b) else { return Outcome::Open };
                rows += 1;
                if rows > MAX_ROWS {
                    return Outcome::Open;
                }
                if !tight.add(row) {
                    return Outcome::Contradiction;
                }
            }
        }
    }
}

/// The next equation to solve, reduced; `Some(None)` if one has no solution.
fn next_equation(equations: &mut Vec<Row>) -> Option<Option<Row>> {
    for row in equations.iter_mut() {
        let divisor = row.divisor();
        if divisor == 0 {
            if row.constant != 0 {
                return Some(None);
            }
            continue;
        }
        if row.constant % divisor != 0 {
            return Some(None);
        }
        row.constant /= divisor;
        row.factors.values_mut().for_each(|it| *it /= divisor);
    }
    equations.retain(|it| !it.factors.is_empty());
    let smallest = |row: &Row| row.factors.values().map(|it| it.unsigned_abs()).min();
    let at = (0..equations.len()).min_by_key(|&at| equations.get(at).and_then(smallest))?;
    Some(Some(equations.swap_remove(at)))
}

/// Bounds with whole solutions in mind, each once: of rows with the same factors the smallest constant says most.
#[derive(Default)]
struct Tight {
    best: BTreeMap<BTreeMap<u32, i128>, i128>,
}

impl Tight {
    /// One more; false if it cannot hold.
    fn add(&mut self, mut row: Row) -> bool {
        let divisor = row.divisor();
        if divisor == 0 {
            return row.constant >= 0;
        }
        if divisor != 1 {
            row.factors.values_mut().for_each(|it| *it /= divisor);
        }
        let constant = row.constant.div_euclid(divisor);
        let entry = self.best.entry(row.factors).or_insert(constant);
        *entry = constant.min(*entry);
        true
    }

    /// Takes out what is known of an unknown: bounds from below, and from above.
    fn take(&mut self, unknown: u32) -> (Vec<Row>, Vec<Row>) {
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        self.best.retain(|factors, constant| {
            let Some(factor) = factors.get(&unknown) else { return true };
            let row = Row { factors: factors.clone(), constant: *constant };
            if *factor > 0 {
                lower.push(row)
            } else {
                upper.push(row)
            }
            false
        });
        (lower, upper)
    }

    /// The unknown whose elimination makes the fewest rows.
    fn cheapest_unknown(&self) -> Option<u32> {
        let mut signs: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for (unknown, factor) in self.best.keys().flatten() {
            let (above, below) = signs.entry(*unknown).or_default();
            *(if *factor > 0 { above } else { below }) += 1;
        }
        signs.into_iter().min_by_key(|(_, (above, below))| above * below).map(|it| it.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poly::Value;

    fn x(index: u32) -> Poly {
        Poly::atom(Value::Varying(index))
    }

    fn sum(terms: &[(i128, u32)], constant: i128) -> Poly {
        terms.iter().fold(Poly::constant(constant), |sum, &(factor, index)| {
            sum.add(&x(index).scaled(factor).unwrap()).unwrap()
        })
    }

    #[track_caller]
    fn check(zero: &[Poly], at_least_zero: &[Poly], expect: Answer) {
        let system = System { zero: zero.to_vec(), at_least_zero: at_least_zero.to_vec() };
        assert_eq!(system.answer(), expect);
    }

    #[test]
    fn what_does_not_divide_has_no_solution() {
        check(&[sum(&[(2, 0), (-4, 1)], 1)], &[], Answer::Never);
        check(&[sum(&[(2, 0), (-4, 1)], 2)], &[], Answer::Perhaps);
    }

    #[test]
    fn bounds_exclude_what_lies_beyond_them() {
        // x0 - x1 = 10 with both in 0..10
        let inside = [sum(&[(1, 0)], 0), sum(&[(-1, 0)], 9), sum(&[(1, 1)], 0), sum(&[(-1, 1)], 9)];
        check(&[sum(&[(1, 0), (-1, 1)], -10)], &inside, Answer::Never);
        check(&[sum(&[(1, 0), (-1, 1)], -9)], &inside, Answer::Perhaps);
    }

    #[test]
    fn fractions_between_whole_numbers_are_excluded() {
        // 1 <= 3 * x0 <= 2
        check(&[], &[sum(&[(3, 0)], -1), sum(&[(-3, 0)], 2)], Answer::Never);
    }

    #[test]
    fn symbolic_bounds_cancel() {
        // d = n, 1 <= d, d <= n - 1
        let (d, n) = (0, 1);
        let bounds = [sum(&[(1, d)], -1), sum(&[(1, n), (-1, d)], -1)];
        check(&[sum(&[(1, d), (-1, n)], 0)], &bounds, Answer::Never);
    }

    #[test]
    fn an_implied_bound_is_proven_and_another_is_not() {
        let system = System { zero: vec![], at_least_zero: vec![sum(&[(1, 0), (-1, 1)], -1)] };
        assert!(system.implies_at_least_zero(&sum(&[(1, 0), (-1, 1)], 0)));
        assert!(!system.implies_at_least_zero(&sum(&[(1, 0), (-1, 1)], -2)));
    }
}
