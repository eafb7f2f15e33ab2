//! The typed program: what sema makes, what analyses read, what passes change.
//!
//! Everything lives in the arenas of one [`Program`] and is named by handles. Expressions are C's
//! own, with every name resolved and every conversion written out as a [`ExprKind::Cast`]; what the
//! data model decides (`sizeof`, `offsetof`) stays symbolic. Statements keep C's structure. A
//! directive with its body is a [`StmtKind::Region`]; one that stands alone is a region without
//! body.
//!
//! The laws of this form are in [`crate::verify`], its text in [`crate::print`].

use std::sync::Arc;

use source::{Arena, Id, Name, Names, Span};

use crate::construct::{Construct, Phase};
use crate::layout::DataModel;
use crate::region::Region;
use crate::types::{ArrayLen, EnumId, RecordId, Ty, Types};

/// Handle of an expression.
pub type ExprId = Id<Expr>;
/// Handle of a statement.
pub type StmtId = Id<Stmt>;
/// Handle of a variable.
pub type VarId = Id<Var>;
/// Handle of a function.
pub type FunctionId = Id<Function>;
/// Handle of a label.
pub type LabelId = Id<Label>;
/// Handle of a region.
pub type RegionId = Id<Region>;
/// Handle of an initialiser.
pub type InitId = Id<Init>;

/// A construct whose expressions have types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed;

impl Phase for Typed {
    type Expr = ExprId;
    type Type = Ty;
    type Init = InitId;
    type Name = Name;
}

/// One translation unit, typed.
#[derive(Clone, Debug)]
pub struct Program {
    /// The data model it was checked for: the host's.
    pub model: &'static DataModel,
    /// Spellings.
    pub names: Names,
    /// Types.
    pub types: Types,
    /// File scope, in order.
    pub items: Vec<Item>,
    /// Variables: global, static, parameters, locals.
    pub vars: Arena<Var>,
    /// Functions, defined or only declared.
    pub functions: Arena<Function>,
    /// Expressions.
    pub exprs: Arena<Expr>,
    /// Statements.
    pub stmts: Arena<Stmt>,
    /// Initialisers.
    pub inits: Arena<Init>,
    /// Labels.
    pub labels: Arena<Label>,
    /// Executable directives with their bodies.
    pub regions: Arena<Region>,
    /// Directives that declare, in order.
    pub declarations: Vec<Declaration>,
    /// Where the program is not what its text says, since a directive has chosen.
    pub rewrites: Vec<Rewrite>,
    /// The same program with the host's choices in regions that leave the host, where they are others:
    /// what runs when such a region stays there.
    pub fallback: Option<Arc<Fallback>>,
}

/// What the host runs of regions that stay there.
#[derive(Clone, Debug)]
pub struct Fallback {
    /// All of the program.
    pub program: Program,
    /// The directives of regions that differ.
    pub regions: Vec<Span>,
}

impl Program {
    /// Nothing yet.
    pub fn new(model: &'static DataModel, names: Names) -> Program {
        Program {
            model,
            names,
            types: Types::new(),
            items: Vec::new(),
            vars: Arena::new(),
            functions: Arena::new(),
            exprs: Arena::new(),
            stmts: Arena::new(),
            inits: Arena::new(),
            labels: Arena::new(),
            regions: Arena::new(),
            declarations: Vec::new(),
            rewrites: Vec::new(),
            fallback: None,
        }
    }
}

/// A place where the program is not what was written: a choice among directives or functions has been
/// made. Whoever passes the text on must say it there too; a place inside another such place, or
/// inside of what is replaced as a whole, needs nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewrite {
    /// The directive, name or expression that was written.
    pub span: Span,
    /// What stands there instead.
    pub by: Rewritten,
}

/// What stands in the place of something written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// Nothing, on all its lines.
    Nothing,
    /// The directive of this region, and its body behind it.
    Directive(RegionId),
    /// The same, with a brace that opens its body.
    Opening(RegionId),
    /// The brace that closes it.
    Closing,
    /// This expression.
    Expr(ExprId),
    /// This name.
    Name(Name),
}

/// Something at file scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A variable, where it is first declared.
    Var(VarId),
    /// A function, where it is first declared.
    Function(FunctionId),
    /// A directive: index into [`Program::declarations`].
    Declaration(u32),
}

/// A directive that declares something rather than doing something.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// What it says.
    pub construct: Construct<Typed>,
    /// The functions it is about, where it stands in front of or around them.
    pub functions: Vec<FunctionId>,
    /// The variables it is about, likewise or by name.
    pub vars: Vec<VarId>,
    /// The parameters that its clauses may name: those of the one function it stands in front of.
    pub params: Vec<VarId>,
    /// The function it stands in; none at file scope.
    pub within: Option<FunctionId>,
    /// Where the marker stands that ends it, if it is one that has an end.
    pub ended: Option<Span>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// Its name; absent for compound literals and unnamed parameters.
    pub name: Option<Name>,
    /// Its type.
    pub ty: Ty,
    /// Of a parameter that was declared as an array, and so is a pointer: how long.
    pub declared_len: Option<ArrayLen>,
    /// Where it lives.
    pub storage: VarStorage,
    /// One per thread, by C's or a directive's word.
    pub thread_local: bool,
    /// Alignment asked for.
    pub align: Option<u64>,
    /// Its initial value.
    pub init: Option<InitId>,
    /// Its standing on devices.
    pub device: Option<DeviceVar>,
    /// What the host compiler is told of it.
    pub host: HostWords,
    /// Where it was declared.
    pub span: Span,
}

