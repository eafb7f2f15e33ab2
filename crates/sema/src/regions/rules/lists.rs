//! What may be named in which list: variables, parts of them, of which types.

use ir::construct::{ClauseKind, Construct, Leaf};
use ir::program::{CastKind, ExprId, ExprKind, Program, Section, Typed, VarId};
use ir::region::Region;
use ir::types::{ArrayLen, TypeKind};
use source::Diagnostics;

use crate::regions::items::{self, Item, Role};
use crate::regions::{constant, messages, sharing};

pub(super) fn check(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    // Items of directives that declare may be functions, types or words of an extension.
    let declares = construct.leaves.iter().any(|it| {
        matches!(
            it,
            Leaf::DeclareTarget
                | Leaf::BeginDeclareTarget
                | Leaf::DeclareVariant
                | Leaf::BeginDeclareVariant
                | Leaf::DeclareMapper
                | Leaf::Transform
                | Leaf::Resources
                | Leaf::Memories
                | Leaf::Define
        )
    });
    let cx = Cx { program, construct };
    if construct.has(Leaf::DeclareMapper) {
        for it in items::all(construct) {
            cx.sections(it.expr, true, faults);
            cx.gaps(it, faults);
        }
    }
    if declares {
        return;
    }
    for item in items::all(construct) {
        cx.item(item, faults);
    }
    for &item in items::args(construct) {
        cx.sections(item, false, faults);
    }
}

/// A `loop` whose order is left open has last values of its counters only.
pub(super) fn last_values(program: &Program, region: &Region, faults: &mut Diagnostics) {
    let construct = &region.construct;
    if !construct.has(Leaf::Loop) || construct.rules.plain_nests || region.loops.is_empty() {
        return;
    }
    for item in items::all(construct).filter(|it| it.role == Role::LastPrivate) {
        let var = items::plain(program, item.expr);
        if var.is_some_and(|it| !region.loops.iter().any(|that| that.var == it)) {
            let span = program.exprs[item.expr].span;
            let what = "a variable that does not count its iterations";
            let wanted = "the counter of the loop";
            faults.push(messages::bad_item(construct, item.clause, span, what, wanted));
        }
    }
}

struct Cx<'a> {
    program: &'a Program,
    construct: &'a Construct<Typed>,
}

