//! Parameters that are declared as arrays: where the standard lets a data clause speak of the whole
//! array, the clause is given the section that the declaration states.
//!
//! In: typed constructs. Out: the same, with `a[0:n]` for the item `a` that was declared `T a[n]`; it is
//! as if the user had written so. The length must be what it was when the function began: a
//! constant, or made of parameters that the function never changes and that no other name of it
//! hides. Where there is none, the clause keeps meaning the pointer, and that is said.
//!
//! A clause that only asks for data that are on the device already needs no length: there every pointer stands
//! for what it points to, `p[0:0]`, as programs are written. An update of a pointer needs none either, nor does its
//! exit: what is mapped behind it is moved or goes, `p[:]`. But for pointers that a clause or a declaration has put on
//! the device themselves.

use ir::construct::{ClauseKind, Construct, Leaf, Presence};
use ir::program::{Expr, ExprId, ExprKind, FunctionId, Program, Section, Typed, VarId, VarStorage};
use ir::types::{ArrayLen, IntKind, RecordId, TypeKind};
use source::{Diagnostics, Span};

use super::walk::{self, Access, Visit};
use super::{items, messages};

/// Gives shapes to the items of all constructs that take them.
pub(super) fn apply(program: &mut Program, faults: &mut Diagnostics) {
    let regions: Vec<_> = program.regions.iter().map(|it| it.0).collect();
    for id in regions {
        let construct = &program.regions[id].construct;
        if let Some(shaped) = shaped(program, construct, faults) {
            program.regions[id].construct = with_sections(program, shaped);
        }
    }
    for at in 0..program.declarations.len() {
        let construct = program.declarations.get(at).map(|it| &it.construct);
        let Some(shaped) = construct.and_then(|it| shaped(program, it, faults)) else { continue };
        let construct = with_sections(program, shaped);
        if let Some(declaration) = program.declarations.get_mut(at) {
            declaration.construct = construct;
        }
    }
}

/// A construct and the items of it that are to be sections.
struct Shaped {
    construct: Construct<Typed>,
    sections: Vec<(ExprId, Len)>,
}

/// The length of a section.
enum Len {
    Known(i64),
    Computed(ExprId),
    /// As much as is mapped when it is asked for.
    AsMapped,
}

/// The construct, if some item of it is an array by declaration.
fn shaped(
    program: &Program,
    construct: &Construct<Typed>,
    faults: &mut Diagnostics,
) -> Option<Shaped> {
    if !construct.rules.declared_shapes {
        return None;
    }
    let mut sections = Vec::new();
    for (at, clause) in (0u32..).zip(&construct.clauses) {
        // What a pointer stands for that says no length.
        let (list, unsaid): (_, Option<fn() -> Len>) = match &clause.kind {
            ClauseKind::Map(map) if construct.has(Leaf::ExitData) => {
                (&map.items, Some(|| Len::AsMapped))
            }
            ClauseKind::Map(map) if map.presence != Presence::Any => {
                (&map.items, Some(|| Len::Known(0)))
            }
            ClauseKind::Map(map) => (&map.items, None),
            ClauseKind::Transfer(transfer) => (&transfer.items, Some(|| Len::AsMapped)),
            _ => continue,
        };
        for &item in list {
            let Some((var, declared)) = array_parameter(program, item) else {
                if let Some(unsaid) = unsaid
                    && is_pointer_to_data(program, construct, item)
                    && !is_mapped_itself(program, item)
                {
                    sections.push((item, unsaid()));
                }
                continue;
            };
            match (length(program, var, declared), unsaid) {
                (Some(len), _) => sections.push((item, len)),
                (None, Some(unsaid)) => sections.push((item, unsaid())),
                (None, None) => {
                    let span = program.exprs[item].span;
                    faults.push(messages::length_unknown(program, construct, at, var, span));
                }
            }
        }
    }
    (!sections.is_empty()).then(|| Shaped { construct: construct.clone(), sections })
}

/// The parameter that the item names and nothing else, and how long it was declared.
fn array_parameter(program: &Program, item: ExprId) -> Option<(VarId, ArrayLen)> {
    let var = items::plain(program, item)?;
    Some((var, program.vars[var].declared_len?))
}

/// The item is a pointer to objects, of which the device has no copy by declaration.
fn is_pointer_to_data(program: &Program, construct: &Construct<Typed>, item: ExprId) -> bool {
    if construct.has(Leaf::ExitData) && member(program, item).is_some() {
        let pointee = program.types.pointee(program.exprs[item].ty);
        return pointee.is_some_and(|it| program.types.is_complete(it));
    }
    let Some(var) = items::plain(program, item) else { return false };
    let pointee = program.types.pointee(program.vars[var].ty);
    pointee.is_some_and(|it| program.types.is_complete(it))
        && !program.declarations.iter().any(|it| names(program, &it.construct, var))
}

