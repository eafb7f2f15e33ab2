//! Building instructions.

use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};

use super::{Block, Context, Metadata, Opcode, Ordering, Predicate, Type, Value, llvm};

/// Where instructions are put.
pub(crate) struct Builder {
    raw: LLVMBuilderRef,
    context: Context,
}

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl Builder {
    pub(crate) fn new(context: Context) -> Builder {
        Builder { raw: llvm!(core::LLVMCreateBuilderInContext(context.0)), context }
    }

    pub(crate) fn context(&self) -> Context {
        self.context
    }

    pub(crate) fn at_end(&self, block: Block) {
        llvm!(core::LLVMPositionBuilderAtEnd(self.raw, block.0));
    }

    pub(crate) fn before(&self, instruction: Value) {
        llvm!(core::LLVMPositionBuilderBefore(self.raw, instruction.0));
    }

    /// The block that instructions go into.
    pub(crate) fn block(&self) -> Block {
        Block(llvm!(core::LLVMGetInsertBlock(self.raw)))
    }

    /// A new block at the end of a function.
    pub(crate) fn add_block(&self, function: Value) -> Block {
        Block(llvm!(core::LLVMAppendBasicBlockInContext(self.context.0, function.0, NO_NAME)))
    }

    /// What the next instructions were written as.
    pub(crate) fn set_location(&self, location: Option<Metadata>) {
        let raw = location.map_or(std::ptr::null_mut(), |it| it.0);
        llvm!(core::LLVMSetCurrentDebugLocation2(self.raw, raw));
    }

    pub(crate) fn alloca(&self, ty: Type) -> Value {
        Value(llvm!(core::LLVMBuildAlloca(self.raw, ty.0, NO_NAME)))
    }

    pub(crate) fn alloca_many(&self, ty: Type, count: Value) -> Value {
        Value(llvm!(core::LLVMBuildArrayAlloca(self.raw, ty.0, count.0, NO_NAME)))
    }

    pub(crate) fn load(&self, ty: Type, pointer: Value) -> Value {
        Value(llvm!(core::LLVMBuildLoad2(self.raw, ty.0, pointer.0, NO_NAME)))
    }

    pub(crate) fn store(&self, value: Value, pointer: Value) -> Value {
        Value(llvm!(core::LLVMBuildStore(self.raw, value.0, pointer.0)))
    }

    pub(crate) fn element(
        &self,
        ty: Type,
        pointer: Value,
        indices: &[Value],
        in_bounds: bool,
    ) -> Value {
        let mut raw: Vec<LLVMValueRef> = indices.iter().map(|it| it.0).collect();
        let (start, len) = (raw.as_mut_ptr(), raw.len() as u32);
        Value(match in_bounds {
            true => {
                llvm!(core::LLVMBuildInBoundsGEP2(self.raw, ty.0, pointer.0, start, len, NO_NAME))
            }
            false => llvm!(core::LLVMBuildGEP2(self.raw, ty.0, pointer.0, start, len, NO_NAME)),
        })
    }

    pub(crate) fn field(&self, ty: Type, pointer: Value, index: u32) -> Value {
        Value(llvm!(core::LLVMBuildStructGEP2(self.raw, ty.0, pointer.0, index, NO_NAME)))
    }

    /// `bytes` behind `pointer`.
    pub(crate) fn byte_offset(&self, pointer: Value, bytes: Value) -> Value {
        self.element(self.context.integer(8), pointer, &[bytes], false)
    }

    pub(crate) fn cast(&self, opcode: Opcode, value: Value, ty: Type) -> Value {
        if value.ty() == ty {
            return value;
        }
        Value(llvm!(core::LLVMBuildCast(self.raw, opcode, value.0, ty.0, NO_NAME)))
    }

    /// An integer in another width, with zeros above it.
    pub(crate) fn resize(&self, value: Value, ty: Type) -> Value {
        self.resize_by(value, ty, Opcode::LLVMZExt)
    }

    /// The same with its sign.
    pub(crate) fn resize_signed(&self, value: Value, ty: Type) -> Value {
        self.resize_by(value, ty, Opcode::LLVMSExt)
    }

    fn resize_by(&self, value: Value, ty: Type, widen: Opcode) -> Value {
        let (from, to) = (value.ty().bits(), ty.bits());
        match from.cmp(&to) {
            std::cmp::Ordering::Less => self.cast(widen, value, ty),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.cast(Opcode::LLVMTrunc, value, ty),
        }
    }

    pub(crate) fn binary(&self, opcode: Opcode, left: Value, right: Value) -> Value {
        Value(llvm!(core::LLVMBuildBinOp(self.raw, opcode, left.0, right.0, NO_NAME)))
    }

    pub(crate) fn add(&self, left: Value, right: Value) -> Value {
        self.binary(Opcode::LLVMAdd, left, right)
    }

    pub(crate) fn negate_float(&self, value: Value) -> Value {
        Value(llvm!(core::LLVMBuildFNeg(self.raw, value.0, NO_NAME)))
    }

    pub(crate) fn freeze(&self, value: Value) -> Value {
        Value(llvm!(core::LLVMBuildFreeze(self.raw, value.0, NO_NAME)))
    }

    pub(crate) fn compare(&self, predicate: Predicate, left: Value, right: Value) -> Value {
        Value(llvm!(core::LLVMBuildICmp(self.raw, predicate, left.0, right.0, NO_NAME)))
    }

    /// As `like` compares floating-point numbers.
    pub(crate) fn is_less_float(&self, left: Value, right: Value) -> Value {
        let predicate = llvm_sys::LLVMRealPredicate::LLVMRealOLT;
        Value(llvm!(core::LLVMBuildFCmp(self.raw, predicate, left.0, right.0, NO_NAME)))
    }

    pub(crate) fn compare_floats(&self, like: Value, left: Value, right: Value) -> Value {
        let predicate = llvm!(core::LLVMGetFCmpPredicate(like.0));
        Value(llvm!(core::LLVMBuildFCmp(self.raw, predicate, left.0, right.0, NO_NAME)))
    }

    pub(crate) fn select(&self, condition: Value, yes: Value, no: Value) -> Value {
        Value(llvm!(core::LLVMBuildSelect(self.raw, condition.0, yes.0, no.0, NO_NAME)))
    }

    pub(crate) fn phi(&self, ty: Type) -> Value {
        Value(llvm!(core::LLVMBuildPhi(self.raw, ty.0, NO_NAME)))
    }

    pub(crate) fn call(&self, ty: Type, function: Value, arguments: &[Value]) -> Value {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|it| it.0).collect();
        let (start, len) = (raw.as_mut_ptr(), raw.len() as u32);
        Value(llvm!(core::LLVMBuildCall2(self.raw, ty.0, function.0, start, len, NO_NAME)))
    }

    pub(crate) fn branch(&self, to: Block) -> Value {
        Value(llvm!(core::LLVMBuildBr(self.raw, to.0)))
    }

    pub(crate) fn branch_if(&self, condition: Value, yes: Block, no: Block) -> Value {
        Value(llvm!(core::LLVMBuildCondBr(self.raw, condition.0, yes.0, no.0)))
    }

    pub(crate) fn switch(&self, value: Value, default: Block, cases: &[(Value, Block)]) -> Value {
        let len = cases.len() as u32;
        let switch = llvm!(core::LLVMBuildSwitch(self.raw, value.0, default.0, len));
        for (case, block) in cases {
            llvm!(core::LLVMAddCase(switch, case.0, block.0));
        }
        Value(switch)
    }

    pub(crate) fn ret(&self, value: Option<Value>) -> Value {
        Value(match value {
            Some(value) => llvm!(core::LLVMBuildRet(self.raw, value.0)),
            None => llvm!(core::LLVMBuildRetVoid(self.raw)),
        })
    }

    pub(crate) fn unreachable(&self) -> Value {
        Value(llvm!(core::LLVMBuildUnreachable(self.raw)))
    }

    pub(crate) fn extract(&self, aggregate: Value, index: u32) -> Value {
        Value(llvm!(core::LLVMBuildExtractValue(self.raw, aggregate.0, index, NO_NAME)))
    }

    pub(crate) fn insert(&self, aggregate: Value, value: Value, index: u32) -> Value {
        Value(llvm!(core::LLVMBuildInsertValue(self.raw, aggregate.0, value.0, index, NO_NAME)))
    }

    pub(crate) fn extract_lane(&self, vector: Value, index: Value) -> Value {
        Value(llvm!(core::LLVMBuildExtractElement(self.raw, vector.0, index.0, NO_NAME)))
    }

    pub(crate) fn insert_lane(&self, vector: Value, value: Value, index: Value) -> Value {
        Value(llvm!(core::LLVMBuildInsertElement(self.raw, vector.0, value.0, index.0, NO_NAME)))
    }

    pub(crate) fn shuffle(&self, left: Value, right: Value, mask: &[i32]) -> Value {
        let lane = self.context.integer(32);
        let lanes: Vec<Value> = mask
            .iter()
            .map(|it| if *it < 0 { lane.poison() } else { lane.constant(*it as u64) })
            .collect();
        let mut raw: Vec<LLVMValueRef> = lanes.iter().map(|it| it.0).collect();
        let mask = llvm!(core::LLVMConstVector(raw.as_mut_ptr(), raw.len() as u32));
        Value(llvm!(core::LLVMBuildShuffleVector(self.raw, left.0, right.0, mask, NO_NAME)))
    }

    pub(crate) fn fence(&self, ordering: Ordering) -> Value {
        Value(llvm!(core::LLVMBuildFence(self.raw, ordering, 0, NO_NAME)))
    }

    pub(crate) fn update(
        &self,
        op: super::AtomicOp,
        pointer: Value,
        value: Value,
        ordering: Ordering,
    ) -> Value {
        Value(llvm!(core::LLVMBuildAtomicRMW(self.raw, op, pointer.0, value.0, ordering, 0)))
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        llvm!(core::LLVMDisposeBuilder(self.raw));
    }
}

/// `base` and so many bytes, as a constant.
pub(crate) fn constant_offset_of(context: Context, base: Value, offset: Value) -> Value {
    let mut offset = offset.0;
    let byte = context.integer(8);
    Value(llvm!(core::LLVMConstGEP2(byte.0, base.0, &mut offset, 1)))
}

/// A number as a pointer, as a constant.
pub(crate) fn constant_pointer(context: Context, number: Value) -> Value {
    Value(llvm!(core::LLVMConstIntToPtr(number.0, context.pointer().0)))
}

/// A pointer as a number, as a constant.
pub(crate) fn constant_number(pointer: Value, ty: Type) -> Value {
    Value(llvm!(core::LLVMConstPtrToInt(pointer.0, ty.0)))
}