impl Cx<'_> {
    fn item(&self, item: Item, faults: &mut Diagnostics) {
        let expr = &self.program.exprs[item.expr];
        if matches!(expr.kind, ExprKind::Error) || self.program.types.is_error(expr.ty) {
            return;
        }
        // What tasks depend on is an address.
        let is_data = !matches!(item.role, Role::Depend | Role::Affinity);
        self.sections(item.expr, is_data, faults);
        if matches!(item.role, Role::Map | Role::Reduction) {
            self.gaps(item, faults);
        }
        let Some(var) = items::plain(self.program, item.expr) else {
            self.part(item, faults);
            return;
        };
        self.variable(item, var, faults);
    }

    /// An item that is more (or less) than a variable.
    fn part(&self, item: Item, faults: &mut Diagnostics) {
        let expr = &self.program.exprs[item.expr];
        let mut refuse = |what: &str, wanted: &str| {
            let fault = messages::bad_item(self.construct, item.clause, expr.span, what, wanted);
            faults.push(fault);
        };
        if items::base(self.program, item.expr).is_none() {
            let what = match &expr.kind {
                ExprKind::Int(_) | ExprKind::WideInt(_) | ExprKind::Float(_) | ExprKind::Str(_) => {
                    "a constant"
                }
                ExprKind::EnumConst(..) => "a constant",
                ExprKind::Call(..) => "a call",
                ExprKind::Function(_) if item.role != Role::Declared => "a function",
                // `this`-like words of extensions, compound literals, results of calls.
                _ => return,
            };
            // Where only addresses matter, any object will do.
            if !matches!(item.role, Role::Depend | Role::Affinity | Role::Named | Role::Allocate) {
                refuse(what, "a variable");
            }
            return;
        }
        let takes_parts = self.construct.rules.yields_to_data_region
            || self.construct.rules.plain_nests
            || self.construct.rules.holds_data;
        match item.role {
            Role::Private
            | Role::FirstPrivate
            | Role::LastPrivate
            | Role::Shared
            | Role::Linear
            | Role::CopyIn
            | Role::CopyPrivate
            | Role::Uniform
                if !takes_parts =>
            {
                let what = match &expr.kind {
                    ExprKind::Section(_) => "a part of an array",
                    ExprKind::Index(..) => "an element",
                    ExprKind::Member(..) => "a member",
                    _ => "an expression",
                };
                refuse(what, "a variable");
            }
            Role::Map | Role::Transfer if self.is_bit_field(item.expr) => {
                refuse("a bit-field", "an object with an address");
            }
            _ => {}
        }
    }

    fn is_bit_field(&self, item: ExprId) -> bool {
        let ExprKind::Member(_, record, at) = &self.program.exprs[item].kind else { return false };
        let fields = self.program.types.records[*record].fields.as_ref();
        fields.and_then(|it| it.get(*at as usize)).is_some_and(|it| it.bits.is_some())
    }

    /// An item that is a variable.
    fn variable(&self, item: Item, var: VarId, faults: &mut Diagnostics) {
        let Cx { program, construct } = *self;
        let types = &program.types;
        let ty = program.vars[var].ty;
        let span = program.exprs[item.expr].span;
        let at = item.clause;
        let is_thread_local = program.vars[var].thread_local;
        if is_thread_local && thread_local_is_wrong(item.role) {
            faults.push(messages::thread_local_item(program, construct, at, var, span));
        }
        match item.role {
            Role::Map | Role::Transfer
                if !types.is_complete(ty) && !types.is_vla(ty) && !types.is_error(ty) =>
            {
                faults.push(messages::incomplete(program, construct, at, var, span));
            }
            Role::Private | Role::LastPrivate | Role::Reduction | Role::Linear
                if sharing::is_const(program, var)
                    // Its parameters are described, not copied.
                    && !construct.has(Leaf::DeclareSimd)
                    && !construct.rules.plain_nests
                    && !construct.rules.yields_to_data_region =>
            {
                faults.push(messages::const_item(program, construct, at, var, span));
            }
            Role::CopyIn if !is_thread_local => {
                faults.push(messages::not_thread_local(program, construct, at, var, span));
            }
            Role::CopyIn | Role::CopyPrivate if has_memory_kind(program, var) => {
                faults.push(messages::copied_in(program, construct, at, var, span));
            }
            Role::Linear if !types.is_integer(ty) && !types.is_pointer(ty) => {
                let wanted = "an integer or a pointer";
                faults.push(messages::bad_type(program, construct, at, ty, span, wanted));
            }
            Role::Aligned | Role::DevicePointer if !types.is_pointer(ty) && !types.is_array(ty) => {
                let wanted = "a pointer or an array";
                faults.push(messages::bad_type(program, construct, at, ty, span, wanted));
            }
            Role::UseDevice
                if self.wants_pointer(at) && !types.is_pointer(ty) && !types.is_array(ty) =>
            {
                faults.push(messages::bad_type(program, construct, at, ty, span, "a pointer"));
            }
            Role::Allocate if !construct.has(Leaf::Taskgroup) && !self.has_copy(var) => {
                faults.push(messages::not_private(program, construct, at, var, span));
            }
            _ => {}
        }
    }

    fn wants_pointer(&self, at: u32) -> bool {
        let kind = self.construct.clauses.get(at as usize).map(|it| &it.kind);
        matches!(kind, Some(ClauseKind::UseDevice(ir::construct::UseDevice::Pointer, _)))
    }

    /// Whether some clause makes a copy of the variable that can be allocated.
    fn has_copy(&self, var: VarId) -> bool {
        items::all(self.construct).any(|it| {
            (it.role.makes_copy() || matches!(it.role, Role::TaskReduction | Role::Map))
                && items::base(self.program, it.expr) == Some(var)
        })
    }

    /// Sections inside an item, from the outside in, and elements where it is data.
    fn sections(&self, item: ExprId, is_data: bool, faults: &mut Diagnostics) {
        let mut at = item;
        loop {
            at = match &self.program.exprs[at].kind {
                ExprKind::Section(section) => {
                    self.section(at, section, faults);
                    section.base
                }
                ExprKind::Index(base, index) => {
                    if is_data && self.is_behind(at, *base, *index, faults) {
                        return;
                    }
                    *base
                }
                ExprKind::Member(base, ..) | ExprKind::Deref(base) | ExprKind::Cast(_, base) => {
                    *base
                }
                _ => return,
            };
        }
    }

    /// Reports a section between whose elements there surely is something else.
    fn gaps(&self, item: Item, faults: &mut Diagnostics) {
        let program = self.program;
        let value = |it: Option<ExprId>| it.and_then(|it| constant::int(program, it));
        // Whether less than an element of the array around is named.
        let mut is_part = false;
        let mut at = item.expr;
        loop {
            let expr = &program.exprs[at];
            let (base, named) = match &expr.kind {
                ExprKind::Section(it) => {
                    let whole = match program.types.shape(program.exprs[it.base].ty) {
                        TypeKind::Array(_, ArrayLen::Known(size)) => Some(i128::from(*size)),
                        _ => None,
                    };
                    let lower = it.lower.map_or(Some(0), |it| constant::int(program, it));
                    let rest = || Some(whole? - lower?);
                    let length = if it.length.is_some() { value(it.length) } else { rest() };
                    let has_stride = value(it.stride).is_some_and(|it| it > 1);
                    if length.is_some_and(|it| it > 1) && (is_part || has_stride) {
                        let span = program.exprs[item.expr].span;
                        faults.push(messages::gaps(self.construct, item.clause, span));
                        return;
                    }
                    (it.base, length)
                }
                ExprKind::Index(base, _) => (*base, Some(1)),
                ExprKind::Member(base, record, _) => {
                    let record = &program.types.records[*record];
                    is_part |=
                        !record.is_union && record.fields.as_ref().is_some_and(|it| it.len() > 1);
                    at = *base;
                    continue;
                }
                ExprKind::Cast(CastKind::ArrayToPointer, base) => {
                    at = *base;
                    continue;
                }
                ExprKind::Deref(base) | ExprKind::Cast(_, base) => {
                    (is_part, at) = (false, *base);
                    continue;
                }
                _ => return,
            };
            let array = match program.exprs[base].kind {
                ExprKind::Cast(CastKind::ArrayToPointer, array) => array,
                _ => base,
            };
            is_part = match program.types.shape(program.exprs[array].ty) {
                TypeKind::Array(_, ArrayLen::Known(size)) => {
                    is_part || named.is_some_and(|it| it < i128::from(*size))
                }
                TypeKind::Array(..) => is_part,
                // What a pointer leads to begins anew.
                _ => false,
            };
            at = array;
        }
    }

    /// Whether an element is none of its array's; that is reported.
    fn is_behind(&self, id: ExprId, base: ExprId, index: ExprId, faults: &mut Diagnostics) -> bool {
        let program = self.program;
        let array = match program.exprs[base].kind {
            ExprKind::Cast(CastKind::ArrayToPointer, array) => array,
            _ => base,
        };
        let TypeKind::Array(_, ArrayLen::Known(size)) =
            program.types.shape(program.exprs[array].ty)
        else {
            return false;
        };
        let Some(index) = constant::int(program, index) else { return false };
        if (0..i128::from(*size)).contains(&index) {
            return false;
        }
        faults.push(messages::no_element(program.exprs[id].span, index, *size));
        true
    }

    fn section(&self, id: ExprId, section: &Section, faults: &mut Diagnostics) {
        let program = self.program;
        let span = program.exprs[id].span;
        let element = program.types.element(program.exprs[section.base].ty);
        let element = element.or_else(|| program.types.pointee(program.exprs[section.base].ty));
        if let Some(ty) = element
            && !program.types.is_complete(ty)
            && !program.types.is_vla(ty)
            && !program.types.is_error(ty)
        {
            faults.push(messages::incomplete_elements(program, ty, span));
        }
        let place = |it: Option<ExprId>| it.map_or(span, |it| program.exprs[it].span);
        let value = |it: Option<ExprId>| it.and_then(|it| constant::int(program, it));
        let size = match program.types.shape(program.exprs[section.base].ty) {
            // GNU C's `[0]` is a flexible array.
            TypeKind::Array(_, ArrayLen::Known(size @ 1..)) => Some(i128::from(*size)),
            TypeKind::Array(_, ArrayLen::Unknown | ArrayLen::Known(0)) | TypeKind::Pointer(_) => {
                // `p[:]` is whatever is mapped there already.
                if section.length.is_none() && section.lower.is_some() {
                    let what = "the length of a section is missing".to_owned();
                    let why = "the size of what it is taken from is not known here".to_owned();
                    faults.push(messages::bad_section(span, what, why));
                }
                None
            }
            _ => None,
        };
        let lower = if section.lower.is_none() { Some(0) } else { value(section.lower) };
        let stride = if section.stride.is_none() { Some(1) } else { value(section.stride) };
        let length = value(section.length);
        // Behind a pointer there may be elements on both sides.
        let is_object = size.is_some();
        if is_object && lower.is_some_and(|it| it < 0) {
            let what = "a section begins before its array".to_owned();
            let why = format!("begins at {}", lower.unwrap_or(0));
            faults.push(messages::bad_section(place(section.lower), what, why));
        } else if length.is_some_and(|it| it < 0) {
            let what = "a section has a negative length".to_owned();
            let why = format!("has {} elements", length.unwrap_or(0));
            faults.push(messages::bad_section(place(section.length), what, why));
        } else if stride.is_some_and(|it| it <= 0) {
            let what = "the stride of a section is not positive".to_owned();
            let why = "must be greater than zero".to_owned();
            faults.push(messages::bad_section(place(section.stride), what, why));
        } else if let (Some(size), Some(lower)) = (size, lower) {
            let end = match (section.length, length, stride) {
                (None, ..) => Some(lower),
                (Some(_), Some(0), _) => Some(lower),
                (Some(_), Some(length), Some(stride)) => length
                    .checked_sub(1)
                    .and_then(|it| it.checked_mul(stride))
                    .map(|it| lower + it + 1),
                (Some(_), None, _) | (Some(_), Some(_), None) => Some(lower),
            };
            if let Some(end) = end.filter(|&it| it > size) {
                let what = "a section is longer than its array".to_owned();
                let why = format!("ends at {end}, but there are {size} elements");
                faults.push(messages::bad_section(span, what, why));
            }
        }
    }
}

/// In a memory of its own, by a directive.
fn has_memory_kind(program: &Program, var: VarId) -> bool {
    program.declarations.iter().any(|it| it.construct.has(Leaf::Memory) && it.vars.contains(&var))
}

fn thread_local_is_wrong(role: Role) -> bool {
    matches!(
        role,
        Role::Shared
            | Role::Private
            | Role::FirstPrivate
            | Role::LastPrivate
            | Role::Linear
            | Role::Reduction
            | Role::Map
    )
}