/// What concerns the host compiler alone, as spelt: it is kept for those who print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostWords {
    /// Attributes that change what is generated: `section("x")`.
    pub attributes: Vec<Name>,
    /// The symbol or register that `__asm__` gives it: a string literal.
    pub asm_label: Option<Name>,
}

impl HostWords {
    /// Adds what another declaration says.
    pub fn merge(&mut self, other: HostWords) {
        for word in other.attributes {
            if !self.attributes.contains(&word) {
                self.attributes.push(word);
            }
        }
        self.asm_label = self.asm_label.or(other.asm_label);
    }
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarStorage {
    /// File scope, visible to other files.
    Global,
    /// File scope, defined elsewhere.
    Extern,
    /// File scope, this file only.
    Static,
    /// A static variable of a function.
    LocalStatic(FunctionId),
    /// A parameter.
    Param(FunctionId),
    /// An automatic variable.
    Local(FunctionId),
}

/// What declarations say of a variable on devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceVar {
    /// A copy exists from the start.
    Enter,
    /// A copy exists once mapped.
    Link,
    /// Exists on devices only.
    Resident,
    /// Each device has its own.
    Local,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Ty,
    /// Its parameters, if it is defined.
    pub params: Vec<VarId>,
    /// Its body, if it is defined.
    pub body: Option<StmtId>,
    /// `static`
    pub is_static: bool,
    /// `inline`
    pub is_inline: bool,
    /// Some declaration has no `inline`, or says `extern`: the definition is for other files too.
    pub is_external: bool,
    /// Does not return.
    pub noreturn: bool,
    /// Known to the compiler without a declaration.
    pub is_builtin: bool,
    /// What declarations say of it on devices.
    pub device: DeviceFunction,
    /// What the host compiler is told of it.
    pub host: HostWords,
    /// Functions that its body calls by name, each once, in order of first call.
    pub calls: Vec<FunctionId>,
    /// Where its body calls through a pointer.
    pub indirect_calls: Vec<Span>,
    /// Where it was declared (defined, if it is).
    pub span: Span,
}

impl Function {
    /// One that is declared and nothing else is known of.
    pub fn declared(name: Name, ty: Ty, span: Span) -> Function {
        Function {
            name,
            ty,
            params: Vec::new(),
            body: None,
            is_static: false,
            is_inline: false,
            is_external: false,
            noreturn: false,
            is_builtin: false,
            device: DeviceFunction::default(),
            host: HostWords::default(),
            calls: Vec::new(),
            indirect_calls: Vec::new(),
            span,
        }
    }
}

/// What declarations say of a function on devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DeviceFunction {
    /// A device version is asked for.
    pub declared: bool,
    /// No host version.
    pub nohost: bool,
    /// No device version.
    pub host_only: bool,
    /// The widest level it may use: calls must come from outside that level.
    pub level: Option<Level>,
}

/// Levels of parallelism, widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Teams (gangs).
    Team,
    /// Threads (workers).
    Thread,
    /// Lanes (vector elements).
    Lane,
    /// None.
    Seq,
}

/// A label of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Its name.
    pub name: Name,
    /// Where.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type; for objects the object's type, qualifiers included.
    pub ty: Ty,
    /// Where it was written.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// Something that was reported.
    Error,
    /// An integer of the expression's type: its value, wrapped to 64 bits.
    Int(i64),
    /// An integer that needs more.
    WideInt(Box<i128>),
    /// A floating (or imaginary) constant as spelt.
    Float(Name),
    /// A string literal: its pieces as spelt.
    Str(Box<[Name]>),
    /// A constant of an enumeration: position in it.
    EnumConst(EnumId, u32),
    /// A variable.
    Var(VarId),
    /// A function.
    Function(FunctionId),
    /// `op e`
    Unary(UnaryOp, ExprId),
    /// `*e`
    Deref(ExprId),
    /// `&e`
    AddrOf(ExprId),
    /// `++e` and relatives.
    Step(StepOp, ExprId),
    /// `a op b`, both operands already converted.
    Binary(BinaryOp, ExprId, ExprId),
    /// `a && b`
    And(ExprId, ExprId),
    /// `a || b`
    Or(ExprId, ExprId),
    /// `a = b`
    Assign(ExprId, ExprId),
    /// `a op= b`, computed in the type given (unqualified).
    AssignOp(BinaryOp, ExprId, ExprId, Ty),
    /// `c ? a : b`; GNU's short form has no `a`.
    Conditional(ExprId, Option<ExprId>, ExprId),
    /// `a, b`
    Comma(ExprId, ExprId),
    /// A conversion, written or implied.
    Cast(CastKind, ExprId),
    /// `a[i]`: the base is an array object or a pointer, not decayed; the index an integer.
    Index(ExprId, ExprId),
    /// `s.m`: position of the member in the record. (`p->m` is a member of a `Deref`.)
    Member(ExprId, RecordId, u32),
    /// A call; arguments already converted.
    Call(ExprId, Box<[ExprId]>),
    /// `sizeof(T)`; a variable length is computed.
    Sizeof(Ty),
    /// `_Alignof(T)`
    Alignof(Ty),
    /// `offsetof(T, path)`
    Offsetof(Ty, Box<[OffsetStep]>),
    /// `(T){…}`: an unnamed variable.
    CompoundLiteral(VarId),
    /// `({ … })`
    StmtExpr(StmtId),
    /// `&&label`
    LabelAddr(LabelId),
    /// `va_arg(ap, T)`; the type is the expression's.
    VaArg(ExprId),
    /// `__builtin_convertvector(e, T)`; the type is the expression's.
    ConvertVector(ExprId),
    /// `a[lower : length : stride]` in a directive; the type is the element's… of what is left.
    Section(Box<Section>),
    /// `([n][m]) p` in a directive.
    Shaped(Box<[ExprId]>, ExprId),
}

