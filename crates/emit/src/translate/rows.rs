//! Parts of data that no one clause can say: rows behind an array of pointers, new storage filled with
//! zeros. Both become statements before the directive and behind its body.

use ir::construct::{ClauseKind, Construct, Leaf, Motion, Presence, Spelled};
use ir::program::{ExprId, ExprKind, Section};

use super::data::transfer;
use super::maps::Maps;
use super::{Line, Plan, Translator, clause};
use crate::lower::levels::base;

/// The variable that counts rows in what is written.
const ROW: &str = "ferry_row";

/// Rows of equal length behind an array of pointers.
#[derive(Debug)]
pub(super) struct Rows {
    /// The pointers: `a[0:n]`.
    pointers: String,
    /// One row: `a[ferry_row][0:m]`.
    row: String,
    first: String,
    count: String,
}

impl Translator<'_> {
    /// The rows that a part of an array is, if pointers lead to them.
    pub(super) fn rows(&self, item: ExprId) -> Option<Rows> {
        let ExprKind::Section(inner) = &self.program.exprs[item].kind else { return None };
        let ExprKind::Section(outer) = &self.program.exprs[inner.base].kind else { return None };
        let element = self.program.exprs[inner.base].ty;
        if !self.program.types.is_pointer(element) {
            return None;
        }
        let ExprKind::Var(var) = self.program.exprs[outer.base].kind else { return None };
        let name = self.words.var(var);
        let count = self.words.expr(outer.length?);
        let first = outer.lower.map_or_else(|| "0".to_owned(), |it| self.words.expr(it));
        let part = self.bounds(inner);
        Some(Rows {
            pointers: format!("{name}[{first}:{count}]"),
            row: format!("{name}[{ROW}][{part}]"),
            first,
            count,
        })
    }

    fn bounds(&self, section: &Section) -> String {
        let text = |it: Option<ExprId>| it.map_or_else(String::new, |it| self.words.expr(it));
        format!("{}:{}", text(section.lower), text(section.length))
    }

    /// The life of rows on the device begins.
    pub(super) fn rows_enter(&self, rows: &Rows, motion: Motion) -> Vec<Line> {
        let copies = matches!(motion, Motion::To | Motion::ToFrom);
        let motion = if copies { Motion::To } else { Motion::Alloc };
        let pointers = self.data_line(Leaf::EnterData, Motion::To, rows.pointers.clone());
        let row = self.data_line(Leaf::EnterData, motion, rows.row.clone());
        let mut lines = vec![pointers];
        lines.extend(rows.each(row));
        lines
    }

    /// And ends.
    pub(super) fn rows_exit(&self, rows: &Rows, motion: Motion) -> Vec<Line> {
        let motion = match motion {
            Motion::From | Motion::ToFrom => Motion::From,
            Motion::Delete => Motion::Delete,
            Motion::Unsaid | Motion::Alloc | Motion::To | Motion::Release => Motion::Release,
        };
        let row = self.data_line(Leaf::ExitData, motion, rows.row.clone());
        let mut lines = rows.each(row);
        let gone = if motion == Motion::Delete { motion } else { Motion::Release };
        lines.push(self.data_line(Leaf::ExitData, gone, rows.pointers.clone()));
        lines
    }

    /// Copies of rows.
    pub(super) fn rows_update(
        &self,
        rows: &Rows,
        to_device: bool,
        presence: Presence,
    ) -> Vec<Line> {
        let mut to = self.directive(vec![Leaf::Update], source::Span::NONE);
        let items = vec![rows.row.clone()];
        to.clauses.push(clause(ClauseKind::Transfer(transfer(to_device, presence, items))));
        rows.each(Line::Directive(Box::new(to)))
    }

    fn data_line(&self, leaf: Leaf, motion: Motion, item: String) -> Line {
        let mut to: Construct<Spelled> = self.directive(vec![leaf], source::Span::NONE);
        let mut maps = Maps::default();
        maps.add(motion, Presence::Any, item);
        to.clauses = maps.clauses(self.profile());
        Line::Directive(Box::new(to))
    }

    /// Storage that is filled with zeros if it is new: what is said before, and behind the body if there
    /// is one.
    fn zeros(&self, item: ExprId, motion: Motion, plan: &mut Plan) {
        let (address, bytes) = self.storage(item);
        plan.uses_header = true;
        let call = directive::CREATE_ZERO;
        plan.first.push(Line::Statement(format!("{call}({address}, {bytes});")));
        let copies = matches!(motion, Motion::From | Motion::ToFrom);
        let call = if copies { directive::LET_OUT } else { directive::LET_GO };
        plan.last.push(Line::Statement(format!("{call}({address}, {bytes});")));
    }

    /// Says so of all such storage of a directive; what another clause says of it is said with it.
    pub(super) fn fill_with_zeros(&self, maps: &mut Maps, plan: &mut Plan) {
        for (item, motion) in std::mem::take(&mut maps.zeros) {
            let other = maps.take(&self.words.expr(item));
            let copies = matches!(other, Some(Motion::From | Motion::ToFrom));
            self.zeros(item, if copies { Motion::From } else { motion }, plan);
        }
    }

    /// Where an item begins and how many bytes it has.
    fn storage(&self, item: ExprId) -> (String, String) {
        if let ExprKind::Section(it) = &self.program.exprs[item].kind
            && let ExprKind::Var(_) = self.program.exprs[it.base].kind
            && let Some(length) = it.length
        {
            let name = self.words.expr(it.base);
            let first = it.lower.map_or_else(|| "0".to_owned(), |it| self.words.expr(it));
            let length = self.words.expr(length);
            return (format!("&{name}[{first}]"), format!("sizeof({name}[0]) * ({length})"));
        }
        let name = base(self.program, item).map_or_else(String::new, |it| self.words.var(it));
        (format!("&{name}"), format!("sizeof({name})"))
    }
}

impl Rows {
    fn each(&self, line: Line) -> Vec<Line> {
        let Rows { first, count, .. } = self;
        let head = match first.as_str() {
            "0" => format!("for (size_t {ROW} = 0; {ROW} < ({count}); ++{ROW}) {{"),
            _ => {
                format!("for (size_t {ROW} = ({first}); {ROW} < ({first}) + ({count}); ++{ROW}) {{")
            }
        };
        vec![Line::Statement(head), line, Line::Statement("}".to_owned())]
    }
}
