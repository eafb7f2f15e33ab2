//! Which memory a piece of code may read and write, without asking when.
//!
//! In: parts of a body, as the host or a device runs them. Out: [`Uses`]: objects, each read or written. Code that the
//! host runs does not do what is in regions for a device: of those it does the copies, each told with its region.
//! Calls are looked through where that is possible; else anything may have happened to what is not hidden.

use std::collections::BTreeSet;

use ir::construct::{ClauseKind, Construct, Convert, Leaf, Motion};
use ir::program::{
    CastKind, ExprId, ExprKind, InitId, Program, RegionId, StmtKind, Typed, VarId, VarStorage,
};
use ir::region::{Mapping, Sharing};
use ir::types::Ty;
use ir::walk::Part;
use source::Name;

use crate::access::Base;
use crate::alias::{Apart, Reach, called};
use crate::dependence::Analysis;
use crate::effects::Target;

/// One object that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) base: Base,
    pub(crate) ty: Option<Ty>,
    pub(crate) writes: bool,
    /// The region for a device whose copies these are.
    pub(crate) by: Option<RegionId>,
}

/// What a piece of code uses.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    pub(crate) list: BTreeSet<Use>,
    /// It does more than can be told.
    pub(crate) is_open: bool,
}

/// Who runs the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Host,
    Device,
}

/// Functions that write nothing but a stream, if what they are given are values and texts.
const PRINTERS: &[&str] = &[
    "fflush",
    "fprintf",
    "fputs",
    "printf",
    "putchar",
    "puts",
    "__builtin_printf",
    "__builtin_putchar",
    "__builtin_puts",
];

impl Analysis<'_> {
    /// What these parts use.
    pub(crate) fn uses(&self, parts: &[Part], side: Side) -> Uses {
        let mut cx = Collect { of: self, program: self.program, side, uses: Uses::default() };
        let mut stack: Vec<(Part, bool)> = parts.iter().map(|&it| (it, false)).collect();
        while let Some((part, is_place)) = stack.pop() {
            cx.part(part, is_place, &mut stack);
        }
        cx.uses
    }

    /// Whether a use may be one of this object.
    pub(crate) fn may_be(&self, it: &Use, object: (Base, Option<Ty>)) -> bool {
        match self.aliases.apart(self.program, (it.base, it.ty), object) {
            Apart::Same | Apart::Perhaps => true,
            Apart::Different | Apart::Restrict(_) | Apart::Known(..) => false,
        }
    }

    /// Whether code that is not seen cannot reach an object: a function's own, of which nobody has the address.
    pub(crate) fn is_hidden(&self, object: Base) -> bool {
        match object {
            Base::Var(var) => {
                matches!(
                    self.program.vars[var].storage,
                    VarStorage::Local(_) | VarStorage::Param(_)
                ) && !self.aliases.is_exposed(self.program, var)
            }
            Base::Nowhere => true,
            Base::Pointee(_) | Base::Held(_) | Base::Unknown => false,
        }
    }

    /// Whether these uses may read or write an object.
    pub(crate) fn touches(&self, uses: &Uses, object: (Base, Option<Ty>), writes: bool) -> bool {
        if uses.is_open && !self.is_hidden(object.0) {
            return true;
        }
        let fits = |it: &Use| it.writes == writes && self.may_be(it, object);
        let Base::Var(_) = object.0 else { return uses.list.iter().any(fits) };
        // Of variables only the same one; those come first in the list.
        let least = |base| Use { base, ty: None, writes: false, by: None };
        let same = uses.list.range(least(object.0)..).take_while(|it| it.base == object.0);
        let pointers = uses.list.range(least(Base::Pointee(VarId::from_index(0)))..);
        same.chain(pointers).any(fits)
    }
}

struct Collect<'a> {
    of: &'a Analysis<'a>,
    program: &'a Program,
    side: Side,
    uses: Uses,
}

