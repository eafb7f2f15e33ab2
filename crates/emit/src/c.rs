//! The typed program as C text that gcc compiles to the same program.
//!
//! In: a program without errors, and [`Setting`]: where the text will stand. Out: expressions,
//! statements, definitions or a whole unit. Conversions that C makes by itself are left to it; all
//! others are written. Names of typedefs are looked through, names that would be taken for others
//! are changed ([`names`]); a caller may name variables as it likes ([`Printer::substitute`]) and
//! say what becomes of directives ([`Hook`]).
//!
//! Not here: what is to be printed, and what a construct becomes on a device.

mod bits;
mod complex;
mod constant;
mod convert;
mod cpp;
mod expr;
mod function_pointers;
mod init;
mod lengths;
pub(crate) mod library;
mod names;
mod out;
mod region;
mod reserved;
mod stmt;
mod strings;
mod types;
mod unit;
mod used;
pub(crate) mod vendor;

use std::borrow::Cow;
use std::rc::Rc;

use ir::program::{BinaryOp, CastKind, ExprId, ExprKind, FunctionId, LabelId, Program, VarId};
use ir::types::RecordId;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Name;

pub use abi::target::Grid;
pub(crate) use bits::{computes_in_bits, is_pure, is_split, width_of};
pub(crate) use expr::Printing;
pub(crate) use function_pointers::named_callee;
pub use out::{Out, Place};
pub use region::{Hook, Pragmas};
pub(crate) use reserved::is_reserved;
pub use unit::Selection;
pub use used::Used;

/// What a thread knows of itself, where functions are told of it as a first argument.
pub(crate) const THREAD: &str = "__ferry_me";

/// The word for an operator.
pub fn operator(op: BinaryOp) -> &'static str {
    expr::binary(op).0
}

/// Where the text will stand, which decides what names can be seen from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// In a unit of its own, which defines all it uses: nothing of the user's text is seen.
    Alone,
    /// At the end of the user's text: the file's types, variables and functions are seen.
    Appended,
    /// Where it was written: all that the user saw there is seen.
    InPlace,
}

/// Prints parts of one program.
#[derive(Clone)]
pub struct Printer<'p> {
    program: &'p Program,
    setting: Setting,
    names: Rc<names::Table>,
    substitutes: FxHashMap<VarId, String>,
    lengths: FxHashMap<ExprId, String>,
    decayed: FxHashSet<VarId>,
    /// Arrays whose elements lie elsewhere: in what, and which of them is its first.
    elsewhere: FxHashMap<VarId, (String, String)>,
    /// Enumerations that are known by their tags where all others are not.
    enumerations: &'p [&'static str],
    /// The text is for a grid of threads, in its language.
    grid: Option<Grid>,
    /// Arrays whose elements are registers of an FPGA.
    registers: Rc<FxHashSet<VarId>>,
    /// Other machines compile the text, too, whose `wchar_t` may have another sign.
    is_for_machines: bool,
    /// What is done before a function ends.
    at_return: Vec<String>,
    hook: &'p dyn Hook,
}

impl std::fmt::Debug for Printer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Printer").field("setting", &self.setting).finish_non_exhaustive()
    }
}

impl<'p> Printer<'p> {
    /// A printer that writes directives as pragmas.
    pub fn new(program: &'p Program, setting: Setting) -> Printer<'p> {
        Printer {
            program,
            setting,
            names: Rc::new(names::Table::new(program, setting)),
            substitutes: FxHashMap::default(),
            lengths: FxHashMap::default(),
            decayed: FxHashSet::default(),
            elsewhere: FxHashMap::default(),
            enumerations: &[],
            grid: None,
            registers: Rc::default(),
            is_for_machines: false,
            at_return: Vec::new(),
            hook: &Pragmas,
        }
    }

    /// The same, with directives given to `hook`.
    #[must_use]
    pub fn with_hook(self, hook: &'p dyn Hook) -> Printer<'p> {
        Printer { hook, ..self }
    }

    /// The same for a text that other machines compile, too.
    #[must_use]
    pub(crate) fn for_machines(self) -> Printer<'p> {
        Printer { is_for_machines: true, ..self }
    }

    /// Whether it is for a grid.
    pub(crate) fn is_for_grid(&self) -> bool {
        self.grid.is_some()
    }

    /// The same for the language of a grid: functions have no attributes, and the library is part of
    /// the language.
    #[must_use]
    pub fn for_grid(self, grid: Grid) -> Printer<'p> {
        let registers = match grid.vendor() {
            Some(_) => Rc::new(vendor::registers(self.program)),
            None => Rc::default(),
        };
        Printer { grid: Some(grid), registers, ..self }
    }

