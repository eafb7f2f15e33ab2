//! Parts of arrays that the user asks to have near: `cache`.
//!
//! A team brings the part into memory of its group where the directive stands; from then on elements in the part are
//! read there and others where they were, so that the answer is the same whatever part was named. That holds while
//! nobody writes to the array: it must only be read in the kernel, and what is written must be another. Otherwise, and
//! where each thread has iterations of its own, the directive stays advice, and the report says so.

use ir::construct::{Args, ClauseKind, Leaf, Motion};
use ir::program::{ExprId, ExprKind, RegionId, VarId};
use ir::types::Ty;
use ir::walk::Part;

use super::block::room;
use super::forms::is_value;
use super::team::Team;
use crate::c::{Grid, Out, Printer};
use crate::lower::device::Kernel;
use crate::lower::kernel::regions_in;
use crate::lower::{About, Lowering, Note, loops};

/// A part of an array that is brought near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lower) struct Cached {
    /// The directive.
    at: RegionId,
    pub(super) var: VarId,
    /// The first element, if it is not the array's first.
    first: Option<ExprId>,
    /// How many elements.
    count: u64,
    /// So many elements there are on the device.
    all: Elements,
    /// As the kernel names it.
    name: String,
}

/// How many elements of an array are on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elements {
    Known(u64),
    Computed(ExprId),
}

/// Why a directive stays advice.
const NOT_IN_TEAM: &str = "each thread has iterations of its own";
const NOT_ONE_PART: &str = "it does not name one part of known length of an array of numbers";
const NOT_ALL_ALIKE: &str = "the threads of a team may see different parts";
const NOT_ONLY_READ: &str = "the kernel does not only read elements of the array";
const MAYBE_WRITTEN: &str =
    "what the kernel writes may be the same memory: `readonly` says that it is not";
const SIZE_UNKNOWN: &str = "it is not known how much of the array is on the device";
const NO_ROOM: &str = "the memory of a group is full";
const NOT_THIS_LANGUAGE: &str = "only kernels for `cuda` and `hip` do that";