impl Collect<'_> {
    fn add(&mut self, base: Base, ty: Option<Ty>, writes: bool) {
        self.uses.list.insert(Use { base, ty, writes, by: None });
    }

    /// One step down; a place is named, not read.
    fn part(&mut self, part: Part, is_place: bool, stack: &mut Vec<(Part, bool)>) {
        match part {
            Part::Expr(id) => return self.expr(id, is_place, stack),
            Part::Stmt(id) => {
                let kind = &self.program.stmts[id].kind;
                self.uses.is_open |=
                    matches!(kind, StmtKind::Asm(_) | StmtKind::GotoExpr(_) | StmtKind::Error);
            }
            Part::Local(var) => self.add(Base::Var(var), None, true),
            Part::Init(_) => {}
            Part::Region(id) => {
                if !self.region(id, stack) {
                    return;
                }
            }
        }
        self.program.parts(part, &mut |it| stack.push((it, false)));
    }

    fn expr(&mut self, id: ExprId, is_place: bool, stack: &mut Vec<(Part, bool)>) {
        let kind = &self.program.exprs[id].kind;
        let value = |it: ExprId| (Part::Expr(it), false);
        let place = |it: ExprId| (Part::Expr(it), true);
        if let ExprKind::Assign(to, from) = *kind {
            self.access(to, true);
            stack.extend([place(to), value(from)]);
        } else if let ExprKind::AssignOp(_, to, from, _) = *kind {
            self.access(to, true);
            stack.extend([value(to), value(from)]);
        } else if let ExprKind::Step(_, to) = *kind {
            self.access(to, true);
            stack.push(value(to));
        } else if let ExprKind::AddrOf(it) | ExprKind::Cast(CastKind::ArrayToPointer, it) = *kind {
            stack.push(place(it));
        } else if let ExprKind::Var(_)
        | ExprKind::Index(..)
        | ExprKind::Deref(_)
        | ExprKind::Member(..) = *kind
        {
            if !is_place {
                self.access(id, false);
            }
            if let ExprKind::Index(base, index) = *kind {
                let is_array = self.program.types.is_array(self.program.exprs[base].ty);
                stack.extend([(Part::Expr(base), is_array), value(index)]);
            } else if let ExprKind::Deref(pointer) = *kind {
                stack.push(value(pointer));
            } else if let ExprKind::Member(of, ..) = *kind {
                stack.push(place(of));
            }
        } else {
            if let ExprKind::Call(callee, args) = kind {
                self.call(*callee, args);
            } else if let ExprKind::Error | ExprKind::VaArg(_) | ExprKind::LabelAddr(_) = kind {
                self.uses.is_open = true;
            }
            kind.parts(&self.program.types, &mut |it| stack.push((it, false)));
        }
    }

    fn access(&mut self, place: ExprId, writes: bool) {
        let base = self.base(place);
        self.add(base, Some(self.program.exprs[place].ty), writes);
    }

    /// The object that a place is in.
    fn base(&self, place: ExprId) -> Base {
        let mut at = place;
        loop {
            let expr = &self.program.exprs[at];
            if let ExprKind::Var(var) | ExprKind::CompoundLiteral(var) = expr.kind {
                return Base::Var(var);
            } else if let ExprKind::Member(inner, ..) | ExprKind::Unary(_, inner) = expr.kind {
                at = inner;
            } else if let ExprKind::Index(base, _) = expr.kind {
                if self.program.types.is_pointer(self.program.exprs[base].ty) {
                    return self.behind(base);
                }
                at = base;
            } else if let ExprKind::Deref(pointer) = expr.kind {
                return self.behind(pointer);
            } else if let ExprKind::Str(_) | ExprKind::Function(_) = expr.kind {
                return Base::Nowhere;
            } else {
                return Base::Unknown;
            }
        }
    }

    /// The object behind a pointer.
    fn behind(&self, pointer: ExprId) -> Base {
        let mut at = pointer;
        loop {
            let expr = &self.program.exprs[at];
            if let ExprKind::Var(var) = expr.kind {
                return Base::Pointee(var);
            } else if let ExprKind::Cast(CastKind::ArrayToPointer, inner)
            | ExprKind::AddrOf(inner) = expr.kind
            {
                return self.base(inner);
            } else if let ExprKind::Cast(_, inner) | ExprKind::Step(_, inner) = expr.kind {
                at = inner;
            } else if let ExprKind::Binary(_, a, b) = expr.kind {
                let is_pointer =
                    |it: ExprId| self.program.types.is_pointer(self.program.exprs[it].ty);
                match (is_pointer(a), is_pointer(b)) {
                    (true, false) => at = a,
                    (false, true) => at = b,
                    (true, true) | (false, false) => return Base::Unknown,
                }
            } else {
                return Base::Unknown;
            }
        }
    }

    fn call(&mut self, callee: ExprId, args: &[ExprId]) {
        let Some(id) = called(self.program, callee) else {
            self.uses.is_open = true;
            return;
        };
        if self.prints(self.program.names.text(self.program.functions[id].name), args) {
            return;
        }
        let Some(summary) = self.of.effects.of(id).filter(|it| it.stop.is_none()) else {
            self.uses.is_open = true;
            return;
        };
        let reads = summary.reads.iter().map(|it| (*it, false));
        let writes = summary.writes.iter().map(|it| (*it, true));
        for (target, writes) in reads.chain(writes) {
            match target {
                Target::Var(var) => self.add(Base::Var(var), None, writes),
                Target::Any => self.add(Base::Unknown, None, writes),
                Target::Param(at) => match args.get(at as usize) {
                    Some(&arg) => self.handed(arg, writes),
                    None => self.add(Base::Unknown, None, writes),
                },
            }
        }
    }

    fn handed(&mut self, arg: ExprId, writes: bool) {
        for it in self.of.aliases.reach(self.program, arg) {
            let base = match it {
                Reach::Object(var) => Base::Var(var),
                Reach::Param(var) => Base::Pointee(var),
                Reach::Any => Base::Unknown,
            };
            self.add(base, None, writes);
        }
        // What it leads to may also be named by the pointer that was handed.
        let base = self.behind(arg);
        self.add(base, None, writes);
    }

    /// Whether a call only prints values and texts.
    fn prints(&self, name: &str, args: &[ExprId]) -> bool {
        let is_stream = |at: usize| at == 0 && name == "fprintf" || at == 1 && name == "fputs";
        let is_plain = |&(at, arg): &(usize, &ExprId)| {
            let mut arg = *arg;
            while let ExprKind::Cast(_, inner) = self.program.exprs[arg].kind {
                arg = inner;
            }
            let expr = &self.program.exprs[arg];
            matches!(expr.kind, ExprKind::Str(_))
                || self.program.types.is_arithmetic(expr.ty)
                || is_stream(at)
                || name == "fflush"
        };
        PRINTERS.contains(&name) && args.iter().enumerate().all(|it| is_plain(&it))
    }

    /// What a directive itself does; whether its body is to be looked at.
    fn region(&mut self, id: RegionId, stack: &mut Vec<(Part, bool)>) -> bool {
        let region = &self.program.regions[id];
        let construct = &region.construct;
        let mut computed = Computed { values: Vec::new(), is_list: false };
        construct.convert(&mut computed);
        stack.extend(computed.values.into_iter().map(|it| (Part::Expr(it), false)));
        self.uses.is_open |= !is_waited_for(construct) || construct.goes_back();
        let leaves = [Leaf::Init, Leaf::Shutdown, Leaf::Set, Leaf::Interop, Leaf::HostData];
        self.uses.is_open |= leaves.into_iter().any(|it| construct.has(it));
        for it in &region.vars {
            match it.sharing.as_ref().map(|it| &it.value) {
                Some(
                    Sharing::Reduction(_)
                    | Sharing::Linear
                    | Sharing::LastPrivate
                    | Sharing::FirstLastPrivate
                    | Sharing::ThreadPrivate,
                ) => {
                    self.add(Base::Var(it.var), None, true);
                    self.add(Base::Var(it.var), None, false);
                }
                Some(Sharing::FirstPrivate) => self.add(Base::Var(it.var), None, false),
                Some(Sharing::Shared | Sharing::Private) | None => {}
            }
        }
        if self.side == Side::Device {
            return true;
        }
        let runs = offloads(construct);
        if runs {
            self.device_writes(id);
        }
        let now = [Leaf::Update, Leaf::EnterData, Leaf::ExitData];
        let is_now = now.into_iter().any(|it| construct.has(it));
        for it in &region.vars {
            for mapping in &it.mappings {
                self.copies(id, it.var, &mapping.value, is_now);
            }
        }
        !runs
    }

    /// What the host's memory sees of a mapping.
    fn copies(&mut self, id: RegionId, var: VarId, mapping: &Mapping, is_now: bool) {
        let is_pointer = self.program.types.is_pointer(self.program.vars[var].ty);
        let (base, read, written) = match mapping {
            Mapping::Map(motion, _, part) => {
                let is_behind = is_pointer && part.is_some();
                let (read, written) = copied(*motion);
                if is_now {
                    self.add(Base::Pointee(var), None, true);
                    self.add(Base::Var(var), None, true);
                }
                (if is_behind { Base::Pointee(var) } else { Base::Var(var) }, read, written)
            }
            // What it leads to may be brought along.
            Mapping::PointerToMapped => {
                self.add(Base::Var(var), None, false);
                (Base::Pointee(var), true, true)
            }
            Mapping::FirstPrivate => (Base::Var(var), true, false),
            Mapping::DevicePointer | Mapping::DeviceAddress => (Base::Unknown, true, true),
            Mapping::Private | Mapping::Declared => return,
        };
        // What comes back is what the device wrote; that is told besides.
        let comes_back = written && !offloads(&self.program.regions[id].construct);
        for (happens, writes) in [(read, false), (comes_back, true)] {
            if happens {
                self.uses.list.insert(Use { base, ty: None, writes, by: Some(id) });
            }
        }
        // An array that a clause names by its parameter.
        if is_pointer && base == Base::Var(var) && comes_back {
            let base = Base::Pointee(var);
            self.uses.list.insert(Use { base, ty: None, writes: true, by: Some(id) });
        }
    }

    /// What a region for a device writes there, whether it comes back or not.
    fn device_writes(&mut self, id: RegionId) {
        let body = self.program.regions[id].body.map(Part::Stmt);
        let there = self.of.uses(body.as_slice(), Side::Device);
        self.uses.is_open |= there.is_open;
        let written = there.list.into_iter().filter(|it| it.writes);
        self.uses.list.extend(written.map(|it| Use { by: Some(id), ..it }));
    }
}

