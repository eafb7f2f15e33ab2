//! The tree of a C program as it was written.
//!
//! Every construct of the source has its node: parentheses, attributes, redundant qualifiers and
//! the split of a string literal are kept, so that the printer gives back the same program. Nothing
//! is looked up here; a name is a spelling. Nodes live in the arenas of one [`Tree`] and are named
//! by handles; children are always made before their parents.
//!
//! What was not understood is an `Error` node with the span of the text that was skipped, and has
//! been reported.

use source::{Arena, Id, Name, Names, Span};

use crate::pragma::Shape;

/// Handle of an expression.
pub type ExprId = Id<Expr>;
/// Handle of a statement.
pub type StmtId = Id<Stmt>;
/// Handle of a declaration.
pub type DeclId = Id<Decl>;
/// Handle of a list of declaration specifiers.
pub type SpecsId = Id<Specs>;
/// Handle of a declarator.
pub type DeclaratorId = Id<Declarator>;
/// Handle of a type name, as in a cast.
pub type TypeNameId = Id<TypeName>;
/// Handle of an initialiser.
pub type InitId = Id<Init>;
/// Handle of a `struct` or `union` specifier.
pub type RecordId = Id<RecordSpec>;
/// Handle of an `enum` specifier.
pub type EnumId = Id<EnumSpec>;
/// Handle of an attribute list entry.
pub type AttrId = Id<Attr>;
/// Handle of an `asm` statement or declaration.
pub type AsmId = Id<Asm>;
/// Handle of a pragma.
pub type PragmaId = Id<Pragma>;

/// One translation unit.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// All spellings.
    pub names: Names,
    /// The file scope, in order.
    pub items: Vec<DeclId>,
    /// Expressions.
    pub exprs: Arena<Expr>,
    /// Statements.
    pub stmts: Arena<Stmt>,
    /// Declarations.
    pub decls: Arena<Decl>,
    /// Declaration specifiers.
    pub specs: Arena<Specs>,
    /// Declarators.
    pub declarators: Arena<Declarator>,
    /// Type names.
    pub type_names: Arena<TypeName>,
    /// Initialisers.
    pub inits: Arena<Init>,
    /// `struct` and `union` specifiers.
    pub records: Arena<RecordSpec>,
    /// `enum` specifiers.
    pub enums: Arena<EnumSpec>,
    /// Attributes.
    pub attrs: Arena<Attr>,
    /// `asm` texts.
    pub asms: Arena<Asm>,
    /// Pragmas.
    pub pragmas: Arena<Pragma>,
}

/// A name and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The spelling.
    pub name: Name,
    /// Where.
    pub span: Span,
}

// ---------------------------------------------------------------- expressions

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, parentheses included.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// Something that was reported.
    Error,
    /// `x`
    Name(Name),
    /// `0x1fUL`, `1.5e3f`, `2i`: the spelling; [`crate::literal`] reads it.
    Number(Name),
    /// `'a'`, `L'\n'`: the spelling with prefix and quotes.
    Char(Name),
    /// `"a" u8"b"`: the spellings of adjacent literals, each with prefix and quotes.
    Str(Box<[Name]>),
    /// `(e)`
    Paren(ExprId),
    /// `-e`, `e++`, `__real__ e`, …
    Unary(UnaryOp, ExprId),
    /// `a + b`, `a, b`
    Binary(BinaryOp, ExprId, ExprId),
    /// `a = b`, or `a op= b`.
    Assign(Option<BinaryOp>, ExprId, ExprId),
    /// `c ? a : b`; without the middle, GNU `c ?: b`.
    Conditional(ExprId, Option<ExprId>, ExprId),
    /// `(T) e`
    Cast(TypeNameId, ExprId),
    /// `(T){…}`
    CompoundLiteral(TypeNameId, InitId),
    /// `sizeof e` (parentheses are a `Paren`)
    SizeofExpr(ExprId),
    /// `sizeof(T)`
    SizeofType(TypeNameId),
    /// `_Alignof e` (GNU)
    AlignofExpr(ExprId),
    /// `_Alignof(T)`
    AlignofType(TypeNameId),
    /// `a[i]`
    Index(ExprId, ExprId),
    /// `a[lower : length : stride]`, only where directives ask for it.
    Section(Box<Section>),
    /// `([n][m]) p`, only where directives ask for it: the pointer seen as an array.
    Shaped(Box<[ExprId]>, ExprId),
    /// `f(a, b)`
    Call(ExprId, Box<[ExprId]>),
    /// `s.m`
    Member(ExprId, Ident),
    /// `p->m`
    Arrow(ExprId, Ident),
    /// `_Generic(e, T: a, default: b)`; no type means `default`.
    Generic(ExprId, Box<[(Option<TypeNameId>, ExprId)]>),
    /// `({ … })`: the block.
    StmtExpr(StmtId),
    /// `&&label`
    LabelAddr(Ident),
    /// `__builtin_va_arg(ap, T)`
    VaArg(ExprId, TypeNameId),
    /// `__builtin_offsetof(T, a.b[1])`
    Offsetof(TypeNameId, Box<[Designator]>),
    /// `__builtin_types_compatible_p(T, U)`
    TypesCompatible(TypeNameId, TypeNameId),
    /// `__builtin_choose_expr(c, a, b)`
    ChooseExpr(ExprId, ExprId, ExprId),
    /// `__builtin_convertvector(e, T)`
    ConvertVector(ExprId, TypeNameId),
}