    /// The words of the FPGA's vendor, if the text is for one.
    fn vendor(&self) -> Option<&'static vendor::Words> {
        self.grid.and_then(Grid::vendor).map(vendor::words)
    }

    /// Whether types say what kind of memory a pointer leads to.
    fn names_memory(&self) -> bool {
        self.grid.is_some_and(Grid::names_memory)
    }

    /// Whether the text is C++: fewer conversions are made without a word, positions in lists have no
    /// names, and what a record has without a name has one.
    fn is_cpp(&self) -> bool {
        self.grid.is_some_and(Grid::is_cpp)
    }

    /// From now on a variable is named by this text, which must stand as an operand anywhere:
    /// `(*__x)`.
    pub fn substitute(&mut self, var: VarId, text: impl Into<String>) {
        self.substitutes.insert(var, text.into());
    }

    /// Variables that are named `(*__x)` are `__x[0]` from now on, which stands without parentheses in every place.
    pub(crate) fn name_elements(&mut self) {
        self.substitutes.values_mut().for_each(|text| {
            let name = text.strip_prefix("(*").and_then(|it| it.strip_suffix(')'));
            let is_word = |it: &&str| it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
            if let Some(name) = name.filter(is_word) {
                *text = format!("{name}[0]");
            }
        });
    }

    /// From now on an expression that was computed elsewhere is this text, which can be an operand
    /// anywhere: the length of an array, computed where its variable came to life.
    pub fn substitute_expr(&mut self, length: ExprId, text: impl Into<String>) {
        self.lengths.insert(length, text.into());
    }

    /// The text around defines the enumerations with these tags.
    pub fn name_enumerations(&mut self, tags: &'p [&'static str]) {
        self.enumerations = tags;
    }

    /// From now on an array's name is that of a pointer to its first element.
    pub fn decay(&mut self, var: VarId) {
        self.decayed.insert(var);
    }

    /// From now on an array's name is its own again.
    pub fn undecay(&mut self, var: VarId) {
        self.decayed.remove(&var);
    }

    /// From now on elements of an array are those of `buffer`, which begins with element `first`.
    pub fn find_elements(&mut self, var: VarId, buffer: String, first: String) {
        self.elsewhere.insert(var, (buffer, first));
    }

    /// Where the elements of what is subscripted lie, if that is elsewhere.
    fn elements_of(&self, base: ExprId) -> Option<&(String, String)> {
        let kind = &self.program.exprs.find(base)?.kind;
        let of = if let ExprKind::Cast(CastKind::ArrayToPointer, of) = kind { *of } else { base };
        let kind = &self.program.exprs.find(of)?.kind;
        if let ExprKind::Var(var) = kind { self.elsewhere.get(var) } else { None }
    }

    /// Whether an array's name is that of a pointer.
    pub fn is_decayed(&self, var: VarId) -> bool {
        self.decayed.contains(&var)
    }

    /// The same printer with the user's names.
    #[must_use]
    pub fn as_written(&self) -> Printer<'p> {
        let mut printer = self.clone();
        printer.substitutes.clear();
        printer
    }

    /// The same printer for another program with the same variables.
    #[must_use]
    pub fn over(&self, program: &'p Program) -> Printer<'p> {
        Printer { program, ..self.clone() }
    }

    /// Back to its own name.
    pub fn restore(&mut self, var: VarId) {
        self.substitutes.remove(&var);
    }

    /// The program that is printed.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// How a variable is named.
    pub fn var_name(&self, id: VarId) -> String {
        if let Some(text) = self.substitutes.get(&id) {
            return text.clone();
        }
        self.declared_name(id)
    }

    /// The name under which a variable is declared: substitutes stand for uses only.
    pub fn declared_name(&self, id: VarId) -> String {
        let name = self.names.var(self.program, id);
        match reserved::word(self.grid, &name) {
            Cow::Owned(other) => other,
            Cow::Borrowed(_) => name,
        }
    }

    /// How a function is named: in the language of a grid, those of the library go by their own names, and the user's
    /// by such as no language has.
    pub fn function_name(&self, id: FunctionId) -> Cow<'p, str> {
        let Some(function) = self.program.functions.find(id) else { return Cow::Borrowed("") };
        let name = self.text(function.name);
        let is_of_language = || {
            let is_known = function.body.is_none() && self.hook.has_function(name);
            let is_asked = function.body.is_none() && directive::alone_answer(name).is_some();
            function.is_builtin || is_known || is_asked || Printing::of(self.program, id).is_some()
        };
        match self.grid.is_some() && !is_of_language() {
            true => Cow::Owned(format!("__ferry_f_{name}")),
            false => Cow::Borrowed(name),
        }
    }

    fn label_name(&self, id: LabelId) -> String {
        reserved::word(self.grid, &self.names.label(self.program, id)).into_owned()
    }

    /// `struct node`
    fn record_name(&self, id: RecordId) -> Cow<'_, str> {
        let name = self.names.record(id);
        let Some((word, tag)) = name.split_once(' ') else { return Cow::Borrowed(name) };
        match reserved::word(self.grid, tag) {
            Cow::Owned(tag) => Cow::Owned(format!("{word} {tag}")),
            Cow::Borrowed(_) => Cow::Borrowed(name),
        }
    }

    /// A member's name, as the text has it.
    fn member_word(&self, name: Name) -> Cow<'p, str> {
        reserved::word(self.grid, self.text(name))
    }

    fn text(&self, name: Name) -> &'p str {
        self.program.names.text(name)
    }
}
