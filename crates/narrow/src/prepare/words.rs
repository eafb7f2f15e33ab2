//! Structures of one or two words that are handed over by value.
//!
//! In the host's convention they are numbers: `i64` or `[2 x i64]`, whatever lies in them, so that a pointer in them would be
//! one that was a number. The front end writes such a parameter to a variable of the structure's type at once, and
//! its argument is read from one just before; so each word is handed over as what it is there. A result of two words goes to where
//! the caller says. Where it does not look like that, and where functions are called by their address, all stays as it was.

use rustc_hash::FxHashSet;

use crate::extract::constant_offset;
use crate::llvm::{Builder, Context, Layout, Linkage, Opcode, Type, Value};

use super::Program;

/// Bytes of a word.
const WORD: u64 = 8;

/// Attributes of functions that matter before the program is rebuilt.
const KEPT: [&str; 8] =
    ["noinline", "alwaysinline", "optnone", "cold", "optsize", "minsize", "norecurse", "noreturn"];

/// The same of parameters.
const KEPT_OF_PARAMETERS: [&str; 4] = ["noalias", "noundef", "signext", "zeroext"];

pub(super) fn lower(context: Context, program: &Program) {
    let fixed: FxHashSet<Value> = program.kernels.union(&program.roots).copied().collect();
    let functions = program.module.functions().into_iter();
    for function in functions.filter(|it| !it.is_declaration() && !fixed.contains(it)) {
        let words = Words { context, layout: program.module.layout(), function };
        if let Some(plan) = words.plan() {
            words.rewrite(program, &plan);
        }
    }
}

/// One function.
struct Words {
    context: Context,
    layout: Layout,
    function: Value,
}

/// What becomes of a function: types of the words of each parameter, and of the result; none where it stays.
struct Plan {
    calls: Vec<Value>,
    parameters: Vec<Option<Vec<Type>>>,
    result: Option<Vec<Type>>,
}

impl Words {
    /// None if nothing is to be done.
    fn plan(&self) -> Option<Plan> {
        let calls = self.function.users();
        let is_call = |it: &Value| {
            it.is_instruction()
                && it.opcode() == Opcode::LLVMCall
                && it.called() == self.function
                && it.called_type() == self.function.value_type()
                && !it.arguments().contains(&self.function)
        };
        if !calls.iter().all(is_call) {
            return None;
        }
        let given = self.function.parameters().into_iter().enumerate();
        let parameters: Vec<_> =
            given.map(|(index, it)| self.words_of_parameter(it, index, &calls)).collect();
        let result = self.words_of_result(&calls);
        let is_any = result.is_some() || parameters.iter().any(Option::is_some);
        is_any.then_some(Plan { calls, parameters, result })
    }

    fn words_of_parameter(
        &self,
        parameter: Value,
        index: usize,
        calls: &[Value],
    ) -> Option<Vec<Type>> {
        let count = words(parameter.ty())?;
        let [user] = parameter.users().try_into().ok()?;
        let types = self.put_words(user, parameter, count)?;
        let arguments = calls.iter().map(|it| it.arguments().get(index).copied());
        let fits = |it: Option<Value>| it.is_some_and(|it| self.is_got(it, count));
        arguments.into_iter().all(fits).then_some(types)
    }

    fn words_of_result(&self, calls: &[Value]) -> Option<Vec<Type>> {
        let count = words(self.function.value_type().result())?;
        let mut types = None;
        for ret in self.returns() {
            let value = ret.operand(0);
            let is_load = value.is_instruction() && value.opcode() == Opcode::LLVMLoad;
            let found = match is_load {
                true => self.types_at(value.operand(0), count),
                false => Some(vec![self.context.pointer()]),
            };
            // Who takes it out twice has another use for it.
            if !self.is_got(value, count) || value.users().len() != 1 || found.is_none() {
                return None;
            }
            types = types.or(found);
        }
        let is_put = |call: &Value, it: &Value| self.put_words_of_any(*it, *call, count);
        calls.iter().all(|call| call.users().iter().all(|it| is_put(call, it))).then_some(types?)
    }

    fn returns(&self) -> Vec<Value> {
        let all = self.function.instructions();
        all.into_iter().filter(|it| it.opcode() == Opcode::LLVMRet).collect()
    }

    /// What the words of `value` are where `user` puts them; none if that is no variable with a pointer.
    fn put_words(&self, user: Value, value: Value, count: u64) -> Option<Vec<Type>> {
        match user.opcode() {
            Opcode::LLVMStore if user.operand(0) == value && !user.is_volatile() => {
                self.types_at(user.operand(1), count)
            }
            Opcode::LLVMIntToPtr => Some(vec![user.ty()]),
            _ => None,
        }
    }