/// `base[lower : length : stride]`; whatever was left out is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What is sliced.
    pub base: ExprId,
    /// First index.
    pub lower: Option<ExprId>,
    /// Number of elements.
    pub length: Option<ExprId>,
    /// Distance between elements.
    pub stride: Option<ExprId>,
    /// Whether a second colon stands there, stride or not.
    pub has_stride_colon: bool,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `+e`
    Plus,
    /// `-e`
    Minus,
    /// `!e`
    Not,
    /// `~e`
    BitNot,
    /// `*e`
    Deref,
    /// `&e`
    AddrOf,
    /// `++e`
    PreInc,
    /// `--e`
    PreDec,
    /// `e++`
    PostInc,
    /// `e--`
    PostDec,
    /// `__real__ e`
    Real,
    /// `__imag__ e`
    Imag,
    /// `__extension__ e`
    Extension,
}

/// Operators with two operands.
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
    And,
    Or,
    Comma,
}

/// `.name`, `[i]` or `[lo ... hi]`; also GNU's old `name:`.
#[derive(Clone, Debug, PartialEq)]
pub enum Designator {
    /// `.name`
    Field(Ident),
    /// `[i]`
    Index(ExprId),
    /// `[lo ... hi]`
    Range(ExprId, ExprId),
}

/// An initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// `e`
    Expr(ExprId),
    /// `{ … }`, with the span of the braces.
    List(Box<[InitItem]>, Span),
}

/// One element of an initialiser list.
#[derive(Clone, Debug, PartialEq)]
pub struct InitItem {
    /// Which element; empty means the next one.
    pub designators: Box<[Designator]>,
    /// Its value.
    pub value: InitId,
}

// ---------------------------------------------------------------- types as written

/// `const T *[3]`, as in a cast or `sizeof`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeName {
    /// The specifiers.
    pub specs: SpecsId,
    /// What is derived from them; it has no name.
    pub declarator: DeclaratorId,
    /// Where.
    pub span: Span,
}

/// Everything in front of the declarators.
#[derive(Clone, Debug, PartialEq)]
pub struct Specs {
    /// `typedef`, `extern`, …
    pub storage: Option<Storage>,
    /// `_Thread_local` or `__thread`.
    pub thread_local: bool,
    /// `inline`, in any spelling.
    pub inline: bool,
    /// `_Noreturn`.
    pub noreturn: bool,
    /// `__extension__` stands in front.
    pub extension: bool,
    /// Qualifiers of the base type.
    pub quals: Quals,
    /// The base type.
    pub ty: TypeSpec,
    /// `_Alignas(…)`.
    pub alignas: Box<[AlignAs]>,
    /// Attributes among the specifiers.
    pub attrs: Box<[AttrId]>,
    /// Where.
    pub span: Span,
}

/// Storage class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Storage {
    Typedef,
    Extern,
    Static,
    Auto,
    Register,
}

/// Type qualifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub struct Quals {
    pub is_const: bool,
    pub is_volatile: bool,
    pub is_restrict: bool,
    pub is_atomic: bool,
}

/// `_Alignas` with a type or a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlignAs {
    /// As strict as this type.
    Type(TypeNameId),
    /// So many bytes.
    Expr(ExprId),
}

/// The base type of a declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypeSpec {
    /// Something that was reported.
    Error,
    /// None was written: old C's `int`.
    Missing,
    /// Built from keywords.
    Basic(Basic),
    /// A typedef's name.
    Typedef(Name),
    /// `struct` or `union`.
    Record(RecordId),
    /// `enum`.
    Enum(EnumId),
    /// `typeof(e)`
    TypeofExpr(ExprId),
    /// `typeof(T)`
    TypeofType(TypeNameId),
    /// `typeof_unqual(e)`
    TypeofUnqualExpr(ExprId),
    /// `typeof_unqual(T)`
    TypeofUnqualType(TypeNameId),
    /// `_Atomic(T)`
    Atomic(TypeNameId),
    /// `__auto_type`
    AutoType,
}

