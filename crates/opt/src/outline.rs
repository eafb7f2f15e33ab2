//! Where things stand in a program: the statements around each, and where each variable is mentioned.
//!
//! In: the whole program, once. Out: [`Outline`]. Everything in a body has a number, in the order of the
//! text; a statement is a range of numbers. So that a question about a piece of code is a search among the
//! mentions of a variable, and does not read the code again: functions may have thousands of regions.

use std::ops::Range;

use ir::construct::{Convert, Leaf};
use ir::program::{
    ExprId, ExprKind, FunctionId, InitId, Program, RegionId, StmtId, StmtKind, Typed, VarId,
};
use ir::types::Ty;
use ir::walk::Part;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Name;

/// The numbers of what is in a program.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    stmts: FxHashMap<StmtId, Entry>,
    /// Mentions in code.
    mentions: Places,
    /// Those of them that write the variable as a whole.
    writes: Places,
    /// Mentions in clauses, at the place of the region.
    named: Places,
    /// Statements that leave what is around them: `break`, `continue`, `return`.
    jumps: Vec<u32>,
    /// Those of them that are `continue`.
    continues: Vec<u32>,
    /// Those of them that are `return`.
    returns: Vec<u32>,
    /// The statement of each region.
    regions: FxHashMap<RegionId, StmtId>,
    /// Functions with regions.
    with_regions: FxHashSet<FunctionId>,
    /// Functions in which a jump can be other than their structure says.
    labelled: FxHashSet<FunctionId>,
    /// The regions that apply to a loop.
    governing: FxHashMap<StmtId, Vec<RegionId>>,
    /// Loops that every thread of a construct runs whole: they are all that it does.
    whole: FxHashSet<StmtId>,
}

#[derive(Debug)]
struct Entry {
    around: Option<StmtId>,
    function: FunctionId,
    range: Range<u32>,
}

/// Numbers at which each variable occurs, ascending.
type Places = FxHashMap<VarId, Vec<u32>>;

/// A step of the way through a body.
enum Visit {
    Enter(Part, Option<StmtId>),
    Leave(StmtId),
}

impl Outline {
    pub(crate) fn new(program: &Program) -> Outline {
        let mut outline = Outline::default();
        let mut number = 0;
        for (id, function) in program.functions.iter() {
            if let Some(body) = function.body {
                outline.body(program, id, body, &mut number);
            }
        }
        for (id, region) in program.regions.iter() {
            for it in &region.loops {
                outline.governing.entry(it.stmt).or_default().push(id);
            }
            if region.construct.has(Leaf::Parallel) && region.loops.is_empty() {
                outline.whole.extend(region.body.map(|it| only(program, it)));
            }
        }
        outline
    }

    fn body(&mut self, program: &Program, function: FunctionId, body: StmtId, number: &mut u32) {
        // Parts are pushed last first, so that they come back in the order of the text.
        let mut stack = vec![Visit::Enter(Part::Stmt(body), None)];
        while let Some(visit) = stack.pop() {
            let (part, around) = match visit {
                Visit::Enter(part, around) => (part, around),
                Visit::Leave(stmt) => {
                    if let Some(entry) = self.stmts.get_mut(&stmt) {
                        entry.range.end = *number;
                    }
                    continue;
                }
            };
            let at = *number;
            *number = number.saturating_add(1);
            let mut inside = around;
            match part {
                Part::Stmt(stmt) => {
                    self.stmts.insert(stmt, Entry { around, function, range: at..at });
                    inside = Some(stmt);
                    stack.push(Visit::Leave(stmt));
                    self.stmt(program, function, stmt, at);
                }
                Part::Expr(expr) => self.expr(program, expr, at),
                Part::Region(region) => {
                    let mut named = Named { outline: self, program, at };
                    program.regions[region].construct.convert(&mut named);
                }
                Part::Local(_) | Part::Init(_) => {}
            }
            let first = stack.len();
            program.parts(part, &mut |it| stack.push(Visit::Enter(it, inside)));
            stack.get_mut(first..).into_iter().for_each(<[_]>::reverse);
        }
    }

