//! The program anew, for the accelerator.
//!
//! In: the program in the host's data model, and which pointers are device pointers. Out: a module for riscv32 in which
//! those are pointers of 32 bits and all others are integers of 64 bits; accesses through them are calls of
//! `ferry.wide.*` ([`memory`]), which are put in place last of all, in [`crate::finish`].
//!
//! The image in memory does not change: a pointer takes 8 bytes there, whatever it is, so sizes, offsets and what the
//! host shares stay as they are. A device pointer is read as the lower half; written with zeros above it.
//! Nothing is changed in place: LLVM cannot change the type of a value.

mod atomic;
mod call;
mod constant;
mod instruction;
mod memory;
mod signature;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::extract::Facts;
use crate::llvm::{
    Block, Builder, Context, Layout, Linkage, Module, Opcode, Type, TypeKind, Value,
};
use crate::prepare::{GENERIC_COPIES, LOCK, Model, Program, UNLOCK};
use crate::stats::Stats;

pub(crate) use atomic::UPDATE;
pub(crate) use constant::CHECK;
pub(crate) use memory::{LOAD, STORE};
use signature::Signature;

/// The name of machine and data model.
pub(crate) const TRIPLE: &str = "riscv32-unknown-elf";

/// How a pointer is held in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// 32 bits.
    Device,
    /// 64 bits, as an integer.
    Generic,
}

struct Rebuild<'a> {
    program: &'a Program,
    facts: &'a Facts,
    context: Context,
    /// Of the program as it came.
    layout: Layout,
    module: Module,
    builder: Builder,
    types: FxHashMap<Type, Type>,
    values: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
    signatures: FxHashMap<Value, Signature>,
    stats: Stats,
    /// Whether words are changed under a lock somewhere, so that they must be everywhere.
    words_are_locked: bool,
    lock: FxHashSet<Value>,
    /// Whether the program looks that nothing is lost when a pointer is cut.
    check: bool,
    wide_atomics: bool,
    near: FxHashSet<Value>,
}

/// How to rebuild.
pub(crate) struct Wishes {
    /// The layout of memory on the accelerator.
    pub(crate) layout: String,
    /// Whether the program looks that nothing is lost when a pointer is cut.
    pub(crate) check: bool,
    /// Elements whose variable offset has 32 bits and no sign.
    pub(crate) near: FxHashSet<Value>,
    /// Whether the hardware changes a word at an address of 64 bits in one instruction.
    pub(crate) wide_atomics: bool,
}

/// Rebuilds all of it.
pub(crate) fn rebuild(
    context: Context,
    program: &Program,
    facts: &Facts,
    wishes: Wishes,
) -> Result<(Module, Stats), Error> {
    let module = context.module("narrow");
    module.set_triple(TRIPLE);
    module.set_layout(&wishes.layout);
    let mut rebuild = Rebuild {
        program,
        facts,
        context,
        layout: program.module.layout(),
        module,
        builder: Builder::new(context),
        types: FxHashMap::default(),
        values: FxHashMap::default(),
        blocks: FxHashMap::default(),
        signatures: signature::signatures(program, facts)?,
        stats: Stats::default(),
        words_are_locked: false,
        lock: lock_functions(program.module),
        check: wishes.check,
        near: wishes.near,
        wide_atomics: wishes.wide_atomics,
    };
    rebuild.words_are_locked = rebuild.are_words_locked();
    rebuild.run()?;
    let stats = rebuild.stats;
    Ok((module, stats))
}

