//! Data behind pointers that no clause names: what the region touches there comes along.
//!
//! In: a construct whose rules say so ([`Rules::pointer_sections`]). Out: for each such pointer whose
//! accesses state a section (crate `opt`), the map that the user could have written; it is implied, so
//! what is on the device already stays as it is. Where none can be stated the pointer is passed as
//! it is, and the note says what is missing.
//!
//! [`Rules::pointer_sections`]: ir::construct::Rules::pointer_sections

use ir::program::{BinaryOp, CastKind, Expr, ExprId, ExprKind, Program, RegionId, Section, VarId};
use ir::region::{Attribute, Mapping, Origin, Rule};
use ir::types::{IntKind, Ty, TypeKind};
use opt::dependence::Sum;
use opt::extent::{Extent, Part};
use source::Span;

use super::{About, Note, Pass};

impl Pass<'_> {
    /// Maps what a construct touches behind pointers that it does not name.
    pub(super) fn imply_data(&mut self, id: RegionId) {
        let span = self.written.regions[id].construct.span;
        for it in self.analysis().implied(id) {
            let name = self.written.vars[it.var].name.map_or("", |it| self.written.names.text(it));
            let (text, at) = match it.extent {
                Extent::Known(parts) => {
                    let part = self.section(it.var, &parts, span);
                    let value = Mapping::Map(it.motion, it.presence, Some(part));
                    self.set_mapping(id, it.var, value);
                    let told: Vec<String> = parts.iter().map(|it| it.text(self.written)).collect();
                    (format!("{name}: {name}[{}], as the region touches it", told.join(", ")), None)
                }
                Extent::Unknown(at) => {
                    let what = "if they are not on the device by then, name them in a clause";
                    let text = format!("{name}: how many elements there are is not known; {what}");
                    (format!("{text}, as in `{name}[0:n]`"), Some(at))
                }
            };
            let note = Note { about: About::Data, region: span, span, text, at };
            self.leveled.notes.push(note);
        }
    }

    fn set_mapping(&mut self, id: RegionId, var: VarId, value: Mapping) {
        let vars = &mut self.leveled.program.regions[id].vars;
        if let Some(it) = vars.iter_mut().find(|it| it.var == var) {
            it.mappings = vec![Attribute { value, origin: Origin::Rule(Rule::Touched) }];
        }
    }

    /// `var[low:length]`
    fn section(&mut self, var: VarId, parts: &[Part], span: Span) -> ExprId {
        let base = self.name_of(var, span);
        let mut make = Make { program: &mut self.leveled.program, span };
        let (lower, length) = make.bounds(parts);
        let ty = make.program.vars[var].ty;
        let ty = make.program.types.pointee(ty).unwrap_or(ty);
        let section = Section { base, lower: Some(lower), length: Some(length), stride: None };
        make.push(ExprKind::Section(Box::new(section)), ty)
    }
}

/// More elements than there are; twice as many can still be counted.
const NO_BOUND: i64 = 1 << 61;

/// Makes expressions.
struct Make<'p> {
    program: &'p mut Program,
    span: Span,
}

