//! One iteration of a loop, run over symbolic values.
//!
//! In: a [`Question`], the loop and what is known of the program. Out: a [`Body`]: every access to
//! memory that other iterations can see, with its place as polynomials over trip counters and over
//! values at loop entry; how scalars are read and written; everything that forbids a verdict.
//!
//! Values are followed through assignments. Where ways meet, and at the head of inner loops, what
//! may have changed is forgotten. Conditions and loop bounds that hold are remembered as facts.
//! Not here: comparing places ([`crate::pairs`]).

mod eval;
mod place;
mod state;
mod stmt;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ir::program::{ExprId, ExprKind, Init, Program, StmtId, StmtKind, VarId, VarStorage};
use ir::types::Ty;
use source::Span;

use crate::access::{Base, Context, Place, Touch};
use crate::alias::Aliases;
use crate::effects::Effects;
use crate::finding::{Obstacle, Reason};
use crate::normal::{self, Form};
use crate::outline::Outline;
use crate::poly::{Poly, Value};
use crate::scan::Scan;
use state::{Frame, State, Val};

/// What is asked.
pub(crate) struct Question<'a> {
    pub(crate) program: &'a Program,
    pub(crate) aliases: &'a Aliases,
    pub(crate) effects: &'a Effects,
    pub(crate) outline: &'a Outline,
    /// The loop, or another statement that is run once.
    pub(crate) stmt: StmtId,
    /// Its normal form, if it is a loop.
    pub(crate) form: Option<&'a Form>,
    /// What it mentions.
    pub(crate) scan: &'a Scan,
    /// Variables that are only combined into.
    pub(crate) reduced: &'a BTreeSet<VarId>,
    /// Variables that a directive makes private to the iteration.
    pub(crate) private: &'a BTreeSet<Base>,
    /// The statements around the loop, innermost first.
    pub(crate) around: &'a [StmtId],
}

/// What an iteration does.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// Accesses that other iterations can see, in order.
    pub(crate) touches: Vec<Touch>,
    /// Scalars from outside the loop.
    pub(crate) scalars: BTreeMap<VarId, ScalarUse>,
    /// What forbids a verdict, in order.
    pub(crate) obstacles: Vec<Obstacle>,
    /// Places whose values were taken for unchanging; touches of them are in the list above.
    pub(crate) held: Vec<Held>,
    /// What is known of the loop as a whole.
    pub(crate) around: Around,
    /// Loops inside, outer ones first.
    pub(crate) loops: Vec<Rounds>,
}

/// What is known of the loop in question as a whole.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// Polynomials that are not negative when it is entered.
    pub(crate) facts: Vec<Poly>,
    /// Not negative in just those iterations that are run.
    pub(crate) room: Option<Poly>,
}

/// A loop that was met on the way.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    /// Its counter is [`Value::Trip`] of this.
    pub(crate) number: u32,
    pub(crate) stmt: StmtId,
    /// What it begins with, if that is known.
    pub(crate) begin: Option<Poly>,
    /// What is not negative in just those rounds that are run.
    pub(crate) room: Option<Poly>,
    /// What is added each time, if it counts.
    pub(crate) step: i128,
}

/// A value that does not change while the loop runs, if nothing in the loop changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// What is in memory there, read as this type.
    At(Place, Ty),
    /// A quotient, remainder or other result of unchanging values.
    Computed(ir::program::BinaryOp, Poly, Poly),
}

/// How an iteration uses a scalar.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScalarUse {
    /// First write.
    pub(crate) written: Option<Span>,
    /// First read of what an earlier iteration may have written.
    pub(crate) exposed: Option<Span>,
    /// Every iteration writes it.
    pub(crate) always_written: bool,
    /// A write, and a read of what an earlier iteration may have written, that no condition stands before but the
    /// bounds of loops.
    pub(crate) plain_write: Option<Span>,
    pub(crate) plain_read: Option<Span>,
}

pub(crate) struct Walk<'q> {
    q: &'q Question<'q>,
    program: &'q Program,
    state: State,
    frames: Vec<Frame>,
    body: Body,
    /// Counters of values and loops.
    varying: u32,
    trips: u32,
    /// Variables that a directive inside the loop makes private.
    shadowed: BTreeSet<Base>,
    /// Reads and writes are not noted while this is not zero.
    quiet: u32,
    /// Before the first iteration: all variables still have the values of loop entry.
    is_entry: bool,
    /// Branches and loops that are being walked.
    context: Rc<Vec<Context>>,
    branches: u32,
}

