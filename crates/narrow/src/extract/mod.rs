//! What a program does with pointers, as a graph; and the answer, by the program's own values.
//!
//! Bytes that are no pointers may become one: a number is turned into a pointer, a pointer is copied byte by byte or lies
//! in a union. The types that clang writes beside loads and stores (TBAA) say which accesses cannot: an `int` is
//! never read as a pointer in C. All others are taken for parts of pointers.

mod upper;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::llvm::{Layout, Opcode, Type, Value};
use crate::options::Assign;
use crate::paper;
use crate::points::{
    self, Constraint, Function, Graph, Node, Object, ObjectFacts, Reason, Solution,
};
use crate::prepare::{GENERIC_COPIES, Model, Program, is_runtime};

/// Objects of at most so many bytes have their offsets told apart.
const LARGEST_SPLIT: u64 = 512;

/// What was found about the pointers of a program.
pub(crate) struct Facts {
    nodes: FxHashMap<Value, Node>,
    results: FxHashMap<Value, Node>,
    objects: FxHashMap<Object, Value>,
    solution: Solution,
    reasons: Vec<String>,
    /// All pointers are 32 bits wide already.
    is_flat: bool,
    /// How pointers are assigned; in the runtime always by the places they may lead to.
    assign: Assign,
    /// Device pointers by the paper's algorithms.
    by_paper: FxHashSet<Value>,
    callees: FxHashMap<Value, Node>,
    constants: FxHashMap<Value, Node>,
    /// Objects of which 64 bits are read somewhere.
    read_whole: FxHashSet<Object>,
}

impl Facts {
    /// Whether a pointer has 32 bits.
    pub(crate) fn is_device(&self, value: Value) -> bool {
        if self.is_flat || is_free(value) || value.is_global() || value.is_alloca() {
            return true;
        }
        if value.is_expression() {
            return match value.expression() {
                Opcode::LLVMIntToPtr => is_low_number(value.operand(0)),
                _ => self.is_device(value.operand(0)),
            };
        }
        if value.ty().is_pointer() && value.ty().address_space() == 1 {
            return true;
        }
        let Some(node) = self.nodes.get(&value) else { return false };
        match self.assign {
            Assign::None if self.is_of_program(value) => false,
            Assign::Paper if self.is_of_program(value) => self.by_paper.contains(&value),
            Assign::Points | Assign::Paper | Assign::None => self.solution.is_device(*node),
        }
    }

    /// Whether a pointer is one of the accelerator's memory, assigned or not.
    pub(crate) fn is_proven(&self, value: Value) -> bool {
        let node = self.nodes.get(&value);
        self.is_device(value) || node.is_some_and(|it| self.solution.is_device(*it))
    }

    /// Whether it is the user's, not the runtime's.
    fn is_of_program(&self, value: Value) -> bool {
        let function = match value.is_instruction() {
            true => value.function(),
            false => crate::llvm::parameter_owner(value),
        };
        !is_runtime(&function.name())
    }

    /// Whether a function returns a pointer of 32 bits.
    pub(crate) fn returns_device(&self, function: Value) -> bool {
        let is_runtime = is_runtime(&function.name());
        let node = self.results.get(&function);
        self.is_flat
            || node.is_some_and(|it| {
                self.solution.is_device(*it) && (self.assign == Assign::Points || is_runtime)
            })
    }

    /// Why a pointer is generic.
    pub(crate) fn reason(&self, value: Value) -> String {
        let reason = self.nodes.get(&value).and_then(|it| self.solution.reason(*it));
        let text = reason.and_then(|it| self.reasons.get(it.0 as usize)).cloned();
        text.unwrap_or_else(|| {
            let text = match self.assign {
                Assign::Paper => "the paper's algorithms do not look there",
                Assign::Points | Assign::None => "no assignment was asked for",
            };
            text.to_owned()
        })
    }

