//! The machine that code is made for.

use std::ptr::null_mut;

use llvm_sys::prelude::LLVMMemoryBufferRef;
use llvm_sys::target_machine::{
    LLVMCodeGenFileType, LLVMCodeGenOptLevel, LLVMCodeModel, LLVMRelocMode, LLVMTargetMachineRef,
};

use super::{Module, c_string, llvm, take_message};

/// A target machine.
pub(crate) struct Machine(LLVMTargetMachineRef);

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileKind {
    Object,
    Assembly,
}

impl Machine {
    /// A RISC-V machine with `features` such as `+m,+a`.
    ///
    /// # Errors
    /// LLVM was built without it.
    pub(crate) fn riscv(
        triple: &str,
        features: &str,
        abi: &str,
        level: u32,
    ) -> Result<Machine, String> {
        llvm!(target::LLVMInitializeRISCVTargetInfo());
        llvm!(target::LLVMInitializeRISCVTarget());
        llvm!(target::LLVMInitializeRISCVTargetMC());
        llvm!(target::LLVMInitializeRISCVAsmPrinter());
        llvm!(target::LLVMInitializeRISCVAsmParser());
        let (mut target, mut message) = (null_mut(), null_mut());
        let name = c_string(triple);
        let status = llvm!(target_machine::LLVMGetTargetFromTriple(
            name.as_ptr(),
            &mut target,
            &mut message
        ));
        if status != 0 {
            return Err(take_message(message));
        }
        let level = match level {
            0 => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
            1 => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            2 => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            _ => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
        };
        let options = llvm!(target_machine::LLVMCreateTargetMachineOptions());
        let (features, abi) = (c_string(features), c_string(abi));
        llvm!(target_machine::LLVMTargetMachineOptionsSetFeatures(options, features.as_ptr()));
        llvm!(target_machine::LLVMTargetMachineOptionsSetABI(options, abi.as_ptr()));
        llvm!(target_machine::LLVMTargetMachineOptionsSetCodeGenOptLevel(options, level));
        let fixed = LLVMRelocMode::LLVMRelocStatic;
        llvm!(target_machine::LLVMTargetMachineOptionsSetRelocMode(options, fixed));
        // The accelerator's memory is anywhere in 32 bits: the small model reaches it all.
        let small = LLVMCodeModel::LLVMCodeModelSmall;
        llvm!(target_machine::LLVMTargetMachineOptionsSetCodeModel(options, small));
        let machine = llvm!(target_machine::LLVMCreateTargetMachineWithOptions(
            target,
            name.as_ptr(),
            options
        ));
        llvm!(target_machine::LLVMDisposeTargetMachineOptions(options));
        if machine.is_null() { Err(format!("no machine `{triple}`")) } else { Ok(Machine(machine)) }
    }

    pub(super) fn raw(&self) -> LLVMTargetMachineRef {
        self.0
    }

    /// The layout of its memory, as modules write it.
    pub(crate) fn layout_text(&self) -> String {
        let data = llvm!(target_machine::LLVMCreateTargetDataLayout(self.0));
        let layout = take_message(llvm!(target::LLVMCopyStringRepOfTargetData(data)));
        llvm!(target::LLVMDisposeTargetData(data));
        layout
    }

    /// Code for `module`, which is changed by it.
    ///
    /// # Errors
    /// What LLVM says.
    pub(crate) fn emit(&self, module: Module, kind: FileKind) -> Result<Vec<u8>, String> {
        let kind = match kind {
            FileKind::Object => LLVMCodeGenFileType::LLVMObjectFile,
            FileKind::Assembly => LLVMCodeGenFileType::LLVMAssemblyFile,
        };
        let (mut message, mut buffer) = (null_mut(), null_mut());
        let status = llvm!(target_machine::LLVMTargetMachineEmitToMemoryBuffer(
            self.0,
            module.0,
            kind,
            &mut message,
            &mut buffer
        ));
        if status == 0 { Ok(take_buffer(buffer)) } else { Err(take_message(message)) }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        llvm!(target_machine::LLVMDisposeTargetMachine(self.0));
    }
}

/// The bytes of a buffer, which is given back.
pub(super) fn take_buffer(buffer: LLVMMemoryBufferRef) -> Vec<u8> {
    let start = llvm!(core::LLVMGetBufferStart(buffer));
    let len = llvm!(core::LLVMGetBufferSize(buffer));
    // SAFETY: LLVM's own buffer of that length.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }.to_vec();
    llvm!(core::LLVMDisposeMemoryBuffer(buffer));
    bytes
}