/// Whether code of a construct runs on a device.
pub(crate) fn offloads(construct: &Construct<Typed>) -> bool {
    construct.has(Leaf::Offload) || construct.has(Leaf::Kernels)
}

/// Whether data goes to the device at the start, and comes back at the end.
pub(crate) fn copied(motion: Motion) -> (bool, bool) {
    match motion {
        Motion::Unsaid | Motion::ToFrom => (true, true),
        Motion::To => (true, false),
        Motion::From => (false, true),
        Motion::Alloc | Motion::Release | Motion::Delete => (false, false),
    }
}

/// Whether all is done when the construct is left.
pub(crate) fn is_waited_for(construct: &Construct<Typed>) -> bool {
    !construct.clauses.iter().any(|it| {
        matches!(
            it.kind,
            ClauseKind::Nowait(_)
                | ClauseKind::Async(_)
                | ClauseKind::Wait(_)
                | ClauseKind::Depend(_)
        )
    })
}

/// Collects what clauses compute; lists of variables are told by the region.
struct Computed {
    values: Vec<ExprId>,
    is_list: bool,
}

impl Convert<Typed, Typed> for Computed {
    fn enter_clause(&mut self, clause: &ir::construct::Clause<Typed>) {
        self.is_list = matches!(
            clause.kind,
            ClauseKind::Map(_)
                | ClauseKind::Transfer(_)
                | ClauseKind::Private(_)
                | ClauseKind::FirstPrivate { .. }
                | ClauseKind::LastPrivate { .. }
                | ClauseKind::Shared(_)
                | ClauseKind::Reduction(_)
        );
    }

    fn expr(&mut self, expr: &ExprId) -> ExprId {
        if !self.is_list {
            self.values.push(*expr);
        }
        *expr
    }

    fn ty(&mut self, ty: &Ty) -> Ty {
        *ty
    }

    fn init(&mut self, init: &InitId) -> InitId {
        *init
    }

    fn name(&mut self, name: &Name) -> Name {
        *name
    }
}
