//! What holds of integers where a condition does, and what follows from it.

use ir::program::{BinaryOp, ExprId, ExprKind, UnaryOp};

use super::poly::{Poly, Terms, constant, difference, number, product, sum};

/// Something that holds.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    /// It is zero or more.
    AtLeast(Poly),
    /// It is not zero.
    Not(Poly),
}

impl Terms<'_> {
    /// What holds where a condition does, or does not.
    pub(super) fn facts(&self, condition: ExprId, holds: bool, out: &mut Vec<Fact>) {
        match &self.program.exprs[condition].kind {
            ExprKind::And(a, b) if holds => {
                [a, b].iter().for_each(|it| self.facts(**it, true, out));
            }
            ExprKind::Or(a, b) if !holds => {
                [a, b].iter().for_each(|it| self.facts(**it, false, out));
            }
            ExprKind::Unary(UnaryOp::Not, of) => self.facts(*of, !holds, out),
            ExprKind::Binary(op, a, b) => {
                let (Some(a), Some(b)) = (self.poly(*a), self.poly(*b)) else { return };
                let Some(far) = difference(b, &a) else { return };
                out.extend(compared(*op, holds, &far).into_iter().flatten());
            }
            _ => {}
        }
    }

    /// Whether a condition holds wherever facts do; none if that is not known.
    pub(super) fn verdict(&self, condition: ExprId, facts: &[Fact]) -> Option<bool> {
        match &self.program.exprs[condition].kind {
            ExprKind::And(a, b) => match (self.verdict(*a, facts), self.verdict(*b, facts)) {
                (Some(true), Some(true)) => Some(true),
                (Some(false), _) => Some(false),
                (_, _) => None,
            },
            ExprKind::Or(a, b) => match (self.verdict(*a, facts), self.verdict(*b, facts)) {
                (Some(false), Some(false)) => Some(false),
                (Some(true), _) => Some(true),
                (_, _) => None,
            },
            ExprKind::Unary(UnaryOp::Not, of) => self.verdict(*of, facts).map(|it| !it),
            ExprKind::Binary(op, a, b) => {
                let far = difference(self.poly(*b)?, &self.poly(*a)?)?;
                [true, false].into_iter().find(|holds| {
                    let all = compared(*op, *holds, &far);
                    !all.is_empty()
                        && all.iter().all(|it| it.as_ref().is_some_and(|it| follows(it, facts)))
                })
            }
            _ => None,
        }
    }
}

/// What a comparison says of the second less the first; none where numbers become too large.
fn compared(op: BinaryOp, holds: bool, far: &Poly) -> Vec<Option<Fact>> {
    let less = |by: i64| sum(far.clone(), &constant(-by)).map(Fact::AtLeast);
    let more = |by: i64| {
        let back = product(far, &constant(-1))?;
        sum(back, &constant(-by)).map(Fact::AtLeast)
    };
    match (op, holds) {
        (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => vec![less(1)],
        (BinaryOp::Le, true) | (BinaryOp::Gt, false) => vec![less(0)],
        (BinaryOp::Gt, true) | (BinaryOp::Le, false) => vec![more(1)],
        (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => vec![more(0)],
        (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => vec![less(0), more(0)],
        (BinaryOp::Ne, true) | (BinaryOp::Eq, false) => vec![Some(Fact::Not(far.clone()))],
        _ => Vec::new(),
    }
}

/// Whether something holds because one of the facts does.
fn follows(it: &Fact, facts: &[Fact]) -> bool {
    let is_at_least = |poly: &Poly| {
        let far = |from: &Poly| difference(poly.clone(), from).and_then(|it| number(&it));
        number(poly).is_some_and(|it| it >= 0)
            || facts.iter().any(
                |fact| matches!(fact, Fact::AtLeast(from) if far(from).is_some_and(|it| it >= 0)),
            )
    };
    match it {
        Fact::AtLeast(poly) => is_at_least(poly),
        Fact::Not(poly) => {
            let back = product(poly, &constant(-1));
            let is_it = |from: &Poly| from == poly || Some(from) == back.as_ref();
            let beyond =
                |it: &Poly| sum(it.clone(), &constant(-1)).is_some_and(|it| is_at_least(&it));
            number(poly).is_some_and(|it| it != 0)
                || facts.iter().any(|fact| matches!(fact, Fact::Not(from) if is_it(from)))
                || beyond(poly)
                || back.as_ref().is_some_and(beyond)
        }
    }
}
