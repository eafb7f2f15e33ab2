//! What device code means otherwise on another machine than on the host, though both compile it: refused at the user's line.
//!
//! In: the kernels and all that they reach. Out: a fault for each type whose numbers are others there, each record that
//! another machine may lay out otherwise, and each function whose arguments the host's headers have laid out or numbered.
//! Not here: what compilers are told by flags (the driver), sizes of pointers and the order of bytes (the server's text).

use ir::program::{ExprKind, FunctionId, Program};
use ir::types::{FloatKind, Record, RecordId, Ty, TypeKind};
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::{Diagnostic, Span};

use super::Lowering;
use super::cluster::reached;
use super::device::Kernel;

/// The library's functions whose arguments or answers are the host's: what they begin with, and what differs.
const OF_HOST: &[(&str, &str)] = &[
    ("fesetround", ROUNDING),
    ("fegetround", ROUNDING),
    ("feraiseexcept", ROUNDING),
    ("fetestexcept", ROUNDING),
    ("feclearexcept", ROUNDING),
    ("fegetexcept", ROUNDING),
    ("fesetexcept", ROUNDING),
    ("feenableexcept", ROUNDING),
    ("fedisableexcept", ROUNDING),
    ("fegetenv", ROUNDING),
    ("fesetenv", ROUNDING),
    ("feholdexcept", ROUNDING),
    ("feupdateenv", ROUNDING),
    ("fegetmode", ROUNDING),
    ("fesetmode", ROUNDING),
    ("ilogb", "whose answers for zero and for what is no number are the host's"),
    ("__builtin_ilogb", "whose answers for zero and for what is no number are the host's"),
    ("setjmp", REGISTERS),
    ("_setjmp", REGISTERS),
    ("__sigsetjmp", REGISTERS),
    ("getcontext", REGISTERS),
    ("makecontext", REGISTERS),
    ("stat", FILES),
    ("fstat", FILES),
    ("lstat", FILES),
    ("pthread_mutex", THREADS),
    ("pthread_attr", THREADS),
    ("pthread_condattr", THREADS),
    ("pthread_barrierattr", THREADS),
    ("syscall", "whose argument is a number of the host's system"),
];

const ROUNDING: &str = "whose argument is a number of the host's";
const REGISTERS: &str = "whose argument is laid out for the host's registers";
const FILES: &str = "whose `struct stat` is laid out as the host's";
const THREADS: &str = "whose argument is laid out as the host's";

impl Lowering<'_> {
    /// Refuses what the kernels and all that they reach would compute otherwise on another machine.
    pub(super) fn check_foreign(&self, kernels: &[Kernel]) {
        let program = self.program;
        let (captured, parts) = reached(program, kernels);
        let mut seen = FxHashSet::default();
        let mut check = |ty: Ty, span: Span| {
            if let Some((what, at)) = differs(program, ty, &mut seen) {
                self.not_the_same(span, what, at);
            }
        };
        for var in captured {
            check(program.vars[var].ty, program.vars[var].span);
        }
        for part in parts {
            match part {
                Part::Local(var) => check(program.vars[var].ty, program.vars[var].span),
                Part::Expr(id) => {
                    let it = &program.exprs[id];
                    check(it.ty, it.span);
                    if let ExprKind::Sizeof(ty) = it.kind {
                        check(ty, it.span);
                    }
                    if let ExprKind::Function(function) = it.kind
                        && let Some((name, why)) = of_host(program, function)
                    {
                        self.not_the_same(it.span, &format!("a call of `{name}`, {why},"), None);
                    }
                }
                Part::Stmt(_) | Part::Init(_) | Part::Region(_) => {}
            }
        }
    }

    fn not_the_same(&self, span: Span, what: &str, at: Option<Span>) {
        let text = format!("{what} cannot be compiled for `remote`: it is not the same there");
        let fault = Diagnostic::error("F0710", text)
            .at(span, "needed on the device here")
            .help("compile for other devices: `--device cpu` or `--device cpu:separate`");
        let fault = match at {
            Some(at) => fault.label(at, "laid out by each machine's own rules"),
            None => fault,
        };
        let mut state = self.state.borrow_mut();
        if !state.faults.iter().any(|it| *it == fault) {
            state.faults.push(fault);
        }
    }
}

/// A function of the library, and what differs.
fn of_host(program: &Program, id: FunctionId) -> Option<(&str, &'static str)> {
    let function = &program.functions[id];
    if function.body.is_some() {
        return None;
    }
    let name = program.names.text(function.name);
    let is_meant = |begin: &str| match name.strip_prefix(begin) {
        // `pthread_mutex_lock`, `fstat64`, `fstatat`, `ilogbf`; not `statistics`.
        Some(rest) => {
            matches!(rest, "" | "f" | "l" | "64" | "at" | "at64" | "flag") || rest.starts_with('_')
        }
        None => false,
    };
    OF_HOST.iter().find(|it| is_meant(it.0)).map(|it| (name, it.1))
}

/// What of a type is not the same on all machines, and where it was written.
fn differs(
    program: &Program,
    ty: Ty,
    seen: &mut FxHashSet<RecordId>,
) -> Option<(&'static str, Option<Span>)> {
    let types = &program.types;
    match types.shape(types.innermost_element(ty)) {
        TypeKind::Float(FloatKind::LongDouble | FloatKind::Float64x) => {
            Some(("`long double`", None))
        }
        TypeKind::Complex(FloatKind::LongDouble | FloatKind::Float64x) => {
            Some(("a complex number of `long double`", None))
        }
        TypeKind::Record(id) if seen.insert(*id) => {
            let record = &types.records[*id];
            if let Some(span) = unnamed(program, *id, record) {
                return Some(("a record with a bit-field that has no name", Some(span)));
            }
            let fields = record.fields.iter().flatten();
            let mut inside = fields.filter(|it| types.is_record(types.innermost_element(it.ty)));
            inside.find_map(|it| differs(program, it.ty, seen))
        }
        _ => None,
    }
}

/// A bit-field without a name that aligns its record on some machines (64-bit ARM) and not on others.
fn unnamed(program: &Program, id: RecordId, record: &Record) -> Option<Span> {
    let layout = program.model.record(&program.types, id).ok()?;
    let aligns =
        |ty: Ty| program.model.align_of(&program.types, ty).is_ok_and(|it| it > layout.align);
    let mut fields = record.fields.iter().flatten();
    fields.find(|it| it.name.is_none() && it.bits.is_some() && aligns(it.ty)).map(|it| it.span)
}
