//! LLVM 19 as values that are copied: the only place of this crate that is not safe Rust.
//!
//! A [`Value`], [`Type`], [`Block`] or [`Metadata`] is a handle of LLVM's. All of them belong to one [`Context`] that is
//! never given back, so a handle is alive as long as nobody erases what it names; those who erase ([`Value::erase`])
//! say so. Questions about a kind (`element of a type`) are asked after the kind: LLVM checks nothing in release builds.
//!
//! Not here: what is done with modules. That is `prepare`, `points`, `rebuild` and `finish`.

#![allow(unsafe_code, reason = "LLVM is a library of C")]
#![allow(missing_docs, reason = "these are LLVM's own words")]

mod build;
mod module;
mod target;
mod types;
mod value;

pub(crate) use build::{Builder, constant_number, constant_offset_of, constant_pointer};
pub(crate) use llvm_sys::{
    LLVMAtomicOrdering as Ordering, LLVMAtomicRMWBinOp as AtomicOp, LLVMIntPredicate as Predicate,
    LLVMLinkage as Linkage, LLVMOpcode as Opcode, LLVMTypeKind as TypeKind,
};
pub(crate) use module::{Context, Layout, Module};
pub(crate) use target::{FileKind, Machine};
pub(crate) use types::Type;
pub(crate) use value::{Block, FUNCTION, Metadata, Value, move_blocks, move_body, parameter_owner};

/// Calls LLVM.
macro_rules! llvm {
    ($($path:ident)::+ ($($argument:expr),* $(,)?)) => {
        // SAFETY: handles are made by LLVM and never outlive the context, which is never given back; text is
        // passed with its length or as a C string; kinds were asked for before (see the header).
        unsafe { llvm_sys::$($path)::+($($argument),*) }
    };
}
pub(crate) use llvm;

use std::ffi::{CStr, CString, c_char};

/// A C string; what stands behind a zero byte is not in it.
pub(crate) fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// The text at `start`, `len` bytes of it.
pub(crate) fn text(start: *const c_char, len: usize) -> String {
    if start.is_null() || len == 0 {
        return String::new();
    }
    // SAFETY: LLVM's own text of that length.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// A message of LLVM's, which is then given back.
pub(crate) fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: a C string that LLVM has made for us.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    llvm!(core::LLVMDisposeMessage(message));
    text
}
