//! Integer polynomials over values that are fixed while one iteration looks at them.
//!
//! A subscript such as `i * n + j + 1` is a [`Poly`] over [`Atom`]s: trip counters of loops and the
//! values that variables had when the examined loop was entered. An atom is a *value*, not a
//! variable: what is once known of it stays true. Arithmetic that would overflow answers nothing.

use std::collections::BTreeMap;

use ir::program::VarId;

/// A value that is not known but has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Value {
    /// What a variable held when the examined loop was entered.
    Entry(VarId),
    /// What memory held then at a place that the loop does not change: number of the place.
    Held(u32),
    /// How many iterations the distance between two instances is.
    Distance,
    /// How many rounds of a loop were finished; loop 0 is the examined one.
    Trip(u32),
    /// Anything; not the same in different iterations of the examined loop.
    Varying(u32),
}

/// A value as one of two instances of an iteration sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Atom {
    /// Which value.
    pub(crate) value: Value,
    /// Which instance, for values that differ between them; else 0.
    pub(crate) side: u8,
}

impl Atom {
    /// As written, before instances are told apart.
    pub(crate) fn of(value: Value) -> Atom {
        Atom { value, side: 0 }
    }

    /// Whether two iterations of the examined loop may see different values.
    pub(crate) fn varies(self) -> bool {
        match self.value {
            Value::Trip(_) | Value::Varying(_) => true,
            Value::Entry(_) | Value::Held(_) | Value::Distance => false,
        }
    }
}

/// A product of atoms, sorted; empty for the constant.
pub(crate) type Monomial = Vec<Atom>;

/// A sum of products with whole coefficients; none of them zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Poly {
    terms: BTreeMap<Monomial, i128>,
}

/// Larger ones are not worth the time.
const MAX_TERMS: usize = 40;
const MAX_DEGREE: usize = 6;

impl Poly {
    /// Nothing but a number.
    pub(crate) fn constant(value: i128) -> Poly {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Poly { terms }
    }

    /// One atom.
    pub(crate) fn atom(value: Value) -> Poly {
        Poly { terms: BTreeMap::from([(vec![Atom::of(value)], 1)]) }
    }

