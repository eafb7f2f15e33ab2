//! Assignment as the paper has it, to compare ours with: Kurth et al., CC 2020, Algorithms 1 to 3.
//!
//! In: a prepared program. Out: its device pointers. A pointer is one where that is said (the stack, variables, `ferry.device`, what the
//! runtime hands over), or if it comes from device pointers alone: by steps of one function, or as an argument of direct calls. What
//! is read from memory is generic, unless it is a variable of the stack that holds a pointer (Algorithm 1), is written nowhere
//! but where it is plain to see, with device pointers, and is otherwise only read (Algorithm 2, [`Paper::holds_only_device`]).
//! Algorithm 3, which puts the new pointers in the place of the old, is what `rebuild` does with the answer.
//!
//! Three things differ. LLVM's pointers no longer tell their depth: variables with pointers to pointers are looked at too. Parallel regions
//! are functions that get a pack here; a variable in a pack is an argument. And the paper lets the address of a variable be made
//! a number; numbers may come back as pointers, so that ends it here.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::extract::{constant_offset, is_free, is_low_number, is_only_compared};
use crate::llvm::{Layout, Opcode, Value, parameter_owner};
use crate::prepare::Program;

/// Device pointers of a program. `is_given` says of what the runtime hands over whether it is one.
pub(crate) fn assign(program: &Program, is_given: &dyn Fn(Value) -> bool) -> FxHashSet<Value> {
    let paper = Paper::new(program, is_given);
    let mut holders = FxHashSet::default();
    // A variable that holds device pointers gives more of them, which others may hold.
    loop {
        let outer = paper.largest(|it, known| match paper.origin(it) {
            Origin::Stack => holders.contains(&it),
            Origin::Moved(from) => known.contains(&from),
            Origin::Handed(from) => from.iter().all(|it| known.contains(it)),
            Origin::Said | Origin::Chosen(_) | Origin::Memory(_) | Origin::Unknown => false,
        });
        let device = paper.largest(|it, known| {
            let is_device = |it: &Value| is_constant_device(*it) || known.contains(it);
            match paper.origin(it) {
                Origin::Stack | Origin::Said => true,
                Origin::Moved(from) => is_device(&from),
                Origin::Handed(from) | Origin::Chosen(from) => from.iter().all(is_device),
                Origin::Memory(address) => outer.contains(&address),
                Origin::Unknown => false,
            }
        });
        let is_new = |it: &Value| {
            let is_entry = it.is_alloca() && it.allocated_type().is_pointer();
            is_entry && !holders.contains(it) && paper.holds_only_device(*it, &device)
        };
        let more: Vec<Value> = paper.pointers.iter().copied().filter(is_new).collect();
        if more.is_empty() {
            return device;
        }
        holders.extend(more);
    }
}

/// Where a pointer comes from.
enum Origin {
    /// It is a variable of the stack.
    Stack,
    /// It is a device pointer by somebody's word.
    Said,
    /// It is another, moved or cast.
    Moved(Value),
    /// One of these is handed over as an argument.
    Handed(Vec<Value>),
    /// It is one of these.
    Chosen(Vec<Value>),
    /// It lies at this address.
    Memory(Value),
    Unknown,
}

struct Paper<'a> {
    program: &'a Program,
    layout: Layout,
    is_given: &'a dyn Fn(Value) -> bool,
    /// All instructions and parameters that are pointers, in the order of the program.
    pointers: Vec<Value>,
    /// Calls of functions that are called by name alone.
    calls: FxHashMap<Value, Vec<Value>>,
}

