//! Places: what an lvalue names, and what reading and writing it means.

use ir::program::{ExprId, ExprKind, VarId};
use ir::types::{ArrayLen, Ty, TypeKind};
use source::Span;

use super::state::Val;
use super::{Held, Walk};
use crate::access::{Base, Extent, Place};
use crate::finding::Reason;
use crate::poly::{Poly, Value};

/// Something that can be assigned to.
#[derive(Clone, Debug)]
pub(super) enum Lvalue {
    /// A scalar variable.
    Scalar(VarId),
    /// One part of a complex variable.
    PartOf(VarId),
    /// Anything else.
    Memory(Place),
}

impl Walk<'_> {
    /// The place that an lvalue names; what is computed on the way is noted.
    pub(super) fn place(&mut self, id: ExprId) -> Place {
        let program = self.program;
        let expr = &program.exprs[id];
        if let ExprKind::Var(var) = expr.kind {
            return Place::start(Base::Var(var));
        }
        if let ExprKind::Deref(pointer) = expr.kind {
            return self.target(pointer);
        }
        if let ExprKind::Index(base, index) = expr.kind {
            let of = program.exprs[base].ty;
            if program.types.is_pointer(of) {
                let place = self.target(base);
                let by = self.int(index);
                return place.subscripted(program, &by, expr.ty);
            }
            let place = self.place(base);
            let by = self.int(index);
            if place.anywhere {
                return place;
            }
            return place.element(program, by, expr.ty, self.extent(of));
        }
        if let ExprKind::Member(of, record, field) = expr.kind {
            let place = self.place(of);
            return if place.anywhere { place } else { place.member(record, field) };
        }
        if let ExprKind::CompoundLiteral(var) = expr.kind {
            if let Some(init) = program.vars[var].init {
                self.init(init);
            }
            return Place::start(Base::Var(var));
        }
        if let ExprKind::Unary(_, of) = expr.kind {
            // `__real__ z`: the whole will do.
            return self.place(of);
        }
        if let ExprKind::Str(_) = expr.kind {
            return Place::start(Base::Nowhere);
        }
        // A value without address: the result of a call, a conditional, an assignment.
        self.eval(id);
        Place::start(Base::Nowhere)
    }

    /// Where a pointer leads.
    fn target(&mut self, pointer: ExprId) -> Place {
        match self.eval(pointer) {
            Val::Addr(place) => {
                if let Base::Var(var) = place.base
                    && self.program.types.is_scalar(self.program.vars[var].ty)
                {
                    // `*&x`: scalars are followed by their names only.
                    self.obstacle(Reason::MayAlias, self.program.exprs[pointer].span);
                }
                place
            }
            Val::Int(_) | Val::Other => Place::anywhere(Base::Unknown),
        }
    }

    /// The length of a declared array.
    pub(super) fn extent(&self, array: Ty) -> Option<Extent> {
        if let TypeKind::Array(_, len) = self.program.types.shape(array) {
            return match len {
                // One element, or none, is how arrays of any length were once declared.
                ArrayLen::Known(0 | 1) | ArrayLen::Unknown => None,
                ArrayLen::Known(len) => Some(Extent::Known(*len)),
                ArrayLen::Variable(_) => Some(Extent::Computed),
            };
        }
        None
    }

    /// Reads what an expression names.
    pub(super) fn load(&mut self, id: ExprId) -> Val {
        let program = self.program;
        let expr = &program.exprs[id];
        if let ExprKind::Var(var) = expr.kind
            && program.types.is_scalar(expr.ty)
        {
            return self.read_scalar(var, expr.span);
        }
        let place = self.place(id);
        if program.types.is_array(expr.ty) || program.types.is_function(expr.ty) {
            return Val::Addr(place);
        }
        self.check(expr.ty, expr.span);
        self.touch(place.clone(), Some(expr.ty), false, expr.span);
        self.memory(place, expr.ty)
    }

    /// The value that memory holds: the same in all iterations if the place is, or else this would
    /// be found when the read is compared with the writes.
    fn memory(&mut self, place: Place, ty: Ty) -> Val {
        let is_seen = match place.base {
            Base::Var(var) => !self.is_own(var) && !self.q.reduced.contains(&var),
            Base::Pointee(_) => !self.is_copied(place.base),
            Base::Held(_) => true,
            Base::Unknown | Base::Nowhere => false,
        };
        // Only a read that was noted is compared.
        let is_noted =
            self.quiet == 0 || self.body.held.contains(&Held::At(place.clone(), ty.plain()));
        if !is_noted || !is_seen || !place.is_fixed() {
            return self.anything(ty);
        }
        let types = &self.program.types;
        if types.is_integer(ty) {
            let at = self.held(Held::At(place, ty.plain()));
            Val::Int(Poly::atom(Value::Held(at)))
        } else if types.is_pointer(ty) {
            let at = self.held(Held::At(place, ty.plain()));
            Val::Addr(Place::start(Base::Held(at)))
        } else {
            Val::Other
        }
    }

    /// The value of a scalar, without reading it.
    pub(super) fn value_of(&mut self, var: VarId) -> Val {
        let ty = self.program.vars[var].ty;
        let is_exposed = self.q.aliases.is_exposed(self.program, var);
        if self.q.reduced.contains(&var) || (self.is_own(var) && is_exposed) {
            return self.anything(ty);
        }
        if let Some(value) = self.state.env.get(&var) {
            return value.clone();
        }
        let is_written = self.q.scan.writes.contains_key(&var) && !self.is_entry;
        if is_written || self.is_own(var) {
            let value = self.anything(ty);
            self.state.env.insert(var, value.clone());
            return value;
        }
        let types = &self.program.types;
        if types.is_integer(ty) {
            Val::Int(Poly::atom(Value::Entry(var)))
        } else if types.is_pointer(ty) {
            Val::Addr(Place::start(Base::Pointee(var)))
        } else {
            Val::Other
        }
    }

    fn read_scalar(&mut self, var: VarId, span: Span) -> Val {
        let it = &self.program.vars[var];
        self.check(it.ty, span);
        if it.thread_local && !self.is_own(var) {
            self.obstacle(Reason::ThreadLocal, span);
        }
        if self.quiet == 0 && !self.is_own(var) {
            let is_covered = self.state.must.contains(&var) || self.q.reduced.contains(&var);
            let is_plain = self.is_plain();
            let uses = self.body.scalars.entry(var).or_default();
            if !is_covered {
                uses.exposed.get_or_insert(span);
                uses.plain_read = uses.plain_read.or(is_plain.then_some(span));
            }
            if self.q.aliases.is_exposed(self.program, var) {
                self.touch(Place::start(Base::Var(var)), Some(it.ty), false, span);
            }
        }
        self.value_of(var)
    }

    /// What an expression on the left of an assignment names; it is looked at once.
    pub(super) fn lvalue(&mut self, to: ExprId) -> Lvalue {
        let program = self.program;
        let expr = &program.exprs[to];
        self.check(expr.ty, expr.span);
        if let ExprKind::Var(var) = expr.kind
            && program.types.is_scalar(expr.ty)
        {
            return Lvalue::Scalar(var);
        }
        if let Some(var) = part_of_scalar(program, to) {
            return Lvalue::PartOf(var);
        }
        Lvalue::Memory(self.place(to))
    }

    /// Reads it.
    pub(super) fn read(&mut self, from: &Lvalue, ty: Ty, span: Span) -> Val {
        match from {
            Lvalue::Scalar(var) => self.read_scalar(*var, span),
            Lvalue::PartOf(var) => {
                self.read_scalar(*var, span);
                Val::Other
            }
            Lvalue::Memory(place) => {
                self.touch(place.clone(), Some(ty), false, span);
                self.memory(place.clone(), ty)
            }
        }
    }

    /// Writes it.
    pub(super) fn write(&mut self, to: Lvalue, value: Val, ty: Ty, span: Span) {
        match to {
            Lvalue::Scalar(var) => self.write_scalar(var, value, span),
            Lvalue::PartOf(var) => {
                // The other part stays what it was.
                self.read_scalar(var, span);
                let value = self.anything(self.program.vars[var].ty);
                self.write_scalar(var, value, span);
            }
            Lvalue::Memory(place) => self.touch(place, Some(ty), true, span),
        }
    }

    fn write_scalar(&mut self, var: VarId, value: Val, span: Span) {
        let it = &self.program.vars[var];
        if it.thread_local && !self.is_own(var) {
            self.obstacle(Reason::ThreadLocal, span);
        }
        self.state.env.insert(var, value);
        if self.quiet > 0 || self.is_own(var) {
            return;
        }
        let is_plain = self.is_plain();
        let uses = self.body.scalars.entry(var).or_default();
        uses.written.get_or_insert(span);
        uses.plain_write = uses.plain_write.or(is_plain.then_some(span));
        self.state.must.insert(var);
        if self.q.aliases.is_exposed(self.program, var) {
            self.touch(Place::start(Base::Var(var)), Some(it.ty), true, span);
        }
    }

    /// Objects that change by themselves, or that are made for iterations that meet.
    fn check(&mut self, ty: Ty, span: Span) {
        if self.program.types.resolve(ty).quals.is_volatile {
            self.obstacle(Reason::Volatile, span);
        }
        if self.program.types.is_atomic(ty) {
            self.obstacle(Reason::Atomic, span);
        }
    }
}

/// The variable of which `__real__ z` is a part.
fn part_of_scalar(program: &ir::program::Program, to: ExprId) -> Option<VarId> {
    let ExprKind::Unary(_, of) = program.exprs[to].kind else { return None };
    if let ExprKind::Var(var) = program.exprs[of].kind { Some(var) } else { None }
}
