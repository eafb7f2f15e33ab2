//! From files to one program in the host's data model, ready to be looked at.
//!
//! Files are read and linked; marks of the user become a list; all that nobody outside may call becomes internal.
//! What hides pointers from the analysis is put into plain words while all pointers still have one size: parallel
//! regions ([`fork`]), functions with a variable number of arguments ([`variadic`]) and variables of threads ([`own`]). A light clean-up
//! follows: everything heavier would make induction variables as wide as the host's registers.

mod fork;
mod names;
mod own;
mod variadic;
mod words;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::llvm::{Builder, Context, Linkage, Module, Opcode, Type, TypeKind, Value};
use crate::options::{Assign, Options};

pub(crate) use names::{
    is_complex_arithmetic, is_library_number_function, is_runtime, takes_complex_number,
};

/// The runtime's copies of functions that LLVM knows, under names it does not.
pub(crate) const GENERIC_COPIES: [(&str, &str); 3] = [
    ("memcpy", "ferry.generic.memcpy"),
    ("memmove", "ferry.generic.memmove"),
    ("memset", "ferry.generic.memset"),
];

/// Functions that generated code calls.
pub(crate) const LOCK: &str = "ferry_lock_host";
/// The other half.
pub(crate) const UNLOCK: &str = "ferry_unlock_host";

/// How pointers look in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Model {
    /// 64 bits, as the host has them.
    Host,
    /// 32 bits: there is nothing to narrow.
    Device,
}

/// A program in one module.
pub(crate) struct Program {
    pub(crate) module: Module,
    pub(crate) model: Model,
    /// Functions that stay visible.
    pub(crate) kernels: FxHashSet<Value>,
    /// The same, called with device pointers.
    pub(crate) roots: FxHashSet<Value>,
    /// Functions and globals that the user calls `ferry.device`.
    pub(crate) device: FxHashSet<Value>,
    /// Functions that start parallel regions: their last parameter is fed by the fork alone.
    pub(crate) trampolines: FxHashSet<Value>,
    /// Calls of a fork: trampoline and pack.
    pub(crate) forks: Vec<(Value, Value)>,
    /// Globals that the host may write.
    pub(crate) shared: FxHashSet<Value>,
}

