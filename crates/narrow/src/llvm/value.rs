//! Values: instructions, constants, globals, parameters; blocks; metadata.

use std::ffi::c_uint;

use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMMetadataRef, LLVMValueRef};

use super::{
    AtomicOp, Linkage, Opcode, Ordering, Predicate, Type, c_string, llvm, take_message, text,
};

/// Anything that may be an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Value(pub(super) LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Block(pub(super) LLVMBasicBlockRef);

/// Metadata as an instruction carries it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Metadata(pub(super) LLVMMetadataRef);

macro_rules! is_a {
    ($($name:ident: $test:ident),* $(,)?) => {
        $(pub(crate) fn $name(self) -> bool {
            !llvm!(core::$test(self.0)).is_null()
        })*
    };
}

/// Of any value.
impl Value {
    is_a! {
        is_null_pointer: LLVMIsAConstantPointerNull,
        is_undefined: LLVMIsAUndefValue,
        is_poison: LLVMIsAPoisonValue,
        is_global: LLVMIsAGlobalValue,
        is_function: LLVMIsAFunction,
        is_expression: LLVMIsAConstantExpr,
        is_constant_integer: LLVMIsAConstantInt,
        is_zero: LLVMIsAConstantAggregateZero,
        is_data_sequence: LLVMIsAConstantDataSequential,
        is_block_address: LLVMIsABlockAddress,
        is_alloca: LLVMIsAAllocaInst,
        is_instruction: LLVMIsAInstruction,
        is_assembly: LLVMIsAInlineAsm,
    }

    pub(crate) fn ty(self) -> Type {
        Type(llvm!(core::LLVMTypeOf(self.0)))
    }

    pub(crate) fn is_constant(self) -> bool {
        llvm!(core::LLVMIsConstant(self.0)) != 0
    }

    pub(crate) fn is_pointer(self) -> bool {
        self.ty().is_pointer()
    }

    pub(crate) fn name(self) -> String {
        let mut len = 0;
        let start = llvm!(core::LLVMGetValueName2(self.0, &mut len));
        text(start, len)
    }

    pub(crate) fn set_name(self, name: &str) {
        let text = c_string(name);
        llvm!(core::LLVMSetValueName2(self.0, text.as_ptr(), text.as_bytes().len()));
    }

    /// As LLVM prints it.
    pub(crate) fn text(self) -> String {
        take_message(llvm!(core::LLVMPrintValueToString(self.0))).trim().to_owned()
    }

    pub(crate) fn operands(self) -> Vec<Value> {
        let count = u32::try_from(llvm!(core::LLVMGetNumOperands(self.0))).unwrap_or(0);
        (0..count).map(|it| Value(llvm!(core::LLVMGetOperand(self.0, it)))).collect()
    }

    pub(crate) fn operand(self, index: u32) -> Value {
        Value(llvm!(core::LLVMGetOperand(self.0, index)))
    }

    /// Instructions and constants that use it.
    pub(crate) fn users(self) -> Vec<Value> {
        let mut users = Vec::new();
        let mut it = llvm!(core::LLVMGetFirstUse(self.0));
        while !it.is_null() {
            users.push(Value(llvm!(core::LLVMGetUser(it))));
            it = llvm!(core::LLVMGetNextUse(it));
        }
        users
    }

    pub(crate) fn replace_by(self, other: Value) {
        llvm!(core::LLVMReplaceAllUsesWith(self.0, other.0));
    }

    /// A constant integer of at most 64 bits.
    pub(crate) fn unsigned(self) -> Option<u64> {
        let fits = self.is_constant_integer() && self.ty().bits() <= 64;
        fits.then(|| llvm!(core::LLVMConstIntGetZExtValue(self.0)))
    }

    /// The same with its sign.
    pub(crate) fn signed(self) -> Option<i64> {
        let fits = self.is_constant_integer() && self.ty().bits() <= 64;
        fits.then(|| llvm!(core::LLVMConstIntGetSExtValue(self.0)))
    }

    /// Whether it is a constant power of two, or its negative.
    pub(crate) fn is_power_of_two(self) -> bool {
        self.signed().is_some_and(|it| it.unsigned_abs().is_power_of_two())
    }

    /// The bytes of a constant array of bytes, without a zero at its end.
    pub(crate) fn constant_text(self) -> Option<String> {
        if !self.is_data_sequence() || llvm!(core::LLVMIsConstantString(self.0)) == 0 {
            return None;
        }
        let mut len = 0;
        let start = llvm!(core::LLVMGetAsString(self.0, &mut len));
        Some(text(start, len).trim_end_matches('\0').to_owned())
    }

