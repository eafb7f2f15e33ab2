//! The user's loops as loops over a counter that starts at zero.
//!
//! In: a loop in the form that directives ask for. Out: how often it runs, computed before the nest,
//! and the user's variable computed from the counter. The variable is one of the body's own, unless
//! its last value is asked for.

use ir::construct::ClauseKind;
use ir::program::{ExprKind, StmtId, StmtKind, VarId};
use ir::region::{Loop, LoopTest, Sharing};
use ir::walk::Part;
use kernel::walk::How;
use rustc_hash::FxHashSet;

use super::find::{self, What};
use super::{Code, Dealer, Made, Maker, Named, Nest, Refused, Result, User};
use crate::c::Printer;
use crate::lower::Lowering;
use ir::program::RegionId;

impl<'a, 'p> Maker<'a, 'p> {
    pub(super) fn new(
        lowering: &'a Lowering<'p>,
        printer: &'a Printer<'a>,
        region: RegionId,
        dealer: Dealer,
    ) -> Maker<'a, 'p> {
        let mut kept = FxHashSet::default();
        for clause in &lowering.program.regions[region].construct.clauses {
            let items = match &clause.kind {
                ClauseKind::LastPrivate { items, .. } => items,
                ClauseKind::Linear(linear) => &linear.items,
                _ => continue,
            };
            for item in items {
                if let ExprKind::Var(var) = lowering.program.exprs[*item].kind {
                    kept.insert(var);
                }
            }
        }
        Maker {
            lowering,
            region,
            outside: printer,
            inside: printer.clone(),
            kept,
            ends: Vec::new(),
            dealer,
        }
    }

    pub(super) fn name(&self, what: &str) -> String {
        format!("__ferry_{what}{}", self.lowering.fresh())
    }

    /// The first `count` loops of a statement.
    pub(super) fn nest(&mut self, stmt: StmtId, count: usize) -> Result<Nest> {
        let found = find::look(self.lowering.program, stmt);
        self.found(found.what, count)
    }

    fn found(&mut self, what: What, count: usize) -> Result<Nest> {
        let program = self.lowering.program;
        match what {
            What::Nothing(stmt) => {
                Err(Refused { span: program.stmts[stmt].span, why: "no loop stands here" })
            }
            What::Made(inner) => {
                let nest = self.transformed(inner, count)?;
                if nest.loops.len() < count {
                    let span = program.regions[inner].span;
                    return Err(Refused { span, why: "this makes fewer loops than are wanted" });
                }
                Ok(nest)
            }
            What::For(stmt) => {
                let one = self.loop_of(stmt)?;
                let mut nest = self.counted(&one)?;
                if count <= 1 {
                    return Ok(nest);
                }
                if let Some(it) = self.following(&one) {
                    return Err(Refused {
                        span: it,
                        why: "the bounds of this loop follow an outer one, and the nest is made anew",
                    });
                }
                let between = find::look(program, one.body);
                let mut inner = self.found(between.what, count - 1)?;
                inner.body = self.between(&inner, between.pre, between.post);
                nest.prelude.append(&mut inner.prelude);
                nest.loops.append(&mut inner.loops);
                nest.body = inner.body;
                Ok(nest)
            }
        }
    }

    /// A loop inside whose bounds are not known before the nest.
    fn following(&self, outer: &Loop) -> Option<source::Span> {
        let loops = &self.lowering.program.regions[self.region].loops;
        loops.iter().find(|it| !it.rectangular && it.stmt != outer.stmt).map(|it| it.span)
    }

    fn loop_of(&self, stmt: StmtId) -> Result<Loop> {
        let program = self.lowering.program;
        let regions = std::iter::once(self.region).chain(program.regions.iter().map(|it| it.0));
        let mut all = regions.flat_map(|id| program.regions[id].loops.iter());
        all.find(|it| it.stmt == stmt).cloned().ok_or(Refused {
            span: program.stmts[stmt].span,
            why: "this loop does not have the form that is asked for",
        })
    }

