//! The text form of kernels: C in which kernel statements are calls of marker functions before a block.
//!
//! In: a checked program whose text began with [`PRELUDE`]. Out: the module. Each `#pragma omp target` with a block is
//! a kernel, and its variables from outside are those of that region. What such a block holds are kernel statements:
//!
//! ```c
//! unsigned long t, T, g, G; __launch(t, T, g, G);   // numbers and counts of threads and groups; first, if at all
//! double s; __group(s);                             // a variable, and where it lies: __group, __uniform; else private
//! __code(); { … }                                   // C that one thread runs by itself
//! __teams(me, count, __ask(n), __limit(m)); { … }
//! __parallel(me, count, __ask(n), __when(c), __limit(v)); { … }
//! __share(me, count, __number(i), __for(j = 0, j < n, j += 2), …, __chunks(4), __ordered(),
//!         __within(b, e), __pieces(b, e)); { … } __last(); { … }
//! __primary(); { … }   __only(e); { … }   __barrier();
//! __reduce(me, count, "+", copy, __elements(i, 0, 8)); { … } __join(other); { … }
//! __league(me, count, "+", copy); { … }
//! __scan(me, count, __number(i), __for(…), __exclusive()); { what gives } __uses(); { … } __last(); { … }
//! __prefix("+", copy, original); { what begins } __combine(); { … } __join(other); { … }   // once or more
//! ```
//!
//! `if`, loops, `switch`, `break`, `continue`, blocks and expressions are kernel statements too. Variables of crews are
//! declared before the constructs that set them. `__next()` is a `continue` that ends an iteration of a shared loop,
//! where C has no loop around it. Without `__chunks`
//! a loop is shared in blocks. Reductions are `+ - * & | ^ && || min max`, or the name of a user's.
//! Parsing and checking of the C are the caller's; the writer is with the other printers of C.

mod share;

use ir::construct::{Leaf, ReductionOp};
use ir::program::{
    ExprId, ExprKind, FunctionId, Init, Program, RegionId, StmtId, StmtKind as CodeKind, Typed,
    VarId,
};
use source::Span;

use crate::build::Builder;
use crate::{
    Block, Crew, Elements, Join, Kernel, Launch, Loop, LoopKind, Module, Parallel, Reduce, Shuffle,
    Space, Stmt, StmtKind, Teams, Who,
};

/// What stands before the text, on one line: the marker functions, and the intrinsics that passes leave in kernels.
pub const PRELUDE: &str = "int __launch(), __group(), __uniform(), __code(), __teams(), __parallel(), __ask(), \
__when(), __limit(), __share(), __number(), __for(), __chunks(), __ordered(), __within(), __pieces(), __last(), \
__primary(), __only(), __barrier(), __shuffle(), __first(), __next(), __reduce(), __league(), __join(), __elements(), \
__scan(), __exclusive(), __uses(), __prefix(), __combine(); \
void __ferry_kernel_copy(void *, void *, unsigned long); double __ferry_kernel_infinity(void); \
int __ferry_kernel_try_lock(void); void __ferry_kernel_unlock(void); \
void __ferry_kernel_leave(unsigned long, void *, unsigned long, unsigned long); int __ferry_kernel_is_last(unsigned long); \
void __ferry_kernel_take(unsigned long, void *, unsigned long, unsigned long); \
unsigned long __ferry_kernel_ticket(void); void __ferry_kernel_post(unsigned long); \
void __ferry_kernel_await(unsigned long); void __ferry_kernel_forget(unsigned long);\n";

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What.
    pub text: String,
    /// Where.
    pub span: Span,
}

type Result<T> = std::result::Result<T, Error>;

