//! Functions of the C library that devices get as code of ours.
//!
//! In: a program. Out: the same as a device sees it. The quotient and the rest at once ([`with_quotients`]) are functions with
//! a body: no device has a library that knows the host's `div_t`. What ends the program ([`with_ends`]) says so on a grid of
//! threads and leaves a fault that the runtime finds when the kernel is done.

use abi::names::{FAULT_ABORT, FAULT_ASSERT, FAULT_ERROR};
use ir::construct::{ClauseKind, ErrorSeverity, ErrorTime, Leaf};
use ir::program::{
    BinaryOp, CastKind, DeviceFunction, ExprId, ExprKind, Function, FunctionId, HostWords, Item,
    Program, StmtId, StmtKind, Var, VarId, VarStorage,
};
use ir::types::{FunctionType, Ty, TypeKind};
use kernel::build::Builder;
use kernel::intrinsic;
use source::Span;

/// Quotient and rest at once.
const QUOTIENTS: [&str; 4] = ["div", "ldiv", "lldiv", "imaxdiv"];

/// The program in which those that it names have a body; none if it names none.
pub(super) fn with_quotients(program: &Program) -> Option<Program> {
    let mut made: Option<Program> = None;
    for (id, function) in program.functions.iter() {
        if function.body.is_some() || !QUOTIENTS.contains(&program.names.text(function.name)) {
            continue;
        }
        let is_it = |it: &ExprKind| matches!(it, ExprKind::Function(other) if *other == id);
        let uses: Vec<ExprId> =
            program.exprs.iter().filter(|it| is_it(&it.1.kind)).map(|it| it.0).collect();
        if uses.is_empty() {
            continue;
        }
        let program = made.get_or_insert_with(|| program.clone());
        let Some(own) = quotient(program, id) else { continue };
        for e in uses {
            program.exprs[e].kind = ExprKind::Function(own);
        }
        for at in program.functions.iter().map(|it| it.0).collect::<Vec<_>>() {
            let calls = &mut program.functions[at].calls;
            calls.iter_mut().filter(|it| **it == id).for_each(|it| *it = own);
        }
    }
    made
}

/// `static div_t __ferry_div(int a, int b) { div_t both; both.quot = a / b; both.rem = a % b; return both; }`
fn quotient(program: &mut Program, of: FunctionId) -> Option<FunctionId> {
    let declared = program.functions[of].clone();
    let FunctionType { ret, params, .. } = program.types.callee(declared.ty)?.clone();
    let [a, b] = *params else { return None };
    let record = program.types.record_of(ret)?;
    let fields = program.types.records.find(record)?.fields.as_ref()?;
    let [quot, rem] = ["quot", "rem"].map(|name| {
        let is_it =
            |it: &ir::types::Field| it.name.is_some_and(|it| program.names.text(it) == name);
        let at = fields.iter().position(is_it)?;
        Some((u32::try_from(at).ok()?, fields.get(at)?.ty.plain()))
    });
    let name = format!("__ferry_{}", program.names.text(declared.name));
    let name = program.names.intern(&name);
    let own = program.functions.push(Function {
        name,
        is_static: true,
        is_external: false,
        is_builtin: false,
        device: DeviceFunction::default(),
        host: HostWords::default(),
        ..declared.clone()
    });
    program.items.push(Item::Function(own));
    let [a, b] =
        [("a", a), ("b", b)].map(|(name, ty)| parameter(program, own, name, ty, declared.span));
    let build = &mut Builder { program, function: own, span: declared.span };
    let both = build.fresh("both", ret);
    let mut list = vec![build.stmt(StmtKind::Local(both))];
    for (op, (at, ty)) in [(BinaryOp::Div, quot?), (BinaryOp::Rem, rem?)] {
        let (a, b, object) = (build.var(a), build.var(b), build.var(both));
        let value = build.binary(op, a, b);
        let member = build.expr(ExprKind::Member(object, record, at), ty);
        let set = build.assign(member, value);
        list.push(build.stmt(StmtKind::Expr(set)));
    }
    let both = build.var(both);
    list.push(build.stmt(StmtKind::Return(Some(both))));
    let body = build.stmt(StmtKind::Block(list.into()));
    let function = &mut program.functions[own];
    (function.params, function.body) = (vec![a, b], Some(body));
    Some(own)
}

fn parameter(program: &mut Program, of: FunctionId, name: &str, ty: Ty, span: Span) -> VarId {
    let name = program.names.intern(name);
    program.vars.push(Var {
        name: Some(name),
        ty: ty.plain(),
        declared_len: None,
        storage: VarStorage::Param(of),
        thread_local: false,
        align: None,
        init: None,
        device: None,
        host: HostWords::default(),
        span,
    })
}

