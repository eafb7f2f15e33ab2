//! Sums of products of variables, as they are where the examined code is entered: what of a polynomial can be said
//! outside of it, to a reader or in a test at run time.

use ir::program::{Program, VarId};

use crate::poly::{Atom, Poly, Value};

/// A sum of products of a constant and variables, as they are where the examined code is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Factor and variables; no variables for the constant.
    pub terms: Vec<(i64, Vec<VarId>)>,
}

impl Sum {
    /// The polynomial, if it is one over variables as they are at the entry.
    pub(crate) fn of(poly: &Poly) -> Option<Sum> {
        let mut terms = Vec::new();
        for (monomial, factor) in poly.terms() {
            let var = |atom: &Atom| match atom.value {
                Value::Entry(var) => Some(var),
                Value::Held(_) | Value::Distance | Value::Trip(_) | Value::Varying(_) => None,
            };
            let vars: Vec<VarId> = monomial.iter().map(var).collect::<Option<_>>()?;
            terms.push((i64::try_from(factor).ok()?, vars));
        }
        Some(Sum { terms })
    }

    /// The part that is a number.
    pub fn constant(&self) -> i64 {
        self.terms.iter().find(|it| it.1.is_empty()).map_or(0, |it| it.0)
    }

    /// What is left of it when another is taken away; numbers that are too large stay as they are.
    #[must_use]
    pub fn minus(&self, other: &Sum) -> Sum {
        let mut terms = self.terms.clone();
        for (factor, vars) in &other.terms {
            match terms.iter_mut().find(|it| it.1 == *vars) {
                Some(it) => it.0 = it.0.saturating_sub(*factor),
                None => terms.push((factor.saturating_neg(), vars.clone())),
            }
        }
        terms.retain(|it| it.0 != 0);
        Sum { terms }
    }

    /// So many times it; nothing if that is too large.
    #[must_use]
    pub fn times(&self, factor: i64) -> Option<Sum> {
        let terms =
            self.terms.iter().map(|(by, vars)| Some((by.checked_mul(factor)?, vars.clone())));
        Some(Sum { terms: terms.collect::<Option<_>>()? })
    }

    /// As a formula: `n * m - 1`.
    pub fn text(&self, program: &Program) -> String {
        let name = |var: &VarId| program.vars[*var].name.map_or("?", |it| program.names.text(it));
        let mut text = String::new();
        // The number last, as people write it.
        let (numbers, rest): (Vec<_>, Vec<_>) = self.terms.iter().partition(|it| it.1.is_empty());
        for (factor, vars) in rest.into_iter().chain(numbers) {
            let names: Vec<&str> = vars.iter().map(name).collect();
            let size = factor.unsigned_abs();
            let term = match (size, names.is_empty()) {
                (1, false) => names.join(" * "),
                (_, false) => format!("{size} * {}", names.join(" * ")),
                (_, true) => size.to_string(),
            };
            text += match (text.is_empty(), *factor < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            text += &term;
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }
}
