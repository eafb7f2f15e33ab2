//! Calls.

use crate::error::Error;
use crate::llvm::{Type, Value};

use super::{Kind, Rebuild};

/// Intrinsics that say something to passes only, and are left out.
const SILENT: [&str; 8] = [
    "llvm.lifetime.",
    "llvm.dbg.",
    "llvm.assume",
    "llvm.prefetch",
    "llvm.experimental.noalias.scope.decl",
    "llvm.var.annotation",
    "llvm.invariant.",
    "llvm.donothing",
];

/// Intrinsics that give back their first operand.
const SAME: [&str; 5] = [
    "llvm.launder.invariant.group",
    "llvm.strip.invariant.group",
    "llvm.ptr.annotation",
    "llvm.annotation",
    "llvm.preserve.",
];

impl Rebuild<'_> {
    /// There is no function that the pointer could lead to: the program stops if it comes here, and what stands before
    /// (waiting for somebody who never comes) stays.
    fn call_of_nothing(&mut self, it: Value) -> Option<Value> {
        let ty = self.context.void().function(&[]);
        let known = self.module.function("llvm.trap");
        let trap = known.unwrap_or_else(|| self.module.add_function("llvm.trap", ty));
        self.builder.call(ty, trap, &[]);
        (!it.ty().is_void()).then(|| self.value_type(it).poison())
    }

    pub(super) fn call(&mut self, it: Value) -> Result<Option<Value>, Error> {
        let callee = it.called();
        if callee.is_assembly() {
            return self.assembly(it).map(Some);
        }
        if callee.is_intrinsic() {
            return self.intrinsic(it, &callee.name());
        }
        let (signature, function) = match callee.is_function() {
            true => {
                let signature = self.signatures.get(&callee).cloned().unwrap_or_default();
                (signature, self.operand(callee)?)
            }
            false => {
                let targets = self.facts.targets(it)?;
                let function = self.device(callee)?;
                let Some(first) = targets.first().and_then(|it| self.signatures.get(it)) else {
                    return Ok(self.call_of_nothing(it));
                };
                (first.clone(), function)
            }
        };
        let ty = self.signature_type(it.called_type(), &signature);
        let is_external = callee.is_function() && callee.is_declaration();
        let mut arguments = Vec::new();
        let pointers = ty.parameters();
        for (index, argument) in it.arguments().into_iter().enumerate() {
            if is_external && argument.is_pointer() && !self.facts.is_proven(argument) {
                let message = format!(
                    "gives {} a pointer that may be of the host: {}; it is not part of the program",
                    callee.name(),
                    self.facts.reason(argument)
                );
                return Err(Error::at(it, message));
            }
            let wanted: Type = pointers.get(index).copied().unwrap_or_else(|| argument.ty());
            arguments.push(self.operand_as(argument, wanted)?);
        }
        let new = self.builder.call(ty, function, &arguments);
        if it.ty().is_void() {
            return Ok(None);
        }
        Ok(Some(match it.is_pointer() {
            true => self.as_kind(new, self.kind(it)),
            false => new,
        }))
    }

    /// Inline assembly is written for registers of one size.
    fn assembly(&mut self, it: Value) -> Result<Value, Error> {
        let callee = it.called();
        let ty = it.called_type();
        let mut all = ty.parameters();
        all.push(ty.result());
        if !self.is_flat() {
            let is_wide = |it: Type| it.is_pointer() || it.is_integer() && it.bits() > 32;
            if all.iter().any(|it| it.any(&is_wide)) {
                let (text, _) = callee.assembly();
                let message = format!(
                    "assembly with a pointer or an integer of 64 bits (`{text}`): registers have 32"
                );
                return Err(Error::at(it, message));
            }
        }
        let arguments: Vec<Value> =
            it.arguments().into_iter().map(|it| self.operand(it)).collect::<Result<_, _>>()?;
        let new = self.builder.call(ty, callee, &arguments);
        Ok(new)
    }

    fn intrinsic(&mut self, it: Value, name: &str) -> Result<Option<Value>, Error> {
        if SILENT.iter().any(|word| name.starts_with(word)) {
            return Ok(None);
        }
        if SAME.iter().any(|word| name.starts_with(word)) {
            let ty = self.value_type(it);
            return self.operand_as(it.operand(0), ty).map(Some);
        }
        for copy in ["memcpy", "memmove", "memset"] {
            if name.starts_with(&format!("llvm.{copy}")) {
                return self.copy(it, copy).map(|()| None);
            }
        }
        let arguments = it.arguments();
        if name.starts_with("llvm.objectsize") {
            // Nobody knows: all of memory, or nothing, as asked.
            let at_least = arguments.get(1).is_some_and(|it| it.unsigned() == Some(1));
            return Ok(Some(it.ty().constant(if at_least { 0 } else { u64::MAX })));
        }
        let pointer = self.context.pointer();
        if name.starts_with("llvm.stacksave") || name.starts_with("llvm.stackrestore") {
            let (ty, own) = match name.starts_with("llvm.stacksave") {
                true => (pointer.function(&[]), "llvm.stacksave.p0"),
                false => (self.context.void().function(&[pointer]), "llvm.stackrestore.p0"),
            };
            let function =
                self.module.function(own).unwrap_or_else(|| self.module.add_function(own, ty));
            let arguments: Vec<Value> =
                arguments.iter().map(|it| self.device(*it)).collect::<Result<_, _>>()?;
            let new = self.builder.call(ty, function, &arguments);
            return Ok((!it.ty().is_void()).then(|| match it.is_pointer() {
                true => self.as_kind(new, self.kind(it)),
                false => new,
            }));
        }
        if name.starts_with("llvm.ptrmask") {
            let address = self.pointer_as(it.operand(0), Kind::Generic)?;
            let mask = self.operand(it.operand(1))?;
            let mask = self.builder.resize(mask, self.double_word());
            let masked = self.builder.binary(crate::llvm::Opcode::LLVMAnd, address, mask);
            return Ok(Some(self.as_kind(masked, self.kind(it))));
        }
        let ty = it.called_type();
        let mut all = ty.parameters();
        all.push(ty.result());
        if all.iter().any(|it| it.has_pointer()) && !self.is_flat() {
            return Err(Error::at(it, format!("calls {name}, which takes or gives a pointer")));
        }
        let function =
            self.module.function(name).unwrap_or_else(|| self.module.add_function(name, ty));
        let arguments: Vec<Value> =
            arguments.iter().map(|it| self.operand(*it)).collect::<Result<_, _>>()?;
        let new = self.builder.call(ty, function, &arguments);
        new.copy_flags(it);
        Ok((!it.ty().is_void()).then_some(new))
    }
}
