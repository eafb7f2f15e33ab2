//! Parts of data that no one clause can say: rows behind an array of pointers, new storage filled with
//! zeros. Both become statements before the directive and behind its body; rows that are counted alike share a loop.

use ir::construct::{ClauseKind, Construct, Leaf, Motion, Presence, Spelled};
use ir::program::{ExprId, ExprKind, RegionId, Section};

use super::data::transfer;
use super::maps::Maps;
use super::{Line, Plan, Translator, clause};
use levels::base;

/// The variable that counts rows in what is written.
const ROW: &str = "ferry_row";

/// What no clause of a directive can say.
#[derive(Debug, Default)]
pub(super) struct Unsaid {
    /// Rows whose life begins, with what is copied then.
    pub(super) begins: Vec<(Rows, Motion)>,
    /// Rows that are copied, to the device or back.
    pub(super) moves: Vec<(Rows, bool, Presence)>,
    /// Rows whose life ends.
    pub(super) ends: Vec<(Rows, Motion)>,
    calls_before: Vec<String>,
    calls_behind: Vec<String>,
}

impl Unsaid {
    pub(super) fn is_empty(&self) -> bool {
        let Unsaid { begins, moves, ends, calls_before, calls_behind } = self;
        begins.is_empty()
            && moves.is_empty()
            && ends.is_empty()
            && calls_before.is_empty()
            && calls_behind.is_empty()
    }

    /// Lives that begin here end elsewhere.
    pub(super) fn has_no_end(&mut self) {
        self.ends.clear();
        self.calls_behind.clear();
    }
}

