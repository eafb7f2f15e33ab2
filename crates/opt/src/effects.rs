//! What a call does to memory.
//!
//! In: the whole program, once. Out: a [`Summary`] per function: objects it may read and write, parameters
//! whose memory it may read and write, or the reason why that is not known. Mathematical
//! functions of the C library only compute (that they may set `errno` is ignored, as the directives
//! allow); functions that are declared `const` or `pure` are believed; bodies in this file are
//! looked at, what they call included; everything else is unknown.

use std::collections::BTreeSet;

use ir::construct::Leaf;
use ir::program::{ExprId, ExprKind, FunctionId, Program, StmtId, StmtKind, VarId, VarStorage};
use ir::walk::Part;
use rustc_hash::FxHashMap;
use source::Span;

use crate::alias::{Aliases, called};
use crate::finding::{Obstacle, Reason};

/// Memory that a function touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Target {
    /// A variable that is not the function's own.
    Var(VarId),
    /// What is passed for a parameter leads there: its position.
    Param(u32),
    /// Anything that a pointer may lead to.
    Any,
}

/// What a function does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    pub(crate) reads: BTreeSet<Target>,
    pub(crate) writes: BTreeSet<Target>,
    /// It does more, or nothing is known.
    pub(crate) stop: Option<Reason>,
}

/// Summaries of all functions of a program.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    summaries: FxHashMap<FunctionId, Summary>,
}

impl Effects {
    pub(crate) fn new(program: &Program, aliases: &Aliases) -> Effects {
        let mut effects = Effects::default();
        for (id, _) in program.functions.iter() {
            effects.visit(program, aliases, id);
        }
        effects
    }

    /// What a function does; nothing is known of one that was not seen.
    pub(crate) fn of(&self, function: FunctionId) -> Option<&Summary> {
        self.summaries.get(&function)
    }

    /// Callees first, without recursion of our own.
    fn visit(&mut self, program: &Program, aliases: &Aliases, id: FunctionId) {
        let mut stack = vec![(id, false)];
        let mut open = BTreeSet::new();
        while let Some((id, is_ready)) = stack.pop() {
            if self.summaries.contains_key(&id) {
                continue;
            }
            let function = &program.functions[id];
            if function.body.is_none() || is_ready {
                let summary = match function.body {
                    Some(body) => self.summarise(program, aliases, id, body),
                    None => declared(program, id),
                };
                self.summaries.insert(id, summary);
                continue;
            }
            // A function that calls itself meets itself without a summary: it stays unknown.
            if open.insert(id) {
                stack.push((id, true));
                stack.extend(function.calls.iter().map(|&it| (it, false)));
            }
        }
    }

    fn summarise(
        &self,
        program: &Program,
        aliases: &Aliases,
        id: FunctionId,
        body: StmtId,
    ) -> Summary {
        let mut cx = Body { program, aliases, effects: self, id, summary: Summary::default() };
        let mut stack = vec![Part::Stmt(body)];
        while let Some(part) = stack.pop() {
            match part {
                Part::Expr(it) => cx.expr(it),
                Part::Stmt(it) => cx.stmt(it),
                Part::Region(it) => {
                    let leaves = &program.regions[it].construct.leaves;
                    if !leaves.iter().all(|it| matches!(it, Leaf::Loop | Leaf::Simd)) {
                        cx.stop(Reason::Directive);
                    }
                }
                Part::Local(_) | Part::Init(_) => {}
            }
            program.parts(part, &mut |it| stack.push(it));
        }
        cx.summary
    }
}

struct Body<'a> {
    program: &'a Program,
    aliases: &'a Aliases,
    effects: &'a Effects,
    id: FunctionId,
    summary: Summary,
}

