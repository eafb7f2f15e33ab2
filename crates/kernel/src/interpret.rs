//! Runs kernels, for tests: a second opinion on what they mean.
//!
//! In: a module, how many groups and threads there are, and values of variables from outside. Out: memory after a
//! kernel has run, or an [`Error`] that says what it did wrong. [`Form::Outlined`] runs a kernel as one thread that
//! meets leagues, parallel regions, shared loops and reductions; [`Form::Spmd`] runs it by all threads of all groups.
//!
//! Groups and teams run one after the other. Threads of a team run one after the other up to the next barrier,
//! forwards or backwards by [`Order`]; what two of them do to the same memory without a barrier in between is an
//! error, unless it is atomic or under a lock. So are barriers that only some threads reach, addresses outside of
//! objects, values that nobody has set, and more steps than [`Machine::steps`].
//!
//! Integers wrap; what is not interpreted (vectors, assembly, variadic arguments, most library functions) is an
//! error too. A length in a type is computed where it is asked for.

mod calls;
mod code;
mod expr;
mod memory;
mod object;
mod share;
mod show;
mod team;
mod value;

use ir::layout::Layouts;
use ir::program::{ExprId, FunctionId, Program, StmtId, VarId, VarStorage};
use ir::types::{Ty, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use crate::{Kernel, Module, Space};
use memory::{Access, Memory};
use value::{Scalar, Value, scalar};

/// What a kernel did wrong, or what is not interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What.
    pub text: String,
    /// Where it was written.
    pub span: Span,
}

type Result<T> = std::result::Result<T, Error>;

fn fail<T>(text: impl Into<String>) -> Result<T> {
    Err(Error { text: text.into(), span: Span::NONE })
}

/// How a kernel is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By one thread, until a construct asks for more.
    Outlined,
    /// By all threads of all groups.
    Spmd,
}

/// Which thread of a team goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The one with the least number.
    Forward,
    /// The one with the greatest.
    Backward,
}

/// Runs kernels of one module; memory stays between runs.
#[derive(Debug)]
pub struct Machine<'m> {
    program: &'m Program,
    layouts: Layouts,
    memory: Memory,
    globals: FxHashMap<VarId, u64>,
    strings: FxHashMap<ExprId, u64>,
    functions: FxHashMap<FunctionId, u64>,
    /// What groups have left, by word and group.
    left: FxHashMap<(u64, u64), (Vec<u8>, Vec<bool>)>,
    /// How many groups have left it, by word.
    counts: FxHashMap<u64, u64>,
    /// How many groups have taken a ticket.
    tickets: u64,
    /// Places of which somebody has told that what was left is there.
    posts: FxHashSet<u64>,
    /// How many groups are launched, and how many teams there are where none are asked for.
    pub groups: u64,
    /// How many threads a group has.
    pub threads: u64,
    /// Which thread goes first.
    pub order: Order,
    /// How many expressions and statements may be run.
    pub steps: u64,
    depth: u32,
}

/// Expressions, statements and calls inside each other.
const DEEPEST: u32 = 4000;
/// Room for that.
const STACK: usize = 256 << 20;

/// What a function or kernel has in memory.
#[derive(Debug, Default)]
struct Frame {
    /// In the order of declaration.
    alive: Vec<(VarId, u64)>,
    /// Without a name.
    unnamed: Vec<u64>,
}

/// A thread.
#[derive(Debug)]
struct Thread {
    number: u64,
    frames: Vec<Frame>,
    /// Atomic constructs and locks around.
    exempt: u32,
}

/// What the threads of a team have in common.
#[derive(Debug)]
struct Team {
    number: u64,
    epoch: u64,
    group: FxHashMap<VarId, u64>,
    /// Threads, if there are more than the first.
    size: usize,
}

/// One thread at work.
struct Cx<'a, 'm> {
    m: &'a mut Machine<'m>,
    kernel: &'m Kernel,
    team: &'a mut Team,
    thread: &'a mut Thread,
}

/// Where control goes.
#[derive(Clone, Debug, PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
    Goto(ir::program::LabelId),
}

