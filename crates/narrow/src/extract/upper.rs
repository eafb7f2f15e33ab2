//! Objects in which the upper half of a pointer may be read.
//!
//! A device pointer is written as a pointer and zeros above it, so that whoever reads 64 bits finds them. Where all who
//! read are known and read device pointers, which are the lower half, the zeros need not be written.

use rustc_hash::FxHashSet;

use crate::llvm::{Opcode, Value};
use crate::points::{HOST, LOW, Object};
use crate::prepare::Program;

use super::{Facts, is_plain_number};

/// Objects of which 64 bits are read somewhere.
pub(super) fn read_whole(program: &Program, facts: &Facts) -> FxHashSet<Object> {
    let mut whole = FxHashSet::default();
    let all = program.module.functions().into_iter().flat_map(Value::instructions);
    for it in all {
        let pointer = match it.opcode() {
            Opcode::LLVMLoad if it.is_atomic() => it.operand(0),
            Opcode::LLVMLoad if it.is_pointer() && facts.is_device(it) => continue,
            Opcode::LLVMLoad if !it.ty().has_pointer() && is_plain_number(it) => continue,
            Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => it.operand(0),
            Opcode::LLVMCall if it.called().is_intrinsic() => {
                let name = it.called().name();
                let is_copy =
                    ["llvm.memcpy", "llvm.memmove"].iter().any(|word| name.starts_with(word));
                match is_copy {
                    true => it.operand(1),
                    false => continue,
                }
            }
            _ => continue,
        };
        whole.extend(facts.objects_of(pointer));
    }
    whole
}

impl Facts {
    fn objects_of(&self, pointer: Value) -> Vec<Object> {
        let node = self.nodes.get(&pointer).or_else(|| self.constants.get(&pointer));
        let places = node.into_iter().flat_map(|it| self.solution.places(*it));
        places.map(|it| it.object).collect()
    }

    /// Whether somebody may read 64 bits where `pointer` points to.
    pub(crate) fn is_read_whole(&self, pointer: Value) -> bool {
        let objects = self.objects_of(pointer);
        let is_read = |it: &Object| {
            *it == HOST
                || *it == LOW
                || self.solution.is_escaped(*it)
                || self.read_whole.contains(it)
        };
        objects.is_empty() || objects.iter().any(is_read)
    }
}
