//! Serial code: it concerns nobody but the thread that runs it, and no jump leaves it.

use ir::construct::Leaf;
use ir::program::{StmtId, StmtKind as CodeKind};
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::Span;

use super::{Law, Verifier};

/// A part of the code, with what is around it there.
#[derive(Clone, Copy)]
struct Place {
    part: Part,
    in_loop: bool,
    in_switch: bool,
}

impl Verifier<'_> {
    /// Looks at serial code.
    pub(super) fn serial(&mut self, code: StmtId, in_parallel: bool, span: Span) {
        let program = self.program;
        let mut labels = FxHashSet::default();
        let mut wanted = Vec::new();
        let mut open = vec![Place { part: Part::Stmt(code), in_loop: false, in_switch: false }];
        while let Some(place) = open.pop() {
            let mut inner = place;
            if let Part::Stmt(id) = place.part {
                let stmt = &program.stmts[id];
                let leaves = "a jump leaves serial code";
                match &stmt.kind {
                    CodeKind::Break => {
                        self.check(place.in_loop || place.in_switch, Law::Code, stmt.span, leaves);
                    }
                    CodeKind::Continue => self.check(place.in_loop, Law::Code, stmt.span, leaves),
                    CodeKind::Return(_) | CodeKind::GotoExpr(_) => {
                        self.report(Law::Code, stmt.span, leaves);
                    }
                    CodeKind::Goto(label) => wanted.push((*label, stmt.span)),
                    CodeKind::Label(label, _) => {
                        labels.insert(*label);
                    }
                    CodeKind::While(..) | CodeKind::DoWhile(..) | CodeKind::For(_) => {
                        inner.in_loop = true;
                    }
                    CodeKind::Switch(..) => inner.in_switch = true,
                    CodeKind::Error
                    | CodeKind::Empty
                    | CodeKind::Block(_)
                    | CodeKind::Local(_)
                    | CodeKind::Expr(_)
                    | CodeKind::If(..)
                    | CodeKind::Case(..)
                    | CodeKind::Default(_)
                    | CodeKind::Asm(_)
                    | CodeKind::Region(_)
                    | CodeKind::Declaration(_) => {}
                }
            } else if let Part::Region(id) = place.part {
                let construct = &program.regions[id].construct;
                if construct.leaves.iter().any(|it| concerns_others(*it, in_parallel)) {
                    self.report(Law::Code, span, "a construct in serial code concerns others");
                }
            }
            program.parts(place.part, &mut |part| open.push(Place { part, ..inner }));
        }
        for (label, span) in wanted {
            self.check(labels.contains(&label), Law::Code, span, "a jump leaves serial code");
        }
    }
}

/// Whether a part of a directive says something of other threads than the one that meets it.
fn concerns_others(leaf: Leaf, in_parallel: bool) -> bool {
    let makes_crew =
        matches!(leaf, Leaf::Teams | Leaf::Distribute | Leaf::Parallel | Leaf::Barrier);
    let is_shared = matches!(
        leaf,
        Leaf::For
            | Leaf::Sections
            | Leaf::Single
            | Leaf::Masked
            | Leaf::Master
            | Leaf::Scope
            | Leaf::Workdistribute
    );
    makes_crew || in_parallel && is_shared
}