impl<'m> Machine<'m> {
    /// A machine without values.
    pub fn new(module: &'m Module, groups: u64, threads: u64) -> Machine<'m> {
        Machine {
            program: &module.program,
            layouts: Layouts::new(module.program.model),
            memory: Memory::new(),
            globals: FxHashMap::default(),
            strings: FxHashMap::default(),
            functions: FxHashMap::default(),
            left: FxHashMap::default(),
            counts: FxHashMap::default(),
            tickets: 0,
            posts: FxHashSet::default(),
            groups: groups.max(1),
            threads: threads.max(1),
            order: Order::Forward,
            steps: 10_000_000,
            depth: 0,
        }
    }

    /// Whether accesses that nothing orders are errors: at first they are.
    pub fn check_races(&mut self, check: bool) {
        self.memory.checks_races = check;
    }

    /// Memory that pointers may lead to; answers its address.
    pub fn allocate(&mut self, bytes: &[u8]) -> Result<u64> {
        let base = self.memory.allocate(bytes.len() as u64, true)?;
        self.memory.fill(base, bytes)?;
        Ok(base)
    }

    /// Gives a variable from outside its value.
    pub fn bind(&mut self, var: VarId, bytes: &[u8]) -> Result<()> {
        let base = self.allocate(bytes)?;
        self.globals.insert(var, base);
        Ok(())
    }

    /// What a variable from outside holds, if anybody has named it.
    pub fn object(&self, var: VarId) -> Option<&[u8]> {
        let size =
            self.layouts.size_of(&self.program.types, self.program.vars.find(var)?.ty).ok()?;
        self.memory.peek(*self.globals.get(&var)?, size).ok()
    }

    /// Bytes at an address.
    pub fn bytes(&self, address: u64, size: u64) -> Result<&[u8]> {
        self.memory.peek(address, size)
    }

    /// Runs a kernel of the module.
    pub fn run(&mut self, kernel: &'m Kernel, form: Form) -> Result<()> {
        // User code nests deeply.
        std::thread::scope(|scope| {
            let run = || {
                self.memory.order();
                self.launch(kernel, form)
            };
            let started = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
            match started.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) | Err(_) => fail("the interpreter has ended"),
            }
        })
    }

    fn step(&mut self) -> Result<()> {
        match self.steps.checked_sub(1) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => fail("the kernel takes too many steps"),
        }
    }

    /// Goes one level deeper.
    fn enter(&mut self) -> Result<()> {
        self.step()?;
        self.depth += 1;
        if self.depth > DEEPEST { fail("calls or expressions nest too deeply") } else { Ok(()) }
    }
}