    /// Whether `user` just puts `value` somewhere.
    fn put_words_of_any(&self, user: Value, value: Value, count: u64) -> bool {
        match user.opcode() {
            Opcode::LLVMStore => {
                user.operand(0) == value && user.operand(1) != value && !user.is_volatile()
            }
            Opcode::LLVMIntToPtr => count == 1 && user.ty() == self.context.pointer(),
            _ => false,
        }
    }

    /// Whether words of a structure were just read, or made of a pointer. What has a type beside it is a number of the user's.
    fn is_got(&self, value: Value, count: u64) -> bool {
        value.is_instruction()
            && match value.opcode() {
                Opcode::LLVMLoad if value.is_volatile() || value.is_atomic() => false,
                Opcode::LLVMLoad if count == 1 => self.types_at(value.operand(0), 1).is_some(),
                Opcode::LLVMLoad => value.metadata("tbaa").is_none(),
                Opcode::LLVMPtrToInt => count == 1 && value.operand(0).ty().address_space() == 0,
                _ => false,
            }
    }

    /// Types of words at an address in a variable; none if no pointer is among them.
    fn types_at(&self, address: Value, count: u64) -> Option<Vec<Type>> {
        let is_step = address.is_instruction() && address.opcode() == Opcode::LLVMGetElementPtr;
        let (variable, offset) = match is_step {
            true => (address.operand(0), constant_offset(self.layout, address)?),
            false => (address, 0),
        };
        let ty = variable.is_alloca().then(|| variable.allocated_type())?;
        let offset = u64::try_from(offset).ok()?;
        let pointer = self.context.pointer();
        let types: Vec<Type> = (0..count)
            .map(|it| match self.has_pointer_at(ty, offset + it * WORD) {
                true => pointer,
                false => self.context.integer(64),
            })
            .collect();
        types.contains(&pointer).then_some(types)
    }

    fn has_pointer_at(&self, ty: Type, offset: u64) -> bool {
        if ty.is_struct() {
            let fields = ty.fields().into_iter().enumerate();
            let places = fields.map(|(index, it)| (it, self.layout.offset(ty, index as u32)));
            let mut here =
                places.filter(|(it, at)| (*at..at + self.layout.size(*it)).contains(&offset));
            here.any(|(it, at)| self.has_pointer_at(it, offset - at))
        } else if ty.is_array() {
            let size = self.layout.size(ty.element());
            size > 0 && offset < size * ty.len() && self.has_pointer_at(ty.element(), offset % size)
        } else {
            offset == 0 && ty == self.context.pointer()
        }
    }

    fn rewrite(&self, program: &Program, plan: &Plan) {
        let (module, pointer) = (program.module, self.context.pointer());
        let old_type = self.function.value_type();
        // Two words go where the caller says.
        let out = plan.result.as_ref().filter(|it| it.len() > 1);
        let result = match &plan.result {
            None => old_type.result(),
            Some(words) if words.len() > 1 => self.context.void(),
            Some(_) => pointer,
        };
        let mut types: Vec<Type> = out.iter().map(|_| pointer).collect();
        for (ty, words) in old_type.parameters().into_iter().zip(&plan.parameters) {
            match words {
                None => types.push(ty),
                Some(words) => types.extend(words),
            }
        }
        let name = self.function.name();
        self.function.set_name(&format!("{name}.words"));
        let new = module.add_function(&name, result.function(&types));
        new.set_linkage(Linkage::LLVMInternalLinkage);
        if let Some(it) = self.function.subprogram() {
            new.set_subprogram(it);
        }
        let section = self.function.section();
        if !section.is_empty() {
            new.set_section(&section);
        }
        let kept = KEPT.iter().filter(|it| self.function.has_attribute(crate::llvm::FUNCTION, it));
        kept.for_each(|it| new.add_attribute(crate::llvm::FUNCTION, it, 0));
        let builder = Builder::new(self.context);
        self.take(&builder, plan, new, out.is_some());
        if let Some(words) = &plan.result {
            self.give(&builder, words, out.and(new.parameters().first().copied()));
        }
        crate::llvm::move_blocks(self.function, new);
        for call in &plan.calls {
            self.call(&builder, plan, *call, new);
        }
        self.function.erase_function();
    }