/// A part of an array in a directive.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Array or pointer.
    pub base: ExprId,
    /// First index; 0 if absent.
    pub lower: Option<ExprId>,
    /// Number of elements; the rest of the array if absent.
    pub length: Option<ExprId>,
    /// Distance; 1 if absent.
    pub stride: Option<ExprId>,
}

/// One step of an `offsetof` path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OffsetStep {
    /// A member.
    Field(RecordId, u32),
    /// An element.
    Index(ExprId),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
    Real,
    Imag,
}

/// Increments and decrements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum StepOp {
    PreInc,
    PreDec,
    PostInc,
    PostDec,
}

/// Operators with two operands that are both computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
}

/// Why a conversion is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastKind {
    /// The user wrote it.
    Explicit,
    /// C's rules ask for a change of value or type.
    Implicit,
    /// An array becomes a pointer to its first element.
    ArrayToPointer,
    /// A function becomes a pointer to itself.
    FunctionToPointer,
}

/// An initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// A value, converted.
    Expr(ExprId),
    /// Elements of an aggregate, by position; what is missing is zero. Ranges are `(first, last)`.
    List(Ty, Vec<InitElement>),
}

/// One element of an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct InitElement {
    /// First member or index.
    pub first: u64,
    /// Last member or index; the same unless a range was written.
    pub last: u64,
    /// Its value.
    pub value: InitId,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it was written.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Something that was reported.
    Error,
    /// `;`
    Empty,
    /// `{ … }`
    Block(Box<[StmtId]>),
    /// A local variable comes to life (its initialiser is with it).
    Local(VarId),
    /// `e;`
    Expr(ExprId),
    /// `if (c) a else b`
    If(ExprId, StmtId, Option<StmtId>),
    /// `while (c) s`
    While(ExprId, StmtId),
    /// `do s while (c);`
    DoWhile(StmtId, ExprId),
    /// `for (init; c; step) s`
    For(Box<For>),
    /// `switch (e) s`
    Switch(ExprId, StmtId),
    /// `case lo ... hi: s`
    Case(i128, i128, StmtId),
    /// `default: s`
    Default(StmtId),
    /// `name: s`
    Label(LabelId, StmtId),
    /// `goto name;`
    Goto(LabelId),
    /// `goto *e;`
    GotoExpr(ExprId),
    /// `continue;`
    Continue,
    /// `break;`
    Break,
    /// `return e;`
    Return(Option<ExprId>),
    /// `__asm__`
    Asm(Box<Asm>),
    /// An executable directive, with its body if it has one.
    Region(RegionId),
    /// A directive that declares, inside a function: index into [`Program::declarations`].
    Declaration(u32),
}

/// `for (init; cond; step) body`; the parts of `init` are statements.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// Declarations or an expression.
    pub init: Box<[StmtId]>,
    /// Goes on while this is true.
    pub cond: Option<ExprId>,
    /// After each round.
    pub step: Option<ExprId>,
    /// The body.
    pub body: StmtId,
    /// The compiler is asked to write down so many rounds one after the other.
    pub unroll: Option<u32>,
    /// No round needs what another one does: compilers may run several side by side.
    pub lanes: bool,
}

/// Assembly, with its operands typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Asm {
    /// `volatile`
    pub is_volatile: bool,
    /// Has colons, if only empty ones: `%` is then special in the template.
    pub is_extended: bool,
    /// The template's pieces as spelt.
    pub template: Box<[Name]>,
    /// Constraint as spelt, behind `[name]` if it has one, and object.
    pub outputs: Vec<(Name, ExprId)>,
    /// Constraint as spelt, behind `[name]` if it has one, and value.
    pub inputs: Vec<(Name, ExprId)>,
    /// As spelt.
    pub clobbers: Vec<Name>,
    /// Where it may jump.
    pub labels: Vec<LabelId>,
}