impl<'m> Cx<'_, 'm> {
    fn program(&self) -> &'m Program {
        self.m.program
    }

    fn access(&self) -> Access {
        Access {
            team: self.team.number,
            thread: self.thread.number,
            epoch: self.team.epoch,
            is_exempt: self.thread.exempt > 0,
        }
    }

    fn scalar(&self, ty: Ty) -> Result<Scalar> {
        scalar(&self.program().types, self.program().model, ty)
    }

    fn name(&self, var: VarId) -> &'m str {
        let name = self.program().vars.find(var).and_then(|it| it.name);
        name.map_or("(unnamed)", |it| self.program().names.text(it))
    }

    /// `sizeof`, with lengths that are computed.
    fn size_of(&mut self, ty: Ty) -> Result<u64> {
        let types = &self.program().types;
        match self.m.layouts.size_of(types, ty) {
            Ok(size) => Ok(size),
            Err(ir::layout::NoSize::Void | ir::layout::NoSize::Function) => Ok(1),
            Err(ir::layout::NoSize::Variable) => {
                let TypeKind::Array(element, len) = types.shape(ty) else {
                    return fail("a type without size");
                };
                let len = match len {
                    ir::types::ArrayLen::Known(len) => *len,
                    ir::types::ArrayLen::Variable(Some(len)) => {
                        u64::try_from(self.eval(*len)?.int()?).unwrap_or(0)
                    }
                    ir::types::ArrayLen::Unknown | ir::types::ArrayLen::Variable(None) => {
                        return fail("an array without length");
                    }
                };
                Ok(self.size_of(*element)?.saturating_mul(len))
            }
            Err(_) => fail("a type without size"),
        }
    }

    /// Where a variable is.
    fn address_of(&mut self, var: VarId) -> Result<u64> {
        let depth = self.thread.frames.len();
        let frame = self.thread.frames.last();
        let own = frame.and_then(|it| it.alive.iter().rev().find(|it| it.0 == var));
        if let Some((_, at)) = own {
            return Ok(*at);
        }
        if depth == 1 && self.kernel.space(var) == Some(Space::Group) {
            return self.group_address(var);
        }
        if let Some(at) = self.m.globals.get(&var) {
            return Ok(*at);
        }
        let of_file = match self.program().vars[var].storage {
            VarStorage::Global | VarStorage::Extern | VarStorage::Static => true,
            VarStorage::LocalStatic(_) => true,
            VarStorage::Param(_) | VarStorage::Local(_) => false,
        };
        if !of_file {
            return fail(format!("`{}` has no place here", self.name(var)));
        }
        let size = self.size_of(self.program().vars[var].ty)?;
        let at = self.m.allocate(&vec![0; usize::try_from(size).unwrap_or(0)])?;
        self.m.globals.insert(var, at);
        if let Some(init) = self.program().vars[var].init {
            // Nobody else runs before it has its value.
            self.thread.exempt += 1;
            let done = self.initialise(at, self.program().vars[var].ty, init);
            self.thread.exempt -= 1;
            done?;
        }
        Ok(at)
    }

    /// Where a variable of the group is: there is one, whoever asks first.
    fn group_address(&mut self, var: VarId) -> Result<u64> {
        if let Some(at) = self.team.group.get(&var) {
            return Ok(*at);
        }
        let size = self.size_of(self.program().vars[var].ty)?;
        let at = self.m.memory.allocate(size, true)?;
        self.team.group.insert(var, at);
        Ok(at)
    }

    /// A variable of the thread comes to life.
    fn declare(&mut self, var: VarId) -> Result<u64> {
        let size = self.size_of(self.program().vars[var].ty)?;
        let at = self.m.memory.allocate(size, false)?;
        if let Some(frame) = self.thread.frames.last_mut() {
            frame.alive.push((var, at));
        }
        Ok(at)
    }

    /// How much is alive, to go back to.
    fn mark(&self) -> usize {
        self.thread.frames.last().map_or(0, |it| it.alive.len())
    }

    /// Ends what came to life since.
    fn release(&mut self, mark: usize) {
        let Some(frame) = self.thread.frames.last_mut() else { return };
        while frame.alive.len() > mark {
            if let Some((_, at)) = frame.alive.pop() {
                self.m.memory.free(at);
            }
        }
    }

    /// A number into a variable.
    fn set_number(&mut self, var: VarId, value: u64) -> Result<()> {
        let at = self.address_of(var)?;
        let ty = self.program().vars[var].ty;
        let place = object::Place { at, ty, bits: None };
        self.store(&place, &Value::Int(i128::from(value)))
    }

    fn number(&mut self, var: VarId) -> Result<u64> {
        let at = self.address_of(var)?;
        let ty = self.program().vars[var].ty;
        let value = self.load(&object::Place { at, ty, bits: None })?.int()?;
        Ok(value as u64)
    }

    /// Says where an error came from, if nothing inside it did.
    fn at<T>(result: Result<T>, span: Span) -> Result<T> {
        result.map_err(|it| if it.span == Span::NONE { Error { span, ..it } } else { it })
    }

    fn run_code(&mut self, id: StmtId) -> Result<()> {
        match self.code(id, &mut None)? {
            Flow::Next => Ok(()),
            Flow::Break | Flow::Continue | Flow::Return(_) | Flow::Goto(_) => {
                fail("a jump leaves serial code")
            }
        }
    }
}