    /// What an alias stands for.
    pub(crate) fn aliased(self) -> Value {
        Value(llvm!(core::LLVMAliasGetAliasee(self.0)))
    }

    /// Part of a constant aggregate.
    pub(crate) fn part(self, index: u32) -> Option<Value> {
        let part = llvm!(core::LLVMGetAggregateElement(self.0, index));
        (!part.is_null()).then_some(Value(part))
    }

    /// Of a constant expression.
    pub(crate) fn expression(self) -> Opcode {
        llvm!(core::LLVMGetConstOpcode(self.0))
    }
}

/// Of globals and functions.
impl Value {
    pub(crate) fn value_type(self) -> Type {
        Type(llvm!(core::LLVMGlobalGetValueType(self.0)))
    }

    pub(crate) fn linkage(self) -> Linkage {
        llvm!(core::LLVMGetLinkage(self.0))
    }

    pub(crate) fn set_linkage(self, linkage: Linkage) {
        llvm!(core::LLVMSetLinkage(self.0, linkage));
    }

    pub(crate) fn is_internal(self) -> bool {
        matches!(self.linkage(), Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage)
    }

    pub(crate) fn is_declaration(self) -> bool {
        llvm!(core::LLVMIsDeclaration(self.0)) != 0
    }

    pub(crate) fn section(self) -> String {
        let start = llvm!(core::LLVMGetSection(self.0));
        if start.is_null() {
            return String::new();
        }
        // SAFETY: a C string of LLVM's.
        unsafe { std::ffi::CStr::from_ptr(start) }.to_string_lossy().into_owned()
    }

    pub(crate) fn set_section(self, name: &str) {
        llvm!(core::LLVMSetSection(self.0, c_string(name).as_ptr()));
    }

    pub(crate) fn initializer(self) -> Option<Value> {
        let value = llvm!(core::LLVMGetInitializer(self.0));
        (!value.is_null()).then_some(Value(value))
    }

    pub(crate) fn set_initializer(self, value: Value) {
        llvm!(core::LLVMSetInitializer(self.0, value.0));
    }

    pub(crate) fn is_constant_global(self) -> bool {
        llvm!(core::LLVMIsGlobalConstant(self.0)) != 0
    }

    pub(crate) fn set_constant_global(self, is: bool) {
        llvm!(core::LLVMSetGlobalConstant(self.0, i32::from(is)));
    }

    pub(crate) fn is_thread_local(self) -> bool {
        llvm!(core::LLVMIsThreadLocal(self.0)) != 0
    }

    pub(crate) fn copy_unnamed_address(self, from: Value) {
        let how = llvm!(core::LLVMGetUnnamedAddress(from.0));
        llvm!(core::LLVMSetUnnamedAddress(self.0, how));
    }

    /// Of a global, an alloca, a load, a store.
    pub(crate) fn alignment(self) -> u32 {
        llvm!(core::LLVMGetAlignment(self.0))
    }

    pub(crate) fn set_alignment(self, bytes: u32) {
        if bytes != 0 {
            llvm!(core::LLVMSetAlignment(self.0, bytes));
        }
    }

    pub(crate) fn parameters(self) -> Vec<Value> {
        let count = llvm!(core::LLVMCountParams(self.0));
        (0..count).map(|it| Value(llvm!(core::LLVMGetParam(self.0, it)))).collect()
    }

    pub(crate) fn blocks(self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut it = llvm!(core::LLVMGetFirstBasicBlock(self.0));
        while !it.is_null() {
            blocks.push(Block(it));
            it = llvm!(core::LLVMGetNextBasicBlock(it));
        }
        blocks
    }

    pub(crate) fn instructions(self) -> Vec<Value> {
        self.blocks().into_iter().flat_map(Block::instructions).collect()
    }

    /// Whether it is one of LLVM's own functions.
    pub(crate) fn is_intrinsic(self) -> bool {
        self.is_function() && self.name().starts_with("llvm.")
    }

    pub(crate) fn erase_function(self) {
        llvm!(core::LLVMDeleteFunction(self.0));
    }

    pub(crate) fn erase_global(self) {
        llvm!(core::LLVMDeleteGlobal(self.0));
    }

