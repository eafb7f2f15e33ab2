//! Parallel regions as plain calls.
//!
//! The front end makes a function of a region and hands it, with a variable number of arguments, to the runtime:
//! `fork(place, n, region, a, b, …)`. Here the arguments go into a structure on the caller's stack, and a trampoline of
//! one signature takes them out again: `ferry_fork(trampoline, pack)`. The runtime promises to call the trampoline with
//! the pack it was given with it; the analysis relies on that, and so keeps the packs of all regions apart.

use crate::error::Error;
use crate::llvm::{Builder, Context, Linkage, Module, Opcode, Type, Value};

use super::Program;

/// What the front end calls, and what the runtime offers.
const FORKS: [(&str, &str); 2] = [("__kmpc_fork_call", OWN[0]), ("__kmpc_fork_teams", OWN[1])];

/// What the runtime offers.
pub(super) const OWN: [&str; 2] = ["ferry_fork", "ferry_fork_teams"];

/// The end of a trampoline's name.
const SUFFIX: &str = ".trampoline";

pub(super) fn lower(context: Context, program: &mut Program) -> Result<(), Error> {
    let builder = Builder::new(context);
    for (front, own) in FORKS {
        let Some(fork) = program.module.function(front) else { continue };
        if !fork.is_declaration() {
            return Err(Error::of(fork, "is defined; regions are started by `ferry_fork`"));
        }
        for call in fork.users() {
            let is_call =
                call.is_instruction() && call.opcode() == Opcode::LLVMCall && call.called() == fork;
            if !is_call {
                return Err(Error::of(fork, "its address is taken"));
            }
            lower_call(&builder, program, call, own)?;
        }
    }
    Ok(())
}

fn lower_call(
    builder: &Builder,
    program: &mut Program,
    call: Value,
    own: &str,
) -> Result<(), Error> {
    let (context, module) = (builder.context(), program.module);
    let arguments = call.arguments();
    let (Some(region), Some(captured)) = (arguments.get(2).copied(), arguments.get(3..)) else {
        return Err(Error::at(call, "starts a parallel region without a function"));
    };
    if !region.is_function() {
        return Err(Error::at(call, "starts a parallel region whose function is not known"));
    }
    let types: Vec<Type> = captured.iter().map(|it| it.ty()).collect();
    let expected = region.value_type().parameters();
    if expected.get(2..) != Some(types.as_slice()) {
        return Err(Error::at(call, "starts a parallel region with arguments of other types"));
    }
    let pack_type = context.structure(&types, false);
    // The pack lies in the entry block, so that a loop around the region does not grow the stack.
    let entry = call.function().blocks().first().and_then(|it| it.instructions().first().copied());
    builder.before(entry.unwrap_or(call));
    builder.set_location(None);
    let pack = builder.alloca(pack_type);
    pack.set_alignment(8);
    builder.before(call);
    builder.set_location(call.debug_location());
    for (index, value) in captured.iter().enumerate() {
        let field = builder.field(pack_type, pack, index as u32);
        builder.store(*value, field);
    }
    let trampoline = trampoline(context, module, region, pack_type);
    let pointer = context.pointer();
    let ty = context.void().function(&[pointer, pointer]);
    let own = module.function(own).unwrap_or_else(|| module.add_function(own, ty));
    if own.value_type() != ty {
        return Err(Error::of(
            own,
            "must be `void fork(void (*run)(int *, int *, void *), void *pack)`",
        ));
    }
    builder.call(ty, own, &[trampoline, pack]);
    call.erase();
    program.trampolines.insert(trampoline);
    Ok(())
}

/// `void region.trampoline(int *gtid, int *tid, void *pack)`, one for each region.
fn trampoline(context: Context, module: Module, region: Value, pack_type: Type) -> Value {
    let name = format!("{}{SUFFIX}", region.name());
    if let Some(known) = module.function(&name) {
        return known;
    }
    let pointer = context.pointer();
    let ty = context.void().function(&[pointer, pointer, pointer]);
    let function = module.add_function(&name, ty);
    function.set_linkage(Linkage::LLVMInternalLinkage);
    function.add_attribute(crate::llvm::FUNCTION, "nounwind", 0);
    let builder = Builder::new(context);
    builder.at_end(builder.add_block(function));
    let parameters = function.parameters();
    let (Some(ids), Some(pack)) = (parameters.get(..2), parameters.get(2)) else {
        return function;
    };
    let mut arguments = ids.to_vec();
    for (index, ty) in pack_type.fields().into_iter().enumerate() {
        let field = builder.field(pack_type, *pack, index as u32);
        arguments.push(builder.load(ty, field));
    }
    builder.call(region.value_type(), region, &arguments);
    builder.ret(None);
    function
}

/// Trampolines and packs of the forks that are left. Passes may have made one call of two, which then chooses among
/// trampolines.
pub(super) fn calls(program: &Program) -> Vec<(Value, Value)> {
    let own: Vec<Value> = OWN.iter().filter_map(|it| program.module.function(it)).collect();
    let mut calls = Vec::new();
    for call in own.iter().flat_map(|it| it.users()) {
        let is_call = call.is_instruction()
            && call.opcode() == Opcode::LLVMCall
            && own.contains(&call.called());
        if !is_call {
            continue;
        }
        let arguments = call.arguments();
        if let [run, pack] = arguments.as_slice() {
            let chosen = chosen(*run, program);
            calls.extend(chosen.into_iter().map(|it| (it, *pack)));
        }
    }
    calls
}

/// The trampolines that a value may be: all, if that is not plain to see.
fn chosen(run: Value, program: &Program) -> Vec<Value> {
    let mut seen = vec![run];
    let mut next = 0;
    while let Some(it) = seen.get(next).copied() {
        next += 1;
        if it.is_function() || it.is_null_pointer() || it.is_undefined() {
            continue;
        }
        let sources = match it.is_instruction().then(|| it.opcode()) {
            Some(Opcode::LLVMPHI) => it.incoming().into_iter().map(|it| it.0).collect(),
            Some(Opcode::LLVMSelect) => vec![it.operand(1), it.operand(2)],
            _ => {
                let functions = program.module.functions().into_iter();
                return functions.filter(|it| program.trampolines.contains(it)).collect();
            }
        };
        for source in sources {
            if !seen.contains(&source) {
                seen.push(source);
            }
        }
    }
    seen.into_iter().filter(|it| program.trampolines.contains(it)).collect()
}