/// Some clause of the program gives the pointer itself a place on the device.
fn is_mapped_itself(program: &Program, item: ExprId) -> bool {
    let mut regions = program.regions.iter().map(|it| &it.1.construct);
    match (items::plain(program, item), member(program, item)) {
        (Some(var), _) => regions.any(|it| names(program, it, var)),
        (None, Some(of)) => regions
            .any(|it| enters(it).any(|&that| member(program, that).is_some_and(|it| it == of))),
        (None, None) => false,
    }
}

/// A clause of the construct gives the variable itself a place on the device.
fn names(program: &Program, construct: &Construct<Typed>, var: VarId) -> bool {
    enters(construct).any(|&it| items::plain(program, it) == Some(var))
}

/// What the construct puts on the device.
fn enters(construct: &Construct<Typed>) -> impl Iterator<Item = &ExprId> {
    let is_exit = construct.has(Leaf::ExitData);
    let maps = construct.clauses.iter().filter_map(move |clause| match &clause.kind {
        ClauseKind::Map(map) if map.presence == Presence::Any && !is_exit => Some(&map.items),
        _ => None,
    });
    maps.flatten()
}

/// The member that an item is, of whichever object.
fn member(program: &Program, item: ExprId) -> Option<(RecordId, u32)> {
    match program.exprs[item].kind {
        ExprKind::Member(_, record, index) => Some((record, index)),
        _ => None,
    }
}

/// What the declaration says, if it still holds.
fn length(program: &Program, var: VarId, declared: ArrayLen) -> Option<Len> {
    let VarStorage::Param(function) = program.vars[var].storage else { return None };
    match declared {
        ArrayLen::Known(len) => Some(Len::Known(i64::try_from(len).ok()?)),
        ArrayLen::Variable(Some(len)) => {
            is_steady(program, function, len).then_some(Len::Computed(len))
        }
        ArrayLen::Variable(None) | ArrayLen::Unknown => None,
    }
}

/// Whether an expression means the same everywhere in the function as at its beginning.
fn is_steady(program: &Program, function: FunctionId, len: ExprId) -> bool {
    struct Changes<'a> {
        of: &'a [VarId],
        found: bool,
    }
    impl Visit for Changes<'_> {
        fn access(&mut self, var: VarId, access: Access, _: Span) {
            self.found |= access.write && self.of.contains(&var);
        }
    }
    let Some(vars) = parameters_in(program, function, len) else { return false };
    let mut changes = Changes { of: &vars, found: false };
    if let Some(body) = program.functions[function].body {
        walk::stmt(program, body, &mut changes);
    }
    !changes.found && !vars.iter().any(|&it| is_hidden(program, function, it))
}

/// The parameters that an expression is made of, if it is made of nothing else that may change.
fn parameters_in(program: &Program, function: FunctionId, len: ExprId) -> Option<Vec<VarId>> {
    let mut vars = Vec::new();
    let mut stack = vec![len];
    while let Some(id) = stack.pop() {
        match &program.exprs[id].kind {
            ExprKind::Int(_) | ExprKind::EnumConst(..) => {}
            ExprKind::Var(var) if program.vars[*var].storage == VarStorage::Param(function) => {
                vars.push(*var);
            }
            ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => stack.push(*inner),
            ExprKind::Binary(_, left, right) => stack.extend([*left, *right]),
            _ => return None,
        }
    }
    Some(vars)
}

/// Whether something else of the function has the same name.
fn is_hidden(program: &Program, function: FunctionId, var: VarId) -> bool {
    let name = program.vars[var].name;
    program.vars.iter().any(|(id, it)| {
        let is_inside = match it.storage {
            VarStorage::Local(of) | VarStorage::LocalStatic(of) | VarStorage::Param(of) => {
                of == function
            }
            VarStorage::Global | VarStorage::Extern | VarStorage::Static => false,
        };
        is_inside && id != var && it.name == name
    })
}

/// The construct with sections in place of its items.
fn with_sections(program: &mut Program, shaped: Shaped) -> Construct<Typed> {
    let Shaped { mut construct, sections } = shaped;
    let (int, long) = (IntKind::Int, program.model.ptrdiff_kind);
    for (item, len) in sections {
        let Expr { ty, span, .. } = program.exprs[item];
        let mut number = |value: i64| {
            let kind = if i32::try_from(value).is_ok() { int } else { long };
            let ty = program.types.get(TypeKind::Int(kind));
            program.exprs.push(Expr { kind: ExprKind::Int(value), ty, span })
        };
        let (lower, length) = match len {
            Len::Known(value) => (Some(number(0)), Some(number(value))),
            Len::Computed(length) => (Some(number(0)), Some(length)),
            Len::AsMapped => (None, None),
        };
        let Some(ty) = program.types.pointee(ty) else { continue };
        let section = Section { base: item, lower, length, stride: None };
        let kind = ExprKind::Section(Box::new(section));
        let section = program.exprs.push(Expr { kind, ty, span });
        for clause in &mut construct.clauses {
            let list = match &mut clause.kind {
                ClauseKind::Map(map) => &mut map.items,
                ClauseKind::Transfer(transfer) => &mut transfer.items,
                _ => continue,
            };
            list.iter_mut().filter(|it| **it == item).for_each(|it| *it = section);
        }
    }
    construct
}