    /// Parameters of the new function stand for those of the old.
    fn take(&self, builder: &Builder, plan: &Plan, new: Value, has_out: bool) {
        // Of attributes the first parameter is number 1.
        let mut parameters = new.parameters().into_iter().zip(1..).skip(usize::from(has_out));
        let old = self.function.parameters().into_iter().zip(1..);
        for ((old, old_place), words) in old.zip(&plan.parameters) {
            let count = words.as_ref().map_or(1, Vec::len);
            let parts: Vec<(Value, i32)> = parameters.by_ref().take(count).collect();
            if words.is_some() {
                let parts: Vec<Value> = parts.iter().map(|it| it.0).collect();
                old.users().into_iter().for_each(|it| put(builder, it, &parts));
                continue;
            }
            for (part, place) in parts {
                old.replace_by(part);
                let has = |it: &&&str| self.function.has_attribute(old_place, it);
                let kept = KEPT_OF_PARAMETERS.iter().filter(has);
                kept.for_each(|it| new.add_attribute(place, it, 0));
            }
        }
    }

    /// Every return gives words.
    fn give(&self, builder: &Builder, words: &[Type], out: Option<Value>) {
        for ret in self.returns() {
            let value = ret.operand(0);
            let parts = got(builder, value, words);
            builder.before(ret);
            builder.set_location(ret.debug_location());
            match (out, parts.as_slice()) {
                (Some(out), parts) => {
                    store(builder, out, parts);
                    builder.ret(None);
                }
                (None, parts) => {
                    builder.ret(parts.first().copied());
                }
            }
            ret.erase();
            erase_unused(value);
        }
    }

    fn call(&self, builder: &Builder, plan: &Plan, call: Value, new: Value) {
        let mut arguments = Vec::new();
        let mut unused = Vec::new();
        let out = plan.result.as_ref().filter(|it| it.len() > 1).map(|words| {
            let function = call.function();
            let first = function.blocks().first().and_then(|it| it.instructions().first().copied());
            builder.before(first.unwrap_or(call));
            builder.set_location(None);
            builder.alloca(self.context.structure(words, false))
        });
        arguments.extend(out);
        for (argument, words) in call.arguments().into_iter().zip(&plan.parameters) {
            match words {
                None => arguments.push(argument),
                Some(words) => {
                    arguments.extend(got(builder, argument, words));
                    unused.push(argument);
                }
            }
        }
        builder.before(call);
        builder.set_location(call.debug_location());
        let made = builder.call(new.value_type(), new, &arguments);
        match &plan.result {
            None if call.ty().is_void() => {}
            None => call.replace_by(made),
            Some(words) => {
                for user in call.users() {
                    builder.before(user);
                    let parts = out.map_or_else(|| vec![made], |it| load(builder, it, words));
                    put(builder, user, &parts);
                }
            }
        }
        call.erase();
        unused.into_iter().for_each(erase_unused);
    }
}

/// How many words a type is that structures are handed over as.
fn words(ty: Type) -> Option<u64> {
    let is_word = |it: Type| it.is_integer() && it.bits() == 64;
    if is_word(ty) {
        return Some(1);
    }
    (ty.is_array() && ty.len() == 2 && is_word(ty.element())).then_some(2)
}

/// The words of what [`Words::is_got`], as what they are.
fn got(builder: &Builder, value: Value, words: &[Type]) -> Vec<Value> {
    if value.opcode() == Opcode::LLVMPtrToInt {
        return vec![value.operand(0)];
    }
    builder.before(value);
    builder.set_location(value.debug_location());
    load(builder, value.operand(0), words)
}

fn load(builder: &Builder, address: Value, words: &[Type]) -> Vec<Value> {
    let number = builder.context().integer(64);
    let places = words.iter().zip((0..).step_by(WORD as usize));
    places
        .map(|(ty, at)| builder.load(*ty, builder.byte_offset(address, number.constant(at))))
        .collect()
}

fn store(builder: &Builder, address: Value, parts: &[Value]) {
    let number = builder.context().integer(64);
    for (part, at) in parts.iter().zip((0..).step_by(WORD as usize)) {
        builder.store(*part, builder.byte_offset(address, number.constant(at)));
    }
}

/// Puts words where `user` puts their number, which goes.
fn put(builder: &Builder, user: Value, parts: &[Value]) {
    if user.opcode() == Opcode::LLVMIntToPtr {
        parts.iter().for_each(|it| user.replace_by(*it));
    } else {
        builder.before(user);
        builder.set_location(user.debug_location());
        store(builder, user.operand(1), parts);
    }
    user.erase();
}

fn erase_unused(value: Value) {
    if value.users().is_empty() {
        value.erase();
    }
}
