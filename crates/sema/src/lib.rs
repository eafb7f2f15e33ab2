//! Names, types, constants and rules of use: a tree with its directives becomes an
//! [`ir::program::Program`].
//!
//! In: a [`Tree`], what its pragmas say ([`Directives`]) and the data model of the host. Out: the
//! typed program and diagnostics, always both. Everything that gcc refuses is an error here, what
//! it only doubts is at most a warning, and one fault gives one message: what was reported has the
//! type `Error`, which fits everywhere and keeps quiet.
//!
//! [`Cx`] is the state of one run; the files of this crate are its methods by subject. What regions
//! mean (loops, sharing, mapping) is filled in afterwards, by [`regions`].
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "most rules of C single out a few kinds of types or expressions, and all others share one answer"
)]

mod attrs;
mod builtins;
mod consteval;
mod context;
mod convert;
mod decl;
mod directives;
mod enums;
mod expr;
mod float;
mod function;
mod host;
mod init;
mod jumps;
mod messages;
mod query;
mod record;
mod regions;
mod scope;
mod stmt;
mod types;

pub use regions::places::OUTSIDE_FUNCTIONS;

use std::sync::Arc;

use directive::Directives;
use ir::layout::{DataModel, Layouts};
use ir::program::{Expr, ExprId, ExprKind, Fallback, Program, RegionId};
use ir::types::{RecordId, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Diagnostics, Name, Severity, Span};
use syntax::ast::Tree;

use crate::context::sides::Side;
use crate::function::Body;
use crate::query::Basics;
use crate::scope::Scopes;

/// More errors than this are not kept.
const MAX_ERRORS: usize = 100;

/// What became of a tree.
#[derive(Debug)]
pub struct Checked {
    /// The typed program, with `Error` nodes where something was reported.
    pub program: Program,
    /// What is wrong with it, in the order it was found.
    pub diagnostics: Diagnostics,
}

/// Types a translation unit for a data model.
pub fn check(mut tree: Tree, directives: &Directives, model: &'static DataModel) -> Checked {
    let names = std::mem::take(&mut tree.names);
    let mut cx = Cx::new(&tree, directives, model, names, FxHashMap::default());
    cx.translation_unit();
    // A choice in a function that turns out to run on devices is made again, knowing that.
    let sides = cx.sides_asked_for();
    if !sides.is_empty() {
        cx = Cx::new(&tree, directives, model, cx.program.names, sides);
        cx.translation_unit();
    }
    cx.choose_functions();
    let Cx { mut program, faults: mut diagnostics, sides, differing, .. } = cx;
    regions::fill(&mut program, &mut diagnostics);
    if !differing.is_empty() {
        let names = program.names.clone();
        let mut host = Cx::new(&tree, directives, model, names, sides);
        host.stays = true;
        host.translation_unit();
        host.choose_functions();
        let Cx { program: mut other, mut faults, .. } = host;
        regions::fill(&mut other, &mut faults);
        let is_new = |it: &&Diagnostic| {
            it.severity == Severity::Error
                && !diagnostics
                    .iter()
                    .any(|known| known.code == it.code && known.primary == it.primary)
        };
        let new: Vec<Diagnostic> = faults.iter().filter(is_new).cloned().collect();
        new.into_iter().for_each(|it| diagnostics.push(it));
        program.fallback = Some(Arc::new(Fallback { program: other, regions: differing }));
    }
    Checked { program, diagnostics }
}