/// The kernels of a program that was written in the text form.
pub fn read(program: Program) -> Result<Module> {
    let mut module = Module { program, kernels: Vec::new() };
    let regions: Vec<RegionId> = module
        .program
        .regions
        .iter()
        .filter(|(_, it)| it.construct.has(Leaf::Offload) && it.parent.is_none())
        .map(|it| it.0)
        .collect();
    for id in regions {
        let region = &module.program.regions[id];
        let (function, span) = (region.function, region.construct.span);
        let Some(body) = region.body else { return fail("the region has no body", span) };
        let mut reader =
            Reader { program: &mut module.program, function, spaces: Vec::new(), launch: None };
        let CodeKind::Block(list) = reader.program.stmts[body].kind.clone() else {
            return fail("a kernel is a block", span);
        };
        let body = reader.block(&list)?;
        let (threads, groups) = match reader.launch {
            Some(it) => it,
            None => reader.fresh_launch(span),
        };
        let launched = [
            (threads.number, Space::Private),
            (threads.count, Space::Uniform),
            (groups.number, Space::Uniform),
            (groups.count, Space::Uniform),
        ];
        let mut spaces = launched.to_vec();
        let is_launched = |var: VarId| launched.iter().any(|it| it.0 == var);
        spaces.extend(reader.spaces.into_iter().filter(|it| !is_launched(it.0)));
        // Constructs declare their crews themselves, and so does the kernel.
        let mut crews: Vec<VarId> = launched.iter().map(|it| it.0).collect();
        for stmt in crate::walk::all(&body) {
            if matches!(stmt.kind, StmtKind::Teams(_) | StmtKind::Parallel(_)) {
                crews.extend(stmt.kind.sets());
            }
            if let StmtKind::Reduce(it) = &stmt.kind {
                crews.extend(it.join.as_ref().map(|it| it.other));
                crews.extend(it.elements.map(|it| it.index));
            }
            if let StmtKind::Scan(it) = &stmt.kind {
                crews.extend(it.prefixes.iter().flat_map(|it| [it.copy, it.join.other]));
            }
        }
        let mut body = body;
        undeclare(&mut body, &crews);
        module.kernels.push(Kernel {
            region: id,
            threads,
            groups,
            all: None,
            launch: Launch::default(),
            spaces,
            body,
            span,
        });
    }
    Ok(module)
}

/// Takes declarations of variables away.
fn undeclare(block: &mut Block, vars: &[VarId]) {
    block.retain(|it| !matches!(it.kind, StmtKind::Local(var) if vars.contains(&var)));
    for stmt in block {
        stmt.kind.blocks_mut().into_iter().for_each(|it| undeclare(it, vars));
    }
}

fn fail<T>(text: impl Into<String>, span: Span) -> Result<T> {
    Err(Error { text: text.into(), span })
}

/// Reads one kernel.
struct Reader<'p> {
    program: &'p mut Program,
    function: FunctionId,
    spaces: Vec<(VarId, Space)>,
    launch: Option<(Crew, Crew)>,
}

/// A call of a marker function.
struct Marker {
    name: String,
    args: Vec<ExprId>,
    span: Span,
}