    /// One loop of the user's.
    fn counted(&mut self, one: &Loop) -> Result<Nest> {
        let program = self.lowering.program;
        let printer = self.outside;
        let var = &program.vars[one.var];
        let ty = var.ty.plain();
        let is_pointer = program.types.is_pointer(ty);
        let (first, last) = (self.name("first"), self.name("last"));
        let (step, trips, counter) = (self.name("step"), self.name("trips"), self.name("i"));
        let mut prelude = Vec::new();
        let mut add = |name: &str, line: String| {
            prelude.push(Named { name: name.to_owned(), line });
        };
        let begin = printer.expr(one.begin);
        add(&first, format!("{} = {begin};", printer.declare(ty, &first)));
        add(&last, format!("__auto_type {last} = {};", printer.primary(one.bound)));
        let size = one.step.map_or_else(|| "1".to_owned(), |it| printer.primary(it));
        // How far it goes each time, in the direction of the test.
        let goes_up = match one.test {
            LoopTest::Lt | LoopTest::Le => true,
            LoopTest::Gt | LoopTest::Ge => false,
            LoopTest::Ne => !one.descending,
        };
        let sign = if one.descending == goes_up { "-" } else { "" };
        add(&step, format!("const long {step} = {sign}(long){size};"));
        let distance = |from: &str, to: &str| match is_pointer {
            true => format!("(unsigned long)({to} - {from})"),
            false => format!("((unsigned long){to} - (unsigned long){from})"),
        };
        let common = |it: &str| match is_pointer {
            true => it.to_owned(),
            false => format!("((__typeof__(0 ? {first} : {last})){it})"),
        };
        let (low, high) = match goes_up {
            true => (common(&first), common(&last)),
            false => (common(&last), common(&first)),
        };
        let (up, down) = (distance(&low, &high), distance(&high, &low));
        let count = match one.test {
            LoopTest::Lt | LoopTest::Gt => format!("{low} < {high} ? ({up} - 1) / {step} + 1 : 0"),
            LoopTest::Le | LoopTest::Ge => format!("{low} <= {high} ? {up} / {step} + 1 : 0"),
            LoopTest::Ne => format!("{step} < 0 ? {down} : {up}"),
        };
        add(&trips, format!("const unsigned long {trips} = {count};"));
        let user = User {
            var: one.var,
            first: first.clone(),
            step: step.clone(),
            operator: if goes_up { '+' } else { '-' },
        };
        let value = user.value(printer, &counter);
        let is_kept = self.kept.contains(&one.var);
        if is_kept {
            let end = user.value(printer, &trips);
            self.ends.push(format!("{} = {end};", printer.var_name(one.var)));
        }
        let before = match (is_kept, self.dealer) {
            (true, Dealer::Compiler) => format!("{} = {value};", printer.var_name(one.var)),
            // The variable itself must be in sight where the loop ends.
            (true, Dealer::Us) => {
                let own = self.name("own");
                self.inside.substitute(one.var, own.clone());
                format!("{} = {value};", printer.declare(ty, &own))
            }
            (false, Dealer::Compiler | Dealer::Us) => {
                self.inside.restore(one.var);
                let own = printer.declared_name(one.var);
                format!("{} = {value};", printer.declare(ty, &own))
            }
        };
        let made = Made {
            counter,
            begin: "0".to_owned(),
            end: trips,
            step: "1".to_owned(),
            before: vec![before],
            user: Some(user),
            check: None,
            unroll: None,
            is_fixed: true,
        };
        Ok(Nest { prelude, loops: vec![made], body: Code::Stmt(one.body) })
    }