/// A type built from keywords, in whatever order they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Basic {
    /// Which.
    pub kind: BasicKind,
    /// `_Complex`.
    pub complex: bool,
}

/// The types that have keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum BasicKind {
    Void,
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
    Float16,
    BFloat16,
    Float,
    Double,
    LongDouble,
    Float32,
    Float64,
    Float128,
    Float32x,
    Float64x,
    /// `__builtin_va_list`
    VaList,
}

/// What a declarator derives from the base type.
///
/// `parts` run from the name outwards: `int *a[3]` is `[Array(3), Pointer]`, an array of pointers.
/// Reading them backwards builds the type: `int`, pointer to it, array of those.
#[derive(Clone, Debug, PartialEq)]
pub struct Declarator {
    /// What is declared; absent in type names and unnamed parameters.
    pub name: Option<Ident>,
    /// Derivations, from the name outwards.
    pub parts: Box<[Derived]>,
    /// Attributes after the declarator or inside its parentheses.
    pub attrs: Box<[AttrId]>,
    /// `__asm__("symbol")` after the declarator.
    pub asm_label: Option<AsmId>,
    /// Where.
    pub span: Span,
}

/// One step of a declarator.
#[derive(Clone, Debug, PartialEq)]
pub enum Derived {
    /// `*const`
    Pointer(Quals, Box<[AttrId]>),
    /// `[static const n]`
    Array(Box<ArrayPart>),
    /// `(int a, …)`
    Function(Box<Params>),
}

/// `[…]` of a declarator.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayPart {
    /// Qualifiers inside the brackets of a parameter.
    pub quals: Quals,
    /// `static` inside the brackets of a parameter.
    pub is_static: bool,
    /// How many elements.
    pub size: ArraySize,
    /// The brackets.
    pub span: Span,
}

/// The length of an array as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArraySize {
    /// `[]`
    Unknown,
    /// `[*]`
    Star,
    /// `[e]`
    Expr(ExprId),
}

/// `(…)` of a declarator.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// What is between the parentheses.
    pub kind: ParamKind,
    /// `, ...` at the end.
    pub variadic: bool,
    /// The parentheses.
    pub span: Span,
}

/// What is between a function declarator's parentheses.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// `()`: nothing is said.
    Unspecified,
    /// `(void)` gives an empty list.
    List(Box<[Param]>),
    /// `(a, b)` of an old-style definition.
    Names(Box<[Ident]>),
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its specifiers.
    pub specs: SpecsId,
    /// Its declarator.
    pub declarator: DeclaratorId,
}

/// `struct tag { … }` or `union tag { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordSpec {
    /// `union` rather than `struct`.
    pub is_union: bool,
    /// The tag.
    pub tag: Option<Ident>,
    /// The members, if this is a definition.
    pub members: Option<Box<[Member]>>,
    /// Attributes on either side.
    pub attrs: Box<[AttrId]>,
    /// The largest member alignment that `#pragma pack` allows here.
    pub pack: Option<u32>,
    /// Where.
    pub span: Span,
}

/// One entry of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// `int a, b : 3;`; no declarators: an anonymous record.
    Fields(SpecsId, Box<[Field]>),
    /// `_Static_assert(…);`
    StaticAssert(ExprId, Option<ExprId>),
}

/// One declarator of a member.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name and derivation; unnamed only for bit-fields.
    pub declarator: DeclaratorId,
    /// Width of a bit-field.
    pub width: Option<ExprId>,
}

/// `enum tag { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumSpec {
    /// The tag.
    pub tag: Option<Ident>,
    /// The constants, if this is a definition.
    pub constants: Option<Box<[EnumConstant]>>,
    /// Attributes on either side.
    pub attrs: Box<[AttrId]>,
    /// Where.
    pub span: Span,
}

/// `NAME = e`
#[derive(Clone, Debug, PartialEq)]
pub struct EnumConstant {
    /// The name.
    pub ident: Ident,
    /// Attributes between name and value.
    pub attrs: Box<[AttrId]>,
    /// The value.
    pub value: Option<ExprId>,
}

/// One attribute: `packed` of `__attribute__((packed))`, `gnu::packed` of `[[gnu::packed]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attr {
    /// `gnu` in `[[gnu::packed]]`.
    pub scope: Option<Ident>,
    /// The name as written, underscores included.
    pub ident: Ident,
    /// Arguments; absent differs from `()`. A type argument is a `SizeofType` expression's type.
    pub args: Option<Box<[AttrArg]>>,
    /// Written as `[[…]]`.
    pub is_standard: bool,
    /// Where.
    pub span: Span,
}

