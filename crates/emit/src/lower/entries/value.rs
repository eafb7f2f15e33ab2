//! Variables as arguments: values that fit one, lengths that are known at run time, names that a kernel
//! can use as they are.

use ir::program::{ExprId, Program, VarId, VarStorage};
use ir::types::{ArrayLen, Ty, TypeKind};

use crate::c::Printer;

/// The value of a variable as one argument, if it fits.
pub(super) fn as_slot(printer: &Printer<'_>, ty: Ty, name: &str) -> Option<String> {
    let program = printer.program();
    let fits = program.model.size_of(&program.types, ty).is_ok_and(|it| it <= 8);
    if program.types.is_pointer(ty) {
        return Some(format!("(void *)({name})"));
    }
    if !fits || program.types.is_aggregate(ty) || program.types.is_complex(ty) {
        return None;
    }
    if program.types.is_integer(ty) {
        return Some(format!("(void *)(__ferry_word)({name})"));
    }
    if printer.is_for_grid() {
        return Some(format!("__ferry_bits({name})"));
    }
    // Of a copy: a variable whose address is taken is slower in the user's own loops.
    Some(format!("__ferry_value(&(__typeof__({name})){{ {name} }}, sizeof({name}))"))
}

/// The lengths in a type that are computed when the variable comes to life, and how to get them
/// back from the variable.
pub(in crate::lower) fn variable_lengths(
    program: &Program,
    ty: Ty,
    name: &str,
) -> Vec<(ExprId, String)> {
    let mut found = Vec::new();
    let (mut ty, mut object) = (ty, name.to_owned());
    loop {
        match program.types.shape(ty) {
            TypeKind::Array(element, len) => {
                if let ArrayLen::Variable(Some(len)) = len {
                    found.push((*len, format!("sizeof({object}) / sizeof(({object})[0])")));
                }
                object = format!("({object})[0]");
                ty = *element;
            }
            TypeKind::Pointer(to) => {
                object = format!("*({object})");
                ty = *to;
            }
            _ => return found,
        }
    }
}

/// Whether a kernel at the end of the file can name the variable.
pub(super) fn is_outside_name(program: &Program, var: VarId) -> bool {
    match program.vars[var].storage {
        VarStorage::Global | VarStorage::Extern | VarStorage::Static => true,
        VarStorage::LocalStatic(_) | VarStorage::Param(_) | VarStorage::Local(_) => false,
    }
}

pub(in crate::lower) fn is_constant(program: &Program, var: VarId) -> bool {
    let ty = program.vars[var].ty;
    program.types.resolve(program.types.innermost_element(ty)).quals.is_const
}

/// `__func__` and its relatives.
pub(in crate::lower) fn is_function_name(program: &Program, var: VarId) -> bool {
    let var = &program.vars[var];
    let name = var.name.map_or("", |it| program.names.text(it));
    matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__")
}

/// One of the C library's streams.
pub(super) fn is_stream(program: &Program, var: VarId) -> bool {
    let var = &program.vars[var];
    let name = var.name.map_or("", |it| program.names.text(it));
    var.storage == VarStorage::Extern && matches!(name, "stdin" | "stdout" | "stderr")
}