    /// Functions that a call through a pointer may reach, in the order of the program.
    ///
    /// # Errors
    /// It is not known which.
    pub(crate) fn targets(&self, call: Value) -> Result<Vec<Value>, Error> {
        let callee = call.called();
        let node = self.callees.get(&call);
        let places: Vec<_> = node.into_iter().flat_map(|it| self.solution.places(*it)).collect();
        if places.iter().any(|it| it.object == points::HOST || it.object == points::LOW) {
            let reason = node.and_then(|it| self.solution.reason(*it));
            let reason = reason.and_then(|it| self.reasons.get(it.0 as usize)).cloned();
            let reason = reason.unwrap_or_else(|| "it was a number before".to_owned());
            let message =
                format!("calls a function whose address is not of this program: {reason}");
            return Err(Error::at(call, message));
        }
        let functions = places.iter().filter_map(|it| self.objects.get(&it.object));
        let ty = call.called_type();
        let fits = |it: &&Value| it.is_function() && it.value_type() == ty;
        let mut targets: Vec<Value> = functions.filter(fits).copied().collect();
        targets.dedup();
        if targets.is_empty() && callee.is_function() {
            targets.push(callee);
        }
        Ok(targets)
    }
}

/// Null and what is undefined: of either width, without cost.
pub(crate) fn is_free(value: Value) -> bool {
    value.is_null_pointer() || value.is_undefined()
}

/// A number below 4 GiB: the address of a register, say.
pub(crate) fn is_low_number(value: Value) -> bool {
    value.unsigned().is_some_and(|it| it >> 32 == 0)
        || value.is_instruction()
            && value.opcode() == Opcode::LLVMZExt
            && value.operand(0).ty().bits() <= 32
}

/// Looks at all of a program.
pub(crate) fn extract(program: &Program, assign: Assign) -> Facts {
    let mut extraction = Extraction {
        program,
        layout: program.module.layout(),
        graph: Graph::default(),
        nodes: FxHashMap::default(),
        results: FxHashMap::default(),
        objects: FxHashMap::default(),
        values: FxHashMap::default(),
        constants: FxHashMap::default(),
        shapes: Vec::new(),
        reasons: Vec::new(),
        callees: FxHashMap::default(),
    };
    extraction.run();
    let solution = points::solve(&extraction.graph);
    let Extraction { nodes, results, values, constants, reasons, callees, .. } = extraction;
    let mut facts = Facts {
        nodes,
        results,
        objects: values,
        solution,
        reasons,
        is_flat: program.model == Model::Device,
        assign,
        by_paper: FxHashSet::default(),
        callees,
        constants,
        read_whole: FxHashSet::default(),
    };
    if assign == Assign::Paper {
        facts.by_paper = paper::assign(program, &|it| facts.is_proven(it));
    }
    facts.read_whole = upper::read_whole(program, &facts);
    facts
}

struct Extraction<'a> {
    program: &'a Program,
    layout: Layout,
    graph: Graph,
    nodes: FxHashMap<Value, Node>,
    results: FxHashMap<Value, Node>,
    objects: FxHashMap<Value, Object>,
    values: FxHashMap<Object, Value>,
    /// Nodes of constants that are no plain globals.
    constants: FxHashMap<Value, Node>,
    shapes: Vec<Type>,
    reasons: Vec<String>,
    callees: FxHashMap<Value, Node>,
}