impl Make<'_> {
    fn push(&mut self, kind: ExprKind, ty: Ty) -> ExprId {
        self.program.exprs.push(Expr { kind, ty, span: self.span })
    }

    fn long(&mut self) -> Ty {
        let kind = self.program.model.ptrdiff_kind;
        self.program.types.get(TypeKind::Int(kind))
    }

    fn number(&mut self, value: i64) -> ExprId {
        let is_small = i32::try_from(value).is_ok();
        let kind = if is_small { IntKind::Int } else { self.program.model.ptrdiff_kind };
        let ty = self.program.types.get(TypeKind::Int(kind));
        self.push(ExprKind::Int(value), ty)
    }

    fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let (a, b, ty) = self.alike(a, b);
        self.push(ExprKind::Binary(op, a, b), ty)
    }

    /// Two values in one type, as C makes them alike.
    fn alike(&mut self, a: ExprId, b: ExprId) -> (ExprId, ExprId, Ty) {
        let (first, second) = (self.program.exprs[a].ty.plain(), self.program.exprs[b].ty.plain());
        let promoted = self.program.model.promote(&self.program.types, first);
        let promoted = self.program.types.get(promoted);
        let plain = |it: Ty| self.program.types.resolve(it).plain();
        if plain(first) == plain(second) && plain(first) == plain(promoted) {
            return (a, b, first);
        }
        (self.converted(a), self.converted(b), self.long())
    }

    /// The value as C makes it wide where it stands.
    fn converted(&mut self, e: ExprId) -> ExprId {
        let ty = self.long();
        let types = &self.program.types;
        match types.resolve(self.program.exprs[e].ty).plain() == types.resolve(ty).plain() {
            true => e,
            false => self.push(ExprKind::Cast(CastKind::Implicit, e), ty),
        }
    }

    /// `cond ? yes : no`, said without a branch: clang 19 ends with an error of its own at `?:`, `&&` and
    /// `||` in what a data region maps. Values of this size have a difference.
    fn choice(&mut self, cond: ExprId, yes: ExprId, no: ExprId) -> ExprId {
        if self.program.exprs[no].kind == ExprKind::Int(0) {
            return self.binary(BinaryOp::Mul, cond, yes);
        }
        let (yes, no) = (self.widened(yes), self.widened(no));
        let apart = self.binary(BinaryOp::Sub, yes, no);
        let added = self.binary(BinaryOp::Mul, cond, apart);
        self.binary(BinaryOp::Add, no, added)
    }

    fn compared(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let (a, b, _) = self.alike(a, b);
        let ty = self.program.types.get(TypeKind::Int(IntKind::Int));
        self.push(ExprKind::Binary(op, a, b), ty)
    }

    /// The first element and how many there are.
    fn bounds(&mut self, parts: &[Part]) -> (ExprId, ExprId) {
        let [first, rest @ ..] = parts else { return (self.number(0), self.number(0)) };
        if rest.iter().all(|it| it.low == first.low) {
            let lower = self.sum(&first.low);
            let mut lengths = vec![self.length(first)];
            for part in rest {
                // What is compared with the first is not negative: it need not be asked again.
                let length = part.high.minus(&part.low);
                let last = length.minus(&Sum { terms: vec![(1, Vec::new())] });
                let is_asked =
                    matches!(part.guards.as_slice(), [it] if it.minus(&last).terms.is_empty());
                lengths.push(if is_asked { self.sum(&length) } else { self.length(part) });
            }
            return (lower, self.largest(lengths));
        }
        if rest.iter().all(|it| it.guards == first.guards) {
            let lows: Vec<ExprId> = parts.iter().map(|it| self.sum(&it.low)).collect();
            let highs: Vec<ExprId> = parts.iter().map(|it| self.sum(&it.high)).collect();
            let (low, high) = (self.folded(lows, BinaryOp::Lt), self.largest(highs));
            let (length, none) = (self.binary(BinaryOp::Sub, high, low), self.number(0));
            return (low, self.guarded(first, length, none));
        }
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for part in parts {
            let (low, high) = (self.sum(&part.low), self.sum(&part.high));
            // A part that is not there is no bound.
            let (above, below) = (self.number(NO_BOUND), self.number(-NO_BOUND));
            lows.push(self.guarded(part, low, above));
            highs.push(self.guarded(part, high, below));
        }
        let low = self.folded(lows, BinaryOp::Lt);
        let high = self.largest(highs);
        let is_there = self.compared(BinaryOp::Lt, low, high);
        let (length, none) = (self.binary(BinaryOp::Sub, high, low), self.number(0));
        let none_low = self.number(0);
        let lower = self.choice(is_there, low, none_low);
        (lower, self.choice(is_there, length, none))
    }

    /// How many elements a part has.
    fn length(&mut self, part: &Part) -> ExprId {
        let none = self.number(0);
        let length = self.sum(&part.high.minus(&part.low));
        self.guarded(part, length, none)
    }

    fn guarded(&mut self, part: &Part, value: ExprId, otherwise: ExprId) -> ExprId {
        let int = self.program.types.get(TypeKind::Int(IntKind::Int));
        let mut cond: Option<ExprId> = None;
        for guard in &part.guards {
            // `n - 1` is not negative: `n > 0`
            let (op, guard) = match guard.constant() {
                -1 => (BinaryOp::Gt, guard.minus(&Sum { terms: vec![(-1, Vec::new())] })),
                _ => (BinaryOp::Ge, guard.clone()),
            };
            let (left, zero) = (self.sum(&guard), self.number(0));
            let one = self.compared(op, left, zero);
            cond = Some(match cond {
                Some(before) => self.push(ExprKind::Binary(BinaryOp::BitAnd, before, one), int),
                None => one,
            });
        }
        match cond {
            Some(cond) => self.choice(cond, value, otherwise),
            None => value,
        }
    }

    fn largest(&mut self, values: Vec<ExprId>) -> ExprId {
        self.folded(values, BinaryOp::Gt)
    }

    /// The one that compares so with all others.
    fn folded(&mut self, values: Vec<ExprId>, op: BinaryOp) -> ExprId {
        let mut values = values.into_iter();
        let Some(first) = values.next() else { return self.number(0) };
        values.fold(first, |best, it| {
            let is_better = self.compared(op, it, best);
            self.choice(is_better, it, best)
        })
    }

    fn sum(&mut self, sum: &Sum) -> ExprId {
        if let [(1, vars)] = sum.terms.as_slice()
            && let [var] = vars.as_slice()
        {
            let value = self.variable(*var);
            return if self.is_signed(*var) { value } else { self.widened(value) };
        }
        let mut whole: Option<ExprId> = None;
        // Numbers last, what is taken away after what it is taken from.
        let mut terms: Vec<&(i64, Vec<VarId>)> = sum.terms.iter().collect();
        terms.sort_by_key(|it| (it.0 < 0, it.1.is_empty()));
        for (factor, vars) in terms {
            let mut product: Option<ExprId> = None;
            for var in vars {
                // Wide from the beginning: what the program computes may not fit its own types.
                let (value, long) = (self.variable(*var), self.long());
                let is_widened = whole.is_some_and(|it| self.is_wide(it))
                    && factor.abs() == 1
                    && vars.len() == 1;
                product = Some(match product {
                    Some(before) => self.binary(BinaryOp::Mul, before, value),
                    None if is_widened && self.is_signed(*var) => value,
                    None => self.push(ExprKind::Cast(CastKind::Explicit, value), long),
                });
            }
            let size = self.number(factor.checked_abs().unwrap_or(i64::MAX));
            let term = match product {
                Some(it) if factor.abs() == 1 => it,
                Some(it) => self.binary(BinaryOp::Mul, it, size),
                None => size,
            };
            whole = Some(match whole {
                Some(before) if *factor < 0 => self.binary(BinaryOp::Sub, before, term),
                Some(before) => self.binary(BinaryOp::Add, before, term),
                None if *factor < 0 => {
                    let zero = self.number(0);
                    self.binary(BinaryOp::Sub, zero, term)
                }
                None => term,
            });
        }
        whole.unwrap_or_else(|| self.number(0))
    }

    /// The value, computed as a wide number: C would take the types of the variables, whose differences may not fit.
    fn widened(&mut self, value: ExprId) -> ExprId {
        if self.is_wide(value) || matches!(self.program.exprs[value].kind, ExprKind::Int(_)) {
            return value;
        }
        let long = self.long();
        self.push(ExprKind::Cast(CastKind::Explicit, value), long)
    }

    /// Whether C computes it in the wide type.
    fn is_wide(&self, value: ExprId) -> bool {
        match self.program.exprs[value].kind {
            ExprKind::Cast(..) => true,
            ExprKind::Binary(BinaryOp::Mul | BinaryOp::Add | BinaryOp::Sub, a, b) => {
                self.is_wide(a) || self.is_wide(b)
            }
            _ => false,
        }
    }

    /// Whether a variable keeps its value beside a wide number.
    fn is_signed(&self, var: VarId) -> bool {
        let kind = self.program.types.integer_kind(self.program.vars[var].ty);
        kind.is_some_and(|it| self.program.model.int_signed(it))
    }

    fn variable(&mut self, var: VarId) -> ExprId {
        let ty = self.program.vars[var].ty;
        self.push(ExprKind::Var(var), ty)
    }
}
