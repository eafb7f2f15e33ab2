//! The laws of a [`Program`], and which of them one breaks.
//!
//! In: a program. Out: a [`Violation`] per broken law; a program made by sema has none, and a pass
//! that leaves one is wrong. Whatever has a type that was reported is excused.
//!
//! **Handles** name things that exist. **Trees**: a statement stands in one place only, and every
//! label, `break`, `continue` and `return` belongs to what encloses it.
//!
//! **Types** (compared after typedef names, `_Atomic` and qualifiers on top):
//! - a variable, member or element has its own type; `*p` that of the pointee, `&x` a pointer;
//! - operands of arithmetic are converted: both have the type of the result; shifts have that of
//!   their left side; pointers take integers, and pointers in differences and comparisons;
//! - comparisons and logic are `int`; conditions are scalars;
//! - the right side of `=` has the type of the left, which is an object; so have initialisers,
//!   arguments with a prototype, and returned values;
//! - arrays and functions become pointers only by the cast kinds for that, and no other cast has
//!   one as its operand; nothing is made of `void`.
//!
//! **Regions**: the parent is the next region around that is no choice of a directive; loops are `for` statements inside the region,
//! and their parts are those of the statement; variables are listed once and come from outside,
//! loop variables excepted; origins name clauses, regions and declarations that exist.
//!
//! Laws that are not checked: expressions form trees (no sharing); spans lie in the text of the
//! program; constants fit their types; `reaches` and `calls` are complete; a variable is used only
//! in its scope; loop bounds do not change in the loop.

mod expr;
mod region;
mod stmt;

use source::Span;

use crate::program::{Init, Program};
use crate::types::{ArrayLen, Ty, TypeKind};

/// What a violation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// Handles name things that exist.
    Handle,
    /// An expression has the type that its parts give it.
    ResultType,
    /// Operands are converted.
    Operand,
    /// What is assigned to is an object, and gets a value of its type.
    Assignment,
    /// Conditions are scalars.
    Condition,
    /// Arguments match the function.
    Call,
    /// Members exist in their record.
    Member,
    /// What is indexed is an array or pointer, by an integer.
    Index,
    /// Casts do what their kind says.
    Cast,
    /// Initialisers fit.
    Init,
    /// A statement stands in one place.
    Tree,
    /// Jumps have a target around them or in the function.
    Jump,
    /// Returned values have the function's type.
    Return,
    /// Regions are nested as they say.
    Region,
    /// Loops of a region are its `for` statements.
    Loop,
    /// Variables of a region come from outside, with reasons that exist.
    RegionVar,
}

/// A law that is broken somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub law: Law,
    /// How.
    pub detail: String,
    /// Where the broken thing was written.
    pub span: Span,
}

/// Every broken law of a program.
pub fn verify(program: &Program) -> Vec<Violation> {
    let mut verifier = Verifier { program, found: Vec::new() };
    verifier.handles(Looked::default());
    // With a wrong handle the other questions cannot be asked.
    if verifier.found.is_empty() {
        program.exprs.iter().for_each(|(_, expr)| verifier.expr(expr));
        verifier.vars();
        verifier.statements();
        verifier.regions();
    }
    verifier.found
}

/// Every broken law of handles, types of expressions and initialisers: what passes may add to a program that no
/// function of it holds.
pub fn verify_types(program: &Program) -> Vec<Violation> {
    verify_added(program, &mut Looked::default())
}

/// How much of a program has been looked at: passes add expressions and statements, and change none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Looked {
    exprs: usize,
    stmts: usize,
    inits: usize,
}

/// The same of what was added since.
pub fn verify_added(program: &Program, looked: &mut Looked) -> Vec<Violation> {
    let mut verifier = Verifier { program, found: Vec::new() };
    verifier.handles(*looked);
    if verifier.found.is_empty() {
        program.exprs.iter().skip(looked.exprs).for_each(|(_, expr)| verifier.expr(expr));
        verifier.vars();
    }
    *looked = Looked {
        exprs: program.exprs.len(),
        stmts: program.stmts.len(),
        inits: program.inits.len(),
    };
    verifier.found
}

struct Verifier<'a> {
    program: &'a Program,
    found: Vec<Violation>,
}

impl Verifier<'_> {
    fn report(&mut self, law: Law, span: Span, detail: impl Into<String>) {
        self.found.push(Violation { law, detail: detail.into(), span });
    }

    /// Reports unless `holds`.
    fn check(&mut self, holds: bool, law: Law, span: Span, detail: &str) {
        if !holds {
            self.report(law, span, detail);
        }
    }

    fn ty(&self, expr: crate::program::ExprId) -> Ty {
        self.program.exprs[expr].ty
    }

    /// The type of a value: names, `_Atomic` and qualifiers taken off.
    fn value(&self, ty: Ty) -> Ty {
        let types = &self.program.types;
        let mut ty = types.resolve(ty);
        while let TypeKind::Atomic(inner) = types.kind(ty.id) {
            ty = types.resolve(*inner);
        }
        ty.plain()
    }

    fn same(&self, a: Ty, b: Ty) -> bool {
        self.program.types.compatible(self.value(a), self.value(b))
    }

    /// `` `T` is not `U` `` where the two should be one.
    fn check_same(&mut self, law: Law, span: Span, what: &str, is: Ty, wanted: Ty) {
        if !self.same(is, wanted) {
            let (types, names) = (&self.program.types, &self.program.names);
            let (is, wanted) = (types.spell(names, is), types.spell(names, wanted));
            self.report(law, span, format!("{what} is `{is}`, not `{wanted}`"));
        }
    }

    fn vars(&mut self) {
        let program = self.program;
        for (_, var) in program.vars.iter() {
            if let Some(init) = var.init
                && let Init::Expr(value) = program.inits[init]
            {
                // A string fills an array as it is.
                if !program.types.is_array(var.ty) {
                    self.check_same(Law::Init, var.span, "the initialiser", self.ty(value), var.ty);
                }
            }
        }
        for (_, init) in program.inits.iter() {
            let Init::List(ty, elements) = init else { continue };
            let shape = program.types.shape(*ty);
            let limit = if let TypeKind::Array(_, ArrayLen::Known(len)) = shape {
                *len
            } else if let TypeKind::Vector(_, lanes) = shape {
                u64::from(*lanes)
            } else if let TypeKind::Record(id) = shape {
                program.types.records[*id].fields.as_ref().map_or(0, |it| it.len() as u64)
            } else if program.types.is_scalar(*ty) {
                1
            } else {
                u64::MAX
            };
            for element in elements {
                let fits = element.first <= element.last && element.last < limit;
                let span = Span::NONE;
                self.check(fits, Law::Init, span, "an element lies outside of what is initialised");
            }
        }
    }
}