/// The program in which `abort`, a failed `assert` and a directive `error` are a fault of the kernel; none if it has none of them.
pub(super) fn with_ends(program: &Program) -> Option<Program> {
    let mut made: Option<Program> = None;
    for (id, e) in program.exprs.iter() {
        let ExprKind::Call(callee, args) = &e.kind else { continue };
        let Some((_, called)) = crate::c::named_callee(program, *callee) else { continue };
        let function = &program.functions[called];
        let (fault, said) = match program.names.text(function.name) {
            _ if function.body.is_some() => continue,
            "abort" => (FAULT_ABORT, None),
            "__assert_fail" => (FAULT_ASSERT, assertion(program, args)),
            _ => continue,
        };
        let program = made.get_or_insert_with(|| program.clone());
        let void = e.ty;
        let build = &mut Builder { program, function: called, span: e.span };
        let fault = build.number(fault.cast_signed());
        let mut end = intrinsic::fail(build, fault);
        if let Some(said) = said {
            // One thread says it for all that find it later.
            let (print, is_first) = (printed(build, &said), intrinsic::is_sound(build));
            let print = build.and(is_first, print);
            end = build.expr(ExprKind::Comma(print, end), void);
        }
        let kind = program.exprs[end].kind.clone();
        program.exprs[id].kind = kind;
    }
    for (id, said, is_end) in errors(program) {
        let StmtKind::Region(region) = program.stmts[id].kind else { continue };
        let (function, span) = (program.regions[region].function, program.stmts[id].span);
        let program = made.get_or_insert_with(|| program.clone());
        let build = &mut Builder { program, function, span };
        let mut done = printed(build, &said);
        if is_end {
            let fault = build.number(FAULT_ERROR.cast_signed());
            let end = intrinsic::fail(build, fault);
            let void = build.type_of(end);
            done = build.expr(ExprKind::Comma(done, end), void);
        }
        program.stmts[id].kind = StmtKind::Expr(done);
    }
    made
}

/// Directives `error` that say something while the program runs: what they say, and whether that ends the program.
fn errors(program: &Program) -> Vec<(StmtId, String, bool)> {
    let mut found = Vec::new();
    for (id, stmt) in program.stmts.iter() {
        let StmtKind::Region(region) = stmt.kind else { continue };
        let construct = &program.regions[region].construct;
        let is_late =
            construct.kinds().any(|it| matches!(it, ClauseKind::At(ErrorTime::Execution)));
        if construct.leaves != [Leaf::Error] || !is_late {
            continue;
        }
        let message = construct.kinds().find_map(|it| match it {
            ClauseKind::Message(text) => Some(literal(program, *text)),
            _ => None,
        });
        // A text that is made while the program runs stays with the directive, which is refused.
        let Some(text) = message.unwrap_or_else(|| Some(String::new())) else { continue };
        let warns = |it: &ClauseKind<_>| matches!(it, ClauseKind::Severity(ErrorSeverity::Warning));
        let said = format!("error directive: {text}\\n").replace('%', "%%");
        found.push((id, format!("\"{said}\""), !construct.kinds().any(warns)));
    }
    found
}

/// A string literal without its quotes.
fn literal(program: &Program, e: ExprId) -> Option<String> {
    let ExprKind::Str(pieces) = &program.exprs[program.peeled(e)].kind else { return None };
    let text = |it: &source::Name| program.names.text(*it).strip_prefix('"')?.strip_suffix('"');
    pieces.iter().map(text).collect()
}

/// What the C library would say: ``a.c:7: main: Assertion `n > 0' failed.``, as a literal without the function that a grid need not
/// know.
fn assertion(program: &Program, args: &[ExprId]) -> Option<String> {
    let [asserted, file, line, ..] = args else { return None };
    let ExprKind::Int(line) = program.exprs[program.peeled(*line)].kind else { return None };
    let text = format!(
        "{}:{line}: Assertion `{}' failed.\\n",
        literal(program, *file)?,
        literal(program, *asserted)?
    );
    Some(format!("\"{}\"", text.replace('%', "%%")))
}

/// `printf("…")`
fn printed(build: &mut Builder<'_>, literal: &str) -> ExprId {
    let int = build.int_type();
    let program = &mut *build.program;
    let char = program.types.get(TypeKind::Int(ir::types::IntKind::Char));
    let constant = Ty { quals: ir::types::Quals { is_const: true, ..char.quals }, ..char };
    let text = program.types.pointer_to(constant);
    let name = program.names.intern("printf");
    let found = program.functions.iter().find(|it| it.1.name == name).map(|it| it.0);
    let id = found.unwrap_or_else(|| {
        let params = [text].into();
        let ty = FunctionType { ret: int, params, variadic: true, prototyped: true };
        let ty = program.types.get(TypeKind::Function(ty));
        program.functions.push(Function::declared(name, ty, Span::NONE))
    });
    let ty = program.functions[id].ty;
    let piece = program.names.intern(literal);
    let callee = build.expr(ExprKind::Function(id), ty);
    let array = build.array_of(char, literal.len() as u64);
    let said = build.expr(ExprKind::Str([piece].into()), array);
    let said = build.expr(ExprKind::Cast(CastKind::ArrayToPointer, said), text);
    build.expr(ExprKind::Call(callee, [said].into()), int)
}