    /// The body of a nest with what stood between its loops. The standard lets that run more than
    /// once; here it runs with the first or the last round of the inner loops, except for what sets
    /// variables that each round has for itself.
    fn between(&self, inner: &Nest, pre: Vec<StmtId>, post: Vec<StmtId>) -> Code {
        let body = inner.body.clone();
        if pre.is_empty() && post.is_empty() {
            return body;
        }
        let all = |test: &dyn Fn(&Made) -> String| {
            let tests: Vec<String> = inner.loops.iter().map(test).collect();
            tests.join(" && ")
        };
        let first = all(&|it| format!("{} == 0", it.counter));
        let last = all(&|it| format!("{} + 1 == {}", it.counter, it.end));
        let guarded = |list: Vec<StmtId>, when: &str| -> Vec<Code> {
            let one = |it: StmtId| match self.is_own(it) {
                true => Code::Stmt(it),
                false => Code::If(when.to_owned(), Box::new(Code::Stmt(it))),
            };
            list.into_iter().map(one).collect()
        };
        let mut code = guarded(pre, &first);
        code.push(if post.is_empty() { body } else { Code::Once(Box::new(body)) });
        code.extend(guarded(post, &last));
        Code::Seq(code)
    }

    /// A declaration, or what sets a variable that each thread has for itself.
    fn is_own(&self, stmt: StmtId) -> bool {
        let program = self.lowering.program;
        if matches!(program.stmts[stmt].kind, StmtKind::Local(_) | StmtKind::Declaration(_)) {
            return true;
        }
        let (uses, declared) = kernel::walk::uses(program, Part::Stmt(stmt));
        let is_set =
            |it: &&kernel::walk::Use| it.how == How::Written && !declared.contains(&it.var);
        uses.iter().filter(is_set).any(|it| self.is_private(it.var))
    }

    fn is_private(&self, var: VarId) -> bool {
        let vars = &self.lowering.program.regions[self.region].vars;
        let Some(it) = vars.iter().find(|it| it.var == var) else { return true };
        match it.sharing.as_ref().map(|it| &it.value) {
            Some(
                Sharing::Private
                | Sharing::FirstPrivate
                | Sharing::LastPrivate
                | Sharing::FirstLastPrivate,
            ) => true,
            Some(
                Sharing::Shared | Sharing::Reduction(_) | Sharing::Linear | Sharing::ThreadPrivate,
            )
            | None => false,
        }
    }

    /// A loop as one that starts at zero and goes by one; `here` says that what is computed before
    /// it may use the loops around it.
    pub(super) fn zero_based(
        &self,
        one: Made,
        prelude: &mut Vec<Named>,
        here: bool,
    ) -> Result<Made> {
        if one.begin == "0" && one.step == "1" && (one.is_fixed || here) && one.check.is_none() {
            return Ok(one);
        }
        if !(one.is_fixed || here) || one.check.is_some() {
            return Err(Refused {
                span: self.lowering.program.regions[self.region].span,
                why: "the loop that is to be changed has bounds that follow an outer one",
            });
        }
        let (trips, counter) = (self.name("trips"), self.name("i"));
        let Made { begin, end, step, .. } = &one;
        prelude.push(Named {
            name: trips.clone(),
            line: format!(
                "const unsigned long {trips} = {begin} < {end} ? ({end} - {begin} - 1) / {step} + 1 : 0;"
            ),
        });
        let mut before =
            vec![format!("const unsigned long {} = {begin} + {counter} * {step};", one.counter)];
        before.extend(one.before);
        Ok(Made {
            counter,
            begin: "0".to_owned(),
            end: trips,
            step: "1".to_owned(),
            before,
            user: None,
            check: None,
            unroll: one.unroll,
            is_fixed: true,
        })
    }
}

impl User {
    /// What the variable is when a counter is this.
    pub(super) fn value(&self, printer: &Printer<'_>, counter: &str) -> String {
        let User { var, first, step, operator } = self;
        let program = printer.program();
        let ty = program.vars[*var].ty.plain();
        if program.types.is_pointer(ty) {
            return format!("{first} {operator} (long){counter} * {step}");
        }
        let ty = printer.type_name(ty);
        format!("({ty})({first} {operator} ({ty}){counter} * ({ty}){step})")
    }
}