    pub(crate) fn subprogram(self) -> Option<Metadata> {
        let program = llvm!(debuginfo::LLVMGetSubprogram(self.0));
        (!program.is_null()).then_some(Metadata(program))
    }

    pub(crate) fn set_subprogram(self, program: Metadata) {
        llvm!(debuginfo::LLVMSetSubprogram(self.0, program.0));
    }

    /// Whether a function (index -1) or its parameter (from 1), or its result (0), has an attribute without value.
    pub(crate) fn has_attribute(self, place: i32, name: &str) -> bool {
        let kind = attribute_kind(name);
        !llvm!(core::LLVMGetEnumAttributeAtIndex(self.0, place as c_uint, kind)).is_null()
    }

    /// Gives an attribute to a function, or to a parameter of it.
    pub(crate) fn add_attribute(self, place: i32, name: &str, value: u64) {
        let context = llvm!(core::LLVMGetTypeContext(self.ty().0));
        let it = llvm!(core::LLVMCreateEnumAttribute(context, attribute_kind(name), value));
        llvm!(core::LLVMAddAttributeAtIndex(self.0, place as c_uint, it));
    }

    pub(crate) fn remove_attribute(self, place: i32, name: &str) {
        let kind = attribute_kind(name);
        llvm!(core::LLVMRemoveEnumAttributeAtIndex(self.0, place as c_uint, kind));
    }
}

/// The place of attributes of the function itself.
pub(crate) const FUNCTION: i32 = -1;

fn attribute_kind(name: &str) -> c_uint {
    llvm!(core::LLVMGetEnumAttributeKindForName(c_string(name).as_ptr(), name.len()))
}

/// Of instructions.
impl Value {
    pub(crate) fn opcode(self) -> Opcode {
        llvm!(core::LLVMGetInstructionOpcode(self.0))
    }

    pub(crate) fn block(self) -> Block {
        Block(llvm!(core::LLVMGetInstructionParent(self.0)))
    }

    /// The function an instruction is in.
    pub(crate) fn function(self) -> Value {
        self.block().function()
    }

    /// Takes an instruction out of its block; no handle of it may be used again.
    pub(crate) fn erase(self) {
        llvm!(core::LLVMInstructionEraseFromParent(self.0));
    }

    pub(crate) fn is_volatile(self) -> bool {
        llvm!(core::LLVMGetVolatile(self.0)) != 0
    }

    pub(crate) fn set_volatile(self, is: bool) {
        llvm!(core::LLVMSetVolatile(self.0, i32::from(is)));
    }

    pub(crate) fn ordering(self) -> Ordering {
        llvm!(core::LLVMGetOrdering(self.0))
    }

    pub(crate) fn set_ordering(self, ordering: Ordering) {
        llvm!(core::LLVMSetOrdering(self.0, ordering));
    }

    pub(crate) fn is_atomic(self) -> bool {
        self.ordering() != Ordering::LLVMAtomicOrderingNotAtomic
    }

    pub(crate) fn atomic_op(self) -> AtomicOp {
        llvm!(core::LLVMGetAtomicRMWBinOp(self.0))
    }

    pub(crate) fn predicate(self) -> Predicate {
        llvm!(core::LLVMGetICmpPredicate(self.0))
    }

    pub(crate) fn allocated_type(self) -> Type {
        Type(llvm!(core::LLVMGetAllocatedType(self.0)))
    }

    /// Of a `getelementptr`, also of one that is a constant.
    pub(crate) fn source_type(self) -> Type {
        Type(llvm!(core::LLVMGetGEPSourceElementType(self.0)))
    }

    pub(crate) fn is_in_bounds(self) -> bool {
        llvm!(core::LLVMIsInBounds(self.0)) != 0
    }

    /// Indices of `extractvalue` and `insertvalue`.
    pub(crate) fn indices(self) -> Vec<u32> {
        let count = llvm!(core::LLVMGetNumIndices(self.0)) as usize;
        let start = llvm!(core::LLVMGetIndices(self.0));
        if start.is_null() {
            return Vec::new();
        }
        // SAFETY: LLVM's own array of that length.
        unsafe { std::slice::from_raw_parts(start, count) }.to_vec()
    }

    pub(crate) fn called(self) -> Value {
        Value(llvm!(core::LLVMGetCalledValue(self.0)))
    }

    pub(crate) fn called_type(self) -> Type {
        Type(llvm!(core::LLVMGetCalledFunctionType(self.0)))
    }

