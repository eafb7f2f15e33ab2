//! Walks typed statements and expressions in the order of evaluation and tells what they do.
//!
//! In: a statement or expression and a [`Visit`]. Out: calls to it, one per statement, per access
//! to a variable and per call. `sizeof` computes nothing, so its operand is not met. Bodies of
//! regions are walked like any statement; the expressions of clauses are not ([`super::items`]).
//!
//! Expressions may be ten thousand operators high, so they are kept on a list and not on the stack.

use ir::program::{
    CastKind, ExprId, ExprKind, FunctionId, Init, InitId, OffsetStep, Program, StmtId, StmtKind,
    VarId,
};
use ir::region::Pointee;
use ir::types::{Ty, TypeKind};
use source::Span;

/// What is done with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) read: bool,
    pub(super) write: bool,
    /// All of it, not an element or member.
    pub(super) whole: bool,
    /// Its address is taken: reads and writes may follow that are not seen here.
    pub(super) by_address: bool,
    /// It depends on a condition inside the expression.
    pub(super) conditional: bool,
    /// What is done with data that the variable leads to.
    pub(super) beyond: Beyond,
    /// What is done with the object itself through the address that is taken of it.
    by: Beyond,
}

impl Access {
    pub(super) const READ: Access = Access {
        read: true,
        write: false,
        whole: true,
        by_address: false,
        conditional: false,
        beyond: Beyond::NOTHING,
        by: Beyond::NOTHING,
    };
    const WRITE: Access = Access { read: false, write: true, ..Access::READ };
    const UPDATE: Access = Access { write: true, ..Access::READ };
    const ADDRESS: Access = Access { write: true, by_address: true, ..Access::READ };

    fn when(self, conditional: bool) -> Access {
        Access { conditional: self.conditional || conditional, ..self }
    }

    fn part(self) -> Access {
        Access { whole: false, ..self }
    }

    fn beyond(self, beyond: Beyond) -> Access {
        Access { beyond, ..self }
    }

    /// Takes the address of an object, for what is done beyond that address.
    fn address_for(self) -> Access {
        Access { by: self.beyond, ..Access::ADDRESS.when(self.conditional) }
    }

    /// Reads a pointer to do this to the object behind it.
    fn of_pointer(self) -> Access {
        let direct = match self.by_address {
            true => Pointee::UNTOUCHED,
            false => Pointee { read: self.read, written: self.write, escapes: false },
        };
        let pointee = direct.and(self.by.pointee).and(self.beyond.pointee);
        let handed = self.by.handed.or(self.beyond.handed);
        Access::READ.when(self.conditional).beyond(Beyond { pointee, handed })
    }
}

/// What is done with data that a pointer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beyond {
    pub(super) pointee: Pointee,
    /// The pointer is handed to this parameter of a function.
    pub(super) handed: Option<(FunctionId, u32)>,
}

impl Beyond {
    pub(super) const NOTHING: Beyond = Beyond { pointee: Pointee::UNTOUCHED, handed: None };

    /// What may be done by whoever gets this value.
    fn given_away(program: &Program, value: ExprId) -> Beyond {
        let TypeKind::Pointer(to) = program.types.shape(program.exprs[value].ty) else {
            return Beyond::NOTHING;
        };
        Beyond { pointee: behind(program, *to), handed: None }
    }
}

/// What may be done through a pointer of which nothing but the type is known.
pub(super) fn behind(program: &Program, to: Ty) -> Pointee {
    let mut element = to;
    while let TypeKind::Array(inner, _) = program.types.shape(element) {
        element = *inner;
    }
    match program.types.shape(element) {
        TypeKind::Function(_) => Pointee::UNTOUCHED,
        _ if program.types.resolve(element).quals.is_const => {
            Pointee { read: true, ..Pointee::UNTOUCHED }
        }
        _ => Pointee { escapes: true, ..Pointee::UNTOUCHED },
    }
}

/// Who wants to know.
pub(super) trait Visit {
    /// Before the parts of a statement.
    fn enter(&mut self, _: &Program, _: StmtId) {}
    /// After them.
    fn leave(&mut self, _: &Program, _: StmtId) {}
    /// A variable is read or written.
    fn access(&mut self, _: VarId, _: Access, _: Span) {}
    /// A function is called by name.
    fn call(&mut self, _: FunctionId, _: Span) {}
    /// A function is called through a pointer.
    fn indirect_call(&mut self, _: Span) {}
}

