//! What the cluster's compilers refuse in words about our text, or compute otherwise than the host: found before they
//! see it, and refused at the user's line.

use ir::construct::ClauseKind;
use ir::program::{ExprId, ExprKind, FunctionId, Program, RegionId, StmtKind, VarId};
use ir::types::{FloatKind, IntKind, RecordId, Ty, TypeKind};
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::Span;

use super::device::{Kernel, selected};
use super::{Lowering, task_sums};
use crate::c::computes_in_bits;

/// The device, as users write it.
const DEVICE: &str = "riscv";

/// Functions that gcc has built in and clang has not.
const OF_GCC: &[&str] = &[
    "__builtin_add_overflow_p",
    "__builtin_sub_overflow_p",
    "__builtin_mul_overflow_p",
    "__builtin_assoc_barrier",
    "__builtin_speculation_safe_value",
    "__builtin_va_arg_pack",
    "__builtin_va_arg_pack_len",
    "__builtin_apply",
    "__builtin_apply_args",
    "__builtin_issignaling",
    "__builtin_iseqsig",
    "__builtin_clear_padding",
];

impl Lowering<'_> {
    /// Refuses what the kernels and all that they reach need and the cluster has not.
    pub(super) fn check_cluster(&self, kernels: &[Kernel]) {
        let program = self.program;
        let (captured, parts) = reached(program, kernels);
        for var in captured {
            self.check_for_cluster(program.vars[var].ty, program.vars[var].span);
        }
        for part in parts {
            match part {
                Part::Local(var) => {
                    self.check_for_cluster(program.vars[var].ty, program.vars[var].span);
                }
                Part::Expr(id) => self.check_expression_for_cluster(id),
                Part::Stmt(id) => {
                    let it = &program.stmts[id];
                    if let StmtKind::GotoExpr(_) = it.kind {
                        self.not_for_cluster(it.span, "a jump to an address");
                    }
                    // One without instructions keeps compilers from moving others.
                    if let StmtKind::Asm(asm) = &it.kind
                        && asm.template.iter().any(|it| program.names.text(*it) != "\"\"")
                    {
                        self.not_for_cluster(it.span, "assembly");
                    }
                }
                Part::Region(id) => self.check_sums_for_cluster(id),
                Part::Init(_) => {}
            }
        }
        kernels.iter().for_each(|it| self.check_sums_for_cluster(it.region));
    }

    /// Clang crashes where it is to combine arrays whose length is computed; tasks of the cluster's runtime combine with the
    /// variable itself.
    fn check_sums_for_cluster(&self, id: RegionId) {
        let program = self.program;
        if let Some(item) = task_sums::seen(program, id) {
            let what = "a task that does more with the variable of a reduction than combine a value with it";
            self.not_for_cluster(program.exprs[item].span, what);
        }
        for kind in program.regions[id].construct.kinds() {
            let ClauseKind::Reduction(it) = kind else { continue };
            let is_computed = |it: &&ExprId| {
                let is_whole = matches!(program.exprs[**it].kind, ExprKind::Var(_));
                is_whole && program.types.is_variably_modified(program.exprs[**it].ty)
            };
            if let Some(item) = it.items.iter().find(is_computed) {
                let what = "a reduction of an array whose length is computed";
                self.not_for_cluster(program.exprs[*item].span, what);
            }
        }
    }

    fn check_expression_for_cluster(&self, id: ExprId) {
        let program = self.program;
        let it = &program.exprs[id];
        self.check_for_cluster(it.ty, it.span);
        if computes_in_bits(program, &it.kind) {
            let what = "a number as wide as a bit-field, which is wider than `int`,";
            self.not_for_cluster(it.span, what);
        }
        if let ExprKind::Member(_, record, at) = it.kind
            && is_across(program, record, at)
        {
            self.not_for_cluster(it.span, "a bit-field that lies across words of 64 bits");
        }
        if let ExprKind::Call(callee, args) = &it.kind
            && self.needs_more_bits(*callee, args)
        {
            let what = "a test for overflow of unsigned numbers of 64 bits beside signed ones";
            self.not_for_cluster(it.span, what);
        }
        if let ExprKind::Function(function) = it.kind
            && let Some(name) = self.of_gcc(function)
        {
            self.not_for_cluster(it.span, &format!("`{name}`"));
        }
    }

    fn of_gcc(&self, id: FunctionId) -> Option<&str> {
        let name = self.program.names.text(self.program.functions[id].name);
        OF_GCC.contains(&name).then_some(name)
    }

    /// Whether a sum or product that is tested for overflow has more than 64 bits in between.
    fn needs_more_bits(&self, callee: ExprId, args: &[ExprId]) -> bool {
        let (program, types) = (self.program, &self.program.types);
        let mut callee = callee;
        while let ExprKind::Cast(_, inner) = program.exprs[callee].kind {
            callee = inner;
        }
        let ExprKind::Function(id) = program.exprs[callee].kind else { return false };
        let name = program.names.text(program.functions[id].name);
        let is_meant =
            ["add", "sub", "mul"].iter().any(|it| name == format!("__builtin_{it}_overflow"));
        if !is_meant {
            return false;
        }
        let kind = |it: &ExprId| {
            let ty = program.exprs[*it].ty;
            types.integer_kind(types.pointee(ty).unwrap_or(ty))
        };
        let kinds: Vec<IntKind> = args.iter().filter_map(kind).collect();
        let is_signed = |it: &IntKind| program.model.int_signed(*it);
        kinds.iter().any(is_signed)
            && kinds.iter().any(|it| !is_signed(it) && program.model.int_bits(*it) >= 64)
    }

    fn check_for_cluster(&self, ty: Ty, span: Span) {
        if let Some(what) = lacking(self.program, ty) {
            self.not_for_cluster(span, what);
        }
    }

    fn not_for_cluster(&self, span: Span, what: &str) {
        self.not_for(DEVICE, span, what);
    }
}

