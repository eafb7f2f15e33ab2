//! Contexts, modules, and where parts of types lie.

use std::ffi::c_uint;
use std::ptr::null_mut;

use llvm_sys::analysis::LLVMVerifierFailureAction;
use llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};
use llvm_sys::target::LLVMTargetDataRef;

use super::{Machine, Type, Value, c_string, llvm, take_message, text};

/// What all types and modules live in; never given back.
#[derive(Clone, Copy)]
pub(crate) struct Context(pub(super) LLVMContextRef);

impl Context {
    pub(crate) fn new() -> Context {
        let context = llvm!(core::LLVMContextCreate());
        // Warnings of LLVM's own are not ours to print, and errors come as values.
        extern "C" fn quiet(_: *mut llvm_sys::LLVMDiagnosticInfo, _: *mut std::ffi::c_void) {}
        llvm!(core::LLVMContextSetDiagnosticHandler(context, Some(quiet), null_mut()));
        Context(context)
    }

    pub(crate) fn integer(self, bits: u32) -> Type {
        Type(llvm!(core::LLVMIntTypeInContext(self.0, bits)))
    }

    pub(crate) fn pointer(self) -> Type {
        Type(llvm!(core::LLVMPointerTypeInContext(self.0, 0)))
    }

    pub(crate) fn void(self) -> Type {
        Type(llvm!(core::LLVMVoidTypeInContext(self.0)))
    }

    pub(crate) fn structure(self, fields: &[Type], is_packed: bool) -> Type {
        let mut types: Vec<_> = fields.iter().map(|it| it.0).collect();
        let len = types.len() as c_uint;
        Type(llvm!(core::LLVMStructTypeInContext(
            self.0,
            types.as_mut_ptr(),
            len,
            i32::from(is_packed)
        )))
    }

    pub(crate) fn constant_structure(self, parts: &[Value], is_packed: bool) -> Value {
        let mut parts: Vec<_> = parts.iter().map(|it| it.0).collect();
        let len = parts.len() as c_uint;
        Value(llvm!(core::LLVMConstStructInContext(
            self.0,
            parts.as_mut_ptr(),
            len,
            i32::from(is_packed)
        )))
    }

    /// Reads a module from bitcode or text.
    ///
    /// # Errors
    /// What LLVM says.
    pub(crate) fn parse(self, name: &str, bytes: &[u8]) -> Result<Module, String> {
        let name = c_string(name);
        let buffer = llvm!(core::LLVMCreateMemoryBufferWithMemoryRangeCopy(
            bytes.as_ptr().cast::<i8>(),
            bytes.len(),
            name.as_ptr()
        ));
        let (mut module, mut message) = (null_mut(), null_mut());
        // The buffer belongs to the parser from here on.
        match llvm!(ir_reader::LLVMParseIRInContext(self.0, buffer, &mut module, &mut message)) {
            0 => Ok(Module(module)),
            _ => Err(take_message(message)),
        }
    }

    pub(crate) fn module(self, name: &str) -> Module {
        Module(llvm!(core::LLVMModuleCreateWithNameInContext(c_string(name).as_ptr(), self.0)))
    }
}

/// A module; a handle as all others.
#[derive(Clone, Copy)]
pub(crate) struct Module(pub(super) LLVMModuleRef);

impl Module {
    pub(crate) fn functions(self) -> Vec<Value> {
        let mut functions = Vec::new();
        let mut it = llvm!(core::LLVMGetFirstFunction(self.0));
        while !it.is_null() {
            functions.push(Value(it));
            it = llvm!(core::LLVMGetNextFunction(it));
        }
        functions
    }

    pub(crate) fn globals(self) -> Vec<Value> {
        let mut globals = Vec::new();
        let mut it = llvm!(core::LLVMGetFirstGlobal(self.0));
        while !it.is_null() {
            globals.push(Value(it));
            it = llvm!(core::LLVMGetNextGlobal(it));
        }
        globals
    }

    pub(crate) fn aliases(self) -> Vec<Value> {
        let mut aliases = Vec::new();
        let mut it = llvm!(core::LLVMGetFirstGlobalAlias(self.0));
        while !it.is_null() {
            aliases.push(Value(it));
            it = llvm!(core::LLVMGetNextGlobalAlias(it));
        }
        aliases
    }

    pub(crate) fn function(self, name: &str) -> Option<Value> {
        let it = llvm!(core::LLVMGetNamedFunction(self.0, c_string(name).as_ptr()));
        (!it.is_null()).then_some(Value(it))
    }

    pub(crate) fn global(self, name: &str) -> Option<Value> {
        let it = llvm!(core::LLVMGetNamedGlobal(self.0, c_string(name).as_ptr()));
        (!it.is_null()).then_some(Value(it))
    }

    pub(crate) fn add_function(self, name: &str, ty: Type) -> Value {
        Value(llvm!(core::LLVMAddFunction(self.0, c_string(name).as_ptr(), ty.0)))
    }

    pub(crate) fn add_global(self, name: &str, ty: Type) -> Value {
        Value(llvm!(core::LLVMAddGlobal(self.0, ty.0, c_string(name).as_ptr())))
    }

    pub(crate) fn triple(self) -> String {
        let start = llvm!(core::LLVMGetTarget(self.0));
        if start.is_null() {
            return String::new();
        }
        // SAFETY: a C string of LLVM's.
        unsafe { std::ffi::CStr::from_ptr(start) }.to_string_lossy().into_owned()
    }

    pub(crate) fn set_triple(self, triple: &str) {
        llvm!(core::LLVMSetTarget(self.0, c_string(triple).as_ptr()));
    }

