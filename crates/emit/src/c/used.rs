//! What a piece of the program needs to be declared before it: types, functions, variables.

use ir::construct::{Construct, Convert};
use ir::program::{
    ExprId, ExprKind, FunctionId, HostWords, InitId, Program, Typed, VarId, VarStorage,
};
use ir::types::{AliasId, ArrayLen, RecordId, Ty, TypeId, TypeKind};
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::Name;

/// What is used, each once.
#[derive(Debug, Default)]
pub struct Used {
    /// Records, those that others contain first.
    pub records: Vec<RecordId>,
    /// Typedefs that carry an alignment, each behind the records it needs.
    pub(super) definitions: Vec<Definition>,
    /// Functions that are named.
    pub functions: Vec<FunctionId>,
    /// Variables that are named: of the file, and those of functions.
    pub vars: Vec<VarId>,
    seen_types: FxHashSet<TypeId>,
    seen_records: FxHashSet<RecordId>,
    seen_aliases: FxHashSet<AliasId>,
    seen_functions: FxHashSet<FunctionId>,
    seen_vars: FxHashSet<VarId>,
    seen_parts: FxHashSet<Part>,
    /// Only what runs on a device counts: not what it hands back to the host.
    is_of_device: bool,
}

/// A type that needs a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Definition {
    Record(RecordId),
    Alias(AliasId),
}

impl Used {
    /// What code on a device uses there: bodies that it hands back to the host are left out.
    pub fn on_device() -> Used {
        Used { is_of_device: true, ..Used::default() }
    }

    /// Adds what a statement, expression, initialiser or variable uses.
    pub fn part(&mut self, program: &Program, part: Part) {
        let mut todo = vec![part];
        while let Some(part) = todo.pop() {
            if !self.seen_parts.insert(part) {
                continue;
            }
            match part {
                Part::Expr(id) => self.expr(program, id),
                Part::Local(id) => self.var(program, id),
                Part::Region(id) => {
                    if let Some(region) = program.regions.find(id) {
                        region.vars.iter().for_each(|it| self.var(program, it.var));
                        self.construct(program, &region.construct);
                        if self.is_of_device && region.construct.goes_back() {
                            continue;
                        }
                    }
                }
                Part::Stmt(_) | Part::Init(_) => {}
            }
            program.parts(part, &mut |it| todo.push(it));
        }
    }

    /// Adds a variable with its type, not its initialiser.
    pub fn var(&mut self, program: &Program, id: VarId) {
        let Some(var) = program.vars.find(id) else { return };
        if self.seen_vars.insert(id) {
            self.vars.push(id);
            self.ty(program, var.ty);
            self.cleanup(program, &var.host);
        }
    }

    /// Adds a function with its type and, if it is defined, those of its parameters.
    pub fn function(&mut self, program: &Program, id: FunctionId) {
        let Some(function) = program.functions.find(id) else { return };
        if self.seen_functions.insert(id) {
            self.functions.push(id);
            self.ty(program, function.ty);
        }
    }

    /// A function that is called when a variable ends is named in an attribute only.
    fn cleanup(&mut self, program: &Program, host: &HostWords) {
        let words = host.attributes.iter().map(|it| program.names.text(*it));
        for name in words.filter_map(|it| it.strip_prefix("cleanup(")?.strip_suffix(')')) {
            let name = program.names.find(name);
            let found = program.functions.iter().find(|(_, it)| Some(it.name) == name);
            found.into_iter().for_each(|(id, _)| self.function(program, id));
        }
    }

    /// Adds what the clauses of a directive use.
    pub fn construct(&mut self, program: &Program, construct: &Construct<Typed>) {
        let mut parts = Parts::default();
        let _: Construct<Typed> = construct.convert(&mut parts);
        parts.types.into_iter().for_each(|it| self.ty(program, it));
        parts.parts.into_iter().for_each(|it| self.part(program, it));
    }

    fn expr(&mut self, program: &Program, id: ExprId) {
        let Some(node) = program.exprs.find(id) else { return };
        self.ty(program, node.ty);
        if let ExprKind::Var(var) = &node.kind {
            self.var(program, *var);
        } else if let ExprKind::Function(function) = &node.kind {
            self.function(program, *function);
        } else if let ExprKind::Sizeof(ty) | ExprKind::Alignof(ty) | ExprKind::Offsetof(ty, _) =
            &node.kind
        {
            self.ty(program, *ty);
        }
    }