/// Walks one iteration.
pub(crate) fn run(q: &Question<'_>) -> Body {
    let mut walk = Walk::new(q);
    if let Some(form) = q.form {
        walk.examined_loop(form);
    }
    walk.body
}

/// Walks a statement that is no loop to be asked about: each access of it is noted, atomic ones too.
pub(crate) fn run_once(q: &Question<'_>) -> Body {
    let mut walk = Walk::new(q);
    walk.is_entry = false;
    walk.stmt(q.stmt);
    walk.body
}

impl<'q> Walk<'q> {
    fn new(q: &'q Question<'q>) -> Walk<'q> {
        Walk {
            q,
            program: q.program,
            state: State::default(),
            frames: Vec::new(),
            body: Body::default(),
            varying: 0,
            trips: 1,
            shadowed: BTreeSet::new(),
            quiet: 0,
            is_entry: true,
            context: Rc::new(Vec::new()),
            branches: 0,
        }
    }
}

impl Walk<'_> {
    fn examined_loop(&mut self, form: &Form) {
        let Some(parts) = normal::parts(self.program, self.q.stmt) else { return };
        self.facts_from_around();
        let begin = self.quietly(|walk| walk.begin_value(&parts.init));
        self.is_entry = false;
        let counter = Poly::atom(Value::Trip(0));
        let value = counter.scaled(form.step).and_then(|it| begin.add(&it));
        let value = value.unwrap_or_else(|| self.fresh());
        self.state.env.insert(form.var, Val::Int(value.clone()));
        self.state.must.insert(form.var);
        let facts = self.state.facts.as_ref().clone();
        self.state.learn(counter);
        let known = self.state.facts.len();
        self.head(parts.cond, form, &value);
        if let Some([room]) = self.state.facts.get(known..) {
            self.body.around = Around { facts, room: Some(room.clone()) };
        }
        self.frames.push(Frame::examined());
        self.stmt(parts.body);
        if let Some(frame) = self.frames.pop() {
            for state in frame.continues {
                self.join(state);
            }
        }
        for (var, uses) in &mut self.body.scalars {
            uses.always_written = self.state.must.contains(var);
        }
    }

    /// The value that the loop variable starts with.
    fn begin_value(&mut self, init: &[StmtId]) -> Poly {
        match self.begin(init) {
            Some(expr) if self.is_pure(expr) => self.int(expr),
            Some(_) | None => self.fresh(),
        }
    }

    fn begin(&self, init: &[StmtId]) -> Option<ExprId> {
        let kind = init.first().map(|&it| &self.program.stmts[it].kind)?;
        if let StmtKind::Local(var) = kind {
            return match self.program.inits[self.program.vars[*var].init?] {
                Init::Expr(value) => Some(value),
                Init::List(..) => None,
            };
        }
        if let StmtKind::Expr(expr) = kind { self.assigned_value(*expr) } else { None }
    }

    /// Evaluates the test of a loop whose variable has this value, and believes it.
    fn head(&mut self, cond: Option<ExprId>, form: &Form, value: &Poly) {
        let Some(cond) = cond else { return };
        self.eval(cond);
        self.assume(cond, true);
        if form.until_equal {
            let bound = self.quietly(|walk| walk.int(form.bound));
            let room = if form.step > 0 { bound.sub(value) } else { value.sub(&bound) };
            if let Some(room) = room.and_then(|it| it.plus(-1)) {
                self.state.learn(room);
            }
        }
    }

    /// Loops and conditions around the examined loop say something of the values at its entry.
    fn facts_from_around(&mut self) {
        let mut inner = self.q.stmt;
        for &stmt in self.q.around {
            let kind = &self.program.stmts[stmt].kind;
            if let StmtKind::For(it) = kind {
                if let Some(form) = normal::loop_form(self.program, stmt) {
                    self.fact_of_outer_loop(it, &form, stmt, inner);
                }
            } else if let StmtKind::If(cond, then, other) = kind
                && self.is_steady(*cond, stmt, None)
            {
                if inner == *then {
                    self.quietly(|walk| walk.assume(*cond, true));
                } else if Some(inner) == *other {
                    self.quietly(|walk| walk.assume(*cond, false));
                }
            }
            inner = stmt;
        }
    }

    fn fact_of_outer_loop(
        &mut self,
        it: &ir::program::For,
        form: &Form,
        stmt: StmtId,
        inner: StmtId,
    ) {
        let writes = self.q.outline.writes(stmt, form.var);
        let expected = if form.declares { 1 } else { 2 };
        if inner != it.body || writes != expected || !self.is_own_scalar(form.var) {
            return;
        }
        let value = Poly::atom(Value::Entry(form.var));
        if let Some(cond) = it.cond
            && self.is_steady(form.bound, stmt, None)
        {
            self.quietly(|walk| walk.assume(cond, true));
        }
        if let Some(begin) = self.begin(&it.init)
            && self.is_steady(begin, stmt, Some(form.var))
        {
            let begin = self.quietly(|walk| walk.int(begin));
            let room = if form.step > 0 { value.sub(&begin) } else { begin.sub(&value) };
            if let Some(room) = room {
                self.state.learn(room);
            }
        }
    }

    /// Whether an expression has had the same value since the statement around began: it
    /// is made of the function's own scalars and none of them is written there. The counting variable
    /// of that statement is excepted if it is `without`: then it must not occur.
    fn is_steady(&self, expr: ExprId, since: StmtId, without: Option<VarId>) -> bool {
        let mut stack = vec![expr];
        while let Some(id) = stack.pop() {
            let kind = &self.program.exprs[id].kind;
            if let ExprKind::Var(var) = kind {
                let is_changed = self.q.outline.writes(since, *var) > 0;
                if is_changed || Some(*var) == without || !self.is_own_scalar(*var) {
                    return false;
                }
            } else if !matches!(
                kind,
                ExprKind::Int(_)
                    | ExprKind::EnumConst(..)
                    | ExprKind::Unary(..)
                    | ExprKind::Binary(..)
                    | ExprKind::And(..)
                    | ExprKind::Or(..)
                    | ExprKind::Cast(..)
                    | ExprKind::Sizeof(_)
            ) {
                return false;
            }
            kind.parts(&self.program.types, &mut |part| {
                if let ir::walk::Part::Expr(it) = part {
                    stack.push(it);
                }
            });
        }
        true
    }

    /// A scalar of the function that nothing but its name reaches.
    fn is_own_scalar(&self, var: VarId) -> bool {
        let it = &self.program.vars[var];
        matches!(it.storage, VarStorage::Local(_) | VarStorage::Param(_))
            && !self.q.aliases.is_exposed(self.program, var)
            && !self.is_restless(it.ty)
    }

    /// Volatile or atomic.
    fn is_restless(&self, ty: Ty) -> bool {
        self.program.types.resolve(ty).quals.is_volatile || self.program.types.is_atomic(ty)
    }

    /// Each iteration has its own: no other one sees it.
    fn is_own(&self, var: VarId) -> bool {
        self.q.scan.inner.contains(&var) || self.is_copied(Base::Var(var))
    }

    /// A clause gives each iteration its own of an object.
    fn is_copied(&self, base: Base) -> bool {
        self.q.private.contains(&base) || self.shadowed.contains(&base)
    }

    fn fresh(&mut self) -> Poly {
        self.varying += 1;
        Poly::atom(Value::Varying(self.varying))
    }

    /// Walks what is done on one way only.
    fn branch<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.branches += 1;
        self.within(Context::Branch(self.branches), run)
    }

    fn within<T>(&mut self, context: Context, run: impl FnOnce(&mut Self) -> T) -> T {
        let outside = Rc::clone(&self.context);
        Rc::make_mut(&mut self.context).push(context);
        let value = run(self);
        self.context = outside;
        value
    }

    /// Whether no condition stands before what is walked but the bounds of loops.
    fn is_plain(&self) -> bool {
        self.context.iter().all(|it| matches!(it, Context::Loop(..)))
    }

    fn quietly<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.quiet += 1;
        let value = run(self);
        self.quiet -= 1;
        value
    }

    fn obstacle(&mut self, reason: Reason, span: Span) {
        if self.quiet == 0 {
            self.body.obstacles.push(Obstacle::new(reason, span));
        }
    }

    fn touch(&mut self, place: Place, ty: Option<Ty>, writes: bool, span: Span) {
        if self.quiet > 0 {
            return;
        }
        match place.base {
            Base::Nowhere => return,
            Base::Var(var) if self.is_own(var) => return,
            Base::Pointee(_) if self.is_copied(place.base) => return,
            Base::Var(_) | Base::Pointee(_) | Base::Held(_) | Base::Unknown => {}
        }
        let size = ty.and_then(|it| self.program.model.size_of(&self.program.types, it).ok());
        let facts = Rc::clone(&self.state.facts);
        let context = Rc::clone(&self.context);
        self.body.touches.push(Touch { place, ty, size, writes, facts, context, span });
    }

    /// The number of a value that does not change.
    fn held(&mut self, held: Held) -> u32 {
        let known = self.body.held.iter().position(|it| *it == held);
        let at = known.unwrap_or_else(|| {
            self.body.held.push(held);
            self.body.held.len() - 1
        });
        at as u32
    }
}
