//! Allocators that a region has for itself: made when its kernel begins, gone when it ends.
//!
//! In: the clause that names them, with their memory spaces and traits. Out: lines of the kernel. What
//! the implementation offers by name needs nothing.

use ir::construct::ClauseKind;
use ir::program::{ExprId, ExprKind, Program, RegionId, VarId};

use super::Lowering;
use super::entries::{Access, Entries};
use crate::c::Printer;

/// The names by which kernels make and end allocators.
const MAKE: &str = "__ferry_make_allocator";
const END: &str = "__ferry_end_allocator";

/// Lines at the beginning of a kernel and at its end.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

impl Lowering<'_> {
    /// What a kernel does about its allocators.
    pub(super) fn allocators(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        entries: &Entries,
    ) -> Lines {
        let mut lines = Lines::default();
        let is_own = |var: VarId| {
            entries.captured.iter().any(|it| it.var == var && it.access == Access::Value)
        };
        for (allocator, space, traits) in uses(self.program, id) {
            if !is_own(allocator) {
                continue;
            }
            let name = printer.var_name(allocator);
            let space = space.map_or_else(|| "0".to_owned(), |it| printer.expr(it));
            let (count, list) = match traits.map(|it| printer.var_name(it)) {
                Some(list) => (format!("sizeof({list}) / sizeof(({list})[0])"), list),
                None => ("0".to_owned(), "0".to_owned()),
            };
            lines.before.push(format!(
                "{name} = (__typeof__({name})){MAKE}((__ferry_word)({space}), {count}, {list});"
            ));
            lines.after.push(format!("{END}((__ferry_word)({name}));"));
        }
        if !lines.before.is_empty() {
            self.declare_allocator_calls();
        }
        lines
    }

    /// Under names of our own: the user's headers declare them with types of theirs.
    fn declare_allocator_calls(&self) {
        let (make, end) = directive::ALLOCATOR_CALLS;
        let text = format!(
            "extern __ferry_word {MAKE}(__ferry_word, int, const void *) __asm__(\"{make}\");\n\
             extern void {END}(__ferry_word) __asm__(\"{end}\");\n"
        );
        let mut state = self.state.borrow_mut();
        if !state.declarations.contains(&text) {
            state.declarations.push(text);
        }
    }
}

/// Variables with traits of allocators: the kernel needs their values.
pub(super) fn traits(program: &Program, id: RegionId) -> Vec<VarId> {
    uses(program, id).into_iter().filter_map(|it| it.2).collect()
}

/// Allocators in variables of the user's, with their memory space and traits.
fn uses(program: &Program, id: RegionId) -> Vec<(VarId, Option<ExprId>, Option<VarId>)> {
    let uses = program.regions[id].construct.kinds().flat_map(|it| match it {
        ClauseKind::UsesAllocators(uses) => uses.as_slice(),
        _ => &[],
    });
    uses.filter_map(|it| {
        Some((
            var_of(program, it.allocator)?,
            it.space,
            it.traits.and_then(|it| var_of(program, it)),
        ))
    })
    .collect()
}

fn var_of(program: &Program, expr: ExprId) -> Option<VarId> {
    match program.exprs.find(expr)?.kind {
        ExprKind::Var(var) => Some(var),
        ExprKind::Cast(_, inner) => var_of(program, inner),
        _ => None,
    }
}
