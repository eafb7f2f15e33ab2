//! How functions take their pointers.
//!
//! A pointer parameter has 32 bits if every caller's pointer is a device pointer. Functions that are called through one
//! pointer must agree: if one of them takes a generic pointer, all do. Functions outside the program and
//! those that are called from outside take device pointers only.

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::extract::Facts;
use crate::llvm::{Opcode, Type, TypeKind, Value};
use crate::prepare::{
    Program, is_complex_arithmetic, is_library_number_function, takes_complex_number,
};

use super::Kind;

/// Kinds of the pointers in a function's type; those of other parameters mean nothing.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) parameters: Vec<Kind>,
    pub(super) result: Kind,
    /// Somebody outside relies on it.
    pub(super) is_fixed: bool,
}

impl Default for Signature {
    fn default() -> Signature {
        Signature { parameters: Vec::new(), result: Kind::Device, is_fixed: false }
    }
}

impl Signature {
    pub(super) fn parameter(&self, index: usize) -> Kind {
        self.parameters.get(index).copied().unwrap_or(Kind::Device)
    }

    /// As wide as both.
    fn widen(&mut self, other: &Signature) -> bool {
        let before = self.clone();
        for (index, kind) in other.parameters.iter().enumerate() {
            if *kind == Kind::Generic
                && let Some(it) = self.parameters.get_mut(index)
            {
                *it = Kind::Generic;
            }
        }
        if other.result == Kind::Generic {
            self.result = Kind::Generic;
        }
        before.parameters != self.parameters || before.result != self.result
    }
}

pub(super) fn signatures(
    program: &Program,
    facts: &Facts,
) -> Result<FxHashMap<Value, Signature>, Error> {
    let kind = |is_device: bool| if is_device { Kind::Device } else { Kind::Generic };
    let mut signatures = FxHashMap::default();
    for function in program.module.functions() {
        let is_fixed = function.is_declaration()
            || program.kernels.contains(&function)
            || program.roots.contains(&function);
        let count = function.parameters().len();
        let signature = match is_fixed {
            true => {
                Signature { parameters: vec![Kind::Device; count], result: Kind::Device, is_fixed }
            }
            false => Signature {
                parameters: function
                    .parameters()
                    .into_iter()
                    .map(|it| kind(!it.is_pointer() || facts.is_device(it)))
                    .collect(),
                result: kind(
                    !function.value_type().result().is_pointer() || facts.returns_device(function),
                ),
                is_fixed,
            },
        };
        signatures.insert(function, signature);
    }
    agree(program, facts, &mut signatures)?;
    Ok(signatures)
}

/// Functions that one call may reach get one signature.
fn agree(
    program: &Program,
    facts: &Facts,
    signatures: &mut FxHashMap<Value, Signature>,
) -> Result<(), Error> {
    let mut groups = Vec::new();
    for function in program.module.functions() {
        for call in function.instructions() {
            let is_indirect = call.opcode() == Opcode::LLVMCall
                && !call.called().is_function()
                && !call.called().is_assembly();
            if is_indirect {
                groups.push((call, facts.targets(call)?));
            }
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (call, group) in &groups {
            let mut all = Signature::default();
            for target in group {
                if let Some(it) = signatures.get(target) {
                    if all.parameters.len() < it.parameters.len() {
                        all.parameters.resize(it.parameters.len(), Kind::Device);
                    }
                    all.widen(it);
                }
            }
            for target in group {
                let Some(it) = signatures.get_mut(target) else { continue };
                let (is_fixed, before) = (it.is_fixed, it.clone());
                if it.widen(&all) {
                    if is_fixed {
                        *it = before;
                        let message = format!(
                            "may call {}, which takes device pointers, and a function that takes \
                             pointers of the host",
                            target.name()
                        );
                        return Err(Error::at(*call, message));
                    }
                    changed = true;
                }
            }
        }
    }
    Ok(())
}

/// Functions that are linked later are of the accelerator's own data model.
pub(super) fn check_external(function: Value) -> Result<(), Error> {
    let ty = function.value_type();
    let name = function.name();
    let mut all = ty.parameters();
    all.push(ty.result());
    // Both machines pass structures in their own way, and complex numbers are such.
    let is_aggregate = |it: &Type| it.is_struct() || it.is_array();
    let is_handed_alike = is_complex_arithmetic(&name);
    if all.iter().any(is_aggregate) && !is_handed_alike || takes_complex_number(&name) {
        let message = "is not defined, and takes or gives a structure or a complex number by value, \
                       which a library for 32 bits is handed otherwise";
        return Err(Error::of(function, message));
    }
    let is_long = |it: Type| it.is_integer() && it.bits() > 32;
    if all.iter().any(|it| it.any(&is_long)) && !is_library_number_function(&name) {
        let message = "is not defined, and takes or gives an integer of 64 bits, which is `long` \
                       or `size_t` here but not in a library for 32 bits";
        return Err(Error::of(function, message));
    }
    if all.iter().any(|it| !it.is_pointer() && it.has_pointer()) {
        return Err(Error::of(
            function,
            "is not defined, and takes or gives pointers in a structure",
        ));
    }
    if all.iter().any(|it| it.kind() == TypeKind::LLVMFP128TypeKind) {
        return Err(Error::of(function, "is not defined, and takes or gives `long double`"));
    }
    Ok(())
}
