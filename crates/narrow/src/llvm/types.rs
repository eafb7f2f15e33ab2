//! Types.

use llvm_sys::prelude::LLVMTypeRef;

use super::{TypeKind, Value, llvm};

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Type(pub(super) LLVMTypeRef);

impl Type {
    pub(crate) fn kind(self) -> TypeKind {
        llvm!(core::LLVMGetTypeKind(self.0))
    }

    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == TypeKind::LLVMPointerTypeKind
    }

    pub(crate) fn is_integer(self) -> bool {
        self.kind() == TypeKind::LLVMIntegerTypeKind
    }

    pub(crate) fn is_void(self) -> bool {
        self.kind() == TypeKind::LLVMVoidTypeKind
    }

    pub(crate) fn is_struct(self) -> bool {
        self.kind() == TypeKind::LLVMStructTypeKind
    }

    pub(crate) fn is_array(self) -> bool {
        self.kind() == TypeKind::LLVMArrayTypeKind
    }

    pub(crate) fn is_vector(self) -> bool {
        self.kind() == TypeKind::LLVMVectorTypeKind
    }

    /// Of a pointer.
    pub(crate) fn address_space(self) -> u32 {
        llvm!(core::LLVMGetPointerAddressSpace(self.0))
    }

    /// Of an integer.
    pub(crate) fn bits(self) -> u32 {
        llvm!(core::LLVMGetIntTypeWidth(self.0))
    }

    /// Of an array or a vector.
    pub(crate) fn element(self) -> Type {
        Type(llvm!(core::LLVMGetElementType(self.0)))
    }

    /// Of an array or a vector.
    pub(crate) fn len(self) -> u64 {
        match self.kind() {
            TypeKind::LLVMVectorTypeKind => u64::from(llvm!(core::LLVMGetVectorSize(self.0))),
            _ => llvm!(core::LLVMGetArrayLength2(self.0)),
        }
    }

    /// Of a structure.
    pub(crate) fn fields(self) -> Vec<Type> {
        let count = llvm!(core::LLVMCountStructElementTypes(self.0));
        (0..count).map(|it| self.field(it)).collect()
    }

    /// Of a structure that has it.
    pub(crate) fn field(self, index: u32) -> Type {
        Type(llvm!(core::LLVMStructGetTypeAtIndex(self.0, index)))
    }

    pub(crate) fn is_packed(self) -> bool {
        llvm!(core::LLVMIsPackedStruct(self.0)) != 0
    }

    /// Of a function.
    pub(crate) fn parameters(self) -> Vec<Type> {
        let count = llvm!(core::LLVMCountParamTypes(self.0)) as usize;
        let mut types = vec![std::ptr::null_mut(); count];
        llvm!(core::LLVMGetParamTypes(self.0, types.as_mut_ptr()));
        types.into_iter().map(Type).collect()
    }

    /// Of a function.
    pub(crate) fn result(self) -> Type {
        Type(llvm!(core::LLVMGetReturnType(self.0)))
    }

    /// Of a function.
    pub(crate) fn is_variadic(self) -> bool {
        llvm!(core::LLVMIsFunctionVarArg(self.0)) != 0
    }

    /// A function from `parameters` to this type.
    pub(crate) fn function(self, parameters: &[Type]) -> Type {
        let mut types: Vec<LLVMTypeRef> = parameters.iter().map(|it| it.0).collect();
        Type(llvm!(core::LLVMFunctionType(self.0, types.as_mut_ptr(), types.len() as u32, 0)))
    }

    pub(crate) fn array(self, len: u64) -> Type {
        Type(llvm!(core::LLVMArrayType2(self.0, len)))
    }

    pub(crate) fn null(self) -> Value {
        Value(llvm!(core::LLVMConstNull(self.0)))
    }

    pub(crate) fn undefined(self) -> Value {
        Value(llvm!(core::LLVMGetUndef(self.0)))
    }

    pub(crate) fn poison(self) -> Value {
        Value(llvm!(core::LLVMGetPoison(self.0)))
    }

    /// Of an integer type of at most 64 bits.
    pub(crate) fn constant(self, value: u64) -> Value {
        Value(llvm!(core::LLVMConstInt(self.0, value, 0)))
    }

    /// As LLVM prints it.
    pub(crate) fn text(self) -> String {
        super::take_message(llvm!(core::LLVMPrintTypeToString(self.0)))
    }

    /// Whether a pointer is in it, at any depth.
    pub(crate) fn has_pointer(self) -> bool {
        self.any(&|it| it.is_pointer())
    }

    /// Whether `test` holds for a part of it, at any depth.
    pub(crate) fn any(self, test: &dyn Fn(Type) -> bool) -> bool {
        test(self)
            || match self.kind() {
                TypeKind::LLVMArrayTypeKind | TypeKind::LLVMVectorTypeKind => {
                    self.element().any(test)
                }
                TypeKind::LLVMStructTypeKind => self.fields().iter().any(|it| it.any(test)),
                _ => false,
            }
    }
}
