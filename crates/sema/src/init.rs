//! Initialisers: which value goes to which element.
//!
//! In: the type to be initialised and what was written. Out: an [`Init`] by position, and the type
//! with its length where the initialiser gives it. Brace elision, designators and ranges are
//! resolved here. A position may be given twice: the later element wins.

use ir::program::{ExprId, ExprKind, Init, InitElement, InitId};
use ir::types::{ArrayLen, RecordId, Ty, TypeKind};
use rustc_hash::FxHashMap;
use source::Span;
use syntax::ast;
use syntax::ast::Designator;

use crate::Cx;
use crate::convert::Goal;
use crate::messages;

/// Where we are in a list in braces.
struct Cursor<'t> {
    items: &'t [ast::InitItem],
    at: usize,
    /// The present item's value, if it had to be typed to see where it goes.
    typed: Option<ExprId>,
    is_static: bool,
}

/// What a designator chooses.
struct Choice<'d> {
    first: u64,
    last: u64,
    /// What is left of the path.
    rest: &'d [Designator],
}

impl Cx<'_> {
    /// Types an initialiser for an object of type `ty`.
    pub(crate) fn initializer(
        &mut self,
        ty: Ty,
        init: ast::InitId,
        is_static: bool,
    ) -> (InitId, Ty) {
        let tree = self.tree;
        match &tree.inits[init] {
            ast::Init::Expr(expr) => {
                let value = self.expr(*expr);
                self.init_value(ty, value, is_static)
            }
            ast::Init::List(items, span) => self.init_list(ty, items, *span, is_static),
        }
    }

    /// A value without braces.
    fn init_value(&mut self, ty: Ty, value: ExprId, is_static: bool) -> (InitId, Ty) {
        let span = self.span(value);
        if self.is_error(ty) || self.is_error(self.ty(value)) {
            return (self.program.inits.push(Init::Expr(value)), ty);
        }
        let Some((elem, length)) = self.array(ty) else {
            let value = self.assign_to(value, ty, Goal::Init);
            if is_static {
                self.require_constant(value);
            }
            return (self.program.inits.push(Init::Expr(value)), ty);
        };
        if matches!(length, ArrayLen::Variable(_)) {
            self.report(messages::variable_array_init(span));
            return (self.program.inits.push(Init::Expr(value)), ty);
        }
        if self.is_string_for(value, elem) {
            return self.init_string(ty, value);
        }
        // GNU: an array may be initialised by a compound literal of its type.
        if matches!(self.program.exprs[value].kind, ExprKind::CompoundLiteral(_))
            && self.is_compatible(ty, self.ty(value))
        {
            let whole = self.composite(ty, self.ty(value));
            return (self.program.inits.push(Init::Expr(value)), whole);
        }
        let fault = messages::invalid_initializer(&self.show(ty), span);
        self.report(fault);
        let wrong = self.wrong(span);
        (self.program.inits.push(Init::Expr(wrong)), ty)
    }

    /// Whether a value is a string literal for an array of such elements.
    fn is_string_for(&self, value: ExprId, elem: Ty) -> bool {
        let node = &self.program.exprs[value];
        let ExprKind::Str(_) = node.kind else { return false };
        let Some((of, _)) = self.array(node.ty) else { return false };
        let (elem, of) = (self.unqualified(elem), self.unqualified(of));
        let is_narrow = self.size_of(of) == Some(1);
        self.is_integer(elem)
            && self.size_of(elem) == self.size_of(of)
            && (is_narrow || self.is_compatible(elem, of))
    }

    fn init_string(&mut self, ty: Ty, value: ExprId) -> (InitId, Ty) {
        let init = self.program.inits.push(Init::Expr(value));
        let Some((elem, length)) = self.array(ty) else { return (init, ty) };
        let Some((_, ArrayLen::Known(written))) = self.array(self.ty(value)) else {
            return (init, ty);
        };
        match length {
            ArrayLen::Unknown => {
                let whole = TypeKind::Array(elem, ArrayLen::Known(written));
                (init, self.program.types.get(whole))
            }
            ArrayLen::Known(room) => {
                // The closing zero may be left out.
                if written > room.saturating_add(1) {
                    let span = self.span(value);
                    self.report(messages::long_string(span));
                }
                (init, ty)
            }
            ArrayLen::Variable(_) => (init, ty),
        }
    }

    /// A list in braces.
    fn init_list(
        &mut self,
        ty: Ty,
        items: &[ast::InitItem],
        span: Span,
        is_static: bool,
    ) -> (InitId, Ty) {
        if self.is_error(ty) {
            return (self.program.inits.push(Init::List(ty, Vec::new())), ty);
        }
        let is_aggregate = match self.shape(ty) {
            TypeKind::Array(_, ArrayLen::Variable(_)) => {
                if !items.is_empty() {
                    self.report(messages::variable_array_init(span));
                }
                return (self.program.inits.push(Init::List(ty, Vec::new())), ty);
            }
            TypeKind::Array(..) | TypeKind::Record(_) | TypeKind::Vector(..) => true,
            _ => false,
        };
        if !is_aggregate {
            return self.init_scalar_list(ty, items, span, is_static);
        }
        if let Some(done) = self.braced_string(ty, items) {
            return done;
        }
        let mut cursor = Cursor { items, at: 0, typed: None, is_static };
        let elements = self.fill(ty, &mut cursor, &[], true);
        let whole = match self.array(ty) {
            Some((elem, ArrayLen::Unknown)) => {
                let length = elements.iter().map(|it| it.last.saturating_add(1)).max();
                let length = ArrayLen::Known(length.unwrap_or(0));
                self.program.types.get(TypeKind::Array(elem, length))
            }
            _ => ty,
        };
        (self.program.inits.push(Init::List(whole, elements)), whole)
    }

    /// `{ "text" }` for an array of characters.
    fn braced_string(&mut self, ty: Ty, items: &[ast::InitItem]) -> Option<(InitId, Ty)> {
        let tree = self.tree;
        let (elem, _) = self.array(ty)?;
        let [item] = items else { return None };
        let ast::Init::Expr(expr) = tree.inits[item.value] else { return None };
        let mut inner = expr;
        while let ast::ExprKind::Paren(it) = tree.exprs[inner].kind {
            inner = it;
        }
        let is_string = matches!(tree.exprs[inner].kind, ast::ExprKind::Str(_));
        if !item.designators.is_empty() || !is_string || !self.is_integer(elem) {
            return None;
        }
        let value = self.expr(expr);
        match self.is_string_for(value, elem) {
            true => Some(self.init_string(ty, value)),
            false => None,
        }
    }

    /// `{ e }` for a scalar.
    fn init_scalar_list(
        &mut self,
        ty: Ty,
        items: &[ast::InitItem],
        span: Span,
        is_static: bool,
    ) -> (InitId, Ty) {
        let Some((first, rest)) = items.split_first() else {
            self.report(messages::empty_scalar(span));
            return (self.program.inits.push(Init::List(ty, Vec::new())), ty);
        };
        if !first.designators.is_empty() {
            let what = format!("designator in the initialiser of `{}`", self.show(ty));
            self.report(messages::bad_designator(&what, span));
        }
        if !rest.is_empty() {
            self.report(messages::excess_elements(span));
        }
        self.initializer(ty, first.value, is_static)
    }

    /// Takes items for the elements of an aggregate. `path` is where the first item goes; without
    /// own braces the list ends where the aggregate is full or a designator begins anew.
    fn fill(
        &mut self,
        ty: Ty,
        cursor: &mut Cursor<'_>,
        path: &[Designator],
        is_braced: bool,
    ) -> Vec<InitElement> {
        self.fill_more(ty, cursor, path, is_braced, Vec::new())
    }

    /// The same for an aggregate that has some elements already.
    fn fill_more(
        &mut self,
        ty: Ty,
        cursor: &mut Cursor<'_>,
        path: &[Designator],
        is_braced: bool,
        list: Vec<InitElement>,
    ) -> Vec<InitElement> {
        let is_union = matches!(self.shape(ty), TypeKind::Record(it) if self.program.types.records[*it].is_union);
        let mut elements = Elements::of(list);
        let mut path = path;
        let mut next = self.position_from(ty, 0);
        let limit = self.positions(ty);
        while let Some(item) = cursor.items.get(cursor.at) {
            let designators = std::mem::take(&mut path);
            let designators = match (designators.is_empty(), item.designators.is_empty()) {
                (false, _) => designators,
                (true, true) => &[],
                // Its designators have led here already.
                (true, false) if cursor.typed.is_some() => &[],
                (true, false) if !is_braced => break,
                (true, false) => &*item.designators,
            };
            let choice = match designators.split_first() {
                Some((head, _)) => match self.designated(ty, head, designators) {
                    Some(choice) => choice,
                    None => {
                        cursor.skip();
                        continue;
                    }
                },
                None if next >= limit => {
                    if is_braced {
                        self.skip_excess(cursor);
                    }
                    break;
                }
                None => Choice { first: next, last: next, rest: &[] },
            };
            let before = cursor.at;
            // A part of an element that is there already is added to it.
            let found = elements.find(choice.first, choice.last).map(|it| it.value);
            let value = self.element(ty, &choice, cursor, found);
            if cursor.at == before && (!designators.is_empty() || limit == u64::MAX) {
                // An element without members takes nothing, and would be asked for ever.
                cursor.skip();
            }
            // Of the members of a union the last that is given is there.
            if is_union && found.is_none() {
                elements = Elements::default();
            }
            let Choice { first, last, .. } = choice;
            match elements.find(first, last) {
                Some(it) => it.value = value,
                None => elements.push(InitElement { first, last, value }),
            }
            next = match is_union {
                true => limit,
                false => self.position_from(ty, choice.last.saturating_add(1)),
            };
        }
        elements.list
    }

    fn skip_excess(&mut self, cursor: &mut Cursor<'_>) {
        let tree = self.tree;
        if let Some(item) = cursor.items.get(cursor.at) {
            let span = match &tree.inits[item.value] {
                ast::Init::Expr(expr) => tree.exprs[*expr].span,
                ast::Init::List(_, span) => *span,
            };
            self.report(messages::excess_elements(span));
        }
        cursor.at = cursor.items.len();
    }

    /// The value of one element; takes at least one item unless the element holds nothing.
    fn element(
        &mut self,
        of: Ty,
        choice: &Choice<'_>,
        cursor: &mut Cursor<'_>,
        before: Option<InitId>,
    ) -> InitId {
        let tree = self.tree;
        let ty = self.position_ty(of, choice.first);
        let Some(item) = cursor.items.get(cursor.at) else {
            return self.program.inits.push(Init::List(ty, Vec::new()));
        };
        if !choice.rest.is_empty() {
            let list = match before.map(|it| &mut self.program.inits[it]) {
                Some(Init::List(_, list)) => std::mem::take(list),
                Some(Init::Expr(_)) | None => Vec::new(),
            };
            let elements = self.fill_more(ty, cursor, choice.rest, false, list);
            return self.program.inits.push(Init::List(ty, elements));
        }
        match &tree.inits[item.value] {
            ast::Init::List(items, span) => {
                cursor.skip();
                self.init_list(ty, items, *span, cursor.is_static).0
            }
            ast::Init::Expr(expr) => {
                let value = match cursor.typed.take() {
                    Some(value) => value,
                    None => self.expr(*expr),
                };
                if self.takes_whole(ty, value) {
                    cursor.skip();
                    return self.init_value(ty, value, cursor.is_static).0;
                }
                cursor.typed = Some(value);
                let elements = self.fill(ty, cursor, &[], false);
                self.program.inits.push(Init::List(ty, elements))
            }
        }
    }

    /// Whether a value initialises an object of this type rather than its first element.
    fn takes_whole(&self, ty: Ty, value: ExprId) -> bool {
        let from = self.ty(value);
        if self.is_error(from) {
            return true;
        }
        match self.shape(ty) {
            TypeKind::Array(elem, _) => self.is_string_for(value, *elem),
            TypeKind::Record(_) => self.is_compatible(self.unqualified(ty), self.unqualified(from)),
            TypeKind::Vector(..) => self.is_vector(from),
            _ => true,
        }
    }

    /// Resolves the first designator of a path.
    fn designated<'d>(
        &mut self,
        ty: Ty,
        head: &Designator,
        path: &'d [Designator],
    ) -> Option<Choice<'d>> {
        let rest = path.get(1..).unwrap_or_default();
        match head {
            Designator::Field(ident) => {
                if !matches!(self.shape(ty), TypeKind::Record(_)) {
                    let name = self.program.names.text(ident.name);
                    let what = format!("`.{name}` in the initialiser of `{}`", self.show(ty));
                    self.report(messages::bad_designator(&what, ident.span));
                    return None;
                }
                let steps = self.member_path(ty, *ident)?;
                let first = u64::from(steps.first()?.1);
                // Inside an anonymous member the name is looked up again.
                let rest = if steps.len() > 1 { path } else { rest };
                Some(Choice { first, last: first, rest })
            }
            Designator::Index(index) => {
                let first = self.designated_index(ty, *index)?;
                Some(Choice { first, last: first, rest })
            }
            Designator::Range(first, last) => {
                let first = self.designated_index(ty, *first)?;
                let last = self.designated_index(ty, *last)?;
                Some(Choice { first, last: last.max(first), rest })
            }
        }
    }

    fn designated_index(&mut self, ty: Ty, index: ast::ExprId) -> Option<u64> {
        let index = self.value(index);
        let span = self.span(index);
        if self.is_error(self.ty(index)) {
            return None;
        }
        let limit = match self.shape(ty) {
            TypeKind::Array(..) | TypeKind::Vector(..) => self.positions(ty),
            _ => {
                let what = format!("index in the initialiser of `{}`", self.show(ty));
                self.report(messages::bad_designator(&what, span));
                return None;
            }
        };
        let fault = match self.constant(index) {
            None => messages::not_constant("index of a designator", span),
            Some(value) => match u64::try_from(value) {
                Ok(value) if value < limit => return Some(value),
                Ok(_) | Err(_) => {
                    messages::bad_designator("index of a designator is outside the array", span)
                }
            },
        };
        self.report(fault);
        None
    }

    /// How many elements or members there are.
    fn positions(&self, ty: Ty) -> u64 {
        match self.shape(ty) {
            TypeKind::Array(_, ArrayLen::Known(length)) => *length,
            TypeKind::Array(_, ArrayLen::Unknown) => u64::MAX,
            TypeKind::Vector(_, lanes) => u64::from(*lanes),
            TypeKind::Record(id) => self.fields(*id).len() as u64,
            _ => 0,
        }
    }

    /// The next position that can be initialised: bit-fields without name cannot.
    fn position_from(&self, ty: Ty, from: u64) -> u64 {
        let TypeKind::Record(id) = self.shape(ty) else { return from };
        let fields = self.fields(*id);
        let mut at = from;
        while let Some(field) = usize::try_from(at).ok().and_then(|at| fields.get(at)) {
            if field.name.is_some() || field.bits.is_none() {
                break;
            }
            at += 1;
        }
        at
    }

    fn position_ty(&self, ty: Ty, at: u64) -> Ty {
        match self.shape(ty) {
            TypeKind::Array(elem, _) | TypeKind::Vector(elem, _) => *elem,
            TypeKind::Record(id) => self.field_ty(*id, u32::try_from(at).unwrap_or(u32::MAX)),
            _ => self.basics.error,
        }
    }

    fn fields(&self, id: RecordId) -> &[ir::types::Field] {
        self.program.types.records[id].fields.as_deref().unwrap_or_default()
    }
}