impl Paper<'_> {
    fn new<'a>(program: &'a Program, is_given: &'a dyn Fn(Value) -> bool) -> Paper<'a> {
        let bodies = program.module.functions().into_iter().filter(|it| !it.is_declaration());
        let bodies: Vec<Value> = bodies.collect();
        let all = |it: &Value| it.parameters().into_iter().chain(it.instructions());
        let pointers = bodies.iter().flat_map(all).filter(|it| it.is_pointer()).collect();
        let is_seen = |it: &&Value| !program.kernels.contains(it) && !program.roots.contains(it);
        let calls = bodies.iter().filter(is_seen).filter_map(|it| Some((*it, calls(*it)?)));
        let calls = calls.collect();
        Paper { program, layout: program.module.layout(), is_given, pointers, calls }
    }

    /// The largest set of pointers of which each keeps the rule, given the others.
    fn largest(&self, rule: impl Fn(Value, &FxHashSet<Value>) -> bool) -> FxHashSet<Value> {
        let mut known: FxHashSet<Value> = self.pointers.iter().copied().collect();
        loop {
            let breaks = |it: &&Value| known.contains(it) && !rule(**it, &known);
            let wrong: Vec<Value> = self.pointers.iter().filter(breaks).copied().collect();
            if wrong.is_empty() {
                return known;
            }
            for it in wrong {
                known.remove(&it);
            }
        }
    }

    fn origin(&self, it: Value) -> Origin {
        if it.ty().address_space() == 1 {
            return Origin::Said;
        }
        if !it.is_instruction() {
            return self.origin_of_parameter(it);
        }
        match it.opcode() {
            Opcode::LLVMAlloca => Origin::Stack,
            Opcode::LLVMGetElementPtr
            | Opcode::LLVMBitCast
            | Opcode::LLVMAddrSpaceCast
            | Opcode::LLVMFreeze => Origin::Moved(it.operand(0)),
            Opcode::LLVMPHI => Origin::Chosen(it.incoming().into_iter().map(|it| it.0).collect()),
            Opcode::LLVMSelect => Origin::Chosen(vec![it.operand(1), it.operand(2)]),
            Opcode::LLVMIntToPtr if is_low_number(it.operand(0)) => Origin::Said,
            Opcode::LLVMLoad => match self.packed(it) {
                Some(values) => Origin::Handed(values),
                None => Origin::Memory(it.operand(0)),
            },
            Opcode::LLVMCall if self.program.device.contains(&it.called()) => Origin::Said,
            _ => Origin::Unknown,
        }
    }

    fn origin_of_parameter(&self, it: Value) -> Origin {
        let function = parameter_owner(it);
        let program = self.program;
        if program.device.contains(&function) || program.roots.contains(&function) {
            return Origin::Said;
        }
        if program.kernels.contains(&function) || program.trampolines.contains(&function) {
            return if (self.is_given)(it) { Origin::Said } else { Origin::Unknown };
        }
        let index = function.parameters().iter().position(|other| *other == it);
        let handed = |call: &Value| call.arguments().get(index?).copied();
        let values = self.calls.get(&function).and_then(|it| it.iter().map(handed).collect());
        values.map_or(Origin::Unknown, Origin::Handed)
    }

    /// For what a trampoline takes out of its pack: all that is put in there.
    fn packed(&self, load: Value) -> Option<Vec<Value>> {
        let function = load.function();
        let pack = *function.parameters().get(2)?;
        let at = self.offset_from(load.operand(0), pack)?;
        let is_trampoline = self.program.trampolines.contains(&function);
        let packs = self.program.forks.iter().filter(|it| it.0 == function && is_trampoline);
        let mut values = Vec::new();
        for (_, pack) in packs {
            let fields = self.fields(*pack)?;
            values.extend(fields.into_iter().filter(|it| it.0 == at).map(|it| it.1));
        }
        (!values.is_empty()).then_some(values)
    }

    /// How far an address lies behind another, if that is a constant.
    fn offset_from(&self, address: Value, base: Value) -> Option<i64> {
        if address == base {
            return Some(0);
        }
        let is_step = address.is_instruction()
            && address.opcode() == Opcode::LLVMGetElementPtr
            && address.operand(0) == base;
        is_step.then(|| constant_offset(self.layout, address)).flatten()
    }

    /// What is put into a pack, and where; none if anything else is done with it.
    fn fields(&self, pack: Value) -> Option<Vec<(i64, Value)>> {
        let mut fields = Vec::new();
        let mut add = |store: Value, address: Value| {
            let is_put = store.opcode() == Opcode::LLVMStore && store.operand(1) == address;
            fields.push((self.offset_from(address, pack)?, store.operand(0)));
            is_put.then_some(())
        };
        for user in pack.is_alloca().then(|| pack.users())? {
            match user.opcode() {
                Opcode::LLVMStore => add(user, pack)?,
                Opcode::LLVMGetElementPtr => {
                    user.users().into_iter().try_for_each(|it| add(it, user))?;
                }
                Opcode::LLVMCall if is_silent(user) || self.is_fork(user, pack) => {}
                _ => return None,
            }
        }
        Some(fields)
    }

    fn is_fork(&self, call: Value, pack: Value) -> bool {
        let arguments = call.arguments();
        arguments.get(1) == Some(&pack)
            && arguments.first().is_some_and(|it| self.program.trampolines.contains(it))
    }

    /// Algorithm 2: whether nothing but device pointers is ever written to a variable.
    fn holds_only_device(&self, variable: Value, device: &FxHashSet<Value>) -> bool {
        variable.users().into_iter().all(|user| match user.opcode() {
            Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast => {
                self.holds_only_device(user, device)
            }
            Opcode::LLVMStore if user.operand(1) == variable && user.operand(0) != variable => {
                let value = user.operand(0);
                value.is_pointer() && (is_constant_device(value) || device.contains(&value))
            }
            _ => self.is_only_read_by(user, variable, &mut FxHashSet::default()),
        })
    }

    /// Whether nobody writes through a pointer, or keeps it.
    fn is_only_read(&self, pointer: Value, seen: &mut FxHashSet<Value>) -> bool {
        // Who is being asked already answers for himself.
        !seen.insert(pointer)
            || pointer.users().into_iter().all(|it| self.is_only_read_by(it, pointer, seen))
    }

    fn is_only_read_by(&self, user: Value, pointer: Value, seen: &mut FxHashSet<Value>) -> bool {
        match user.opcode() {
            Opcode::LLVMLoad => true,
            Opcode::LLVMPtrToInt => is_only_compared(user),
            Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast => {
                self.is_only_read(user, seen)
            }
            Opcode::LLVMStore if user.operand(0) == pointer && user.operand(1) != pointer => {
                self.is_only_read_in_regions(user.operand(1), seen)
            }
            Opcode::LLVMCall if is_silent(user) => true,
            Opcode::LLVMCall => {
                let callee = user.called();
                let is_direct = callee.is_function() && self.calls.contains_key(&callee);
                let pairs = user.arguments().into_iter().zip(callee_parameters(callee, is_direct));
                let mut here = pairs.filter(|it| it.0 == pointer);
                is_direct && here.all(|it| self.is_only_read(it.1, seen))
            }
            _ => false,
        }
    }

    /// Whether what is put at this address, in a pack, is only read by the regions that get it.
    fn is_only_read_in_regions(&self, address: Value, seen: &mut FxHashSet<Value>) -> bool {
        let is_step = address.is_instruction() && address.opcode() == Opcode::LLVMGetElementPtr;
        let pack = if is_step { address.operand(0) } else { address };
        let Some(at) = self.offset_from(address, pack) else { return false };
        if self.fields(pack).is_none() {
            return false;
        }
        let mut takers = self.program.forks.iter().filter(|it| it.1 == pack).peekable();
        takers.peek().is_some()
            && takers.all(|(trampoline, _)| {
                let Some(parameter) = trampoline.parameters().get(2).copied() else { return false };
                let is_only_read = |load: Value, address: Value, seen: &mut FxHashSet<Value>| {
                    let Some(here) = self.offset_from(address, parameter) else { return false };
                    let is_here = here == at;
                    load.opcode() == Opcode::LLVMLoad && (!is_here || self.is_only_read(load, seen))
                };
                parameter.users().into_iter().all(|user| match user.opcode() {
                    Opcode::LLVMGetElementPtr => {
                        user.users().into_iter().all(|it| is_only_read(it, user, seen))
                    }
                    _ => is_only_read(user, parameter, seen),
                })
            })
    }
}

/// All calls of a function; none if it is used in another way.
fn calls(function: Value) -> Option<Vec<Value>> {
    let is_call = |it: &Value| {
        it.is_instruction()
            && it.opcode() == Opcode::LLVMCall
            && it.called() == function
            && !it.arguments().contains(&function)
    };
    let users = function.users();
    users.iter().all(is_call).then_some(users)
}

fn callee_parameters(callee: Value, is_direct: bool) -> Vec<Value> {
    if is_direct { callee.parameters() } else { Vec::new() }
}

/// Marks of LLVM that do nothing.
fn is_silent(call: Value) -> bool {
    let callee = call.called();
    let is_mark = |it: &&str| callee.name().starts_with(*it);
    callee.is_function() && ["llvm.lifetime.", "llvm.dbg."].iter().any(is_mark)
}

/// Constants that are device pointers: variables, functions, null, small numbers.
fn is_constant_device(value: Value) -> bool {
    if value.is_global() || is_free(value) {
        return true;
    }
    value.is_expression()
        && match value.expression() {
            Opcode::LLVMIntToPtr => is_low_number(value.operand(0)),
            _ => is_constant_device(value.operand(0)),
        }
}
