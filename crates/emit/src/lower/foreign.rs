//! What device code means otherwise on another machine than on the host, though both compile it: refused at the user's line.
//!
//! In: the kernels and all that they reach. Out: a fault for each type whose numbers are others there, each record that
//! another machine may lay out otherwise, and each function whose arguments the host's headers have laid out or numbered.
//! Not here: what compilers are told by flags (the driver), sizes of pointers and the order of bytes (the server's text).

use ir::layout::{DataModel, LP64, LP64_ARM};
use ir::program::{ExprKind, FunctionId, Program};
use ir::types::{FloatKind, Record, RecordId, Ty, TypeKind};
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::Span;

use super::Lowering;
use super::cluster::reached;
use super::device::Kernel;

/// The library's functions whose arguments or answers are the host's, and what differs. A name that ends with `_` begins
/// others.
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
    ("ilogb", EXPONENTS),
    ("llogb", EXPONENTS),
    ("__builtin_ilogb", EXPONENTS),
    ("setjmp", REGISTERS),
    ("_setjmp", REGISTERS),
    ("__sigsetjmp", REGISTERS),
    ("__sigsetjmp_", REGISTERS),
    ("getcontext", REGISTERS),
    ("makecontext", REGISTERS),
    ("stat", FILES),
    ("fstat", FILES),
    ("lstat", FILES),
    ("open", FLAGS),
    ("openat", FLAGS),
    ("fcntl", FLAGS),
    ("ioctl", FLAGS),
    ("epoll_", "whose `struct epoll_event` is laid out as the host's"),
    ("pthread_mutex_", THREADS),
    ("pthread_mutexattr_", THREADS),
    ("pthread_attr_", THREADS),
    ("pthread_condattr_", THREADS),
    ("pthread_barrierattr_", THREADS),
    ("mtx_", THREADS),
    ("syscall", "whose argument is a number of the host's system"),
];

const ROUNDING: &str = "whose argument is a number of the host's";
const EXPONENTS: &str = "whose answers for zero and for what is no number are the host's";
const FLAGS: &str = "whose flags are numbers of the host's system";
const REGISTERS: &str = "whose argument is laid out for the host's registers";
const FILES: &str = "whose `struct stat` is laid out as the host's";
const THREADS: &str = "whose argument is laid out as the host's";

impl Lowering<'_> {
    /// Refuses what the kernels and all that they reach would compute otherwise on another machine.
    pub(super) fn check_foreign(&self, kernels: &[Kernel]) {
        let program = self.program;
        let (captured, parts) = reached(program, kernels);
        let mut seen = FxHashSet::default();
        let refuse = |what: &str, span: Span| {
            self.not_for(DEVICE, span, &format!("{what}, which is not the same there,"));
        };
        let mut check = |ty: Ty, span: Span| {
            differs(program, ty, &mut seen).into_iter().for_each(|it| refuse(it, span));
        };
        let check_size = |ty: Ty, span: Span| {
            let element = program.types.shape(program.types.innermost_element(ty));
            if matches!(element, TypeKind::VaList) {
                refuse("the size of a `va_list`", span);
            }
        };
        for var in captured {
            let it = &program.vars[var];
            check(it.ty, it.span);
            check_size(it.ty, it.span);
        }
        for part in parts {
            match part {
                Part::Local(var) => check(program.vars[var].ty, program.vars[var].span),
                Part::Expr(id) => {
                    let it = &program.exprs[id];
                    check(it.ty, it.span);
                    if let ExprKind::Sizeof(ty) | ExprKind::Alignof(ty) = it.kind {
                        check(ty, it.span);
                        check_size(ty, it.span);
                    }
                    if let ExprKind::Offsetof(ty, _) = it.kind {
                        check(ty, it.span);
                    }
                    let align =
                        |model: &'static DataModel, ty: Ty| model.align_of(&program.types, ty);
                    if let ExprKind::Alignof(ty) = it.kind
                        && program.types.is_vector(ty)
                        && align(&LP64, ty) != align(&LP64_ARM, ty)
                    {
                        refuse("the alignment of a vector of more than 16 bytes", it.span);
                    }
                    if let ExprKind::Function(function) = it.kind
                        && let Some((name, why)) = of_host(program, function)
                    {
                        self.not_for(DEVICE, it.span, &format!("a call of `{name}`, {why},"));
                    }
                }
                Part::Stmt(_) | Part::Init(_) | Part::Region(_) => {}
            }
        }
    }
}

/// What is refused of machines that a file may describe.
const DEVICE: &str = "remote";

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
            begin.ends_with('_') || matches!(rest, "" | "f" | "l" | "64" | "at" | "at64" | "flag")
        }
        None => false,
    };
    OF_HOST.iter().find(|it| is_meant(it.0)).map(|it| (name, it.1))
}

/// What of a type is not the same on all machines; of a record once.
fn differs(program: &Program, ty: Ty, seen: &mut FxHashSet<RecordId>) -> Option<&'static str> {
    let types = &program.types;
    match types.shape(types.innermost_element(ty)) {
        TypeKind::Float(FloatKind::LongDouble | FloatKind::Float64x) => Some("`long double`"),
        TypeKind::Complex(FloatKind::LongDouble | FloatKind::Float64x) => {
            Some("a complex number of `long double`")
        }
        TypeKind::Record(id) if seen.insert(*id) => {
            let record = &types.records[*id];
            if is_aligned_by_unnamed(program, *id, record) {
                return Some("a record with a bit-field that has no name");
            }
            if LP64.record(types, *id) != LP64_ARM.record(types, *id) {
                return Some("a record with a `va_list` or with a vector of more than 16 bytes");
            }
            let fields = record.fields.iter().flatten();
            let mut inside = fields.filter(|it| types.is_record(types.innermost_element(it.ty)));
            inside.find_map(|it| differs(program, it.ty, seen))
        }
        _ => None,
    }
}

/// Whether a bit-field without a name aligns it on some machines (64-bit ARM) and not on others.
fn is_aligned_by_unnamed(program: &Program, id: RecordId, record: &Record) -> bool {
    let Ok(layout) = program.model.record(&program.types, id) else { return false };
    let aligns =
        |ty: Ty| program.model.align_of(&program.types, ty).is_ok_and(|it| it > layout.align);
    let mut fields = record.fields.iter().flatten();
    fields.any(|it| it.name.is_none() && it.bits.is_some() && aligns(it.ty))
}