impl Rebuild<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let source = self.program.module;
        for global in source.globals() {
            if !global.name().starts_with("llvm.") {
                self.declare_global(global);
            }
        }
        for function in source.functions() {
            if !function.is_intrinsic() && !self.is_unused_declaration(function) {
                self.declare_function(function)?;
            }
        }
        for global in source.globals() {
            if let (Some(initial), Some(new)) =
                (global.initializer(), self.values.get(&global).copied())
            {
                let value = self.initial(global, initial)?;
                // The type of a variable is that of its first contents: pointers in it are pairs.
                let typed = self.retype_global(global, new, value);
                typed.set_initializer(value);
            }
        }
        for function in source.functions() {
            if !function.is_declaration() {
                self.body(function)?;
            }
        }
        self.drop_unused_copies();
        if source.has_flag("Debug Info Version") {
            self.module.add_number_flag("Debug Info Version", 3);
            self.module.copy_named_metadata("llvm.dbg.cu", source);
        }
        Ok(())
    }

    /// The runtime's copies were kept because any copy may turn out to need them.
    fn drop_unused_copies(&mut self) {
        for (_, name) in GENERIC_COPIES.iter().rev() {
            if let Some(function) = self.module.function(name).filter(|it| it.users().is_empty()) {
                function.erase_function();
                self.stats.forget(name);
            }
        }
    }

    fn is_unused_declaration(&self, function: Value) -> bool {
        function.is_declaration() && function.users().is_empty()
    }

    fn is_flat(&self) -> bool {
        self.program.model == Model::Device
    }

    /// The type as it lies in memory.
    fn memory_type(&mut self, ty: Type) -> Type {
        if let Some(known) = self.types.get(&ty) {
            return *known;
        }
        let new = match ty.kind() {
            TypeKind::LLVMPointerTypeKind if self.is_flat() => self.context.pointer(),
            TypeKind::LLVMPointerTypeKind => self.context.integer(64),
            TypeKind::LLVMArrayTypeKind => self.memory_type(ty.element()).array(ty.len()),
            TypeKind::LLVMStructTypeKind => {
                let fields: Vec<Type> =
                    ty.fields().into_iter().map(|it| self.memory_type(it)).collect();
                self.context.structure(&fields, ty.is_packed())
            }
            _ => ty,
        };
        self.types.insert(ty, new);
        new
    }

    fn kind(&self, value: Value) -> Kind {
        if self.facts.is_device(value) { Kind::Device } else { Kind::Generic }
    }

    fn kind_type(&self, kind: Kind) -> Type {
        match kind {
            Kind::Device => self.context.pointer(),
            Kind::Generic => self.context.integer(64),
        }
    }

    /// The type of a value in registers.
    fn value_type(&mut self, value: Value) -> Type {
        match value.is_pointer() {
            true => self.kind_type(self.kind(value)),
            false => self.memory_type(value.ty()),
        }
    }

    fn word(&self) -> Type {
        self.context.integer(32)
    }

    fn double_word(&self) -> Type {
        self.context.integer(64)
    }

    fn retype_global(&mut self, source: Value, global: Value, value: Value) -> Value {
        if global.value_type() == value.ty() {
            return global;
        }
        let name = global.name();
        let new = self.global_like(global, "", value.ty());
        global.replace_by(new);
        self.values.insert(source, new);
        global.erase_global();
        new.set_name(&name);
        new
    }

    fn declare_global(&mut self, global: Value) {
        let ty = self.memory_type(global.value_type());
        let new = self.global_like(global, &global.name(), ty);
        self.values.insert(global, new);
    }

    /// A variable that is like another one in all but its type.
    fn global_like(&self, like: Value, name: &str, ty: Type) -> Value {
        let new = self.module.add_global(name, ty);
        new.set_linkage(like.linkage());
        new.set_alignment(like.alignment());
        new.set_constant_global(like.is_constant_global());
        new.copy_unnamed_address(like);
        let section = like.section();
        if !section.is_empty() {
            new.set_section(&section);
        }
        new
    }

    fn declare_function(&mut self, function: Value) -> Result<(), Error> {
        if function.is_declaration() {
            signature::check_external(function)?;
        }
        let ty = self.function_type(function);
        let new = self.module.add_function(&function.name(), ty);
        let is_visible = self.program.kernels.contains(&function)
            || self.program.roots.contains(&function)
            || function.is_declaration();
        new.set_linkage(match is_visible {
            true => Linkage::LLVMExternalLinkage,
            false => Linkage::LLVMInternalLinkage,
        });
        new.add_attribute(crate::llvm::FUNCTION, "nounwind", 0);
        for name in
            ["alwaysinline", "noinline", "norecurse", "cold", "noreturn", "minsize", "optsize"]
        {
            if function.has_attribute(crate::llvm::FUNCTION, name) {
                new.add_attribute(crate::llvm::FUNCTION, name, 0);
            }
        }
        if function.has_attribute(crate::llvm::FUNCTION, "optnone") {
            new.remove_attribute(crate::llvm::FUNCTION, "noinline");
        }
        for (index, parameter) in new.parameters().into_iter().enumerate() {
            let place = index as i32 + 1;
            let kept: &[&str] = match parameter.is_pointer() {
                true => &["noalias", "noundef"],
                false => &["signext", "zeroext", "noundef"],
            };
            for name in kept {
                if function.has_attribute(place, name) {
                    new.add_attribute(place, name, 0);
                }
            }
        }
        let section = function.section();
        if !section.is_empty() {
            new.set_section(&section);
        }
        if let Some(program) = function.subprogram() {
            new.set_subprogram(program);
        }
        self.values.insert(function, new);
        Ok(())
    }

    fn function_type(&mut self, function: Value) -> Type {
        let ty = function.value_type();
        let signature = self.signatures.get(&function).cloned().unwrap_or_default();
        self.signature_type(ty, &signature)
    }

    fn signature_type(&mut self, ty: Type, signature: &Signature) -> Type {
        let parameters: Vec<Type> = ty
            .parameters()
            .into_iter()
            .enumerate()
            .map(|(index, it)| match it.is_pointer() {
                true => self.kind_type(signature.parameter(index)),
                false => self.memory_type(it),
            })
            .collect();
        let result = match ty.result() {
            it if it.is_pointer() => self.kind_type(signature.result),
            it => self.memory_type(it),
        };
        result.function(&parameters)
    }

    fn body(&mut self, function: Value) -> Result<(), Error> {
        let Some(new) = self.values.get(&function).copied() else { return Ok(()) };
        let blocks = function.blocks();
        for block in &blocks {
            let own = self.builder.add_block(new);
            self.blocks.insert(*block, own);
        }
        let order = reverse_post_order(&blocks);
        for block in &blocks {
            if !order.contains(block)
                && let Some(own) = self.blocks.get(block)
            {
                self.builder.at_end(*own);
                self.builder.set_location(None);
                self.builder.unreachable();
            }
        }
        let Some(entry) = blocks.first().and_then(|it| self.blocks.get(it)) else { return Ok(()) };
        self.builder.at_end(*entry);
        self.builder.set_location(None);
        for (old, new) in function.parameters().into_iter().zip(new.parameters()) {
            let value = match old.is_pointer() {
                true => self.as_kind(new, self.kind(old)),
                false => new,
            };
            self.values.insert(old, value);
        }
        let mut phis = Vec::new();
        // An instruction may become several blocks: jumps go to the first, phis behind it name the last.
        let mut ends = FxHashMap::default();
        for block in &order {
            let Some(own) = self.blocks.get(block).copied() else { continue };
            self.builder.at_end(own);
            for instruction in block.instructions() {
                self.builder.set_location(instruction.debug_location());
                if instruction.opcode() == Opcode::LLVMPHI {
                    phis.push(instruction);
                }
                if let Some(value) = self.instruction(instruction)? {
                    self.values.insert(instruction, value);
                }
            }
            ends.insert(*block, self.builder.block());
        }
        for phi in phis {
            self.complete(phi, &ends)?;
        }
        Ok(())
    }

    fn complete(&mut self, phi: Value, ends: &FxHashMap<Block, Block>) -> Result<(), Error> {
        let Some(new) = self.values.get(&phi).copied() else { return Ok(()) };
        for (value, block) in phi.incoming() {
            let end = ends.get(&block).copied();
            let Some(own) = end.or_else(|| self.blocks.get(&block).copied()) else { continue };
            let value = match (end, own.terminator()) {
                (Some(_), Some(terminator)) => {
                    self.builder.before(terminator);
                    self.builder.set_location(None);
                    self.operand_as(value, new.ty())?
                }
                _ => new.ty().poison(),
            };
            new.add_incoming(value, own);
        }
        Ok(())
    }

    /// Whether a function is part of the lock, which cannot use itself.
    fn is_lock(&self, function: Value) -> bool {
        self.lock.contains(&function)
    }
}

/// The lock, and all that it calls.
fn lock_functions(module: Module) -> FxHashSet<Value> {
    let mut found: FxHashSet<Value> = FxHashSet::default();
    let mut stack: Vec<Value> =
        [LOCK, UNLOCK].iter().filter_map(|it| module.function(it)).collect();
    while let Some(function) = stack.pop() {
        if found.insert(function) {
            let calls = function.instructions().into_iter();
            let calls = calls.filter(|it| it.opcode() == Opcode::LLVMCall).map(Value::called);
            stack.extend(calls.filter(|it| it.is_function() && !it.is_intrinsic()));
        }
    }
    found
}

/// Blocks that are reached, each behind those that lead to it, loops aside.
fn reverse_post_order(blocks: &[Block]) -> Vec<Block> {
    let mut seen = FxHashSet::default();
    let mut order = Vec::new();
    let mut stack: Vec<(Block, usize)> = Vec::new();
    if let Some(entry) = blocks.first() {
        seen.insert(*entry);
        stack.push((*entry, 0));
    }
    while let Some((block, next)) = stack.pop() {
        match block.successors().get(next).copied() {
            Some(successor) => {
                stack.push((block, next + 1));
                if seen.insert(successor) {
                    stack.push((successor, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}
