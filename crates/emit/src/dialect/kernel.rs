//! The text form of kernels, as [`kernel::text`] reads it: for people and tests.
//!
//! In: a module. Out: C in which kernel statements are calls of marker functions. Variables that passes have made get
//! names that do not depend on what else there is. What the kernels use of the file stands before them.

use ir::construct::ReductionOp;
use ir::program::{FunctionId, Program, Typed, VarId, VarStorage};
use ir::region::LoopTest;
use ir::walk::Part;
use kernel::walk::{self, op_word};
use kernel::{
    Block, Kernel, LoopKind, Module, Range, Scan, Schedule, Share, Space, Stmt, StmtKind, Who,
};
use rustc_hash::FxHashSet;

use crate::c::{Out, Printer, Selection, Setting, Used};

/// All kernels of a module.
pub fn text(module: &Module) -> String {
    let program = &module.program;
    let printer = Printer::new(program, Setting::Alone);
    let mut out = Out::new();
    let mut selection = Selection::default();
    let mut used = Used::default();
    for kernel in &module.kernels {
        for part in parts(kernel) {
            used.part(program, part);
        }
    }
    let mut open: Vec<FunctionId> = used.functions.clone();
    while let Some(id) = open.pop() {
        if program.functions[id].body.is_some() && !selection.functions.contains(&id) {
            selection.functions.push(id);
            open.extend(&program.functions[id].calls);
        }
    }
    selection.functions.sort_unstable();
    selection.vars = used.globals(program).filter(|it| is_defined(program, *it)).collect();
    selection.vars.sort_unstable();
    printer.unit_with(&selection, used, &mut out);
    for (at, kernel) in module.kernels.iter().enumerate() {
        let writer = Writer { printer: named_in(&printer, program, kernel), program, kernel };
        let named = parts(kernel).into_iter().flat_map(|it| walk::uses(program, it).0);
        let mut outside: Vec<VarId> =
            named.map(|it| it.var).filter(|it| writer.is_captured(*it)).collect();
        outside.sort_unstable();
        outside.dedup();
        let function = &program.functions[program.regions[kernel.region].function];
        out.line(&format!("void kernel_{at}_{}(void) {{", program.names.text(function.name)));
        out.indented(|out| {
            for var in outside {
                writer.declare(var, out);
            }
            out.raw("#pragma omp target");
            out.line("{");
            out.indented(|out| writer.whole(out));
            out.line("}");
        });
        out.line("}");
    }
    out.into_text()
}

/// The kernels alone, without what is around them.
pub fn body(module: &Module, kernel: &Kernel) -> String {
    let program = &module.program;
    let printer = Printer::new(program, Setting::Alone);
    let writer = Writer { printer: named_in(&printer, program, kernel), program, kernel };
    let mut out = Out::new();
    writer.whole(&mut out);
    out.into_text()
}

fn is_defined(program: &Program, var: VarId) -> bool {
    matches!(program.vars[var].storage, VarStorage::Global | VarStorage::Static)
}

/// What a kernel evaluates and runs.
fn parts(kernel: &Kernel) -> Vec<Part> {
    let mut found = Vec::new();
    for stmt in walk::all(&kernel.body) {
        found.extend(stmt.kind.exprs().into_iter().map(Part::Expr));
        if let StmtKind::Code(code) = stmt.kind {
            found.push(Part::Stmt(code));
        } else if let StmtKind::Local(var) = stmt.kind {
            found.push(Part::Local(var));
        }
    }
    found
}

/// A printer that gives variables of a kernel names of their own.
fn named_in<'p>(printer: &Printer<'p>, program: &'p Program, kernel: &Kernel) -> Printer<'p> {
    let mut printer = printer.clone();
    let name = |var: VarId| program.vars[var].name.map(|it| program.names.text(it));
    let mut taken: FxHashSet<String> = FxHashSet::default();
    taken.extend(program.vars.iter().filter_map(|it| name(it.0)).map(str::to_owned));
    taken.extend(program.functions.iter().map(|it| program.names.text(it.1.name).to_owned()));
    for (var, _) in &kernel.spaces {
        let Some(made) = name(*var).and_then(|it| it.strip_prefix("__ferry_k")) else { continue };
        let like = made.trim_start_matches(|it: char| it.is_ascii_digit());
        let mut like = like.trim_start_matches('_');
        // A copy of a copy is called as what it is a copy of.
        while let Some(inner) = like.strip_prefix("__ferry_k") {
            like = inner.trim_start_matches(|it: char| it.is_ascii_digit()).trim_start_matches('_');
        }
        let mut name = format!("k_{like}");
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("k_{like}_{number}");
            number += 1;
        }
        printer.substitute(*var, name);
    }
    printer
}

