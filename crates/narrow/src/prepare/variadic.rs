//! Functions with a variable number of arguments, by arrays.
//!
//! The host's convention for these is gone on the accelerator, so both sides are rewritten: the caller puts the
//! arguments behind the named ones into slots of 8 bytes, as `va_arg` of the host's data model reads them, and passes the address.
//! A function `f` that is not defined here becomes `ferry_va_f(fixed…, unsigned long long *slots)`; one that is gets a
//! last parameter for it.

use crate::error::Error;
use crate::llvm::{Builder, Context, Linkage, Opcode, Type, Value};

use super::{Model, Program};

pub(super) fn lower(context: Context, program: &mut Program) -> Result<(), Error> {
    let own_fork = |it: &Value| it.name().starts_with("__kmpc_fork_");
    let variadic: Vec<Value> = program
        .module
        .functions()
        .into_iter()
        .filter(|it| it.value_type().is_variadic() && !own_fork(it) && !it.is_intrinsic())
        .collect();
    for function in variadic {
        if function.is_declaration() && function.users().is_empty() {
            continue;
        }
        let twin = twin(context, program, function)?;
        let pack_words = function.is_declaration() || program.model == Model::Host;
        for call in function.users() {
            let is_call = call.is_instruction()
                && call.opcode() == Opcode::LLVMCall
                && call.called() == function;
            if !is_call {
                let message =
                    "a function with a variable number of arguments is called by its address";
                return Err(Error::of(function, message));
            }
            rewrite(context, call, twin, pack_words)?;
        }
    }
    for function in program.module.functions() {
        lower_lists(context, function);
    }
    Ok(())
}

/// The function that takes an array.
fn twin(context: Context, program: &mut Program, function: Value) -> Result<Value, Error> {
    let module = program.module;
    let ty = function.value_type();
    let mut parameters = ty.parameters();
    parameters.push(context.pointer());
    let twin_type = ty.result().function(&parameters);
    if function.is_declaration() {
        let name = format!("ferry_va_{}", function.name());
        let twin = module.function(&name).unwrap_or_else(|| module.add_function(&name, twin_type));
        if twin.value_type() != twin_type {
            let message = format!("`{name}` must take the same and `unsigned long long *slots`");
            return Err(Error::of(function, message));
        }
        return Ok(twin);
    }
    let name = function.name();
    let twin = module.add_function(&format!("{name}.slots"), twin_type);
    twin.set_linkage(Linkage::LLVMInternalLinkage);
    if let Some(it) = function.subprogram() {
        twin.set_subprogram(it);
    }
    crate::llvm::move_body(function, twin);
    let builder = Builder::new(context);
    let slots = twin.parameters().last().copied().unwrap_or(twin);
    for call in twin.instructions() {
        if call.opcode() != Opcode::LLVMCall || !call.called().is_intrinsic() {
            continue;
        }
        let name = call.called().name();
        let arguments = call.arguments();
        if name.starts_with("llvm.va_start") {
            builder.before(call);
            if let Some(list) = arguments.first() {
                builder.store(slots, *list);
            }
            call.erase();
        }
    }
    Ok(twin)
}

/// `va_end` and `va_copy` are plain words once a list is a pointer; any function may have them.
fn lower_lists(context: Context, function: Value) {
    let builder = Builder::new(context);
    for call in function.instructions() {
        if call.opcode() != Opcode::LLVMCall || !call.called().is_intrinsic() {
            continue;
        }
        let name = call.called().name();
        if name.starts_with("llvm.va_copy") {
            if let [to, from] = call.arguments().as_slice() {
                builder.before(call);
                let list = builder.load(context.pointer(), *from);
                builder.store(list, *to);
            }
            call.erase();
        } else if name.starts_with("llvm.va_end") {
            call.erase();
        }
    }
}

fn rewrite(context: Context, call: Value, twin: Value, pack_words: bool) -> Result<(), Error> {
    let twin_type = twin.value_type();
    let fixed = twin_type.parameters().len() - 1;
    let arguments = call.arguments();
    let (named, rest) = arguments.split_at(fixed.min(arguments.len()));
    let builder = Builder::new(context);
    let word = context.integer(64);
    let mut offset = 0;
    let mut places = Vec::new();
    for it in rest {
        let bytes = bytes_of(call, it.ty(), pack_words)?;
        // In the accelerator's own data model what takes 8 bytes is aligned to them.
        offset = u64::next_multiple_of(offset, bytes);
        places.push((*it, offset));
        offset += bytes;
    }
    let entry = call.function().blocks().first().and_then(|it| it.instructions().first().copied());
    builder.before(entry.unwrap_or(call));
    let slots = builder.alloca(word.array(offset.div_ceil(8).max(1)));
    slots.set_alignment(8);
    builder.before(call);
    builder.set_location(call.debug_location());
    for (value, offset) in places {
        let slot = builder.byte_offset(slots, word.constant(offset));
        let value = match value.ty().is_integer() && pack_words {
            true => builder.resize_signed(value, word),
            false => value,
        };
        builder.store(value, slot);
    }
    let mut arguments = named.to_vec();
    arguments.push(slots);
    let new = builder.call(twin_type, twin, &arguments);
    if !call.ty().is_void() {
        call.replace_by(new);
    }
    call.erase();
    Ok(())
}

/// What an argument takes in the array.
fn bytes_of(call: Value, ty: Type, pack_words: bool) -> Result<u64, Error> {
    use crate::llvm::TypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind};
    let is_scalar = ty.is_pointer()
        || ty.is_integer() && ty.bits() <= 64
        || matches!(ty.kind(), LLVMDoubleTypeKind | LLVMFloatTypeKind);
    if !is_scalar {
        let message = format!("passes `{}` among a variable number of arguments", ty.text());
        return Err(Error::at(call, message));
    }
    let is_short = ty.is_pointer() || ty.is_integer() && ty.bits() <= 32;
    Ok(if is_short && !pack_words { 4 } else { 8 })
}
