//! Compound literals that pointers lead to: each has room in the function around it, and is put there when it is met.
//!
//! In C++ they would be gone before that, and compilers of OpenCL C do not know what memory they are in. In version 1.2
//! the room is on the stack of the thread ([`super::lent`]).

use ir::program::{CastKind, ExprId, ExprKind, FunctionId, VarId, VarStorage};
use ir::walk::Part;
use rustc_hash::FxHashSet;

use crate::c::{Grid, Printer, Setting};
use crate::lower::Lowering;

impl Lowering<'_> {
    /// Finds them in all that is printed.
    pub(super) fn find_literals(&self, parts: &[Part]) {
        self.state.borrow_mut().literals = self.literals_in(parts).into_iter().collect();
    }

    fn literals_in(&self, parts: &[Part]) -> Vec<VarId> {
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut open = parts.to_vec();
        while let Some(part) = open.pop() {
            if !seen.insert(part) {
                continue;
            }
            if let Part::Expr(id) = part
                && let ExprKind::AddrOf(of) | ExprKind::Cast(CastKind::ArrayToPointer, of) =
                    self.program.exprs[id].kind
                && let Some(literal) = self.literal(of)
                && !found.contains(&literal)
            {
                found.push(literal);
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        found.sort_by_key(|it| it.index());
        found
    }

    /// The literal that an expression is, or a part of.
    fn literal(&self, expr: ExprId) -> Option<VarId> {
        match self.program.exprs[expr].kind {
            ExprKind::CompoundLiteral(var) => {
                let storage = self.program.vars[var].storage;
                Some(var).filter(|_| matches!(storage, VarStorage::Local(_)))
            }
            ExprKind::Member(of, ..) => self.literal(of),
            ExprKind::Index(of, _) => match self.program.exprs[of].kind {
                ExprKind::Cast(CastKind::ArrayToPointer, of) => self.literal(of),
                _ if self.program.types.is_array(self.program.exprs[of].ty) => self.literal(of),
                _ => None,
            },
            _ => None,
        }
    }

    /// They go by the names of their rooms.
    pub(in crate::lower) fn use_literals(&self, printer: &mut Printer<'_>) {
        if self.grid.is_some_and(Grid::names_memory) {
            return;
        }
        for var in &self.state.borrow().literals {
            printer.substitute(*var, room(*var));
        }
    }

    /// The rooms that code needs.
    pub(in crate::lower) fn literal_rooms(&self, code: Part) -> Vec<String> {
        if self.state.borrow().literals.is_empty() {
            return Vec::new();
        }
        let printer = self.printer(Setting::Alone);
        let declare = |var: &VarId| {
            let (room, number) = (room(*var), var.index());
            let ty = printer.type_name(self.program.vars[*var].ty.plain());
            match self.grid {
                Some(Grid::OpenCl) => {
                    format!("{} __ferry_box{number} {room};", printer.literal_box(*var))
                }
                Some(Grid::OpenCl12 | Grid::Fpga(_)) => printer.literal_box(*var),
                Some(Grid::Cuda | Grid::Hip) | None => {
                    let kept = format!("__ferry_box<{ty}>");
                    format!("alignas({kept}) char {room}[sizeof({kept})];")
                }
            }
        };
        self.literals_in(&[code]).iter().map(declare).collect()
    }

    /// Those of a function.
    pub(in crate::lower) fn literal_rooms_of(&self, id: FunctionId) -> Vec<String> {
        let body = self.program.functions[id].body;
        body.map(|it| self.literal_rooms(Part::Stmt(it))).unwrap_or_default()
    }
}

fn room(literal: VarId) -> String {
    format!("__ferry_literal{}", literal.index())
}