/// Walks a statement with all that is inside it.
pub(super) fn stmt(program: &Program, id: StmtId, visit: &mut dyn Visit) {
    visit.enter(program, id);
    match &program.stmts[id].kind {
        StmtKind::Error
        | StmtKind::Empty
        | StmtKind::Goto(_)
        | StmtKind::Continue
        | StmtKind::Break
        | StmtKind::Declaration(_)
        | StmtKind::Return(None) => {}
        StmtKind::Block(list) => {
            for &inner in list {
                stmt(program, inner, visit);
            }
        }
        StmtKind::Local(var) => {
            if let Some(value) = program.vars[*var].init {
                init(program, value, visit);
            }
        }
        StmtKind::Expr(value) | StmtKind::GotoExpr(value) => expr(program, *value, visit),
        StmtKind::Return(Some(value)) => kept(program, *value, visit),
        StmtKind::If(cond, yes, no) => {
            expr(program, *cond, visit);
            stmt(program, *yes, visit);
            if let Some(no) = no {
                stmt(program, *no, visit);
            }
        }
        StmtKind::While(cond, body) | StmtKind::Switch(cond, body) => {
            expr(program, *cond, visit);
            stmt(program, *body, visit);
        }
        StmtKind::DoWhile(body, cond) => {
            stmt(program, *body, visit);
            expr(program, *cond, visit);
        }
        StmtKind::For(it) => {
            for &part in &it.init {
                stmt(program, part, visit);
            }
            if let Some(part) = it.cond {
                expr(program, part, visit);
            }
            stmt(program, it.body, visit);
            if let Some(part) = it.step {
                expr(program, part, visit);
            }
        }
        StmtKind::Case(_, _, inner) | StmtKind::Default(inner) | StmtKind::Label(_, inner) => {
            stmt(program, *inner, visit);
        }
        StmtKind::Asm(asm) => {
            for (_, operand) in &asm.outputs {
                exprs(program, *operand, Access::UPDATE, visit);
            }
            for (_, operand) in &asm.inputs {
                expr(program, *operand, visit);
            }
        }
        StmtKind::Region(region) => {
            if let Some(body) = program.regions[*region].body {
                stmt(program, body, visit);
            }
        }
    }
    visit.leave(program, id);
}

/// Walks an initialiser.
pub(super) fn init(program: &Program, id: InitId, visit: &mut dyn Visit) {
    match &program.inits[id] {
        Init::Expr(value) => kept(program, *value, visit),
        Init::List(_, elements) => {
            for element in elements {
                init(program, element.value, visit);
            }
        }
    }
}

/// Walks an expression whose value is wanted.
pub(super) fn expr(program: &Program, id: ExprId, visit: &mut dyn Visit) {
    exprs(program, id, Access::READ, visit);
}

/// Walks an expression whose value is kept for later.
fn kept(program: &Program, id: ExprId, visit: &mut dyn Visit) {
    exprs(program, id, Access::READ.beyond(Beyond::given_away(program, id)), visit);
}

/// Walks an expression that stands for an object on which `access` is done.
fn exprs(program: &Program, id: ExprId, access: Access, visit: &mut dyn Visit) {
    let mut open = vec![(id, access)];
    while let Some((id, access)) = open.pop() {
        let inner = open.len();
        one(program, id, access, visit, &mut open);
        // What was pushed in the order of evaluation is wanted from the end.
        if let Some(new) = open.get_mut(inner..) {
            new.reverse();
        }
    }
}