    pub(crate) fn arguments(self) -> Vec<Value> {
        let count = llvm!(core::LLVMGetNumArgOperands(self.0));
        (0..count).map(|it| self.operand(it)).collect()
    }

    pub(crate) fn successors(self) -> Vec<Block> {
        let count = llvm!(core::LLVMGetNumSuccessors(self.0));
        (0..count).map(|it| Block(llvm!(core::LLVMGetSuccessor(self.0, it)))).collect()
    }

    pub(crate) fn is_conditional(self) -> bool {
        llvm!(core::LLVMIsConditional(self.0)) != 0
    }

    /// Of a phi: values with the blocks they come from.
    pub(crate) fn incoming(self) -> Vec<(Value, Block)> {
        let count = llvm!(core::LLVMCountIncoming(self.0));
        let one = |it| {
            let value = Value(llvm!(core::LLVMGetIncomingValue(self.0, it)));
            (value, Block(llvm!(core::LLVMGetIncomingBlock(self.0, it))))
        };
        (0..count).map(one).collect()
    }

    pub(crate) fn add_incoming(self, value: Value, block: Block) {
        let (mut value, mut block) = (value.0, block.0);
        llvm!(core::LLVMAddIncoming(self.0, &mut value, &mut block, 1));
    }

    /// Of a shuffle of vectors.
    pub(crate) fn mask(self) -> Vec<i32> {
        let count = llvm!(core::LLVMGetNumMaskElements(self.0));
        (0..count).map(|it| llvm!(core::LLVMGetMaskValue(self.0, it))).collect()
    }

    pub(crate) fn debug_location(self) -> Option<Metadata> {
        let it = llvm!(debuginfo::LLVMInstructionGetDebugLoc(self.0));
        (!it.is_null()).then_some(Metadata(it))
    }

    /// The source file and line, when known.
    pub(crate) fn place(self) -> Option<(String, u32)> {
        if !self.is_instruction() || self.debug_location().is_none() {
            return None;
        }
        let mut len = 0;
        let start = llvm!(core::LLVMGetDebugLocFilename(self.0, &mut len));
        Some((text(start, len as usize), llvm!(core::LLVMGetDebugLocLine(self.0))))
    }

    pub(crate) fn metadata(self, kind: &str) -> Option<Value> {
        let context = llvm!(core::LLVMGetTypeContext(self.ty().0));
        let kind = metadata_kind(context, kind);
        let it = llvm!(core::LLVMGetMetadata(self.0, kind));
        (!it.is_null()).then_some(Value(it))
    }

    pub(crate) fn set_metadata(self, kind: &str, node: Value) {
        let context = llvm!(core::LLVMGetTypeContext(self.ty().0));
        let kind = metadata_kind(context, kind);
        llvm!(core::LLVMSetMetadata(self.0, kind, node.0));
    }

    /// Operands of a node of metadata; those that are missing are left out.
    pub(crate) fn node_operands(self) -> Vec<Option<Value>> {
        let count = llvm!(core::LLVMGetMDNodeNumOperands(self.0)) as usize;
        let mut operands = vec![std::ptr::null_mut(); count];
        llvm!(core::LLVMGetMDNodeOperands(self.0, operands.as_mut_ptr()));
        operands.into_iter().map(|it| (!it.is_null()).then_some(Value(it))).collect()
    }

    /// The text of a string of metadata.
    pub(crate) fn metadata_text(self) -> Option<String> {
        let mut len = 0;
        let start = llvm!(core::LLVMGetMDString(self.0, &mut len));
        (!start.is_null()).then(|| text(start, len as usize))
    }

    /// Copies what says how arithmetic may go wrong: `nsw`, `exact`, `fast` and the like.
    pub(crate) fn copy_flags(self, from: Value) {
        if !self.is_instruction() || self.opcode() != from.opcode() {
            return;
        }
        match from.opcode() {
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl => {
                let (signed, unsigned) =
                    (llvm!(core::LLVMGetNSW(from.0)), llvm!(core::LLVMGetNUW(from.0)));
                llvm!(core::LLVMSetNSW(self.0, signed));
                llvm!(core::LLVMSetNUW(self.0, unsigned));
            }
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMLShr | Opcode::LLVMAShr => {
                let is_exact = llvm!(core::LLVMGetExact(from.0));
                llvm!(core::LLVMSetExact(self.0, is_exact));
            }
            Opcode::LLVMZExt | Opcode::LLVMUIToFP => {
                let is_positive = llvm!(core::LLVMGetNNeg(from.0));
                llvm!(core::LLVMSetNNeg(self.0, is_positive));
            }
            Opcode::LLVMOr => {
                let is_disjoint = llvm!(core::LLVMGetIsDisjoint(from.0));
                llvm!(core::LLVMSetIsDisjoint(self.0, is_disjoint));
            }
            _ => {}
        }
        let can_be_fast = llvm!(core::LLVMCanValueUseFastMathFlags(self.0)) != 0
            && llvm!(core::LLVMCanValueUseFastMathFlags(from.0)) != 0;
        if can_be_fast {
            let flags = llvm!(core::LLVMGetFastMathFlags(from.0));
            llvm!(core::LLVMSetFastMathFlags(self.0, flags));
        }
    }