    /// The number, if it is nothing else.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// Products and their coefficients.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(monomial, &factor)| (monomial, factor))
    }

    /// Atoms in it, some of them more than once.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        self.terms.keys().flatten().copied()
    }

    /// Whether all iterations of the examined loop see the same.
    pub(crate) fn is_invariant(&self) -> bool {
        !self.atoms().any(Atom::varies)
    }

    pub(crate) fn add(&self, other: &Poly) -> Option<Poly> {
        self.combine(other, 1)
    }

    pub(crate) fn sub(&self, other: &Poly) -> Option<Poly> {
        self.combine(other, -1)
    }

    pub(crate) fn plus(&self, value: i128) -> Option<Poly> {
        self.combine(&Poly::constant(value), 1)
    }

    pub(crate) fn negated(&self) -> Option<Poly> {
        self.scaled(-1)
    }

    pub(crate) fn scaled(&self, by: i128) -> Option<Poly> {
        Poly::default().combine(self, by)
    }

    fn combine(&self, other: &Poly, by: i128) -> Option<Poly> {
        let mut terms = self.terms.clone();
        for (monomial, &factor) in &other.terms {
            add_term(&mut terms, monomial.clone(), factor.checked_mul(by)?)?;
        }
        Poly { terms }.checked()
    }

    pub(crate) fn mul(&self, other: &Poly) -> Option<Poly> {
        let mut terms = BTreeMap::new();
        for (a, &x) in &self.terms {
            for (b, &y) in &other.terms {
                let mut product: Monomial = a.iter().chain(b).copied().collect();
                product.sort_unstable();
                add_term(&mut terms, product, x.checked_mul(y)?)?;
            }
        }
        Poly { terms }.checked()
    }

    /// The same with something put in for each atom.
    pub(crate) fn replace(&self, by: &impl Fn(Atom) -> Poly) -> Option<Poly> {
        let mut sum = Poly::default();
        for (monomial, &factor) in &self.terms {
            let mut product = Poly::constant(factor);
            for &atom in monomial {
                product = product.mul(&by(atom))?;
            }
            sum = sum.add(&product)?;
        }
        Some(sum)
    }

    /// `(q, r)` with `self = q * atom + r`, where `r` has no product with `atom`.
    pub(crate) fn divided_by(&self, atom: Atom) -> (Poly, Poly) {
        let (mut quotient, mut rest) = (Poly::default(), Poly::default());
        for (monomial, &factor) in &self.terms {
            match monomial.iter().position(|&it| it == atom) {
                Some(at) => {
                    let mut left = monomial.clone();
                    left.remove(at);
                    quotient.terms.insert(left, factor);
                }
                None => {
                    rest.terms.insert(monomial.clone(), factor);
                }
            }
        }
        (quotient, rest)
    }

    /// `(q, r)` with `self = q * number + r`, where no factor of `r` is a multiple of the number.
    pub(crate) fn divided_by_number(&self, number: i128) -> Option<(Poly, Poly)> {
        let (mut quotient, mut rest) = (Poly::default(), Poly::default());
        for (monomial, &factor) in &self.terms {
            let times = if monomial.is_empty() || factor % number == 0 {
                factor.checked_div_euclid(number)?
            } else {
                0
            };
            add_term(&mut quotient.terms, monomial.clone(), times)?;
            let left = factor.checked_sub(times.checked_mul(number)?)?;
            add_term(&mut rest.terms, monomial.clone(), left)?;
        }
        Some((quotient, rest))
    }

    fn checked(self) -> Option<Poly> {
        let fits =
            self.terms.len() <= MAX_TERMS && self.terms.keys().all(|it| it.len() <= MAX_DEGREE);
        fits.then_some(self)
    }
}

impl From<Atom> for Poly {
    fn from(atom: Atom) -> Poly {
        Poly { terms: BTreeMap::from([(vec![atom], 1)]) }
    }
}

fn add_term(terms: &mut BTreeMap<Monomial, i128>, monomial: Monomial, factor: i128) -> Option<()> {
    let entry = terms.entry(monomial);
    match entry {
        std::collections::btree_map::Entry::Vacant(it) => {
            if factor != 0 {
                it.insert(factor);
            }
        }
        std::collections::btree_map::Entry::Occupied(mut it) => {
            let sum = it.get().checked_add(factor)?;
            if sum == 0 {
                it.remove();
            } else {
                it.insert(sum);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn var(index: u32) -> Poly {
        Poly::atom(Value::Entry(VarId::from_index(index)))
    }

    #[test]
    fn products_are_expanded_and_what_cancels_is_gone() {
        let (a, b) = (var(0), var(1));
        let sum = a.add(&b).unwrap();
        let difference = a.sub(&b).unwrap();
        let product = sum.mul(&difference).unwrap();
        let squares = a.mul(&a).unwrap().sub(&b.mul(&b).unwrap()).unwrap();
        assert_eq!(product, squares);
        assert_eq!(product.sub(&squares).unwrap().as_constant(), Some(0));
    }

    #[test]
    fn a_quotient_and_a_rest_make_the_whole() {
        let (n, i) = (var(0), var(1));
        let whole = i.mul(&n).unwrap().add(&i).unwrap().plus(3).unwrap();
        let atom = Atom::of(Value::Entry(VarId::from_index(0)));
        let (quotient, rest) = whole.divided_by(atom);
        assert_eq!(quotient, i);
        assert_eq!(rest, i.plus(3).unwrap());
    }

    #[test]
    fn numbers_too_large_are_no_answer() {
        let large = Poly::constant(i128::MAX);
        assert_eq!(large.plus(1), None);
        assert_eq!(large.mul(&large), None);
    }
}