impl Reader<'_> {
    fn fresh_launch(&mut self, span: Span) -> (Crew, Crew) {
        let mut build = Builder { program: self.program, function: self.function, span };
        let mut crew = |number: &str, count: &str| Crew {
            number: build.fresh_number(number),
            count: build.fresh_number(count),
        };
        (crew("thread", "threads"), crew("group", "groups"))
    }

    /// The marker function that an expression calls.
    fn marker(&self, e: ExprId) -> Option<Marker> {
        let expr = self.program.exprs.find(self.strip(e))?;
        let ExprKind::Call(callee, args) = &expr.kind else { return None };
        let function = crate::copy::callee_of(self.program, *callee)?;
        let name = self.program.names.text(self.program.functions[function].name);
        let is_marker = name.starts_with("__") && PRELUDE.contains(&format!(" {name}()"));
        is_marker.then(|| Marker { name: name.to_owned(), args: args.to_vec(), span: expr.span })
    }

    /// The expression without conversions around it.
    fn strip(&self, e: ExprId) -> ExprId {
        let mut e = e;
        while let Some(ExprKind::Cast(_, inner)) = self.program.exprs.find(e).map(|it| &it.kind) {
            e = *inner;
        }
        e
    }

    /// The variable that an argument names.
    fn var(&self, marker: &Marker, at: usize) -> Result<VarId> {
        let named = marker.args.get(at).map(|it| self.strip(*it)).map(|it| {
            let place =
                if let ExprKind::AddrOf(inner) = self.program.exprs[it].kind { inner } else { it };
            self.strip(place)
        });
        match named.map(|it| &self.program.exprs[it].kind) {
            Some(ExprKind::Var(var)) => Ok(*var),
            _ => fail(format!("`{}` wants a variable", marker.name), marker.span),
        }
    }

    fn constant(&self, marker: &Marker, at: usize) -> Result<u64> {
        let value = marker.args.get(at).and_then(|it| crate::count::constant(self.program, *it));
        match value.and_then(|it| u64::try_from(it).ok()) {
            Some(value) => Ok(value),
            None => fail(format!("`{}` wants a constant", marker.name), marker.span),
        }
    }

    fn crew(&self, marker: &Marker) -> Result<Crew> {
        Ok(Crew { number: self.var(marker, 0)?, count: self.var(marker, 1)? })
    }

    fn value(&self, marker: &Marker) -> Result<ExprId> {
        match marker.args.as_slice() {
            [value] => Ok(*value),
            _ => fail(format!("`{}` wants one value", marker.name), marker.span),
        }
    }

    fn options(&self, marker: &Marker, from: usize) -> Result<Vec<Marker>> {
        let read = |e: &ExprId| {
            self.marker(*e).ok_or_else(|| Error {
                text: format!("`{}` wants options here", marker.name),
                span: self.program.exprs[*e].span,
            })
        };
        marker.args.iter().skip(from).map(read).collect()
    }

    /// The block behind a marker.
    fn body(&mut self, next: Option<&StmtId>, marker: &Marker) -> Result<Block> {
        match next.map(|it| self.program.stmts[*it].kind.clone()) {
            Some(CodeKind::Block(list)) => self.block(&list),
            _ => fail(format!("a block follows `{}`", marker.name), marker.span),
        }
    }

    fn block(&mut self, list: &[StmtId]) -> Result<Block> {
        let mut out = Block::new();
        let mut list = list.iter();
        while let Some(id) = list.next() {
            let id = self.cases(*id, &mut out);
            let stmt = self.program.stmts[id].clone();
            if let CodeKind::Expr(e) = stmt.kind
                && let Some(marker) = self.marker(e)
            {
                self.marked(&marker, &mut list, stmt.span, &mut out)?;
            } else {
                self.stmt(id, &mut out)?;
            }
        }
        Ok(out)
    }

    /// The statement behind cases, which are statements of their own.
    fn cases(&self, id: StmtId, out: &mut Block) -> StmtId {
        let mut id = id;
        loop {
            let stmt = &self.program.stmts[id];
            let (kind, inner) = if let CodeKind::Case(low, high, body) = stmt.kind {
                (StmtKind::Case(low, high), body)
            } else if let CodeKind::Default(body) = stmt.kind {
                (StmtKind::Default, body)
            } else {
                return id;
            };
            out.push(Stmt::new(kind, stmt.span));
            id = inner;
        }
    }

    /// The statement that a marker begins.
    fn marked(
        &mut self,
        marker: &Marker,
        list: &mut std::slice::Iter<'_, StmtId>,
        span: Span,
        out: &mut Block,
    ) -> Result<()> {
        let kind = match marker.name.as_str() {
            "__launch" => {
                let threads = self.crew(marker)?;
                let groups = Crew { number: self.var(marker, 2)?, count: self.var(marker, 3)? };
                self.launch = Some((threads, groups));
                return Ok(());
            }
            "__group" | "__uniform" => {
                let is_group = marker.name == "__group";
                let space = if is_group { Space::Group } else { Space::Uniform };
                for at in 0..marker.args.len() {
                    let var = self.var(marker, at)?;
                    self.spaces.iter_mut().filter(|it| it.0 == var).for_each(|it| it.1 = space);
                }
                return Ok(());
            }
            "__code" => match list.next() {
                Some(code) => StmtKind::Code(*code),
                None => return fail("a statement follows `__code`", span),
            },
            "__teams" => {
                let crew = self.crew(marker)?;
                let (mut teams, mut limit) = (None, None);
                for option in self.options(marker, 2)? {
                    match option.name.as_str() {
                        "__ask" => teams = Some(self.value(&option)?),
                        "__limit" => limit = Some(self.value(&option)?),
                        other => return fail(format!("`{other}` is no option here"), option.span),
                    }
                }
                let body = self.body(list.next(), marker)?;
                StmtKind::Teams(Box::new(Teams { crew, teams, limit, body }))
            }
            "__parallel" => {
                let crew = self.crew(marker)?;
                let (mut threads, mut condition, mut limit) = (None, None, None);
                for option in self.options(marker, 2)? {
                    match option.name.as_str() {
                        "__ask" => threads = Some(self.value(&option)?),
                        "__when" => condition = Some(self.value(&option)?),
                        "__limit" => limit = Some(self.var(&option, 0)?),
                        other => return fail(format!("`{other}` is no option here"), option.span),
                    }
                }
                let body = self.body(list.next(), marker)?;
                StmtKind::Parallel(Box::new(Parallel { crew, threads, condition, limit, body }))
            }
            "__share" => {
                let mut share = self.share(marker)?;
                share.body = self.body(list.next(), marker)?;
                if let Some(last) = self.next_marker("__last", list) {
                    share.last = self.body(list.next(), &last)?;
                }
                StmtKind::Share(Box::new(share))
            }
            "__scan" => StmtKind::Scan(Box::new(self.scan(marker, list)?)),
            "__primary" => StmtKind::On(Who::Primary, self.body(list.next(), marker)?),
            "__only" => {
                let number = self.value(marker)?;
                StmtKind::On(Who::Numbered(number), self.body(list.next(), marker)?)
            }
            "__barrier" => StmtKind::Barrier,
            "__shuffle" => {
                let to = self.var(marker, 0)?;
                let [_, from, far, _] = marker.args.as_slice() else {
                    return fail("`__shuffle` wants a variable, a value and two numbers", span);
                };
                let (from, far) = (self.strip(*from), *far);
                let lanes = self.constant(marker, 3)?;
                StmtKind::Shuffle(Box::new(Shuffle { to, from, far: Some(far), lanes }))
            }
            "__first" => {
                let to = self.var(marker, 0)?;
                let [_, from, _] = marker.args.as_slice() else {
                    return fail("`__first` wants a variable, a value and a number", span);
                };
                let (from, lanes) = (self.strip(*from), self.constant(marker, 2)?);
                StmtKind::Shuffle(Box::new(Shuffle { to, from, far: None, lanes }))
            }
            "__next" => StmtKind::Continue,
            "__reduce" | "__league" => {
                let crew = self.crew(marker)?;
                let op = self.op(marker, 2)?;
                let copy = self.var(marker, 3)?;
                let is_league = marker.name == "__league";
                let mut elements = None;
                for option in self.options(marker, 4)? {
                    match option.name.as_str() {
                        "__elements" => {
                            let index = self.var(&option, 0)?;
                            let [begin, end] = [1, 2].map(|at| self.constant(&option, at));
                            elements = Some(Elements { index, begin: begin?, end: end? });
                        }
                        other => return fail(format!("`{other}` is no option here"), option.span),
                    }
                }
                let combine = self.body(list.next(), marker)?;
                let mut join = None;
                if let Some(marker) = self.next_marker("__join", list) {
                    let other = self.var(&marker, 0)?;
                    join = Some(Join { other, code: self.body(list.next(), &marker)? });
                }
                let made = Reduce { crew, is_league, op, copy, elements, combine, join };
                StmtKind::Reduce(Box::new(made))
            }
            other => return fail(format!("`{other}` begins no statement"), span),
        };
        out.push(Stmt::new(kind, span));
        Ok(())
    }

    /// The marker that comes next, if it is this one.
    fn next_marker(&self, name: &str, list: &mut std::slice::Iter<'_, StmtId>) -> Option<Marker> {
        let CodeKind::Expr(e) = self.program.stmts[*list.as_slice().first()?].kind else {
            return None;
        };
        let found = self.marker(e).filter(|it| it.name == name)?;
        list.next();
        Some(found)
    }

    /// How an argument says that values are combined.
    fn op(&mut self, marker: &Marker, at: usize) -> Result<ReductionOp<Typed>> {
        let wrong = Error {
            text: format!("`{}` wants its operator as a string", marker.name),
            span: marker.span,
        };
        let word = marker.args.get(at).map(|it| self.strip(*it));
        let Some(ExprKind::Str(pieces)) = word.map(|it| &self.program.exprs[it].kind) else {
            return Err(wrong);
        };
        let text: String = pieces.iter().map(|it| self.program.names.text(*it)).collect();
        Ok(match text.trim_matches('"') {
            "+" => ReductionOp::Add,
            "-" => ReductionOp::Sub,
            "*" => ReductionOp::Mul,
            "&" => ReductionOp::BitAnd,
            "|" => ReductionOp::BitOr,
            "^" => ReductionOp::BitXor,
            "&&" => ReductionOp::And,
            "||" => ReductionOp::Or,
            "min" => ReductionOp::Min,
            "max" => ReductionOp::Max,
            name => ReductionOp::User(self.program.names.intern(name)),
        })
    }

    /// A statement without marker.
    fn stmt(&mut self, id: StmtId, out: &mut Block) -> Result<()> {
        let stmt = self.program.stmts[id].clone();
        let span = stmt.span;
        let kind = match stmt.kind {
            CodeKind::Empty => return Ok(()),
            CodeKind::Block(list) => StmtKind::Block(self.block(&list)?),
            CodeKind::Local(var) => return self.local(var, span, out),
            CodeKind::Expr(e) => StmtKind::Eval(e),
            CodeKind::If(c, then, other) => {
                let then = self.arm(then)?;
                let other = other.map(|it| self.arm(it)).transpose()?.unwrap_or_default();
                StmtKind::If(c, then, other)
            }
            CodeKind::While(c, body) => {
                let body = self.arm(body)?;
                let (kind, condition) = (LoopKind::Before, Some(c));
                StmtKind::Loop(Box::new(Loop { kind, condition, step: None, body }))
            }
            CodeKind::DoWhile(body, c) => {
                let body = self.arm(body)?;
                let (kind, condition) = (LoopKind::After, Some(c));
                StmtKind::Loop(Box::new(Loop { kind, condition, step: None, body }))
            }
            CodeKind::For(it) => {
                let mut begin = Block::new();
                for init in &it.init {
                    self.stmt(*init, &mut begin)?;
                }
                let body = self.arm(it.body)?;
                let (condition, step) = (it.cond, it.step);
                let kind = LoopKind::Before;
                let made = StmtKind::Loop(Box::new(Loop { kind, condition, step, body }));
                if begin.is_empty() {
                    made
                } else {
                    begin.push(Stmt::new(made, span));
                    StmtKind::Block(begin)
                }
            }
            CodeKind::Switch(e, body) => StmtKind::Switch(e, self.arm(body)?),
            CodeKind::Break => StmtKind::Break,
            CodeKind::Continue => StmtKind::Continue,
            CodeKind::Error
            | CodeKind::Case(..)
            | CodeKind::Default(_)
            | CodeKind::Label(..)
            | CodeKind::Goto(_)
            | CodeKind::GotoExpr(_)
            | CodeKind::Return(_)
            | CodeKind::Asm(_)
            | CodeKind::Region(_)
            | CodeKind::Declaration(_) => {
                return fail("this is no statement of kernels; `__code()` goes before it", span);
            }
        };
        out.push(Stmt::new(kind, span));
        Ok(())
    }

    /// An arm of a condition, or the body of a loop.
    fn arm(&mut self, id: StmtId) -> Result<Block> {
        if let CodeKind::Block(list) = self.program.stmts[id].kind.clone() {
            return self.block(&list);
        }
        self.block(&[id])
    }

    /// A variable; its value is given by an expression of its own.
    fn local(&mut self, var: VarId, span: Span, out: &mut Block) -> Result<()> {
        self.spaces.push((var, Space::Private));
        out.push(Stmt::new(StmtKind::Local(var), span));
        let Some(init) = self.program.vars[var].init.take() else { return Ok(()) };
        let Init::Expr(value) = self.program.inits[init] else {
            return fail("a variable of a kernel has no list of values", span);
        };
        let mut build = Builder { program: self.program, function: self.function, span };
        let set = build.set(var, value);
        out.push(Stmt::new(StmtKind::Eval(set), span));
        Ok(())
    }
}
