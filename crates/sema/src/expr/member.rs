//! Members and elements: `s.m`, `p->m`, `a[i]`.

use ir::program::{ExprId, ExprKind};
use ir::types::{RecordId, Ty, TypeKind};
use source::{Name, Span};
use syntax::ast;
use syntax::ast::Ident;

use crate::Cx;
use crate::messages;

impl Cx<'_> {
    pub(super) fn member(&mut self, base: ast::ExprId, member: Ident, span: Span) -> ExprId {
        let base = self.expr(base);
        let ty = self.ty(base);
        if self.is_error(ty) {
            return self.wrong(span);
        }
        if !matches!(self.shape(ty), TypeKind::Record(_)) {
            let text = self.program.names.text(member.name);
            let is_pointer = self.pointee(ty).is_some();
            let fault = messages::not_record(text, &self.show(ty), is_pointer, self.span(base));
            return self.refuse(fault, span);
        }
        self.member_of(base, member, span)
    }

    pub(super) fn arrow(&mut self, base: ast::ExprId, member: Ident, span: Span) -> ExprId {
        let base = self.value(base);
        let ty = self.ty(base);
        if self.is_error(ty) {
            return self.wrong(span);
        }
        let record = self.pointee(ty);
        let Some(record) =
            record.filter(|it| matches!(self.shape(*it), TypeKind::Record(_) | TypeKind::Error))
        else {
            let text = self.program.names.text(member.name);
            let fault = messages::arrow_on_record(text, &self.show(ty), self.span(base));
            return self.refuse(fault, span);
        };
        let object_span = self.span(base);
        let object = self.make(ExprKind::Deref(base), record, object_span);
        self.member_of(object, member, span)
    }

    fn member_of(&mut self, base: ExprId, member: Ident, span: Span) -> ExprId {
        let ty = self.ty(base);
        let Some(path) = self.member_path(ty, member) else { return self.wrong(span) };
        let mut object = base;
        let mut quals = self.program.types.resolve(ty).quals;
        for (record, field) in path {
            let ty = self.field_ty(record, field);
            // Members of a qualified object are qualified; `restrict` is the pointer's own.
            quals.is_restrict = false;
            let ty = ty.qualified(quals);
            quals = quals.with(self.program.types.resolve(ty).quals);
            object = self.make(ExprKind::Member(object, record, field), ty, span);
        }
        object
    }

    /// The members that lead to `member`, through anonymous ones; reports if there is none.
    pub(crate) fn member_path(&mut self, ty: Ty, member: Ident) -> Option<Vec<(RecordId, u32)>> {
        let TypeKind::Record(record) = *self.shape(ty) else {
            let text = self.program.names.text(member.name);
            let fault = messages::not_record(text, &self.show(ty), false, member.span);
            self.report(fault);
            return None;
        };
        if let Some(path) = self.find_member(record, member.name) {
            return Some(path);
        }
        let text = self.program.names.text(member.name);
        if self.program.types.records[record].fields.is_none() {
            let what = format!("object with member `{text}`");
            self.report_incomplete(ty, &what, member.span);
            return None;
        }
        let near = self.nearest_member(record, member.name);
        let declared = self.program.types.records[record].span;
        let fault =
            messages::no_member(text, &self.show(ty), near.as_deref(), member.span, declared);
        self.report(fault);
        None
    }

    fn nearest_member(&self, record: RecordId, name: Name) -> Option<String> {
        let names = &self.program.names;
        let fields = self.program.types.records[record].fields.iter().flatten();
        let candidates = fields.filter_map(|it| it.name).map(|it| names.text(it));
        directive::nearest(names.text(name), candidates).map(str::to_owned)
    }

    pub(super) fn index(&mut self, base: ast::ExprId, index: ast::ExprId, span: Span) -> ExprId {
        let mut base = self.expr(base);
        let mut index = self.expr(index);
        let (a, b) = (self.ty(base), self.ty(index));
        if self.is_error(a) || self.is_error(b) {
            return self.wrong(span);
        }
        // `2[a]` is `a[2]`.
        if self.is_integer(a) && !self.is_integer(b) {
            std::mem::swap(&mut base, &mut index);
        }
        let Some(elem) = self.element_of(base) else { return self.wrong(span) };
        let index_ty = self.ty(index);
        if !self.is_integer(index_ty) {
            let fault = messages::index_not_integer(&self.show(index_ty), self.span(index));
            return self.refuse(fault, span);
        }
        if matches!(self.shape(elem), TypeKind::Function(_)) {
            let fault = messages::not_indexable(&self.show(self.ty(base)), self.span(base));
            return self.refuse(fault, span);
        }
        self.require_known_size(elem, span);
        self.make(ExprKind::Index(base, index), elem, span)
    }

    /// What indexing an array, pointer or vector gives; reports if it is none of them.
    pub(crate) fn element_of(&mut self, base: ExprId) -> Option<Ty> {
        let ty = self.ty(base);
        let quals = self.program.types.resolve(ty).quals;
        match self.shape(ty) {
            TypeKind::Array(elem, _) | TypeKind::Vector(elem, _) => Some(elem.qualified(quals)),
            TypeKind::Pointer(to) => Some(*to),
            TypeKind::Error => None,
            _ => {
                let fault = messages::not_indexable(&self.show(ty), self.span(base));
                self.report(fault);
                None
            }
        }
    }

    /// The width, if an expression is a bit-field.
    pub(crate) fn bit_field_width(&self, expr: ExprId) -> Option<u32> {
        let ExprKind::Member(_, record, at) = self.program.exprs[expr].kind else { return None };
        let record = &self.program.types.records[record];
        record.fields.as_ref()?.get(at as usize)?.bits
    }

    pub(crate) fn field_ty(&self, record: RecordId, at: u32) -> Ty {
        let fields = self.program.types.records[record].fields.as_ref();
        fields.and_then(|it| it.get(at as usize)).map_or(self.basics.error, |it| it.ty)
    }

    pub(crate) fn field_name(&self, record: RecordId, at: u32) -> Option<Name> {
        self.program.types.records[record].fields.as_ref()?.get(at as usize)?.name
    }
}