    /// Whether `nsw` is there.
    pub(crate) fn is_signed_exact(self) -> bool {
        llvm!(core::LLVMGetNSW(self.0)) != 0
    }

    /// Whether `nuw` is there.
    pub(crate) fn is_unsigned_exact(self) -> bool {
        llvm!(core::LLVMGetNUW(self.0)) != 0
    }

    /// Whether no bit is set on both sides of this `or`.
    pub(crate) fn is_disjoint(self) -> bool {
        llvm!(core::LLVMGetIsDisjoint(self.0)) != 0
    }

    pub(crate) fn set_operand(self, index: u32, value: Value) {
        llvm!(core::LLVMSetOperand(self.0, index, value.0));
    }

    /// Of a conditional branch.
    pub(crate) fn set_condition(self, condition: Value) {
        llvm!(core::LLVMSetCondition(self.0, condition.0));
    }

    /// Text of inline assembly, and its constraints.
    pub(crate) fn assembly(self) -> (String, String) {
        let (mut len, mut constraint_len) = (0, 0);
        let start = llvm!(core::LLVMGetInlineAsmAsmString(self.0, &mut len));
        let constraints =
            llvm!(core::LLVMGetInlineAsmConstraintString(self.0, &mut constraint_len));
        (text(start, len), text(constraints, constraint_len))
    }

    /// The alignment that a call promises for an argument (from 1), 1 if it says nothing.
    pub(crate) fn call_alignment(self, place: u32) -> u32 {
        let kind = attribute_kind("align");
        let it = llvm!(core::LLVMGetCallSiteEnumAttribute(self.0, place, kind));
        if it.is_null() {
            return 1;
        }
        u32::try_from(llvm!(core::LLVMGetEnumAttributeValue(it))).unwrap_or(1)
    }
}

fn metadata_kind(context: llvm_sys::prelude::LLVMContextRef, name: &str) -> c_uint {
    llvm!(core::LLVMGetMDKindIDInContext(context, c_string(name).as_ptr(), name.len() as c_uint))
}

impl Block {
    pub(crate) fn instructions(self) -> Vec<Value> {
        let mut instructions = Vec::new();
        let mut it = llvm!(core::LLVMGetFirstInstruction(self.0));
        while !it.is_null() {
            instructions.push(Value(it));
            it = llvm!(core::LLVMGetNextInstruction(it));
        }
        instructions
    }

    pub(crate) fn terminator(self) -> Option<Value> {
        let it = llvm!(core::LLVMGetBasicBlockTerminator(self.0));
        (!it.is_null()).then_some(Value(it))
    }

    pub(crate) fn successors(self) -> Vec<Block> {
        self.terminator().map(Value::successors).unwrap_or_default()
    }

    pub(crate) fn function(self) -> Value {
        Value(llvm!(core::LLVMGetBasicBlockParent(self.0)))
    }
}

/// Gives the body of a function to another with the same parameters, and perhaps more.
pub(crate) fn move_body(from: Value, to: Value) {
    move_blocks(from, to);
    for (old, new) in from.parameters().into_iter().zip(to.parameters()) {
        old.replace_by(new);
    }
}

/// The same, but its parameters: nothing may use them.
pub(crate) fn move_blocks(from: Value, to: Value) {
    for block in from.blocks() {
        llvm!(core::LLVMRemoveBasicBlockFromParent(block.0));
        llvm!(core::LLVMAppendExistingBasicBlock(to.0, block.0));
    }
}

/// The function a parameter belongs to.
pub(crate) fn parameter_owner(parameter: Value) -> Value {
    Value(llvm!(core::LLVMGetParamParent(parameter.0)))
}