/// The state of one run.
pub(crate) struct Cx<'t> {
    tree: &'t Tree,
    directives: &'t Directives,
    program: Program,
    faults: Diagnostics,
    scopes: Scopes,
    basics: Basics,
    layouts: Layouts,
    /// Where to look for a name in a complete record: its own member of that name, or the one
    /// without name that holds it.
    members: FxHashMap<(RecordId, Name), u32>,
    /// Records whose members are being read, outermost first.
    defining: Vec<RecordId>,
    /// The function whose body is being read.
    function: Option<Body>,
    /// The regions around the present statement, innermost last.
    regions: Vec<RegionId>,
    /// Directives that hold for all up to their end marker.
    open: Vec<directives::Open>,
    /// More than zero inside `sizeof`, `typeof` and the like.
    unevaluated: u32,
    /// For each function: in whose body its last call was noted.
    called: Vec<u32>,
    /// Functions that were called before any declaration.
    implicit: Vec<ir::program::FunctionId>,
    /// Functions that were declared as variants, under the name of another.
    made_as_variants: FxHashSet<ir::program::FunctionId>,
    /// Variables that are declared `register`.
    registers: FxHashSet<ir::program::VarId>,
    /// Where records were declared whose definition was missed, and that was reported.
    undefined: FxHashSet<Span>,
    /// Unknown names are words of an extension, not faults.
    quiet_names: bool,
    /// A directive is read, whose expressions are evaluated where it is used: none is of an object with static storage.
    in_directive: bool,
    /// A directive wants to speak of the parameters of the prototypes that follow.
    keeps_params: bool,
    /// Those parameters.
    kept_params: Vec<ir::program::VarId>,
    /// More than zero where all that can be wrong has been reported already, or does not matter.
    silent: u32,
    /// Static variables of a body that is read several times, which are one object each.
    statics: Option<context::Statics>,
    /// Where functions run, as far as it is known; all others run on the host.
    sides: FxHashMap<Name, Side>,
    /// Functions with choices that would be others on a device.
    asks_for_side: FxHashSet<Name>,
    /// Regions that leave the host are read as the host runs them.
    stays: bool,
    /// The directives of such regions in which the host would choose otherwise.
    differing: Vec<Span>,
}

impl<'t> Cx<'t> {
    fn new(
        tree: &'t Tree,
        directives: &'t Directives,
        model: &'static DataModel,
        names: source::Names,
        sides: FxHashMap<Name, Side>,
    ) -> Cx<'t> {
        let mut program = Program::new(model, names);
        let basics = Basics::new(&mut program.types, model);
        Cx {
            tree,
            directives,
            scopes: Scopes::new(program.names.len()),
            program,
            faults: Diagnostics::new(),
            basics,
            layouts: Layouts::new(model),
            members: FxHashMap::default(),
            defining: Vec::new(),
            function: None,
            regions: Vec::new(),
            open: Vec::new(),
            unevaluated: 0,
            called: Vec::new(),
            implicit: Vec::new(),
            made_as_variants: FxHashSet::default(),
            registers: FxHashSet::default(),
            undefined: FxHashSet::default(),
            quiet_names: false,
            in_directive: false,
            keeps_params: false,
            kept_params: Vec::new(),
            silent: 0,
            statics: None,
            sides,
            asks_for_side: FxHashSet::default(),
            stays: false,
            differing: Vec::new(),
        }
    }

    fn report(&mut self, fault: Diagnostic) {
        if self.silent > 0 {
            return;
        }
        if fault.severity == Severity::Error && self.faults.errors() >= MAX_ERRORS {
            return;
        }
        self.faults.push(fault);
    }

    fn make(&mut self, kind: ExprKind, ty: Ty, span: Span) -> ExprId {
        self.program.exprs.push(Expr { kind, ty, span })
    }

    /// An expression that was reported.
    fn wrong(&mut self, span: Span) -> ExprId {
        let ty = self.basics.error;
        self.make(ExprKind::Error, ty, span)
    }

    /// Reports, and gives an expression that was reported.
    fn refuse(&mut self, fault: Diagnostic, span: Span) -> ExprId {
        self.report(fault);
        self.wrong(span)
    }

    fn ty(&self, expr: ExprId) -> Ty {
        self.program.exprs[expr].ty
    }

    fn span(&self, expr: ExprId) -> Span {
        self.program.exprs[expr].span
    }

    fn int(&mut self, value: i64, ty: Ty, span: Span) -> ExprId {
        self.make(ExprKind::Int(value), ty, span)
    }
}