/// Tells of one node, and pushes its operands in the order of evaluation.
fn one(
    program: &Program,
    id: ExprId,
    access: Access,
    visit: &mut dyn Visit,
    open: &mut Vec<(ExprId, Access)>,
) {
    let node = &program.exprs[id];
    let read = Access::READ.when(access.conditional);
    match &node.kind {
        ExprKind::Error
        | ExprKind::Int(_)
        | ExprKind::WideInt(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::EnumConst(..)
        | ExprKind::Function(_)
        | ExprKind::Sizeof(_)
        | ExprKind::Alignof(_)
        | ExprKind::LabelAddr(_) => {}
        ExprKind::Var(var) => visit.access(*var, access, node.span),
        ExprKind::Unary(_, operand) | ExprKind::ConvertVector(operand) => {
            open.push((*operand, read));
        }
        ExprKind::Deref(operand) => {
            let is_code = matches!(program.types.shape(node.ty), TypeKind::Function(_));
            open.push((*operand, if is_code { read } else { access.of_pointer() }));
        }
        ExprKind::AddrOf(operand) => open.push((*operand, access.address_for())),
        ExprKind::Step(_, operand) => {
            let update = Access::UPDATE.when(access.conditional);
            open.push((*operand, update.beyond(access.beyond)));
        }
        ExprKind::VaArg(operand) => {
            open.push((*operand, Access::UPDATE.when(access.conditional)));
        }
        ExprKind::Binary(_, left, right) => {
            // `p + 1` leads where `p` leads; the difference of two pointers leads nowhere.
            let leads = is_pointer(program, id);
            let operand = |it| {
                let same = leads && is_pointer(program, it);
                (it, if same { read.beyond(access.beyond) } else { read })
            };
            open.extend([operand(*left), operand(*right)]);
        }
        ExprKind::And(left, right) | ExprKind::Or(left, right) => {
            open.extend([(*left, read), (*right, read.when(true))]);
        }
        ExprKind::Assign(object, value) => {
            // The value is computed before it is stored.
            open.push((*value, read.beyond(Beyond::given_away(program, *value))));
            open.push((*object, Access::WRITE.when(access.conditional)));
        }
        ExprKind::AssignOp(_, object, value, _) => {
            let update = Access::UPDATE.when(access.conditional);
            open.extend([(*value, read), (*object, update.beyond(access.beyond))]);
        }
        ExprKind::Conditional(cond, yes, no) => {
            open.push((*cond, read));
            open.extend(yes.map(|it| (it, access.when(true))));
            open.push((*no, access.when(true)));
        }
        ExprKind::Comma(left, right) => open.extend([(*left, read), (*right, access)]),
        ExprKind::Cast(CastKind::ArrayToPointer, operand) => {
            open.push((*operand, access.address_for().part()));
        }
        ExprKind::Cast(
            CastKind::Explicit | CastKind::Implicit | CastKind::FunctionToPointer,
            operand,
        ) => {
            let leads = is_pointer(program, id) && is_pointer(program, *operand);
            open.push((*operand, if leads { read.beyond(access.beyond) } else { read }));
        }
        ExprKind::Index(base, index) => {
            open.push((*base, through(program, *base, access)));
            open.push((*index, read));
        }
        ExprKind::Member(base, ..) => open.push((*base, access.part())),
        ExprKind::Call(callee, args) => {
            let mut choice = Choice::default();
            let mut one = None;
            if choice.add(program, *callee) {
                one = choice.functions.first().copied().filter(|_| choice.functions.len() == 1);
                choice.functions.iter().for_each(|it| visit.call(*it, node.span));
                open.extend(choice.tests.iter().map(|it| (*it, read)));
            } else {
                visit.indirect_call(node.span);
                open.push((*callee, read));
            }
            open.extend((0u32..).zip(args).map(|(at, &arg)| {
                let beyond = match one {
                    Some(function) if is_pointer(program, arg) => {
                        Beyond { handed: Some((function, at)), ..Beyond::NOTHING }
                    }
                    _ => Beyond::given_away(program, arg),
                };
                (arg, read.beyond(beyond))
            }));
        }
        ExprKind::Offsetof(_, steps) => {
            open.extend(steps.iter().filter_map(|it| match it {
                OffsetStep::Field(..) => None,
                OffsetStep::Index(index) => Some((*index, read)),
            }));
        }
        ExprKind::CompoundLiteral(var) => {
            if let Some(value) = program.vars[*var].init {
                init(program, value, visit);
            }
        }
        ExprKind::StmtExpr(body) => stmt(program, *body, visit),
        ExprKind::Section(section) => {
            open.push((section.base, through(program, section.base, access)));
            open.extend(
                [section.lower, section.length, section.stride]
                    .into_iter()
                    .flatten()
                    .map(|it| (it, read)),
            );
        }
        ExprKind::Shaped(sizes, operand) => {
            open.extend(sizes.iter().map(|&it| (it, read)));
            open.push((*operand, read));
        }
    }
}

/// Access to an element is access to a part of an array, but only reads a pointer.
fn through(program: &Program, base: ExprId, access: Access) -> Access {
    match program.types.shape(program.exprs[base].ty) {
        TypeKind::Pointer(_) => access.of_pointer(),
        _ => access.part(),
    }
}

fn is_pointer(program: &Program, id: ExprId) -> bool {
    matches!(program.types.shape(program.exprs[id].ty), TypeKind::Pointer(_))
}

/// The functions that a call chooses among when it runs, and what decides; mostly one and nothing.
#[derive(Default)]
struct Choice {
    functions: Vec<FunctionId>,
    tests: Vec<ExprId>,
}

impl Choice {
    /// Adds what a callee may be; false if it may be anything.
    fn add(&mut self, program: &Program, callee: ExprId) -> bool {
        if let ExprKind::Conditional(test, Some(yes), no) = program.exprs[callee].kind {
            self.tests.push(test);
            return self.add(program, yes) && self.add(program, no);
        }
        let function = called(program, callee);
        self.functions.extend(function);
        function.is_some()
    }
}

/// The function that a call names, if it names one.
pub(super) fn called(program: &Program, callee: ExprId) -> Option<FunctionId> {
    let mut callee = callee;
    loop {
        match &program.exprs[callee].kind {
            ExprKind::Function(function) => return Some(*function),
            ExprKind::Cast(_, inner) | ExprKind::Deref(inner) | ExprKind::AddrOf(inner) => {
                callee = *inner;
            }
            _ => return None,
        }
    }
}