impl Body<'_> {
    fn stop(&mut self, reason: Reason) {
        self.summary.stop.get_or_insert(reason);
    }

    fn stmt(&mut self, id: StmtId) {
        if let StmtKind::Asm(_) = self.program.stmts[id].kind {
            self.stop(Reason::Assembly);
        } else if let StmtKind::GotoExpr(_) = self.program.stmts[id].kind {
            self.stop(Reason::Jump);
        }
    }

    fn expr(&mut self, id: ExprId) {
        let expr = &self.program.exprs[id];
        let types = &self.program.types;
        if types.resolve(expr.ty).quals.is_volatile {
            self.stop(Reason::Volatile);
        }
        if types.is_atomic(expr.ty) {
            self.stop(Reason::Atomic);
        }
        if let ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) | ExprKind::Step(_, to) =
            expr.kind
        {
            let written = self.targets(to);
            self.summary.writes.extend(written);
        } else if let ExprKind::Var(_) | ExprKind::Deref(_) | ExprKind::Index(..) = expr.kind {
            let read = self.targets(id);
            self.summary.reads.extend(read);
        } else if let ExprKind::VaArg(_) | ExprKind::LabelAddr(_) = expr.kind {
            self.stop(Reason::UnknownCall);
        } else if let ExprKind::Call(callee, args) = &expr.kind {
            self.call(*callee, args);
        }
    }

    /// The memory that a place is in.
    fn targets(&self, place: ExprId) -> Vec<Target> {
        let mut at = place;
        loop {
            let expr = &self.program.exprs[at];
            if let ExprKind::Var(var) = expr.kind {
                return match self.program.vars[var].storage {
                    VarStorage::Local(_) | VarStorage::Param(_) => Vec::new(),
                    VarStorage::Global
                    | VarStorage::Extern
                    | VarStorage::Static
                    | VarStorage::LocalStatic(_) => vec![Target::Var(var)],
                };
            } else if let ExprKind::Member(inner, ..) | ExprKind::Unary(_, inner) = expr.kind {
                at = inner;
            } else if let ExprKind::Index(base, _) = expr.kind {
                if self.program.types.is_pointer(self.program.exprs[base].ty) {
                    return self.behind(base);
                }
                at = base;
            } else if let ExprKind::Deref(pointer) = expr.kind {
                return self.behind(pointer);
            } else if let ExprKind::CompoundLiteral(_) | ExprKind::Str(_) | ExprKind::Function(_) =
                expr.kind
            {
                return Vec::new();
            } else {
                // A value: what it was read from is looked at on its own.
                return vec![Target::Any];
            }
        }
    }

    /// The memory that a pointer may lead to.
    fn behind(&self, pointer: ExprId) -> Vec<Target> {
        use crate::alias::Reach;
        let params = &self.program.functions[self.id].params;
        let target = |it: Reach| match it {
            Reach::Object(var) => match self.program.vars[var].storage {
                VarStorage::Local(of) | VarStorage::Param(of) if of == self.id => None,
                VarStorage::Local(_) | VarStorage::Param(_) => Some(Target::Any),
                VarStorage::Global
                | VarStorage::Extern
                | VarStorage::Static
                | VarStorage::LocalStatic(_) => Some(Target::Var(var)),
            },
            Reach::Param(var) => match params.iter().position(|&it| it == var) {
                Some(at) => Some(Target::Param(at as u32)),
                None => Some(Target::Any),
            },
            Reach::Any => Some(Target::Any),
        };
        self.aliases.reach(self.program, pointer).into_iter().filter_map(target).collect()
    }

    fn call(&mut self, callee: ExprId, args: &[ExprId]) {
        let Some(id) = called(self.program, callee) else { return self.stop(Reason::IndirectCall) };
        let Some(inner) = self.effects.of(id) else { return self.stop(Reason::UnknownCall) };
        if let Some(reason) = inner.stop {
            return self.stop(reason);
        }
        let translate = |target: &Target| match *target {
            Target::Param(at) => match args.get(at as usize) {
                Some(&arg) => self.behind(arg),
                None => vec![Target::Any],
            },
            Target::Var(_) | Target::Any => vec![*target],
        };
        let reads: Vec<Target> = inner.reads.iter().flat_map(translate).collect();
        let writes: Vec<Target> = inner.writes.iter().flat_map(translate).collect();
        self.summary.reads.extend(reads);
        self.summary.writes.extend(writes);
    }
}

