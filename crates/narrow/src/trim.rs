//! Arithmetic of 64 bits of which only the lower half is used.
//!
//! An index of type `long` is computed with 64 bits and then cut to 32, because the address has no more. Sums, products
//! and the counters of loops give the same lower half when they are computed from lower halves alone, so what is only
//! ever cut is computed with 32 bits from the beginning. Nothing must be known about the numbers.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::llvm::{Builder, Context, Module, Opcode, Value};

/// Trims all functions of a module; how many values.
pub(crate) fn trim(context: Context, module: Module) -> u32 {
    let mut count = 0;
    for function in module.functions().into_iter().filter(|it| !it.is_declaration()) {
        let trimmed = candidates(context, function);
        count += trimmed.len() as u32;
        Trim { builder: Builder::new(context), trimmed: &trimmed, new: FxHashMap::default() }
            .run(function);
    }
    count
}

/// Values whose upper half nobody uses.
fn candidates(context: Context, function: Value) -> FxHashSet<Value> {
    let wide = context.integer(64);
    let may_be = |it: &Value| {
        it.ty() == wide
            && match it.opcode() {
                Opcode::LLVMPHI
                | Opcode::LLVMAdd
                | Opcode::LLVMSub
                | Opcode::LLVMMul
                | Opcode::LLVMAnd
                | Opcode::LLVMOr
                | Opcode::LLVMXor
                | Opcode::LLVMSelect => true,
                Opcode::LLVMShl => it.operand(1).unsigned().is_some_and(|it| it < 32),
                _ => false,
            }
    };
    let mut all: Vec<Value> = function.instructions().into_iter().filter(may_be).collect();
    let mut set: FxHashSet<Value> = all.iter().copied().collect();
    loop {
        let before = all.len();
        all.retain(|it| {
            let is_cut = it.users().into_iter().all(|user| {
                set.contains(&user)
                    || user.is_instruction()
                        && user.opcode() == Opcode::LLVMTrunc
                        && user.ty().bits() <= 32
            });
            if !is_cut {
                set.remove(it);
            }
            is_cut
        });
        if all.len() == before {
            return set;
        }
    }
}

struct Trim<'a> {
    builder: Builder,
    trimmed: &'a FxHashSet<Value>,
    new: FxHashMap<Value, Value>,
}

impl Trim<'_> {
    fn run(&mut self, function: Value) {
        if self.trimmed.is_empty() {
            return;
        }
        let word = self.builder.context().integer(32);
        let instructions = function.instructions();
        let is_phi = |it: &&Value| self.trimmed.contains(*it) && it.opcode() == Opcode::LLVMPHI;
        let phis: Vec<Value> = instructions.iter().filter(is_phi).copied().collect();
        for phi in &phis {
            self.builder.before(*phi);
            self.builder.set_location(phi.debug_location());
            let new = self.builder.phi(word);
            self.new.insert(*phi, new);
        }
        for it in instructions.iter().filter(|it| self.trimmed.contains(*it)) {
            self.low(*it);
        }
        for phi in phis {
            let Some(new) = self.new.get(&phi).copied() else { continue };
            for (value, block) in phi.incoming() {
                if let Some(end) = block.terminator() {
                    let low = self.low_at(value, end);
                    new.add_incoming(low, block);
                }
            }
        }
        for cut in instructions.iter().filter(|it| it.opcode() == Opcode::LLVMTrunc) {
            if let Some(low) = self.new.get(&cut.operand(0)).copied() {
                self.builder.before(*cut);
                let low = self.builder.resize(low, cut.ty());
                cut.replace_by(low);
            }
        }
    }

    /// The lower half of a trimmed value, made where the value is made.
    fn low(&mut self, it: Value) -> Value {
        if let Some(known) = self.new.get(&it) {
            return *known;
        }
        let operands = it.operands();
        let parts: Vec<Value> = match (it.opcode(), operands.as_slice()) {
            (Opcode::LLVMSelect, [condition, yes, no]) => {
                vec![*condition, self.low_at(*yes, it), self.low_at(*no, it)]
            }
            _ => operands.iter().map(|operand| self.low_at(*operand, it)).collect(),
        };
        self.builder.before(it);
        self.builder.set_location(it.debug_location());
        let new = match parts.as_slice() {
            [condition, yes, no] => self.builder.select(*condition, *yes, *no),
            [left, right] => self.builder.binary(it.opcode(), *left, *right),
            _ => self.builder.context().integer(32).poison(),
        };
        // Bits that never meet do not in the lower half; that a sum does not overflow is true of the whole only.
        if it.opcode() == Opcode::LLVMOr {
            new.copy_flags(it);
        }
        self.new.insert(it, new);
        new
    }

    /// The lower half of an operand, for use before `place`.
    fn low_at(&mut self, operand: Value, place: Value) -> Value {
        if self.trimmed.contains(&operand) {
            return self.low(operand);
        }
        let word = self.builder.context().integer(32);
        let is_extended = operand.is_instruction()
            && matches!(operand.opcode(), Opcode::LLVMSExt | Opcode::LLVMZExt)
            && operand.operand(0).ty() == word;
        if is_extended {
            return operand.operand(0);
        }
        self.builder.before(place);
        self.builder.set_location(place.debug_location());
        self.builder.resize(operand, word)
    }
}