impl Lowering<'_> {
    /// Whether a region is such a directive, which says nothing to other devices.
    pub(super) fn is_cache(&self, id: RegionId) -> bool {
        let written = self.written.regions.find(id);
        written.is_some_and(|it| it.construct.leaves == [Leaf::Cache])
    }

    /// The parts that a directive of a kernel brings near; or why it does not. `is_alike`: whether all threads of a
    /// team have the same value there; `is_own`: whether a variable has the same value all the time.
    pub(super) fn cached(
        &self,
        kernel: RegionId,
        at: RegionId,
        is_alike: impl Fn(ExprId) -> bool,
        is_own: impl Fn(VarId) -> bool,
    ) -> Result<Vec<Cached>, &'static str> {
        if !self.grid.is_some_and(Grid::is_cpp) {
            return Err(NOT_THIS_LANGUAGE);
        }
        let (items, is_promised) = match &self.written.regions[at].construct.args {
            Args::Items(items) => (items, false),
            Args::ReadonlyItems(items) => (items, true),
            _ => return Err(NOT_ONE_PART),
        };
        items
            .iter()
            .map(|item| {
                let ExprKind::Section(section) = &self.program.exprs[*item].kind else {
                    return Err(NOT_ONE_PART);
                };
                let ExprKind::Var(var) = *self.kind(section.base) else {
                    return Err(NOT_ONE_PART);
                };
                let length = section.length.and_then(|it| loops::constant(self.program, it));
                let count = length.and_then(|it| u64::try_from(it).ok()).filter(|it| *it > 0);
                let element = self.element(var).filter(|_| section.stride.is_none());
                let (Some(count), Some(_)) = (count, element) else { return Err(NOT_ONE_PART) };
                if !section.lower.is_none_or(&is_alike) {
                    return Err(NOT_ALL_ALIKE);
                }
                self.is_only_read(kernel, var, is_promised)?;
                let all = self.elements_there(kernel, var, &is_own).ok_or(SIZE_UNKNOWN)?;
                Ok(Cached { at, var, first: section.lower, count, all, name: String::new() })
            })
            .collect()
    }

    /// The type of the elements of an array of numbers, or of what a pointer leads to.
    fn element(&self, var: VarId) -> Option<Ty> {
        let types = &self.program.types;
        let ty = self.program.vars[var].ty;
        let element = types.element(ty).or_else(|| types.pointee(ty))?;
        let is_plain = types.is_arithmetic(element) && !types.is_complex(element);
        (is_plain && !element.quals.is_volatile).then_some(element)
    }

    /// How many elements are there, from the first on.
    fn elements_there(
        &self,
        kernel: RegionId,
        var: VarId,
        is_own: &impl Fn(VarId) -> bool,
    ) -> Option<Elements> {
        let program = self.program;
        let maps = program.regions[kernel].construct.kinds().filter_map(|it| match it {
            ClauseKind::Map(it) if it.motion != Motion::Unsaid && it.iterators.is_empty() => {
                Some(&it.items)
            }
            _ => None,
        });
        maps.flatten().find_map(|item| match &program.exprs[*item].kind {
            ExprKind::Var(it) if *it == var => {
                let types = &program.types;
                let ty = program.vars[var].ty;
                let whole = program.model.size_of(types, ty).ok().filter(|_| types.is_array(ty))?;
                let one = program.model.size_of(types, self.element(var)?).ok()?;
                whole.checked_div(one).map(Elements::Known)
            }
            ExprKind::Section(section) if *self.kind(section.base) == ExprKind::Var(var) => {
                let is_first = |it| matches!(self.kind(it), ExprKind::Int(0));
                let length = section
                    .length
                    .filter(|_| section.stride.is_none() && section.lower.is_none_or(is_first))?;
                let is_open = |it: &ExprKind| match it {
                    ExprKind::Var(var) => !is_own(*var),
                    ExprKind::Int(_)
                    | ExprKind::EnumConst(..)
                    | ExprKind::Sizeof(_)
                    | ExprKind::Cast(..)
                    | ExprKind::Binary(..) => false,
                    _ => true,
                };
                (!program.any_expr(Part::Expr(length), is_open))
                    .then_some(Elements::Computed(length))
            }
            _ => None,
        })
    }

    /// Whether a kernel reads elements of an array and does nothing else with it, and writes nothing that may be one
    /// of them. `is_promised`: the user says that nobody does.
    fn is_only_read(
        &self,
        kernel: RegionId,
        var: VarId,
        is_promised: bool,
    ) -> Result<(), &'static str> {
        let program = self.program;
        let Some(body) = program.regions[kernel].body else { return Err(NOT_ONLY_READ) };
        let is_element = |e: ExprId| match &program.exprs[e].kind {
            ExprKind::Index(of, _) => *self.kind(*of) == ExprKind::Var(var),
            _ => false,
        };
        let is_restrict = |var: VarId| program.vars[var].ty.quals.is_restrict;
        let is_pointer = program.types.is_pointer(program.vars[var].ty);
        let (mut named, mut read) = (0, 0);
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Expr(e) = part {
                read += usize::from(is_element(e));
                match &program.exprs[e].kind {
                    ExprKind::Var(it) => named += usize::from(*it == var),
                    ExprKind::AddrOf(of) if is_element(*of) => return Err(NOT_ONLY_READ),
                    ExprKind::Call(callee, _) if !self.is_mathematical(*callee) && !is_promised => {
                        return Err(MAYBE_WRITTEN);
                    }
                    ExprKind::Assign(to, _)
                    | ExprKind::AssignOp(_, to, ..)
                    | ExprKind::Step(_, to) => {
                        if is_element(*to) {
                            return Err(NOT_ONLY_READ);
                        }
                        // Two names of arrays are two arrays; of pointers only the user knows.
                        let is_other = match (self.object(*to), self.led_by(*to)) {
                            (Some(_), _) => !is_pointer || is_restrict(var),
                            (None, Some(by)) => is_restrict(var) || !is_pointer && is_restrict(by),
                            (None, None) => is_restrict(var),
                        };
                        let is_of_kernel = match program.exprs[*to].kind {
                            ExprKind::Var(var) => {
                                let from_outside = &program.regions[kernel].vars;
                                !from_outside.iter().any(|it| it.var == var && !is_value(it))
                            }
                            _ => false,
                        };
                        if !is_other && !is_of_kernel && !is_promised {
                            return Err(MAYBE_WRITTEN);
                        }
                    }
                    _ => {}
                }
            }
            program.parts(part, &mut |it| open.push(it));
        }
        if named == read { Ok(()) } else { Err(NOT_ONLY_READ) }
    }

    /// The pointer that leads to an object.
    fn led_by(&self, object: ExprId) -> Option<VarId> {
        match self.program.exprs[object].kind {
            ExprKind::Index(of, _) | ExprKind::Deref(of) => match *self.kind(of) {
                ExprKind::Var(var) => Some(var),
                _ => None,
            },
            ExprKind::Member(of, ..) => self.led_by(of),
            _ => None,
        }
    }

    /// Those for which a group has room beside `taken` bytes; says of the others why they are not near.
    pub(super) fn with_room(
        &self,
        found: Vec<Cached>,
        taken: u64,
    ) -> Result<Vec<Cached>, &'static str> {
        let Some(grid) = self.grid else { return Ok(Vec::new()) };
        let sizes = found.iter().map(|it| {
            let one =
                self.program.model.size_of(&self.program.types, self.element(it.var)?).ok()?;
            one.checked_mul(it.count)?.checked_next_multiple_of(16)
        });
        let bytes = sizes.sum::<Option<u64>>().and_then(|it| it.checked_add(taken));
        if bytes.is_some_and(|it| it <= room(grid)) { Ok(found) } else { Err(NO_ROOM) }
    }

    /// Makes room where a kernel begins; the printer then names the arrays through it.
    pub(super) fn put_rooms(
        &self,
        printer: &mut Printer<'_>,
        cached: &mut [Cached],
        out: &mut Out<'_>,
    ) {
        for it in cached {
            let Some(element) = self.element(it.var) else { continue };
            let ty = printer.type_name(element.plain());
            let number = self.fresh();
            let own = self.program.vars[it.var].name.map_or("", |it| self.program.names.text(it));
            it.name = format!("__ferry_near{number}_{own}");
            let all = match it.all {
                Elements::Known(count) => count.to_string(),
                Elements::Computed(count) => printer.expr(count),
            };
            out.line(&format!("__ferry_near {ty} __ferry_room{number}[{}];", it.count));
            let array = printer.var_name(it.var);
            out.line(&format!(
                "__ferry_cached<{ty}> {}({array}, __ferry_room{number}, (long)({all}));",
                it.name
            ));
            printer.substitute(it.var, it.name.clone());
        }
    }

    /// Brings near what a directive names; answers whether it is one.
    pub(super) fn bring_near(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) -> bool {
        let state = self.state.borrow();
        let Some(team) = &state.team else { return false };
        let mut is_one = false;
        for it in team.cached().iter().filter(|it| it.at == id) {
            is_one = true;
            let first = it.first.map_or_else(|| "0".to_owned(), |it| printer.expr(it));
            out.line(&format!("{}.bring({first}, {});", it.name, it.count));
        }
        is_one
    }

    /// What became of such directives in kernels, for reports.
    pub(super) fn cached_told(
        &self,
        grid: Grid,
        kernel: &Kernel,
        team: Option<&Team>,
    ) -> Vec<Note> {
        let Some(body) = self.program.regions[kernel.region].body else { return Vec::new() };
        let Some(around) = self.written.regions.find(kernel.region) else { return Vec::new() };
        let inside = regions_in(self.program, body);
        let notes = inside.into_iter().filter(|it| self.is_cache(*it)).map(|id| {
            let near = team.into_iter().flat_map(Team::cached).filter(|it| it.at == id);
            let names: Vec<String> = near
                .map(|it| {
                    let name = self.program.vars[it.var].name;
                    let name = name.map_or("", |it| self.program.names.text(it));
                    format!("{} elements of `{name}`", it.count)
                })
                .collect();
            let text = match (names.is_empty(), team) {
                (false, _) => format!("in memory of a team: {}", names.join(", ")),
                (true, None) => format!("stays advice: {NOT_IN_TEAM}"),
                (true, Some(team)) => {
                    let why = team.advice(id).unwrap_or(NOT_IN_TEAM);
                    format!("stays advice: {why}")
                }
            };
            Note {
                about: About::Loop,
                region: around.construct.span,
                span: self.written.regions[id].construct.span,
                text: format!("on `{}` `cache` {text}", grid.device()),
                at: None,
            }
        });
        notes.collect()
    }
}