/// What is known of a function without a body.
fn declared(program: &Program, id: FunctionId) -> Summary {
    let function = &program.functions[id];
    let name = program.names.text(function.name);
    let has = |word| function.host.attributes.iter().any(|it| program.names.text(*it) == word);
    let mut summary = Summary::default();
    if is_computation(name) || name == kernel::intrinsic::INFINITY || has("const") {
        return summary;
    }
    if has("pure") {
        summary.reads.insert(Target::Any);
        return summary;
    }
    let does_more = function.noreturn || EFFECTS.contains(&name);
    summary.stop = Some(if does_more { Reason::EffectCall } else { Reason::UnknownCall });
    summary
}

/// An obstacle for a call that cannot be looked through.
pub(crate) fn obstacle(program: &Program, id: FunctionId, reason: Reason, span: Span) -> Obstacle {
    Obstacle { name: Some(program.functions[id].name), ..Obstacle::new(reason, span) }
}

/// Functions of the C library that do input or output, end the program or keep a state.
const EFFECTS: &[&str] = &[
    "abort",
    "assert",
    "exit",
    "fclose",
    "fflush",
    "fgetc",
    "fgets",
    "fopen",
    "fprintf",
    "fputc",
    "fputs",
    "fread",
    "fscanf",
    "fwrite",
    "getc",
    "getchar",
    "gets",
    "perror",
    "printf",
    "putc",
    "putchar",
    "puts",
    "quick_exit",
    "rand",
    "random",
    "scanf",
    "srand",
    "srandom",
    "strtok",
    "_Exit",
    "_exit",
    "__assert_fail",
    "__printf_chk",
    "__fprintf_chk",
    "drand48",
    "lrand48",
];

/// Whether a function of the C library does nothing but compute.
fn is_computation(name: &str) -> bool {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    if OTHER_COMPUTATIONS.contains(&name) {
        return true;
    }
    let typed = name.strip_suffix('f').or_else(|| name.strip_suffix('l'));
    MATH.contains(&name) || typed.is_some_and(|it| MATH.contains(&it))
}

/// Those that come in three types, the last letter saying which.
const MATH: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cabs",
    "cacos",
    "cacosh",
    "carg",
    "casin",
    "casinh",
    "catan",
    "catanh",
    "cbrt",
    "ccos",
    "ccosh",
    "ceil",
    "cexp",
    "cimag",
    "clog",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "cpow",
    "cproj",
    "creal",
    "csin",
    "csinh",
    "csqrt",
    "ctan",
    "ctanh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ilogb",
    "j0",
    "j1",
    "jn",
    "ldexp",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "nearbyint",
    "nextafter",
    "nexttoward",
    "pow",
    "remainder",
    "rint",
    "round",
    "scalbln",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
    "yn",
    "huge_val",
    "inf",
    "nan",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
];

/// Those that come in one.
const OTHER_COMPUTATIONS: &[&str] = &[
    "abs",
    "labs",
    "llabs",
    "imaxabs",
    "isalnum",
    "isalpha",
    "isdigit",
    "islower",
    "isspace",
    "isupper",
    "tolower",
    "toupper",
    "expect",
    "constant_p",
    "isgreater",
    "isgreaterequal",
    "isless",
    "islessequal",
    "islessgreater",
    "isunordered",
    "isinf_sign",
    "isnormal",
    "fpclassify",
    "popcount",
    "popcountl",
    "popcountll",
    "clz",
    "clzl",
    "clzll",
    "ctz",
    "ctzl",
    "ctzll",
    "ffs",
    "ffsl",
    "ffsll",
    "parity",
    "parityl",
    "parityll",
    "bswap16",
    "bswap32",
    "bswap64",
    "__isnan",
    "__isinf",
    "__finite",
    "__fpclassify",
    "__signbit",
    "__isnanf",
    "__isinff",
    "__finitef",
    "__fpclassifyf",
    "__signbitf",
];