/// Reads, links and prepares.
pub(crate) fn prepare(
    context: Context,
    inputs: &[(String, Vec<u8>)],
    options: &Options,
) -> Result<Program, Error> {
    let (module, model) = link(context, inputs)?;
    refuse_what_nobody_can_share(module)?;
    // 32 bits are what the cores add in one instruction: clean-ups must not widen.
    module.set_layout(&module.layout_text().replace("-n32:64-", "-n32-"));
    resolve_aliases(module);
    own::lower(context, module)?;
    let marks = marks(module);
    let mut program = Program {
        module,
        model,
        kernels: FxHashSet::default(),
        roots: FxHashSet::default(),
        device: FxHashSet::default(),
        trampolines: FxHashSet::default(),
        forks: Vec::new(),
        shared: FxHashSet::default(),
    };
    let mut kept = BTreeSet::new();
    for function in module.functions() {
        let name = function.name();
        if marks.device.contains(&function) {
            program.device.insert(function);
        }
        if function.is_declaration() {
            continue;
        }
        if is_kernel(function, options) {
            check_kernel(function)?;
            program.kernels.insert(function);
            kept.insert(name);
        } else if marks.roots.contains(&function) {
            program.roots.insert(function);
            kept.insert(name);
        } else if name != LOCK && name != UNLOCK {
            function.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    if kept.is_empty() {
        let prefixes = options.kernels.join("`, `");
        let message = format!(
            "no function begins with `{prefixes}` and none is annotated `ferry.root`: nothing \
             would be left"
        );
        return Err(Error::new(message));
    }
    for global in module.globals() {
        if marks.device.contains(&global) {
            program.device.insert(global);
            if !global.is_declaration() {
                global.set_linkage(Linkage::LLVMInternalLinkage);
            }
        } else if !global.is_internal() && !global.name().starts_with("llvm.") {
            program.shared.insert(global);
        }
    }
    name_copies(context, module);
    variadic::lower(context, &mut program)?;
    fork::lower(context, &mut program)?;
    // Without assignment, programs are what the paper's are.
    if model == Model::Host && options.assign != Assign::None {
        words::lower(context, &program);
    }
    names::rename_number_functions(module);
    let passes = match options.level {
        0 => "always-inline,globaldce",
        _ => {
            "globaldce,always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,\
             simplifycfg),cgscc(inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,\
             simplifycfg)),function(loop-simplify,lcssa,loop-mssa(licm,loop-rotate,licm),\
             instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify),globaldce"
        }
    };
    // Trampolines that were inlined everywhere are gone: look the rest up by name.
    let names: Vec<String> = program.trampolines.iter().map(|it| it.name()).collect();
    keep_calls(module, &marks.device_names, true);
    module.run(passes, None).map_err(|it| Error::new(format!("cleaning up: {it}")))?;
    keep_calls(module, &marks.device_names, false);
    program.trampolines = names.iter().filter_map(|it| module.function(it)).collect();
    refresh(&mut program, &marks.device_names, &marks.root_names, options);
    module.verify().map_err(|it| Error::new(format!("the program is not valid: {it}")))?;
    Ok(program)
}

/// Handles of what passes may have removed are looked up again, by name.
fn refresh(program: &mut Program, device: &[String], roots: &[String], options: &Options) {
    let module = program.module;
    let find = |name: &String| module.function(name).or_else(|| module.global(name));
    program.device = device.iter().filter_map(find).collect();
    program.roots = roots.iter().filter_map(|it| module.function(it)).collect();
    program.kernels = module.functions().into_iter().filter(|it| is_kernel(*it, options)).collect();
    let is_shared = |it: &Value| !it.is_internal() && !it.name().starts_with("llvm.");
    program.shared = module.globals().into_iter().filter(is_shared).collect();
    program.forks = fork::calls(program);
}

/// Calls of functions that are marked, and of forks, say more than their bodies: they must not be inlined before they were
/// looked at.
fn keep_calls(module: Module, device: &[String], keep: bool) {
    // By name: passes remove functions that nobody calls.
    let names = device.iter().map(String::as_str).chain(fork::OWN);
    for function in names.filter_map(|it| module.function(it)) {
        match keep {
            _ if function.is_declaration() => {}
            true => {
                function.remove_attribute(crate::llvm::FUNCTION, "alwaysinline");
                function.add_attribute(crate::llvm::FUNCTION, "noinline", 0);
            }
            // Code that is not to be optimised is not to be inlined.
            false if function.has_attribute(crate::llvm::FUNCTION, "optnone") => {}
            false => function.remove_attribute(crate::llvm::FUNCTION, "noinline"),
        }
    }
}

fn link(context: Context, inputs: &[(String, Vec<u8>)]) -> Result<(Module, Model), Error> {
    let mut whole: Option<(Module, Model, &str)> = None;
    for (name, bytes) in inputs {
        let module = context
            .parse(name, bytes)
            .map_err(|it| Error::in_file(name, format!("not LLVM's intermediate code: {it}")))?;
        let triple = module.triple();
        let model = match triple.split('-').next() {
            Some("riscv64") => Model::Host,
            Some("riscv32") => Model::Device,
            _ => {
                let message =
                    format!("made for `{triple}`; compile it with --target=riscv64-unknown-elf");
                return Err(Error::in_file(name, message));
            }
        };
        if !module.assembly().is_empty() {
            return Err(Error::in_file(name, "assembly outside of functions"));
        }
        match whole {
            None => whole = Some((module, model, name)),
            Some((_, first, other)) if first != model => {
                let message = format!("made for `{triple}`, but {other} is not");
                return Err(Error::in_file(name, message));
            }
            Some((first, ..)) => {
                module.set_triple(&first.triple());
                if !first.link(module) {
                    let message = "cannot be linked with the others (a name is defined twice?)";
                    return Err(Error::in_file(name, message));
                }
            }
        }
    }
    let (module, model, _) = whole.ok_or_else(|| Error::new("no input"))?;
    Ok((module, model))
}

/// Types whose layout differs between the two machines.
fn refuse_what_nobody_can_share(module: Module) -> Result<(), Error> {
    let forbidden = |ty: Type| -> Option<&'static str> {
        if ty.any(&|it| it.kind() == TypeKind::LLVMScalableVectorTypeKind) {
            Some("a vector whose length the machine chooses")
        } else if ty.any(&|it| it.is_integer() && it.bits() > 64) {
            Some("an integer of more than 64 bits (`__int128`)")
        } else if ty.any(&|it| it.kind() == TypeKind::LLVMFP128TypeKind) {
            Some("`long double`")
        } else if ty.any(&|it| it.is_vector() && it.element().is_pointer()) {
            Some("a vector of pointers")
        } else {
            None
        }
    };
    for global in module.globals() {
        if let Some(what) = forbidden(global.value_type()) {
            return Err(Error::of(global, format!("holds {what}: the host lays it out otherwise")));
        }
    }
    for function in module.functions() {
        for instruction in function.instructions() {
            let ty = match instruction.opcode() {
                Opcode::LLVMAlloca => instruction.allocated_type(),
                Opcode::LLVMGetElementPtr => instruction.source_type(),
                _ => instruction.ty(),
            };
            if let Some(what) = forbidden(ty) {
                let message = format!("{what}: the host lays it out otherwise");
                return Err(Error::at(instruction, message));
            }
        }
    }
    Ok(())
}

fn resolve_aliases(module: Module) {
    for alias in module.aliases() {
        let (name, aliased) = (alias.name(), alias.aliased());
        let is_visible = !alias.is_internal();
        alias.replace_by(aliased);
        alias.set_linkage(Linkage::LLVMInternalLinkage);
        // The name that others know it by; nobody needs the one it had.
        if is_visible && aliased.is_internal() {
            alias.set_name("");
            aliased.set_name(&name);
            aliased.set_linkage(Linkage::LLVMExternalLinkage);
        }
    }
}

/// What the user has annotated.
#[derive(Default)]
struct Marks {
    device: FxHashSet<Value>,
    roots: FxHashSet<Value>,
    device_names: Vec<String>,
    root_names: Vec<String>,
}

fn marks(module: Module) -> Marks {
    let mut marks = Marks::default();
    let Some(list) = module.global("llvm.global.annotations") else { return marks };
    let entries = list.initializer().map(Value::operands).unwrap_or_default();
    for entry in entries {
        let (Some(what), Some(word)) = (entry.part(0), entry.part(1)) else { continue };
        let word = word.initializer().and_then(Value::constant_text);
        match word.as_deref() {
            Some("ferry.device") => {
                marks.device.insert(what);
                marks.device_names.push(what.name());
            }
            Some("ferry.root") => {
                marks.roots.insert(what);
                marks.root_names.push(what.name());
            }
            _ => {}
        }
    }
    list.erase_global();
    marks
}

/// Functions that the front end made of parts of a kernel have its name and more, and are internal.
fn is_kernel(function: Value, options: &Options) -> bool {
    let name = function.name();
    !function.is_declaration()
        && !function.is_internal()
        && options.kernels.iter().any(|it| name.starts_with(it.as_str()))
}

fn check_kernel(function: Value) -> Result<(), Error> {
    let ty = function.value_type();
    match ty.parameters().as_slice() {
        [slots] if slots.is_pointer() && ty.result().is_void() && !ty.is_variadic() => Ok(()),
        _ => Err(Error::of(function, "a kernel is `void kernel(void *const *slots)`")),
    }
}

/// Copies in the runtime get names of their own; calls of them become what LLVM calls intrinsics, so that those
/// between device pointers need no generic loop.
fn name_copies(context: Context, module: Module) {
    let builder = Builder::new(context);
    for (name, own) in GENERIC_COPIES {
        let Some(function) = module.function(name) else { continue };
        let ty = function.value_type();
        let size = context.integer(module.layout().pointer_size() * 8);
        let second = if name == "memset" { context.integer(32) } else { context.pointer() };
        let expected = context.pointer().function(&[context.pointer(), second, size]);
        if ty == expected {
            for call in function.users() {
                let is_call = call.is_instruction()
                    && call.opcode() == Opcode::LLVMCall
                    && call.called() == function;
                if is_call && call.function() != function {
                    become_intrinsic(&builder, module, call, name);
                }
            }
        }
        if function.is_declaration() {
            if function.users().is_empty() {
                function.erase_function();
            }
        } else if ty == expected {
            function.set_name(own);
            function.set_linkage(Linkage::LLVMExternalLinkage);
        }
    }
}

fn become_intrinsic(builder: &Builder, module: Module, call: Value, name: &str) {
    let arguments = call.arguments();
    let [to, second, len] = arguments.as_slice() else { return };
    let context = builder.context();
    builder.before(call);
    builder.set_location(call.debug_location());
    let suffix = format!("i{}", len.ty().bits());
    let (name, second) = match name {
        "memset" => {
            (format!("llvm.memset.p0.{suffix}"), builder.resize(*second, context.integer(8)))
        }
        _ => (format!("llvm.{name}.p0.p0.{suffix}"), *second),
    };
    let is_volatile = context.integer(1);
    let ty = context.void().function(&[to.ty(), second.ty(), len.ty(), is_volatile]);
    let intrinsic = module.function(&name).unwrap_or_else(|| module.add_function(&name, ty));
    builder.call(ty, intrinsic, &[*to, second, *len, is_volatile.null()]);
    call.replace_by(*to);
    call.erase();
}