impl Extraction<'_> {
    fn run(&mut self) {
        let module = self.program.module;
        for global in module.globals() {
            self.add_global(global);
        }
        for function in module.functions() {
            self.add_function(function);
        }
        for global in module.globals() {
            if let Some(initial) = global.initializer() {
                let node = self.node_of(global);
                self.initial(node, initial);
            }
        }
        let functions = module.functions();
        for function in &functions {
            for instruction in function.instructions() {
                if instruction.ty().has_pointer() {
                    let is_asserted = is_device_type(instruction.ty());
                    let node = self.graph.node(is_asserted);
                    self.nodes.insert(instruction, node);
                }
            }
        }
        for function in &functions {
            for instruction in function.instructions() {
                self.instruction(*function, instruction);
            }
        }
        for (trampoline, pack) in &self.program.forks {
            let parameter = trampoline.parameters().get(2).copied();
            if let Some(to) = parameter.and_then(|it| self.nodes.get(&it).copied()) {
                let from = self.node_of(*pack);
                self.graph.add(Constraint::Copy { from, to });
            }
        }
    }

    fn because(&mut self, text: impl Into<String>) -> Reason {
        let text = text.into();
        let index = self.reasons.iter().position(|it| *it == text).unwrap_or_else(|| {
            self.reasons.push(text);
            self.reasons.len() - 1
        });
        Reason(index as u32)
    }

    fn because_at(&mut self, instruction: Value, text: &str) -> Reason {
        let place = instruction.place().map(|(file, line)| format!(" at {file}:{line}"));
        let function = instruction.function().name();
        self.because(format!("{text} in {function}{}", place.unwrap_or_default()))
    }

    fn new_object(&mut self, value: Value, facts: ObjectFacts) -> Object {
        let object = self.graph.object(facts);
        self.values.insert(object, value);
        self.objects.insert(value, object);
        object
    }

    fn split_size(&self, ty: Type) -> Option<u32> {
        let size = self.layout.size(ty);
        (size <= LARGEST_SPLIT && size > 0).then_some(size as u32)
    }

    fn add_global(&mut self, global: Value) {
        let name = global.name();
        let is_device = self.program.device.contains(&global);
        let escapes = self
            .program
            .shared
            .contains(&global)
            .then(|| self.because(format!("the host may write variable `{name}`")));
        let size = match global.is_declaration() {
            true => None,
            false => self.split_size(global.value_type()),
        };
        let facts = ObjectFacts { size, is_pure: is_device, escapes, function: None };
        self.new_object(global, facts);
    }

    fn add_function(&mut self, function: Value) {
        let ty = function.value_type();
        let is_kernel = self.program.kernels.contains(&function);
        let is_root = self.program.roots.contains(&function);
        let is_device = self.program.device.contains(&function);
        let name = function.name();
        let is_copy = GENERIC_COPIES.iter().any(|it| it.1 == name);
        let mut parameters = Vec::new();
        for parameter in function.parameters() {
            if !parameter.ty().has_pointer() {
                parameters.push(None);
                continue;
            }
            let is_asserted = is_device || is_root || is_device_type(parameter.ty());
            let node = self.graph.node(is_asserted);
            self.nodes.insert(parameter, node);
            parameters.push(Some(node));
            if is_kernel {
                let reason = self.because(format!("the host gives it to kernel {name}"));
                let facts = ObjectFacts { escapes: Some(reason), ..ObjectFacts::default() };
                let object = self.graph.object(facts);
                self.graph.add(Constraint::Address { node, object });
            } else if is_root {
                self.graph.add(Constraint::Low { node });
            } else if is_copy {
                let reason = self.because(format!("{name} copies from and to anywhere"));
                self.graph.add(Constraint::Unknown { node, reason });
            }
        }
        let result = ty.result().has_pointer().then(|| {
            let is_asserted = is_device || is_root || is_device_type(ty.result());
            let node = self.graph.node(is_asserted);
            self.results.insert(function, node);
            if function.is_declaration() && !function.is_intrinsic() && !is_device {
                let reason = self.because(format!("function {name} is not part of the program"));
                self.graph.add(Constraint::Unknown { node, reason });
            }
            node
        });
        let shape = self.shape(ty);
        let fed = if self.program.trampolines.contains(&function) { vec![2] } else { Vec::new() };
        let function_facts = Function { shape, parameters, result, fed };
        let facts = ObjectFacts { function: Some(function_facts), ..ObjectFacts::default() };
        self.new_object(function, facts);
    }

    fn shape(&mut self, ty: Type) -> u32 {
        let index = self.shapes.iter().position(|it| *it == ty).unwrap_or_else(|| {
            self.shapes.push(ty);
            self.shapes.len() - 1
        });
        index as u32
    }

    /// The node of an operand.
    fn node_of(&mut self, value: Value) -> Node {
        if let Some(node) = self.nodes.get(&value).or_else(|| self.constants.get(&value)) {
            return *node;
        }
        let node = self.graph.node(is_device_type(value.ty()));
        self.constants.insert(value, node);
        if is_free(value) || value.is_zero() {
            return node;
        }
        if let Some(object) = self.objects.get(&value) {
            self.graph.add(Constraint::Address { node, object: *object });
        } else if value.is_expression() {
            match value.expression() {
                Opcode::LLVMGetElementPtr => {
                    let from = self.node_of(value.operand(0));
                    let by = constant_offset(self.layout, value);
                    self.graph.add(Constraint::Shift { from, to: node, by });
                }
                Opcode::LLVMIntToPtr if is_low_number(value.operand(0)) => {
                    self.graph.add(Constraint::Low { node });
                }
                Opcode::LLVMIntToPtr => {
                    let reason = self.because("a number is made a pointer");
                    self.graph.add(Constraint::Unknown { node, reason });
                }
                _ => {
                    let from = self.node_of(value.operand(0));
                    self.graph.add(Constraint::Copy { from, to: node });
                }
            }
        } else if value.is_constant() {
            for part in value.operands() {
                if part.ty().has_pointer() {
                    let from = self.node_of(part);
                    self.graph.add(Constraint::Copy { from, to: node });
                }
            }
        }
        node
    }

    /// What a global holds at the beginning; `node` is its address, or that of a part.
    fn initial(&mut self, node: Node, value: Value) {
        if value.is_pointer() {
            let value = self.node_of(value);
            self.graph.add(Constraint::Store { value, to: node, whole: false });
            return;
        }
        if value.is_expression() {
            // A number made of an address: who reads it as a pointer gets anything.
            let reason = self.because("a variable holds an address as a number");
            self.graph.add(Constraint::Taint { node, len: Some(8), reason });
            self.escape_expression(value, reason);
            return;
        }
        if value.is_zero() || value.is_data_sequence() || is_free(value) {
            return;
        }
        let ty = value.ty();
        if !ty.is_struct() && !ty.is_array() {
            return;
        }
        for (index, part) in value.operands().into_iter().enumerate() {
            let offset = match ty.is_struct() {
                true => self.layout.offset(ty, index as u32),
                false => self.layout.size(ty.element()) * index as u64,
            };
            let to = self.graph.node(false);
            self.graph.add(Constraint::Shift { from: node, to, by: i64::try_from(offset).ok() });
            self.initial(to, part);
        }
    }

    fn escape_expression(&mut self, value: Value, reason: Reason) {
        for operand in value.operands() {
            if operand.is_pointer() {
                let node = self.node_of(operand);
                self.graph.add(Constraint::Escape { node, reason });
            } else if operand.is_expression() {
                self.escape_expression(operand, reason);
            }
        }
    }

    fn instruction(&mut self, function: Value, it: Value) {
        // Numbers made of addresses that stand as constants among the operands.
        for operand in it.operands() {
            if operand.is_expression() && !operand.is_pointer() {
                let reason = self.because_at(it, "an address is made a number");
                self.escape_expression(operand, reason);
            }
        }
        match it.opcode() {
            Opcode::LLVMAlloca => {
                let is_one = it.operand(0).unsigned() == Some(1);
                let size = is_one.then(|| self.split_size(it.allocated_type())).flatten();
                let object = self.new_object(it, ObjectFacts { size, ..ObjectFacts::default() });
                let node = self.node_of(it);
                self.graph.add(Constraint::Address { node, object });
            }
            Opcode::LLVMGetElementPtr => {
                let (from, to) = (self.node_of(it.operand(0)), self.node_of(it));
                let by = constant_offset(self.layout, it);
                self.graph.add(Constraint::Shift { from, to, by });
            }
            Opcode::LLVMLoad => self.load(it),
            Opcode::LLVMStore => self.store(it),
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => self.update(it),
            Opcode::LLVMPtrToInt => {
                if !is_only_compared(it) {
                    let reason = self.because_at(it, "its address is made a number");
                    let node = self.node_of(it.operand(0));
                    self.graph.add(Constraint::Escape { node, reason });
                }
            }
            Opcode::LLVMIntToPtr => {
                let node = self.node_of(it);
                if is_low_number(it.operand(0)) {
                    self.graph.add(Constraint::Low { node });
                } else {
                    let reason = self.because_at(it, "a number is made a pointer");
                    self.graph.add(Constraint::Unknown { node, reason });
                }
            }
            Opcode::LLVMCall => self.call(it),
            Opcode::LLVMRet => {
                if let (Some(to), Some(value)) =
                    (self.results.get(&function).copied(), it.operands().first())
                {
                    let from = self.node_of(*value);
                    self.graph.add(Constraint::Copy { from, to });
                }
            }
            Opcode::LLVMPHI => {
                if let Some(to) = self.nodes.get(&it).copied() {
                    for (value, _) in it.incoming() {
                        let from = self.node_of(value);
                        self.graph.add(Constraint::Copy { from, to });
                    }
                }
            }
            // Casts, selections, parts of aggregates: all that goes in may come out.
            _ => {
                if let Some(to) = self.nodes.get(&it).copied() {
                    for operand in it.operands() {
                        if operand.ty().has_pointer() {
                            let from = self.node_of(operand);
                            self.graph.add(Constraint::Copy { from, to });
                        }
                    }
                }
            }
        }
    }

    fn load(&mut self, it: Value) {
        let from = self.node_of(it.operand(0));
        if let Some(to) = self.nodes.get(&it).copied() {
            let whole = !it.is_pointer();
            self.graph.add(Constraint::Load { from, to, whole });
        }
        if !it.is_pointer() && !is_plain_number(it) {
            let reason = self.because_at(it, "bytes that may be a pointer are read as a number");
            self.graph.add(Constraint::Reveal { node: from, reason });
        }
    }

    fn store(&mut self, it: Value) {
        let (value, to) = (it.operand(0), it.operand(1));
        let node = self.node_of(to);
        if value.ty().has_pointer() {
            let whole = !value.is_pointer();
            let value = self.node_of(value);
            self.graph.add(Constraint::Store { value, to: node, whole });
        }
        let is_number = !value.is_pointer() && !is_nothing(value);
        if is_number && !is_plain_number(it) {
            let reason = self.because_at(it, "bytes that may be a pointer are written as a number");
            let len = Some(self.layout.stored(value.ty()));
            self.graph.add(Constraint::Taint { node, len, reason });
        }
    }

    /// Atomic accesses to pointers.
    fn update(&mut self, it: Value) {
        let memory = self.node_of(it.operand(0));
        for value in it.operands().into_iter().skip(1).filter(|it| it.is_pointer()) {
            let value = self.node_of(value);
            self.graph.add(Constraint::Store { value, to: memory, whole: false });
        }
        if let Some(to) = self.nodes.get(&it).copied() {
            self.graph.add(Constraint::Load { from: memory, to, whole: false });
        } else {
            let reason = self.because_at(it, "bytes that may be a pointer are changed as a number");
            self.graph.add(Constraint::Reveal { node: memory, reason });
            self.graph.add(Constraint::Taint { node: memory, len: Some(8), reason });
        }
    }

    fn call(&mut self, it: Value) {
        let callee = it.called();
        let arguments = it.arguments();
        if callee.is_function() && callee.is_intrinsic() {
            self.intrinsic(it, &callee.name(), &arguments);
            return;
        }
        let result = self.nodes.get(&it).copied();
        if callee.is_assembly() {
            return;
        }
        if !callee.is_function() {
            let nodes = arguments
                .iter()
                .map(|it| it.ty().has_pointer().then(|| self.node_of(*it)))
                .collect();
            let shape = self.shape(it.called_type());
            let callee = self.node_of(callee);
            self.callees.insert(it, callee);
            self.graph.add(Constraint::Call { callee, shape, arguments: nodes, result });
            return;
        }
        if self.program.device.contains(&callee) && result.is_some_and(|_| it.is_pointer()) {
            // By the user's word each call gives memory that nobody else has.
            let node = self.node_of(it);
            self.results.insert(it, node);
            let object = self.new_object(it, ObjectFacts::default());
            self.graph.add(Constraint::Address { node, object });
        } else if let (Some(to), Some(from)) = (result, self.results.get(&callee).copied()) {
            self.graph.add(Constraint::Copy { from, to });
        }
        for (index, argument) in arguments.iter().enumerate() {
            if !argument.ty().has_pointer() {
                continue;
            }
            let from = self.node_of(*argument);
            if callee.is_declaration() {
                let text =
                    format!("it is given to {}, which is not part of the program", callee.name());
                let reason = self.because_at(it, &text);
                self.graph.add(Constraint::Escape { node: from, reason });
                continue;
            }
            let parameter = callee.parameters().get(index).copied();
            if let Some(to) = parameter.and_then(|it| self.nodes.get(&it).copied()) {
                self.graph.add(Constraint::Copy { from, to });
            }
        }
    }

    fn intrinsic(&mut self, it: Value, name: &str, arguments: &[Value]) {
        if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
            if let [to, from, len, ..] = arguments {
                let (to, from) = (self.node_of(*to), self.node_of(*from));
                self.graph.add(Constraint::Transfer { to, from, len: len.unsigned() });
            }
        } else if name.starts_with("llvm.memset") {
            if let [to, value, len, ..] = arguments
                && value.unsigned() != Some(0)
            {
                let node = self.node_of(*to);
                let reason = self.because_at(it, "bytes that may be a pointer are written");
                self.graph.add(Constraint::Taint { node, len: len.unsigned(), reason });
            }
        } else if name.starts_with("llvm.stacksave") {
            let node = self.node_of(it);
            self.graph.add(Constraint::Low { node });
        } else if let Some(to) = self.nodes.get(&it).copied() {
            for argument in arguments.iter().filter(|it| it.ty().has_pointer()) {
                let from = self.node_of(*argument);
                self.graph.add(Constraint::Shift { from, to, by: None });
            }
        }
    }
}