/// The variables that kernels capture, and all code that they reach, but for regions that go back to the host.
pub(super) fn reached(program: &Program, kernels: &[Kernel]) -> (Vec<VarId>, Vec<Part>) {
    let stays = |it: &&Kernel| !program.regions[it.region].construct.goes_back();
    let kernels: Vec<Kernel> = kernels.iter().filter(stays).cloned().collect();
    let mut open: Vec<Part> =
        kernels.iter().filter_map(|it| program.regions[it.region].body).map(Part::Stmt).collect();
    let captured = kernels.iter().flat_map(|it| &it.entries.captured).map(|it| it.var).collect();
    let (selection, _) = selected(program, &kernels);
    for id in &selection.functions {
        let function = &program.functions[*id];
        open.extend(function.params.iter().map(|it| Part::Local(*it)));
        open.extend(function.body.map(Part::Stmt));
    }
    open.extend(selection.vars.iter().map(|it| Part::Local(*it)));
    let mut seen: FxHashSet<Part> = FxHashSet::default();
    let mut parts = Vec::new();
    while let Some(part) = open.pop() {
        if seen.insert(part) {
            parts.push(part);
            program.parts(part, &mut |it| open.push(it));
        }
    }
    (captured, parts)
}

/// A type that the cores have no numbers for, or that the host lays out otherwise.
fn lacking(program: &Program, ty: Ty) -> Option<&'static str> {
    let types = &program.types;
    match types.shape(types.innermost_element(ty)) {
        TypeKind::Float(FloatKind::LongDouble | FloatKind::Float64x | FloatKind::Float128) => {
            Some("`long double`")
        }
        TypeKind::Complex(FloatKind::LongDouble | FloatKind::Float64x | FloatKind::Float128) => {
            Some("a complex number of `long double`")
        }
        TypeKind::Int(IntKind::Int128 | IntKind::UInt128) => Some("an integer of 128 bits"),
        _ => None,
    }
}

/// Whether a bit-field has bits in two words of 64, as packed ones may.
fn is_across(program: &Program, record: RecordId, at: u32) -> bool {
    let layout = program.model.record(&program.types, record).ok();
    let place = layout.as_ref().and_then(|it| it.fields.get(at as usize));
    place.is_some_and(|it| match it.bit_width {
        Some(width) if width > 0 => {
            let first = it.offset * 8 + u64::from(it.bit_offset);
            first / 64 != (first + u64::from(width) - 1) / 64
        }
        Some(_) | None => false,
    })
}