    pub(crate) fn set_layout(self, layout: &str) {
        llvm!(core::LLVMSetDataLayout(self.0, c_string(layout).as_ptr()));
    }

    pub(crate) fn layout_text(self) -> String {
        let start = llvm!(core::LLVMGetDataLayoutStr(self.0));
        // SAFETY: a C string of LLVM's.
        unsafe { std::ffi::CStr::from_ptr(start) }.to_string_lossy().into_owned()
    }

    pub(crate) fn layout(self) -> Layout {
        Layout(llvm!(target::LLVMGetModuleDataLayout(self.0)))
    }

    /// Assembly that stands outside of functions.
    pub(crate) fn assembly(self) -> String {
        let mut len = 0;
        let start = llvm!(core::LLVMGetModuleInlineAsm(self.0, &mut len));
        text(start, len)
    }

    /// Links `other` into this one; it is gone then.
    pub(crate) fn link(self, other: Module) -> bool {
        llvm!(linker::LLVMLinkModules2(self.0, other.0)) == 0
    }

    /// # Errors
    /// What is wrong, in LLVM's words.
    pub(crate) fn verify(self) -> Result<(), String> {
        let mut message = null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        let status = llvm!(analysis::LLVMVerifyModule(self.0, action, &mut message));
        let message = take_message(message);
        if status == 0 { Ok(()) } else { Err(message) }
    }

    /// Runs passes, named as for LLVM's `opt`.
    ///
    /// # Errors
    /// What LLVM says.
    pub(crate) fn run(self, passes: &str, machine: Option<&Machine>) -> Result<(), String> {
        let options = llvm!(transforms::pass_builder::LLVMCreatePassBuilderOptions());
        let machine = machine.map_or(null_mut(), Machine::raw);
        let error = llvm!(transforms::pass_builder::LLVMRunPasses(
            self.0,
            c_string(passes).as_ptr(),
            machine,
            options
        ));
        llvm!(transforms::pass_builder::LLVMDisposePassBuilderOptions(options));
        if error.is_null() {
            return Ok(());
        }
        let message = llvm!(error::LLVMGetErrorMessage(error));
        // SAFETY: a C string that LLVM has made for us; it is given back below.
        let words = unsafe { std::ffi::CStr::from_ptr(message) }.to_string_lossy().into_owned();
        llvm!(error::LLVMDisposeErrorMessage(message));
        Err(words)
    }

    pub(crate) fn text(self) -> String {
        take_message(llvm!(core::LLVMPrintModuleToString(self.0)))
    }

    pub(crate) fn bitcode(self) -> Vec<u8> {
        let buffer = llvm!(bit_writer::LLVMWriteBitcodeToMemoryBuffer(self.0));
        super::target::take_buffer(buffer)
    }

    /// Adds to the flags of the module, which must agree where modules are linked.
    pub(crate) fn add_flag(self, name: &str, value: &str) {
        let context = llvm!(core::LLVMGetModuleContext(self.0));
        let text = c_string(value);
        let node = llvm!(core::LLVMMDStringInContext2(context, text.as_ptr(), value.len()));
        let behaviour = llvm_sys::LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorError;
        let key = c_string(name);
        llvm!(core::LLVMAddModuleFlag(self.0, behaviour, key.as_ptr(), name.len(), node));
    }

    /// The same with a number.
    pub(crate) fn add_number_flag(self, name: &str, value: u32) {
        let context = llvm!(core::LLVMGetModuleContext(self.0));
        let number = Context(context).integer(32).constant(u64::from(value));
        let node = llvm!(core::LLVMValueAsMetadata(number.0));
        let behaviour = llvm_sys::LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorWarning;
        let key = c_string(name);
        llvm!(core::LLVMAddModuleFlag(self.0, behaviour, key.as_ptr(), name.len(), node));
    }

    /// Whether there is a flag of this name.
    pub(crate) fn has_flag(self, name: &str) -> bool {
        let key = c_string(name);
        !llvm!(core::LLVMGetModuleFlag(self.0, key.as_ptr(), name.len())).is_null()
    }

    /// Copies a list of metadata that has a name.
    pub(crate) fn copy_named_metadata(self, name: &str, from: Module) {
        let key = c_string(name);
        let count = llvm!(core::LLVMGetNamedMetadataNumOperands(from.0, key.as_ptr())) as usize;
        let mut nodes = vec![null_mut(); count];
        llvm!(core::LLVMGetNamedMetadataOperands(from.0, key.as_ptr(), nodes.as_mut_ptr()));
        for node in nodes {
            llvm!(core::LLVMAddNamedMetadataOperand(self.0, key.as_ptr(), node));
        }
    }

    pub(crate) fn dispose(self) {
        llvm!(core::LLVMDisposeModule(self.0));
    }
}

/// Sizes and offsets in a module's memory.
#[derive(Clone, Copy)]
pub(crate) struct Layout(LLVMTargetDataRef);

impl Layout {
    /// With what lies behind it up to the next of the same type.
    pub(crate) fn size(self, ty: Type) -> u64 {
        llvm!(target::LLVMABISizeOfType(self.0, ty.0))
    }

    /// Bytes that a store writes.
    pub(crate) fn stored(self, ty: Type) -> u64 {
        llvm!(target::LLVMStoreSizeOfType(self.0, ty.0))
    }

    /// Of a field of a structure.
    pub(crate) fn offset(self, ty: Type, field: u32) -> u64 {
        llvm!(target::LLVMOffsetOfElement(self.0, ty.0, field))
    }

    pub(crate) fn pointer_size(self) -> u32 {
        llvm!(target::LLVMPointerSize(self.0))
    }
}