/// One argument of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrArg {
    /// A word, number or expression.
    Expr(ExprId),
    /// A type.
    Type(TypeNameId),
}

// ---------------------------------------------------------------- declarations

/// A declaration, at file scope or in a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Decl {
    /// What it is.
    pub kind: DeclKind,
    /// Where, semicolon or body included.
    pub span: Span,
}

/// The kinds of declarations.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclKind {
    /// Something that was reported.
    Error,
    /// `;`
    Empty,
    /// Variables, functions without body, typedefs, or only a tag.
    Declare(SpecsId, Box<[InitDeclarator]>),
    /// A function with its body.
    Function(Box<FunctionDef>),
    /// `_Static_assert(e, "text");`
    StaticAssert(ExprId, Option<ExprId>),
    /// `__asm__("…");` at file scope.
    Asm(AsmId),
    /// A pragma, and the declaration it takes as its body ([`Shape::Prefix`]).
    Pragma(PragmaId, Option<DeclId>),
}

/// A declarator with its initialiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitDeclarator {
    /// What is declared.
    pub declarator: DeclaratorId,
    /// Its initial value.
    pub init: Option<InitId>,
}

/// A function with its body.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDef {
    /// Its specifiers.
    pub specs: SpecsId,
    /// Name and parameters.
    pub declarator: DeclaratorId,
    /// Declarations between the parentheses and the body of an old-style definition.
    pub old_params: Box<[DeclId]>,
    /// The body, a [`StmtKind::Block`].
    pub body: StmtId,
}

/// A pragma as the parser saw it. Its meaning is with whoever read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pragma {
    /// What it does to its surroundings.
    pub shape: Shape,
    /// From `#` to the end of the line.
    pub span: Span,
    /// What stands after `#pragma`, tokens separated as written.
    pub text: Name,
}

// ---------------------------------------------------------------- statements

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where.
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
    /// A declaration in a block.
    Decl(DeclId),
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
    /// `case e: s`, GNU `case lo ... hi: s`
    Case(ExprId, Option<ExprId>, StmtId),
    /// `default: s`
    Default(StmtId),
    /// `name: s`
    Label(Ident, Box<[AttrId]>, StmtId),
    /// `__label__ a, b;`
    LocalLabels(Box<[Ident]>),
    /// `goto name;`
    Goto(Ident),
    /// `goto *e;`
    GotoExpr(ExprId),
    /// `continue;`
    Continue,
    /// `break;`
    Break,
    /// `return e;`
    Return(Option<ExprId>),
    /// `__asm__ …;`
    Asm(AsmId),
    /// `[[fallthrough]];`, `__attribute__((fallthrough));`
    Attributes(Box<[AttrId]>),
    /// A pragma, and the statement it takes as its body ([`Shape::Prefix`]).
    Pragma(PragmaId, Option<StmtId>),
}

/// `for (init; cond; step) body`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// What comes first.
    pub init: ForInit,
    /// Goes on while this is true.
    pub cond: Option<ExprId>,
    /// After each round.
    pub step: Option<ExprId>,
    /// The body.
    pub body: StmtId,
}

/// The first part of a `for`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForInit {
    /// `;`
    Nothing,
    /// `i = 0;`
    Expr(ExprId),
    /// `int i = 0;`
    Decl(DeclId),
}

/// `__asm__ volatile goto ("…" : "=r"(x) : "r"(y) : "memory" : label)`
#[derive(Clone, Debug, PartialEq)]
pub struct Asm {
    /// `volatile`
    pub is_volatile: bool,
    /// `goto`
    pub is_goto: bool,
    /// `inline`
    pub is_inline: bool,
    /// The template: a string literal.
    pub template: ExprId,
    /// How many colon sections were written; none makes it a basic asm.
    pub colons: u8,
    /// Outputs.
    pub outputs: Box<[AsmOperand]>,
    /// Inputs.
    pub inputs: Box<[AsmOperand]>,
    /// Clobbered registers: string literals.
    pub clobbers: Box<[ExprId]>,
    /// Labels of `asm goto`.
    pub labels: Box<[Ident]>,
    /// Where.
    pub span: Span,
}

/// `[name] "constraint" (e)`
#[derive(Clone, Debug, PartialEq)]
pub struct AsmOperand {
    /// The symbolic name.
    pub name: Option<Ident>,
    /// The constraint: a string literal.
    pub constraint: ExprId,
    /// The C expression.
    pub value: ExprId,
}