    /// Adds a type and all it is made of.
    pub fn ty(&mut self, program: &Program, ty: Ty) {
        if !self.seen_types.insert(ty.id) {
            return;
        }
        let types = &program.types;
        match types.kind(ty.id) {
            TypeKind::Pointer(inner) | TypeKind::Atomic(inner) | TypeKind::Vector(inner, _) => {
                self.ty(program, *inner);
            }
            TypeKind::Array(inner, len) => {
                self.ty(program, *inner);
                if let ArrayLen::Variable(Some(len)) = len {
                    self.part(program, Part::Expr(*len));
                }
            }
            TypeKind::Function(it) => {
                self.ty(program, it.ret);
                it.params.iter().for_each(|it| self.ty(program, *it));
            }
            TypeKind::Record(id) => {
                let fields = types.records.find(*id).and_then(|it| it.fields.as_ref());
                // What it contains is defined before it; what it points to may come later.
                for field in fields.into_iter().flatten() {
                    self.contained(program, field.ty);
                }
                self.define_record(program, *id);
                for field in fields.into_iter().flatten() {
                    self.ty(program, field.ty);
                }
            }
            TypeKind::Alias(id) => {
                self.ty(program, types.aliases[*id].ty);
                if types.aliases[*id].align.is_some() && self.seen_aliases.insert(*id) {
                    self.definitions.push(Definition::Alias(*id));
                }
            }
            TypeKind::Error
            | TypeKind::Void
            | TypeKind::Bool
            | TypeKind::Int(_)
            | TypeKind::Float(_)
            | TypeKind::Complex(_)
            | TypeKind::ComplexInt(_)
            | TypeKind::Enum(_)
            | TypeKind::VaList => {}
        }
    }

    /// A type that must be complete: only what it contains is followed here.
    fn contained(&mut self, program: &Program, ty: Ty) {
        let types = &program.types;
        let mut ty = ty;
        loop {
            let kind = types.kind(ty.id);
            if let TypeKind::Record(id) = kind {
                return self.define_record(program, *id);
            } else if let TypeKind::Alias(id) = kind {
                if types.aliases[*id].align.is_some() {
                    self.contained(program, types.aliases[*id].ty);
                    if self.seen_aliases.insert(*id) {
                        self.definitions.push(Definition::Alias(*id));
                    }
                    return;
                }
                ty = types.aliases[*id].ty;
            } else if let TypeKind::Array(inner, _)
            | TypeKind::Atomic(inner)
            | TypeKind::Vector(inner, _)
            | TypeKind::Pointer(inner) = kind
            {
                let is_pointer = matches!(kind, TypeKind::Pointer(_));
                if is_pointer && !matches!(types.shape(*inner), TypeKind::Array(..)) {
                    return self.aliases_in(program, *inner);
                }
                ty = *inner;
            } else {
                return;
            }
        }
    }

    /// Behind a pointer a typedef must still be known.
    fn aliases_in(&mut self, program: &Program, ty: Ty) {
        let types = &program.types;
        let mut ty = ty;
        loop {
            let kind = types.kind(ty.id);
            if let TypeKind::Alias(id) = kind {
                if types.aliases[*id].align.is_some() && self.seen_aliases.insert(*id) {
                    self.definitions.push(Definition::Alias(*id));
                }
                ty = types.aliases[*id].ty;
            } else if let TypeKind::Pointer(inner) = kind {
                ty = *inner;
            } else {
                return;
            }
        }
    }

    fn define_record(&mut self, program: &Program, id: RecordId) {
        if !self.seen_records.insert(id) {
            return;
        }
        let fields = program.types.records.find(id).and_then(|it| it.fields.as_ref());
        for field in fields.into_iter().flatten() {
            self.contained(program, field.ty);
        }
        self.records.push(id);
        self.definitions.push(Definition::Record(id));
    }

    /// Variables that exist outside of functions.
    pub(crate) fn globals<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = VarId> + 'a {
        self.vars.iter().copied().filter(|id| {
            program.vars.find(*id).is_some_and(|it| match it.storage {
                VarStorage::Global | VarStorage::Extern | VarStorage::Static => true,
                VarStorage::LocalStatic(_) | VarStorage::Param(_) | VarStorage::Local(_) => false,
            })
        })
    }
}

/// The parts of a construct, as they are met.
#[derive(Default)]
struct Parts {
    parts: Vec<Part>,
    types: Vec<Ty>,
}

impl Convert<Typed, Typed> for Parts {
    fn expr(&mut self, expr: &ExprId) -> ExprId {
        self.parts.push(Part::Expr(*expr));
        *expr
    }

    fn ty(&mut self, ty: &Ty) -> Ty {
        self.types.push(*ty);
        *ty
    }

    fn init(&mut self, init: &InitId) -> InitId {
        self.parts.push(Part::Init(*init));
        *init
    }

    fn name(&mut self, name: &Name) -> Name {
        *name
    }
}
