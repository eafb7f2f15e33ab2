//! Pointers to functions, in a language that has none: numbers, and functions that call the one with a number.

use ir::program::{Expr, ExprId, ExprKind, FunctionId, Program};
use ir::types::Ty;
use syntax::print::Level;

use super::{Grid, Printer};

/// The function that a call names; none if it is called through a pointer.
pub(crate) fn named_callee(program: &Program, callee: ExprId) -> Option<(ExprId, FunctionId)> {
    let mut id = callee;
    loop {
        let node = program.exprs.find(id)?;
        if let ExprKind::Function(function) = node.kind {
            return Some((id, function));
        } else if let ExprKind::Cast(_, of) | ExprKind::AddrOf(of) | ExprKind::Deref(of) = node.kind
            && is_function(program, program.exprs.find(of)?.ty)
        {
            id = of;
        } else {
            return None;
        }
    }
}

/// Whether a type is that of a function, or of a pointer to one.
fn is_function(program: &Program, ty: Ty) -> bool {
    let types = &program.types;
    types.is_function(ty) || types.pointee(ty).is_some_and(|it| types.is_function(it))
}

impl Printer<'_> {
    /// Whether a pointer to something is a number here.
    pub(super) fn is_numbered(&self, to: Ty) -> bool {
        self.grid.is_some_and(Grid::is_opencl) && self.program.types.is_function(to)
    }

    /// Whether a pointer is a number here.
    pub(crate) fn is_number(&self, pointer: Ty) -> bool {
        self.program.types.pointee(pointer).is_some_and(|it| self.is_numbered(it))
    }

    /// A function that is a value, or what leads to one: its number.
    pub(super) fn put_function(&self, node: &Expr, out: &mut String) -> bool {
        let is_function = |e: ExprId| self.ty(e).is_some_and(|it| self.is_numbered(it));
        if !self.grid.is_some_and(Grid::is_opencl) {
            return false;
        }
        if let ExprKind::Function(id) = node.kind {
            out.push_str(&format!("{}ul", self.hook.function_number(id)));
        } else if let ExprKind::AddrOf(of) = node.kind
            && is_function(of)
        {
            out.push_str(&self.primary(of));
        } else if let ExprKind::Deref(of) = node.kind
            && self.is_numbered(node.ty)
        {
            out.push_str(&self.primary(of));
        } else {
            return false;
        }
        true
    }

    /// The function that a pointer of the host or of the device leads to.
    pub(super) fn put_asked(&self, callee: ExprId, out: &mut String) {
        let types = &self.program.types;
        // `(*p)()` calls what `p` points to.
        let mut pointer = callee;
        while let Some(ExprKind::Deref(of)) = self.program.exprs.find(pointer).map(|it| &it.kind)
            && self.ty(pointer).is_some_and(|it| types.is_function(it))
        {
            pointer = *of;
        }
        let Some(ty) = self.ty(pointer).filter(|it| types.is_pointer(*it)) else {
            return out.push_str(&self.operand(callee, Level::Postfix));
        };
        let (ty, pointer) = (self.type_name(ty), self.operand(pointer, Level::Cast));
        out.push_str(&format!("(({ty})__ferry_function((const void *){pointer}))"));
    }

    /// What stands before the arguments of a call through a pointer, if that is a number.
    pub(super) fn put_caller(&self, callee: ExprId, out: &mut String) -> bool {
        let ty = self.ty(callee).map(|it| self.program.types.pointee(it).unwrap_or(it));
        let Some(ty) = ty.filter(|it| self.is_numbered(*it)) else { return false };
        if named_callee(self.program, callee).is_some() {
            return false;
        }
        out.push_str(&self.hook.caller(ty));
        true
    }
}
