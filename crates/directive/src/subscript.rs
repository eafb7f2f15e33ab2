//! Subscripts on clauses, as RoseACC writes them: `num_gangs[1](n)`, `gang[1] worker[0]`.
//!
//! The subscript is a dimension, 0 the innermost. In: the clauses of a directive that have one. Out:
//! clauses of the standard with the same meaning, and one warning per directive that says what
//! became of each. Dimensions that the standard does not have (of workers and lanes there is one)
//! are left out: how a loop is dealt changes the speed of it and never its result.
//!
//! Which clauses may have one is a column of the table ([`ClauseRow::has_dimensions`]).
//!
//! [`ClauseRow::has_dimensions`]: crate::table::ClauseRow::has_dimensions

use ir::construct::{Clause, ClauseKind, GangArg};
use source::Span;
use syntax::TokenKind;
use syntax::ast::{Expr, ExprId, ExprKind};

use crate::cursor::{Read, Reader, Reported};
use crate::table::ClauseRow;
use crate::{Written, messages};

/// Subscripts are smaller than this.
const DIMENSIONS: u8 = 3;

/// A clause with a subscript, as it was read.
pub(crate) struct Numbered {
    pub(crate) word: String,
    pub(crate) dimension: u8,
    pub(crate) clause: Clause<Written>,
}

/// The dimensions of one `num_gangs`, which are written as several clauses.
struct Counts {
    first: Clause<Written>,
    by_dimension: [Option<ExprId>; DIMENSIONS as usize],
}

impl Reader<'_, '_> {
    /// `[1]`, behind the word of a clause. After a fault the reader stands behind the clause.
    pub(crate) fn subscript(&mut self, row: &ClauseRow) -> Read<u8> {
        let mark = self.p.mark();
        let open = self.p.bump();
        let text = self.p.spelling().map(|it| self.p.text(it));
        let dimension = text.and_then(|it| it.parse::<u8>().ok()).filter(|it| *it < DIMENSIONS);
        if let Some(dimension) = dimension
            && row.has_dimensions
            && self.p.peek_at(1) == TokenKind::RBracket
        {
            self.p.bump();
            self.p.bump();
            return Ok(dimension);
        }
        self.p.reset(mark);
        let fault = if row.has_dimensions {
            messages::no_dimension(&self.what, DIMENSIONS - 1, open)
        } else {
            messages::subscripted_clause(&self.what, open)
        };
        self.report(fault);
        self.p.skip_balanced();
        if self.p.at(TokenKind::LParen) {
            self.p.skip_balanced();
        }
        Err(Reported)
    }

    /// Says the same without subscripts, and tells the user how it was understood.
    pub(crate) fn without_subscripts(
        &mut self,
        numbered: Vec<Numbered>,
        clauses: &mut Vec<Clause<Written>>,
    ) {
        let mut readings: Vec<(Span, String)> = Vec::new();
        let mut counts: Vec<Counts> = Vec::new();
        for Numbered { word, dimension, mut clause } in numbered {
            let number = u32::from(dimension) + 1;
            let span = clause.span;
            let reading = match &mut clause.kind {
                ClauseKind::NumTeams { counts: own, .. } => {
                    let count = own.first().copied();
                    if own.len() > 1 {
                        self.report(messages::too_many_arguments(&word, 1, span));
                    }
                    let same = |it: &Counts| it.first.group == clause.group;
                    let at = counts.iter().position(same).unwrap_or(counts.len());
                    if at == counts.len() {
                        counts.push(Counts { first: clause, by_dimension: [None; 3] });
                    }
                    let all = counts.get_mut(at).map(|it| &mut it.by_dimension);
                    if let Some(place) = all.and_then(|it| it.get_mut(usize::from(dimension))) {
                        *place = count;
                    }
                    format!("read as argument {number} of one `{word}`")
                }
                ClauseKind::Gang(args) => {
                    if !args.iter().any(|it| matches!(it, GangArg::Dim(_))) {
                        args.push(GangArg::Dim(self.number(number, span)));
                    }
                    clauses.push(clause);
                    format!("read as `{word}(dim: {number})`")
                }
                _ if dimension == 0 => {
                    clauses.push(clause);
                    format!("read as `{word}`")
                }
                _ => format!("left out: `{word}` has one dimension"),
            };
            readings.push((span, reading));
        }
        for Counts { first, by_dimension } in counts {
            let used = by_dimension.iter().rposition(Option::is_some).map_or(0, |it| it + 1);
            let mut list = Vec::new();
            for count in by_dimension.into_iter().take(used) {
                // A dimension that is not given counts one.
                list.push(count.unwrap_or_else(|| self.number(1, first.span)));
            }
            clauses
                .push(Clause { kind: ClauseKind::NumTeams { lower: None, counts: list }, ..first });
        }
        if let Some(warning) = messages::subscripts_read(&readings) {
            self.report(warning);
        }
    }

    /// A number that the user did not write.
    fn number(&mut self, value: u32, span: Span) -> ExprId {
        let name = self.p.intern(&value.to_string());
        self.p.tree_mut().exprs.push(Expr { kind: ExprKind::Number(name), span })
    }
}