/// Rows of equal length behind an array of pointers.
#[derive(Clone, Debug)]
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

    /// Says what no clause can: before the directive, and behind its body if there is one. What a condition says of the
    /// directive it says of all that, and it is asked once.
    pub(super) fn say_unsaid(&self, id: RegionId, condition: Option<String>, plan: &mut Plan) {
        let unsaid = std::mem::take(&mut plan.unsaid);
        if unsaid.is_empty() || plan.is_refused() {
            return;
        }
        let holds = condition.map(|it| {
            let name = format!("ferry_if_{}", id.index());
            let line = format!("const int {name} = ({it}) ? 1 : 0;");
            plan.first.insert(0, Line::Statement(line));
            plan.declares = true;
            plan.lines.iter_mut().for_each(|line| ask_instead(line, &it, &name));
            name
        });
        let holds = holds.as_deref();
        let call = |it: &String| match holds {
            Some(holds) => Line::Statement(format!("if ({holds}) {it}")),
            None => Line::Statement(it.clone()),
        };
        plan.first.extend(unsaid.calls_before.iter().map(call));
        plan.first.extend(self.rows_begin(&unsaid.begins, holds));
        plan.last.extend(self.rows_move(&unsaid.moves, holds));
        plan.last.extend(self.rows_end(&unsaid.ends, holds));
        plan.last.extend(unsaid.calls_behind.iter().map(call));
    }

    /// The life of rows on the device begins.
    fn rows_begin(&self, all: &[(Rows, Motion)], holds: Option<&str>) -> Vec<Line> {
        let begins = |motion: Motion| match motion {
            Motion::To | Motion::ToFrom => Motion::To,
            Motion::Unsaid | Motion::Alloc | Motion::From | Motion::Release | Motion::Delete => {
                Motion::Alloc
            }
        };
        let pointers = all.iter().map(|it| (Motion::To, it.0.pointers.clone()));
        let mut lines = self.data_line(Leaf::EnterData, pointers, holds);
        for (head, list) in in_loops(all, |it| &it.0) {
            let rows = list.iter().map(|it| (begins(it.1), it.0.row.clone()));
            lines.extend(each(head, self.data_line(Leaf::EnterData, rows, holds)));
        }
        lines
    }

    /// And ends.
    fn rows_end(&self, all: &[(Rows, Motion)], holds: Option<&str>) -> Vec<Line> {
        let ends = |motion: Motion| match motion {
            Motion::From | Motion::ToFrom => Motion::From,
            Motion::Delete => Motion::Delete,
            Motion::Unsaid | Motion::Alloc | Motion::To | Motion::Release => Motion::Release,
        };
        let mut lines = Vec::new();
        for (head, list) in in_loops(all, |it| &it.0) {
            let rows = list.iter().map(|it| (ends(it.1), it.0.row.clone()));
            lines.extend(each(head, self.data_line(Leaf::ExitData, rows, holds)));
        }
        let pointers = all.iter().map(|(rows, motion)| {
            let is_final = *motion == Motion::Delete;
            (if is_final { Motion::Delete } else { Motion::Release }, rows.pointers.clone())
        });
        lines.extend(self.data_line(Leaf::ExitData, pointers, holds));
        lines
    }

    /// Copies of rows.
    fn rows_move(&self, all: &[(Rows, bool, Presence)], holds: Option<&str>) -> Vec<Line> {
        let mut lines = Vec::new();
        for (head, list) in in_loops(all, |it| &it.0) {
            let mut to = self.directive(vec![Leaf::Update], source::Span::NONE);
            to.clauses.extend(holds.map(|it| clause(ClauseKind::If(it.to_owned()))));
            for way in [true, false] {
                let same = list.iter().filter(|it| it.1 == way);
                let items: Vec<String> = same.clone().map(|it| it.0.row.clone()).collect();
                let presence = same.map(|it| it.2).next().unwrap_or(Presence::Any);
                if !items.is_empty() {
                    to.clauses.push(clause(ClauseKind::Transfer(transfer(way, presence, items))));
                }
            }
            lines.extend(each(head, vec![Line::Directive(Box::new(to))]));
        }
        lines
    }

    fn data_line(
        &self,
        leaf: Leaf,
        items: impl Iterator<Item = (Motion, String)>,
        holds: Option<&str>,
    ) -> Vec<Line> {
        let mut maps = Maps::default();
        items.for_each(|(motion, item)| maps.add(motion, Presence::Any, item));
        let maps = maps.clauses(self.profile());
        if maps.is_empty() {
            return Vec::new();
        }
        let mut to: Construct<Spelled> = self.directive(vec![leaf], source::Span::NONE);
        to.clauses.extend(holds.map(|it| clause(ClauseKind::If(it.to_owned()))));
        to.clauses.extend(maps);
        vec![Line::Directive(Box::new(to))]
    }

    /// Storage that is filled with zeros if it is new: what is called before, and behind the body if there
    /// is one.
    fn zeros(&self, item: ExprId, motion: Motion, plan: &mut Plan) {
        let (address, bytes) = self.storage(item);
        plan.uses_header = true;
        let call = directive::CREATE_ZERO;
        plan.unsaid.calls_before.push(format!("{call}({address}, {bytes});"));
        let copies = matches!(motion, Motion::From | Motion::ToFrom);
        let call = if copies { directive::LET_OUT } else { directive::LET_GO };
        plan.unsaid.calls_behind.push(format!("{call}({address}, {bytes});"));
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

/// What rows are counted by, and those that are counted so: one loop serves them all.
fn in_loops<T>(all: &[T], rows: impl Fn(&T) -> &Rows) -> Vec<(String, Vec<&T>)> {
    let mut loops: Vec<(String, Vec<&T>)> = Vec::new();
    for one in all {
        let Rows { first, count, .. } = rows(one);
        let head = match first.as_str() {
            "0" => format!("for (size_t {ROW} = 0; {ROW} < ({count}); ++{ROW}) {{"),
            _ => {
                format!("for (size_t {ROW} = ({first}); {ROW} < ({first}) + ({count}); ++{ROW}) {{")
            }
        };
        match loops.iter_mut().find(|it| it.0 == head) {
            Some((_, list)) => list.push(one),
            None => loops.push((head, vec![one])),
        }
    }
    loops
}

fn each(head: String, lines: Vec<Line>) -> Vec<Line> {
    let end = Line::Statement("}".to_owned());
    std::iter::once(Line::Statement(head)).chain(lines).chain([end]).collect()
}

/// A directive asks for what was asked before.
fn ask_instead(line: &mut Line, condition: &str, name: &str) {
    let Line::Directive(it) = line else { return };
    for clause in &mut it.clauses {
        if let ClauseKind::If(text) = &mut clause.kind
            && text == condition
        {
            name.clone_into(text);
        }
    }
}
