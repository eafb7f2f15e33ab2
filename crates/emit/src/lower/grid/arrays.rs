//! Arrays whose length is computed, which kernels and their functions declare or have copies of.
//!
//! No language of grids has them. Such an array is a pointer to memory of the kernel's heap: its function has a place for
//! that pointer from the beginning, memory is taken when the declaration is met and kept for the next time, and given back
//! where the function ends. Lengths are computed where the variable comes to life, and have names from there on.

use ir::construct::ClauseKind;
use ir::program::{ExprId, FunctionId, RegionId, VarId};
use ir::region::{Mapping, Sharing};
use ir::types::{ArrayLen, Ty, TypeKind};
use ir::walk::Part;
use rustc_hash::FxHashSet;

use super::super::device::Kernel;
use crate::c::{Out, Printer};
use crate::lower::Lowering;

impl Lowering<'_> {
    /// Finds lengths that get names, and whether there are such arrays. `given`: those that come with the launch.
    pub(super) fn find_arrays(
        &self,
        parts: &[Part],
        kernels: &[Kernel],
        given: &FxHashSet<ExprId>,
    ) {
        let types = &self.program.types;
        let mut locals = Vec::new();
        let regions = kernels.iter().map(|it| Part::Region(it.region));
        let all: Vec<Part> = parts.iter().copied().chain(regions).collect();
        let mut needed = None;
        self.each_part(&all, |part| match part {
            Part::Local(var) => locals.push(var),
            Part::Region(id) => needed = needed.or(self.array_copies(id).first().copied()),
            Part::Expr(_) | Part::Stmt(_) | Part::Init(_) => {}
        });
        locals.sort_by_key(|it| it.index());
        let is_array = |it: &&VarId| types.is_vla(self.program.vars[**it].ty);
        needed = needed.or(locals.iter().find(is_array).copied());
        let mut state = self.state.borrow_mut();
        for var in locals {
            for length in self.own_lengths(self.program.vars[var].ty) {
                // Each copy of a declaration has them.
                let is_copy = |it: VarId| {
                    it != var && self.program.vars[it].span == self.program.vars[var].span
                };
                let is_named = |it: &(VarId, ExprId)| it.1 == length && !is_copy(it.0);
                if !given.contains(&length) && !state.lengths.iter().any(is_named) {
                    state.lengths.push((var, length));
                }
            }
        }
        state.has_arrays = needed.is_some();
    }

    /// Goes through parts and all that is in them, each once.
    fn each_part(&self, parts: &[Part], mut each: impl FnMut(Part)) {
        let (mut seen, mut open) = (FxHashSet::default(), parts.to_vec());
        while let Some(part) = open.pop() {
            if seen.insert(part) {
                each(part);
                self.program.parts(part, &mut |it| open.push(it));
            }
        }
    }

    /// Lengths that are computed where a variable of this type is declared, and not where a name for the type was.
    fn own_lengths(&self, ty: Ty) -> Vec<ExprId> {
        let (types, mut ty, mut found) = (&self.program.types, ty, Vec::new());
        loop {
            let kind = types.kind(ty.id);
            if let TypeKind::Array(element, length) = kind {
                if let ArrayLen::Variable(Some(length)) = length {
                    found.push(*length);
                }
                ty = *element;
            } else if let TypeKind::Pointer(to) = kind {
                ty = *to;
            } else {
                return found;
            }
        }
    }

    /// Whether a length has a name.
    pub(super) fn names_length(&self, length: ExprId) -> bool {
        self.state.borrow().lengths.iter().any(|it| it.1 == length)
    }

    /// Lengths go by their names, and such arrays are pointers.
    pub(in crate::lower) fn use_lengths(&self, printer: &mut Printer<'_>) {
        for (_, length) in &self.state.borrow().lengths {
            printer.substitute_expr(*length, length_name(*length));
        }
    }

    /// What computes the lengths in a variable's type.
    fn lengths_of(&self, printer: &Printer<'_>, var: VarId) -> Vec<String> {
        let state = self.state.borrow();
        let own = state.lengths.iter().filter(|it| it.0 == var);
        own.map(|(_, length)| {
            let value = printer.computed(*length);
            format!("const unsigned long {} = (unsigned long){value};", length_name(*length))
        })
        .collect()
    }

    /// The same for the parameters of a function.
    pub(in crate::lower) fn lengths_of_parameters(
        &self,
        printer: &Printer<'_>,
        id: FunctionId,
    ) -> Vec<String> {
        let params = &self.program.functions[id].params;
        params.iter().flat_map(|it| self.lengths_of(printer, *it)).collect()
    }

    /// A declaration of a variable with computed lengths in its type. Answers whether it is written.
    pub(in crate::lower) fn array_local(
        &self,
        printer: &Printer<'_>,
        var: VarId,
        out: &mut Out<'_>,
    ) -> bool {
        self.lengths_of(printer, var).iter().for_each(|it| out.line(it));
        let is_array = self.program.types.is_vla(self.program.vars[var].ty);
        if is_array {
            self.put_array(printer, var, &printer.declared_name(var), &room(var, 0), out);
        }
        is_array
    }

    /// Declares a pointer to memory for an array like another.
    fn put_array(
        &self,
        printer: &Printer<'_>,
        like: VarId,
        name: &str,
        room: &str,
        out: &mut Out<'_>,
    ) {
        let (program, ty) = (self.program, self.program.vars[like].ty.plain());
        let part = printer.known_part(ty);
        let of_type = program.model.align_of(&program.types, part).unwrap_or(1);
        let align = program.vars[like].align.unwrap_or(1).max(of_type);
        let bytes = format!("{} * sizeof({})", printer.known_parts(ty), printer.type_name(part));
        out.line(&format!("__ferry_array({room}, {align}, {bytes});"));
        let pointer = printer.declare_pointer(part, name);
        out.line(&format!("{pointer} = ({}){room};", printer.declare_pointer(part, "")));
    }

    /// A copy of such an array, which the printer then names. Answers its name.
    pub(in crate::lower) fn array_copy(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        var: VarId,
        from: Option<&str>,
        out: &mut Out<'_>,
    ) -> String {
        let number = {
            let copies = &mut self.state.borrow_mut().array_copies;
            let count = copies.entry(var).or_insert(0);
            *count += 1;
            *count
        };
        let name = format!("__ferry_own{}", self.fresh());
        self.put_array(outside, var, &name, &room(var, number), out);
        if let Some(from) = from {
            let ty = self.program.vars[var].ty.plain();
            let part = outside.type_name(outside.known_part(ty));
            let parts = outside.known_parts(ty);
            out.line(&format!("__ferry_copy({name}, {from}, {parts} * sizeof({part}));"));
        }
        inside.substitute(var, name.clone());
        inside.decay(var);
        name
    }

    /// Arrays of which a construct may have copies.
    fn array_copies(&self, id: RegionId) -> Vec<VarId> {
        let region = &self.program.regions[id];
        let is_aligned = |var: VarId| {
            let is_asked = region.construct.kinds().any(|it| matches!(it, ClauseKind::Allocate(_)));
            is_asked && self.program.vars[var].align.is_some()
        };
        let is_copied = |it: &&ir::region::RegionVar| match it.sharing.as_ref().map(|it| &it.value)
        {
            Some(
                Sharing::Private
                | Sharing::FirstPrivate
                | Sharing::LastPrivate
                | Sharing::FirstLastPrivate,
            ) => true,
            _ => is_aligned(it.var) || it.mappings.iter().any(|it| it.value == Mapping::Private),
        };
        let is_array = |it: &VarId| self.program.types.is_vla(self.program.vars[*it].ty);
        region.vars.iter().filter(is_copied).map(|it| it.var).filter(is_array).collect()
    }

    /// Places for pointers to memory that code needs for such arrays: what stands at its beginning, and what gives the
    /// memory back. A construct has a copy at most twice.
    pub(in crate::lower) fn array_rooms(&self, code: &[Part]) -> (Vec<String>, Vec<String>) {
        if !self.state.borrow().has_arrays {
            return (Vec::new(), Vec::new());
        }
        let (mut rooms, mut copies): (Vec<String>, Vec<VarId>) = (Vec::new(), Vec::new());
        let types = &self.program.types;
        self.each_part(code, |part| match part {
            Part::Local(var) if types.is_vla(self.program.vars[var].ty) => {
                rooms.push(room(var, 0));
            }
            Part::Region(id) => {
                let found = self.array_copies(id);
                copies.extend(found.iter().chain(&found));
            }
            Part::Local(_) | Part::Expr(_) | Part::Stmt(_) | Part::Init(_) => {}
        });
        let mut numbers = self.state.borrow().array_copies.clone();
        for var in copies {
            let number = numbers.entry(var).or_insert(0);
            *number += 1;
            rooms.push(room(var, *number));
        }
        rooms.sort();
        let memory = self.memory();
        let begin =
            rooms.iter().map(|it| format!("{memory}void *{it} = 0; unsigned long {it}_bytes = 0;"));
        let end = rooms.iter().map(|it| format!("__ferry_leave({it});"));
        (begin.collect(), end.collect())
    }

    /// The same for a function.
    pub(in crate::lower) fn array_rooms_of(&self, id: FunctionId) -> (Vec<String>, Vec<String>) {
        let body: Vec<Part> = self.program.functions[id].body.map(Part::Stmt).into_iter().collect();
        self.array_rooms(&body)
    }
}

fn length_name(length: ExprId) -> String {
    format!("__ferry_n{}", length.index())
}

fn room(array: VarId, number: u32) -> String {
    format!("__ferry_room{}_{number}", array.index())
}