struct Writer<'a> {
    printer: Printer<'a>,
    program: &'a Program,
    kernel: &'a Kernel,
}

impl Writer<'_> {
    fn name(&self, var: VarId) -> String {
        self.printer.var_name(var)
    }

    /// Whether a variable comes from the function around, so that the text must declare it.
    fn is_captured(&self, var: VarId) -> bool {
        let is_local = matches!(
            self.program.vars[var].storage,
            VarStorage::Local(_) | VarStorage::Param(_) | VarStorage::LocalStatic(_)
        );
        let in_code = || {
            let mut parts = parts(self.kernel).into_iter();
            parts.any(|it| walk::uses(self.program, it).1.contains(&var))
        };
        is_local && self.kernel.space(var).is_none() && !in_code()
    }

    fn declare(&self, var: VarId, out: &mut Out<'_>) {
        let ty = self.program.vars[var].ty;
        out.line(&format!("{};", self.printer.declare(ty, &self.name(var))));
    }

    /// A declaration, and where the variable lies.
    fn local(&self, var: VarId, out: &mut Out<'_>) {
        let name = self.name(var);
        let declared = self.printer.declare(self.program.vars[var].ty, &name);
        let space = match self.kernel.space(var) {
            Some(Space::Group) => format!(" __group({name});"),
            Some(Space::Uniform) => format!(" __uniform({name});"),
            Some(Space::Private) | None => String::new(),
        };
        out.line(&format!("{declared};{space}"));
    }

    fn whole(&self, out: &mut Out<'_>) {
        let kernel = self.kernel;
        let launched: Vec<VarId> =
            kernel.threads.vars().into_iter().chain(kernel.groups.vars()).collect();
        let names: Vec<String> = launched.iter().map(|it| self.name(*it)).collect();
        let names = names.join(", ");
        out.line(&format!("unsigned long {names}; __launch({names});"));
        // Group variables live as long as the kernel; passes do not always declare them.
        let stmts = walk::all(&kernel.body);
        let is_declared = |var: VarId| stmts.iter().any(|it| it.kind == StmtKind::Local(var));
        let is_crew = |var: VarId| stmts.iter().any(|it| makes_crew(&it.kind).contains(&var));
        for (var, space) in &kernel.spaces {
            let is_used = stmts.iter().any(|it| self.uses(it, *var));
            if *space == Space::Group && !is_declared(*var) && !is_crew(*var) && is_used {
                self.local(*var, out);
            }
        }
        self.block(&kernel.body, false, out);
    }

    fn uses(&self, stmt: &Stmt, var: VarId) -> bool {
        let mut parts: Vec<Part> = stmt.kind.exprs().into_iter().map(Part::Expr).collect();
        if let StmtKind::Code(code) = stmt.kind {
            parts.push(Part::Stmt(code));
        }
        parts.iter().any(|it| walk::uses(self.program, *it).0.iter().any(|it| it.var == var))
    }

    /// Statements; `in_loop`: a `continue` is C's own.
    fn block(&self, block: &Block, in_loop: bool, out: &mut Out<'_>) {
        block.iter().for_each(|it| self.stmt(it, in_loop, out));
    }

    fn braced(&self, head: &str, block: &Block, in_loop: bool, tail: &str, out: &mut Out<'_>) {
        out.line(&format!("{head}{{"));
        out.indented(|out| self.block(block, in_loop, out));
        out.line(&format!("}}{tail}"));
    }

    #[allow(clippy::too_many_lines, reason = "one arm per kind of statement")]
    fn stmt(&self, stmt: &Stmt, in_loop: bool, out: &mut Out<'_>) {
        let expr = |it| self.printer.expr(it);
        match &stmt.kind {
            StmtKind::Code(code) => {
                out.line("__code();");
                self.printer.stmt(*code, out);
            }
            StmtKind::Local(var) => self.local(*var, out),
            StmtKind::Eval(e) => out.line(&format!("{};", expr(*e))),
            StmtKind::Block(body) => self.braced("", body, in_loop, "", out),
            StmtKind::If(c, then, other) => {
                self.braced(&format!("if ({}) ", expr(*c)), then, in_loop, "", out);
                if !other.is_empty() {
                    self.braced("else ", other, in_loop, "", out);
                }
            }
            StmtKind::Loop(it) => {
                let condition = it.condition.map(expr);
                match (it.kind, condition, it.step.map(expr)) {
                    (LoopKind::Before, condition, step) => {
                        let (condition, step) =
                            (condition.unwrap_or_default(), step.unwrap_or_default());
                        self.braced(
                            &format!("for (; {condition}; {step}) "),
                            &it.body,
                            true,
                            "",
                            out,
                        );
                    }
                    (LoopKind::After, condition, None) => {
                        let condition = condition.unwrap_or_else(|| "1".to_owned());
                        let tail = format!(" while ({condition});");
                        self.braced("do ", &it.body, true, &tail, out);
                    }
                    (LoopKind::After, condition, Some(step)) => {
                        let condition = condition.unwrap_or_else(|| "1".to_owned());
                        let tail = format!(" while ({step}, {condition});");
                        self.braced("do ", &it.body, true, &tail, out);
                    }
                }
            }
            StmtKind::Switch(e, body) => {
                self.braced(&format!("switch ({}) ", expr(*e)), body, in_loop, "", out);
            }
            StmtKind::Case(low, high) if low == high => out.line(&format!("case {low}:;")),
            StmtKind::Case(low, high) => out.line(&format!("case {low} ... {high}:;")),
            StmtKind::Default => out.line("default:;"),
            StmtKind::Break => out.line("break;"),
            StmtKind::Continue => out.line(if in_loop { "continue;" } else { "__next();" }),
            StmtKind::Teams(it) => {
                let mut words = self.crew(&it.crew.vars(), out);
                words.extend(it.teams.map(|it| format!("__ask({})", expr(it))));
                words.extend(it.limit.map(|it| format!("__limit({})", expr(it))));
                self.braced(&format!("__teams({}); ", words.join(", ")), &it.body, false, "", out);
            }
            StmtKind::Parallel(it) => {
                let mut words = self.crew(&it.crew.vars(), out);
                words.extend(it.threads.map(|it| format!("__ask({})", expr(it))));
                words.extend(it.condition.map(|it| format!("__when({})", expr(it))));
                words.extend(it.limit.map(|it| format!("__limit({})", self.name(it))));
                self.braced(
                    &format!("__parallel({}); ", words.join(", ")),
                    &it.body,
                    false,
                    "",
                    out,
                );
            }
            StmtKind::Share(it) => {
                let head = format!("__share({}); ", self.share(it).join(", "));
                self.braced(&head, &it.body, false, "", out);
                self.last(it, out);
            }
            StmtKind::Scan(it) => self.scan(it, out),
            StmtKind::On(Who::Primary, body) => self.braced("__primary(); ", body, false, "", out),
            StmtKind::On(Who::Numbered(e), body) => {
                self.braced(&format!("__only({}); ", expr(*e)), body, false, "", out);
            }
            StmtKind::Barrier => out.line("__barrier();"),
            StmtKind::Shuffle(it) => {
                let (to, from, lanes) = (self.name(it.to), expr(it.from), it.lanes);
                out.line(&match it.far.map(expr) {
                    Some(far) => format!("__shuffle({to}, {from}, {far}, {lanes});"),
                    None => format!("__first({to}, {from}, {lanes});"),
                });
            }
            StmtKind::Reduce(it) => {
                it.join.iter().for_each(|it| self.local(it.other, out));
                it.elements.iter().for_each(|it| self.local(it.index, out));
                let word = if it.is_league { "__league" } else { "__reduce" };
                let op = self.op(&it.op);
                let (number, count) = (self.name(it.crew.number), self.name(it.crew.count));
                let copy = self.name(it.copy);
                let elements = it.elements.map_or_else(String::new, |it| {
                    let (index, begin, end) = (self.name(it.index), it.begin, it.end);
                    format!(", __elements({index}, {begin}, {end})")
                });
                let head = format!("{word}({number}, {count}, \"{op}\", {copy}{elements}); ");
                self.braced(&head, &it.combine, false, "", out);
                if let Some(join) = &it.join {
                    let head = format!("__join({}); ", self.name(join.other));
                    self.braced(&head, &join.code, false, "", out);
                }
            }
        }
    }

    fn last(&self, it: &Share, out: &mut Out<'_>) {
        if !it.last.is_empty() {
            self.braced("__last(); ", &it.last, false, "", out);
        }
    }

    /// How values are combined.
    fn op(&self, op: &ReductionOp<Typed>) -> &str {
        match op {
            ReductionOp::User(name) => self.program.names.text(*name),
            _ => op_word(op),
        }
    }

    fn scan(&self, it: &Scan, out: &mut Out<'_>) {
        for prefix in &it.prefixes {
            self.local(prefix.copy, out);
            self.local(prefix.join.other, out);
        }
        let mut words = self.share(&it.share);
        words.extend(it.is_exclusive.then(|| "__exclusive()".to_owned()));
        let head = format!("__scan({}); ", words.join(", "));
        self.braced(&head, &it.share.body, false, "", out);
        self.braced("__uses(); ", &it.using, false, "", out);
        self.last(&it.share, out);
        for prefix in &it.prefixes {
            let (copy, original) = (self.name(prefix.copy), self.name(prefix.original));
            let head = format!("__prefix(\"{}\", {copy}, {original}); ", self.op(&prefix.op));
            self.braced(&head, &prefix.begin, false, "", out);
            self.braced("__combine(); ", &prefix.combine, false, "", out);
            let head = format!("__join({}); ", self.name(prefix.join.other));
            self.braced(&head, &prefix.join.code, false, "", out);
        }
    }

    /// Declares the crew of a construct; answers its names.
    fn crew(&self, vars: &[VarId; 2], out: &mut Out<'_>) -> Vec<String> {
        let kernel = self.kernel;
        let launched = kernel.threads.vars().into_iter().chain(kernel.groups.vars());
        let launched: Vec<VarId> = launched.collect();
        vars.iter().filter(|it| !launched.contains(it)).for_each(|it| self.local(*it, out));
        vars.iter().map(|it| self.name(*it)).collect()
    }

    fn share(&self, it: &Share) -> Vec<String> {
        let expr = |it| self.printer.expr(it);
        let mut words = vec![self.name(it.crew.number), self.name(it.crew.count)];
        words.push(format!("__number({})", self.name(it.number)));
        for dim in &it.dims {
            let var = self.name(dim.var);
            let test = match dim.test {
                LoopTest::Lt => "<",
                LoopTest::Le => "<=",
                LoopTest::Gt => ">",
                LoopTest::Ge => ">=",
                LoopTest::Ne => "!=",
            };
            let step = match (dim.step.map(expr), dim.descending) {
                (Some(step), false) => format!("{var} += {step}"),
                (Some(step), true) => format!("{var} -= {step}"),
                (None, false) => format!("{var}++"),
                (None, true) => format!("{var}--"),
            };
            let (begin, bound) = (expr(dim.begin), self.printer.primary(dim.bound));
            words.push(format!("__for({var} = {begin}, {var} {test} {bound}, {step})"));
        }
        if let Schedule::RoundRobin(chunk) = it.schedule {
            words.push(format!("__chunks({})", expr(chunk)));
        }
        words.extend(it.ordered.then(|| "__ordered()".to_owned()));
        let range = |word: &str, it: Range| {
            format!("__{word}({}, {})", self.name(it.begin), self.name(it.end))
        };
        words.extend(it.within.map(|it| range("within", it)));
        words.extend(it.pieces.map(|it| range("pieces", it)));
        words
    }
}

/// The crew that a construct declares.
fn makes_crew(kind: &StmtKind) -> Vec<VarId> {
    match kind {
        StmtKind::Teams(it) => it.crew.vars().to_vec(),
        StmtKind::Parallel(it) => it.crew.vars().to_vec(),
        StmtKind::Code(_)
        | StmtKind::Local(_)
        | StmtKind::Eval(_)
        | StmtKind::Block(_)
        | StmtKind::If(..)
        | StmtKind::Loop(_)
        | StmtKind::Switch(..)
        | StmtKind::Case(..)
        | StmtKind::Default
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Share(_)
        | StmtKind::On(..)
        | StmtKind::Barrier
        | StmtKind::Shuffle(_)
        | StmtKind::Reduce(_)
        | StmtKind::Scan(_) => Vec::new(),
    }
}