/// The elements of one aggregate while they are gathered.
#[derive(Default)]
struct Elements {
    list: Vec<InitElement>,
    /// One behind the last of them.
    end: u64,
    /// Where each is in the list; made once one comes out of order.
    index: Option<FxHashMap<(u64, u64), usize>>,
}

impl Elements {
    fn of(list: Vec<InitElement>) -> Elements {
        let end = list.iter().map(|it| it.last.saturating_add(1)).max().unwrap_or(0);
        Elements { list, end, index: None }
    }

    fn find(&mut self, first: u64, last: u64) -> Option<&mut InitElement> {
        if self.end <= first && self.index.is_none() {
            return None;
        }
        let index = self.index.get_or_insert_with(|| {
            let places = self.list.iter().enumerate();
            places.map(|(at, it)| ((it.first, it.last), at)).collect()
        });
        index.get(&(first, last)).and_then(|&at| self.list.get_mut(at))
    }

    fn push(&mut self, element: InitElement) {
        if let Some(index) = &mut self.index {
            index.insert((element.first, element.last), self.list.len());
        }
        self.end = self.end.max(element.last.saturating_add(1));
        self.list.push(element);
    }
}

impl Cursor<'_> {
    fn skip(&mut self) {
        self.at += 1;
        self.typed = None;
    }
}