/// `__device T *`
fn is_device_type(ty: Type) -> bool {
    ty.is_pointer() && ty.address_space() == 1
}

/// Constants whose bytes are all zero, or nothing.
fn is_nothing(value: Value) -> bool {
    value.is_zero() || value.is_undefined() || value.unsigned() == Some(0)
}

/// Whether an access is of a type that is never part of a pointer, by what clang has written beside it.
fn is_plain_number(access: Value) -> bool {
    let Some(tag) = access.metadata("tbaa") else { return false };
    let kind = tag.node_operands().get(1).copied().flatten();
    let name = kind.and_then(|it| it.node_operands().first().copied().flatten());
    let name = name.and_then(Value::metadata_text).unwrap_or_default();
    let is_numbered_pointer =
        name.strip_prefix('p').is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    !matches!(name.as_str(), "" | "omnipotent char" | "any pointer" | "vtable pointer")
        && !is_numbered_pointer
}

/// Differences and comparisons of addresses tell nobody where an object is.
pub(crate) fn is_only_compared(number: Value) -> bool {
    let users = number.users();
    users.iter().all(|user| match user.opcode() {
        Opcode::LLVMICmp => true,
        Opcode::LLVMSub => {
            let is_address = |it: Value| it.is_instruction() && it.opcode() == Opcode::LLVMPtrToInt;
            is_address(user.operand(0)) && is_address(user.operand(1))
        }
        _ => false,
    })
}

/// How far a `getelementptr` goes, if that is a constant.
pub(crate) fn constant_offset(layout: Layout, it: Value) -> Option<i64> {
    let mut ty = it.source_type();
    let mut offset = 0_i64;
    for (index, operand) in it.operands().into_iter().skip(1).enumerate() {
        let step = operand.signed()?;
        if index == 0 {
            offset = offset.checked_add(step.checked_mul(i64::try_from(layout.size(ty)).ok()?)?)?;
        } else if ty.is_struct() {
            let field = u32::try_from(step).ok()?;
            offset = offset.checked_add(i64::try_from(layout.offset(ty, field)).ok()?)?;
            ty = ty.field(field);
        } else {
            ty = ty.element();
            offset = offset.checked_add(step.checked_mul(i64::try_from(layout.size(ty)).ok()?)?)?;
        }
    }
    Some(offset)
}
