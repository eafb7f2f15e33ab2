//! A loop of one thread that looks at elements one after the other: they are loaded four at a time.
//!
//! In: an [`Inner`] loop. Out: the same rounds in the same order, four for each load, if in every round it looks
//! at an element of each of some arrays of `float` whose place is the counter. Threads that all look at the same
//! elements, and compute much with each, have to ask for them a quarter as often.

use ir::program::{ExprKind, Program, StmtKind, VarId};
use ir::types::{FloatKind, TypeKind};
use ir::walk::Part;

use super::Maker;
use super::inner::Inner;
use crate::c::{Out, Printer};

/// Rounds that stand there at once: the more, the better, while the instructions of all are near.
const TIMES: usize = 64;

/// The same for bodies of more expressions and statements than [`SHORT`].
const FEW: usize = 16;
const SHORT: usize = 128;

/// More arrays than this would need more registers than there are.
const MOST: usize = 6;

impl Maker<'_, '_> {
    /// The arrays whose elements a loop takes one after the other; none if it may do without some.
    pub(super) fn in_row(&self, inner: &Inner) -> Vec<VarId> {
        let program = self.lowering.program;
        for part in parts(program, inner) {
            let may_skip = match part {
                Part::Stmt(stmt) => matches!(program.stmts[stmt].kind, StmtKind::If(..)),
                // Behind the address of an element there are others.
                Part::Expr(e) => matches!(
                    program.exprs[e].kind,
                    ExprKind::Conditional(..)
                        | ExprKind::And(..)
                        | ExprKind::Or(..)
                        | ExprKind::AddrOf(_)
                ),
                Part::Local(_) | Part::Init(_) | Part::Region(_) => false,
            };
            if may_skip {
                return Vec::new();
            }
        }
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for (base, index) in inner.elements(program) {
            let ExprKind::Var(var) = program.exprs[base].kind else { continue };
            let is_counter =
                matches!(program.exprs[index].kind, ExprKind::Var(it) if it == inner.counter);
            let list = if is_counter { &mut found } else { &mut others };
            if !list.contains(&var) {
                list.push(var);
            }
        }
        let is_meant = |var: &VarId| {
            let pointee = program.types.pointee(program.vars[*var].ty);
            let is_float = pointee.is_some_and(|it| {
                matches!(program.types.shape(it), TypeKind::Float(FloatKind::Float))
            });
            let is_own = inner.set.contains(var) || self.is_declared_in(inner, *var);
            // What lies in two places has no row.
            let is_one = !self.inside.looks_for_elements(*var);
            is_float && is_one && !is_own && !others.contains(var)
        };
        found.retain(is_meant);
        if found.len() <= MOST { found } else { Vec::new() }
    }

    fn is_declared_in(&self, inner: &Inner, var: VarId) -> bool {
        let program = self.lowering.program;
        inner.body.iter().any(|it| super::inner::declared(program, *it) == Some(var))
    }

    /// The rounds of a loop, four for each load of these arrays, then the rest one by one.
    pub(super) fn put_fours(&self, inner: &Inner, arrays: &[VarId], out: &mut Out<'_>) {
        let program = self.lowering.program;
        let printer = &self.inside;
        let times = if parts(program, inner).len() > SHORT { FEW } else { TIMES };
        let [start, count, four, one] = ["start", "count", "four", "one"].map(|it| self.name(it));
        let ty = program.vars[inner.counter].ty.plain();
        let counter = printer.declare(ty, &printer.declared_name(inner.counter));
        let (begin, bound) = (printer.expr(inner.begin), printer.expr(inner.bound));
        let more = if inner.is_inclusive { " + 1" } else { "" };
        let put_one = |printer: &Printer<'_>, value: &str, out: &mut Out<'_>| {
            out.line("{");
            out.indented(|out| {
                out.line(&format!("const {counter} = {value};"));
                inner.body.iter().for_each(|it| printer.stmt(*it, out));
            });
            out.line("}");
        };
        let places: Vec<String> = arrays
            .iter()
            .map(|it| format!("(unsigned long)&{}[{start}]", printer.var_name(*it)))
            .collect();
        out.line("{");
        out.indented(|out| {
            out.line(&format!("{} = {begin};", printer.declare(ty, &start)));
            out.line(&format!("long {count} = (long)({bound}) - (long){start}{more};"));
            out.line(&format!("if (({}) % 16 == 0)", places.join(" | ")));
            out.line(&format!(
                "for (; {count} >= {times}; {count} -= {times}, {start} += {times})"
            ));
            out.line("{");
            out.indented(|out| {
                out.raw("#pragma unroll");
                out.line(&format!("for (int {four} = 0; {four} < {times}; {four} += 4)"));
                out.line("{");
                out.indented(|out| {
                    let mut inside = printer.clone();
                    for array in arrays {
                        let row = self.name("row");
                        let at = format!("&{}[{start} + {four}]", printer.var_name(*array));
                        out.line(&format!("float {row}[4];"));
                        out.line(&format!("__ferry_four({row}, {at});"));
                        inside.find_elements(*array, row, format!("({start} + {four})"));
                    }
                    out.raw("#pragma unroll");
                    out.line(&format!("for (int {one} = 0; {one} < 4; {one}++)"));
                    put_one(&inside, &format!("{start} + {four} + {one}"), out);
                });
                out.line("}");
            });
            out.line("}");
            out.raw("#pragma unroll 16");
            out.line(&format!("for (; {count} > 0; {count}--, {start}++)"));
            put_one(printer, &start, out);
        });
        out.line("}");
    }
}

/// All that is in the body of a loop.
fn parts(program: &Program, inner: &Inner) -> Vec<Part> {
    let mut all = Vec::new();
    let mut open: Vec<Part> = inner.body.iter().map(|it| Part::Stmt(*it)).collect();
    while let Some(part) = open.pop() {
        all.push(part);
        program.parts(part, &mut |it| open.push(it));
    }
    all
}