    fn stmt(&mut self, program: &Program, function: FunctionId, stmt: StmtId, at: u32) {
        let kind = &program.stmts[stmt].kind;
        if let StmtKind::Label(..) | StmtKind::Goto(_) | StmtKind::GotoExpr(_) = kind {
            self.labelled.insert(function);
        }
        if let StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) = kind {
            self.jumps.push(at);
        }
        if let StmtKind::Continue = kind {
            self.continues.push(at);
        }
        if let StmtKind::Return(_) = kind {
            self.returns.push(at);
        }
        if let StmtKind::Region(region) = kind {
            self.regions.insert(*region, stmt);
            self.with_regions.insert(function);
        }
    }

    fn expr(&mut self, program: &Program, id: ExprId, at: u32) {
        let kind = &program.exprs[id].kind;
        if let ExprKind::Var(var) = kind {
            self.mentions.entry(*var).or_default().push(at);
        } else if let ExprKind::Assign(to, _)
        | ExprKind::AssignOp(_, to, ..)
        | ExprKind::Step(_, to) = kind
            && let ExprKind::Var(var) = program.exprs[*to].kind
        {
            self.writes.entry(var).or_default().push(at);
        }
    }

    /// The function a statement stands in.
    pub(crate) fn function(&self, stmt: StmtId) -> Option<FunctionId> {
        self.stmts.get(&stmt).map(|it| it.function)
    }

    /// The statements around one, innermost first.
    pub(crate) fn around(&self, stmt: StmtId) -> Vec<StmtId> {
        let outer = |it: &StmtId| self.stmts.get(it).and_then(|it| it.around);
        std::iter::successors(outer(&stmt), outer).collect()
    }

    /// The regions that apply to a loop.
    pub(crate) fn governing(&self, stmt: StmtId) -> &[RegionId] {
        self.governing.get(&stmt).map_or(&[], Vec::as_slice)
    }

    /// Whether every thread of a construct runs a loop whole.
    pub(crate) fn is_whole(&self, stmt: StmtId) -> bool {
        self.whole.contains(&stmt)
    }

    /// Whether jumps in a function can be other than its structure says.
    pub(crate) fn has_labels(&self, function: FunctionId) -> bool {
        self.labelled.contains(&function)
    }

    /// The numbers of a statement and all in it.
    pub(crate) fn range(&self, stmt: StmtId) -> Range<u32> {
        self.stmts.get(&stmt).map_or(0..0, |it| it.range.clone())
    }

    /// How often a variable is mentioned in the code of a statement.
    pub(crate) fn mentions(&self, stmt: StmtId, var: VarId) -> usize {
        count(&self.mentions, var, &self.range(stmt))
    }

    /// Whether a clause in a statement names a variable.
    pub(crate) fn names(&self, stmt: StmtId, var: VarId) -> bool {
        count(&self.named, var, &self.range(stmt)) > 0
    }

    /// How often a variable as a whole is written in a statement.
    pub(crate) fn writes(&self, stmt: StmtId, var: VarId) -> usize {
        count(&self.writes, var, &self.range(stmt))
    }

    /// Whether `continue` occurs in a statement.
    pub(crate) fn continues(&self, stmt: StmtId) -> bool {
        first(&self.continues, &self.range(stmt)).is_some()
    }

    /// Whether the function may be left from inside a statement.
    pub(crate) fn returns(&self, stmt: StmtId) -> bool {
        first(&self.returns, &self.range(stmt)).is_some()
    }

    /// Whether a statement holds another that leaves what is around that.
    pub(crate) fn leaves(&self, stmt: StmtId) -> bool {
        first(&self.jumps, &self.range(stmt)).is_some()
    }

    /// The statement of a region.
    pub(crate) fn region(&self, region: RegionId) -> Option<StmtId> {
        self.regions.get(&region).copied()
    }

    /// Whether a function has regions.
    pub(crate) fn has_regions(&self, function: FunctionId) -> bool {
        self.with_regions.contains(&function)
    }

    /// Where, among these numbers, something first happens that matters to a variable: it is mentioned,
    /// or code may be left out.
    pub(crate) fn next(&self, var: VarId, among: &Range<u32>) -> Option<u32> {
        let of = |places: &Places| places.get(&var).and_then(|it| first(it, among));
        [of(&self.mentions), of(&self.named), first(&self.jumps, among)].into_iter().flatten().min()
    }
}

fn first(places: &[u32], among: &Range<u32>) -> Option<u32> {
    let at = places.partition_point(|it| *it < among.start);
    places.get(at).copied().filter(|it| *it < among.end)
}

fn count(places: &Places, var: VarId, among: &Range<u32>) -> usize {
    let Some(places) = places.get(&var) else { return 0 };
    let before = |end: u32| places.partition_point(|it| *it < end);
    before(among.end).saturating_sub(before(among.start))
}

/// Notes what the clauses of a directive mention.
struct Named<'a> {
    outline: &'a mut Outline,
    program: &'a Program,
    at: u32,
}

impl Named<'_> {
    fn part(&mut self, part: Part) {
        let mut stack = vec![part];
        while let Some(part) = stack.pop() {
            if let Part::Expr(id) = part
                && let ExprKind::Var(var) = self.program.exprs[id].kind
            {
                self.outline.named.entry(var).or_default().push(self.at);
            }
            self.program.parts(part, &mut |it| stack.push(it));
        }
    }
}

impl Convert<Typed, Typed> for Named<'_> {
    fn expr(&mut self, expr: &ExprId) -> ExprId {
        self.part(Part::Expr(*expr));
        *expr
    }

    fn ty(&mut self, ty: &Ty) -> Ty {
        *ty
    }

    fn init(&mut self, init: &InitId) -> InitId {
        self.part(Part::Init(*init));
        *init
    }

    fn name(&mut self, name: &Name) -> Name {
        *name
    }
}

/// A statement, or the only one that stands in it.
fn only(program: &Program, stmt: StmtId) -> StmtId {
    let mut at = stmt;
    while let StmtKind::Block(list) = &program.stmts[at].kind
        && let [one] = list.as_ref()
    {
        at = *one;
    }
    at
}
