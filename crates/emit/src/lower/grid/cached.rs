//! Parts of arrays that the user asks to have near: `cache`.
//!
//! A team brings the part into memory of its group where the directive stands; from then on elements in the part are
//! looked for there and others where they were. If the kernel only reads the array, the answer is the same whatever part
//! was named. If it writes to it, the part goes back before the team brings another, and when the kernel ends: no two
//! teams may have an element in common, and as the directive wants it, none uses elements that it has not named.
//! Whatever is not known to be so ([`super::uses`]), or where each thread has iterations of its own, the directive stays
//! advice, and the report says why. So it does for processors that OpenCL drives, whose groups are one thread: the
//! text is the same, and macros that it begins with make nothing of it.

use ir::construct::{Args, ClauseKind, Leaf, Motion};
use ir::program::{ExprId, ExprKind, RegionId, VarId};
use ir::types::{ArrayLen, Ty, TypeKind};
use ir::walk::Part;

use super::block::room;
use super::team::Team;
use super::uses::Who;
use crate::c::{Finder, Grid, Out, Printer};
use crate::lower::device::Kernel;
use crate::lower::kernel::regions_in;
use crate::lower::{About, Lowering, Note, loops};

/// So many dimensions a part can have.
const MOST_DIMENSIONS: usize = 3;

/// A part of an array that is brought near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lower) struct Cached {
    /// The directive.
    at: RegionId,
    pub(super) var: VarId,
    element: Ty,
    /// The outermost first.
    dimensions: Vec<Dimension>,
    is_written: bool,
    /// Names that the kernel has for where the part begins and ends, and for the memory it is in.
    piece: String,
    room: String,
}

/// One dimension of such a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dimension {
    /// The first, if it is not the array's first.
    pub(super) first: Option<ExprId>,
    /// How many.
    pub(super) count: u64,
    /// So many there are on the device.
    all: Elements,
}

/// How much of an array is on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elements {
    Known(u64),
    Computed(ExprId),
}

/// One dimension of a part as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    first: Option<ExprId>,
    length: Length,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    One,
    Rest,
    Said(ExprId),
}

/// An array of numbers: how long its dimensions are, the outermost first, where that is known.
struct Shape {
    lengths: Vec<Option<u64>>,
    element: Ty,
}

/// Why a directive stays advice.
const NOT_IN_TEAM: &str = "each thread has iterations of its own";
const NOT_ONE_PART: &str = "it does not name one part of known length of an array of numbers";
const NOT_ALL_ALIKE: &str = "the threads of a team may see different parts";
const SECOND_PART: &str = "another part of the array is near already";
const SIZE_UNKNOWN: &str = "it is not known how much of the array is on the device";
const NO_ROOM: &str = "the memory of a group is full";

impl Lowering<'_> {
    /// Whether a kernel asks for parts of arrays near.
    pub(super) fn has_cache(&self, kernel: RegionId) -> bool {
        let body = self.program.regions[kernel].body;
        let inside = body.map(|it| regions_in(self.program, it)).unwrap_or_default();
        inside.into_iter().any(|it| self.is_cache(it))
    }

    /// Whether a region is such a directive, which says nothing to other devices.
    pub(super) fn is_cache(&self, id: RegionId) -> bool {
        let written = self.written.regions.find(id);
        written.is_some_and(|it| it.construct.leaves == [Leaf::Cache])
    }

    /// The parts that a directive of a kernel brings near; or why it does not. `who`: the teams that run it; `is_alike`:
    /// whether all threads of a team have the same value there; `is_fixed`: whether a variable has the same value all the
    /// time.
    pub(super) fn cached(
        &self,
        kernel: RegionId,
        at: RegionId,
        who: Who,
        is_alike: impl Fn(ExprId) -> bool,
        is_fixed: impl Fn(VarId) -> bool,
    ) -> Result<Vec<Cached>, &'static str> {
        let (items, is_promised) = match &self.written.regions[at].construct.args {
            Args::Items(items) => (items, false),
            Args::ReadonlyItems(items) => (items, true),
            _ => return Err(NOT_ONE_PART),
        };
        let part = |item: &ExprId| {
            let (var, written) = self.part_named(*item).ok_or(NOT_ONE_PART)?;
            let Shape { lengths, element } = self.shape(var).ok_or(NOT_ONE_PART)?;
            if !written.iter().all(|it| it.first.is_none_or(|it| is_alike(it) && self.is_calm(it)))
            {
                return Err(NOT_ALL_ALIKE);
            }
            let parts = self.part_of(&lengths, &written).ok_or(NOT_ONE_PART)?;
            let is_written = self.is_written(kernel, var, lengths.len(), is_promised)?;
            let all = self.elements_there(kernel, var, &lengths, &is_fixed).ok_or(SIZE_UNKNOWN)?;
            let dimensions: Vec<Dimension> = parts
                .into_iter()
                .zip(all)
                .map(|((first, count), all)| Dimension { first, count, all })
                .collect();
            if is_written {
                self.is_of_one_team(kernel, var, &dimensions, who, &is_fixed)?;
            }
            let [piece, room] = [String::new(), String::new()];
            Ok(Cached { at, var, element, dimensions, is_written, piece, room })
        };
        items.iter().map(part).collect()
    }

    /// The array that a part is of, and its dimensions as far as they are written.
    fn part_named(&self, item: ExprId) -> Option<(VarId, Vec<Written>)> {
        let (mut item, mut found) = (item, Vec::new());
        loop {
            match self.kind(item) {
                ExprKind::Var(var) => {
                    found.reverse();
                    return Some((*var, found));
                }
                ExprKind::Section(it) if it.stride.is_none() => {
                    let length = it.length.map_or(Length::Rest, Length::Said);
                    found.push(Written { first: it.lower, length });
                    item = it.base;
                }
                ExprKind::Index(of, at) => {
                    found.push(Written { first: Some(*at), length: Length::One });
                    item = *of;
                }
                _ => return None,
            }
        }
    }

    /// What an array of numbers is like, or what a pointer to numbers or to rows of them leads to.
    fn shape(&self, var: VarId) -> Option<Shape> {
        let types = &self.program.types;
        let mut element = self.program.vars[var].ty;
        let mut lengths = Vec::new();
        if let Some(to) = types.pointee(element) {
            lengths.push(None);
            element = to;
        }
        while let TypeKind::Array(inner, length) = types.shape(element) {
            let ArrayLen::Known(length) = length else { return None };
            lengths.push(Some(*length));
            element = inner.qualified(types.resolve(element).quals);
        }
        let is_number = types.is_arithmetic(element) && !types.is_complex(element);
        let is_fit = is_number && !element.quals.is_volatile && lengths.len() <= MOST_DIMENSIONS;
        is_fit.then_some(Shape { lengths, element })
    }

    /// From where on and how much of each dimension a part has; what is not written is all there is.
    fn part_of(
        &self,
        lengths: &[Option<u64>],
        written: &[Written],
    ) -> Option<Vec<(Option<ExprId>, u64)>> {
        let rest = Written { first: None, length: Length::Rest };
        let padded = written.iter().copied().chain(std::iter::repeat(rest));
        let one = |(all, written): (&Option<u64>, Written)| {
            let count = match written.length {
                Length::One => Some(1),
                Length::Rest => all.filter(|_| written.first.is_none()),
                Length::Said(it) => {
                    loops::constant(self.program, it).and_then(|it| u64::try_from(it).ok())
                }
            };
            Some((written.first, count.filter(|it| *it > 0)?))
        };
        lengths.iter().zip(padded).map(one).collect()
    }

    /// How many elements are there in each dimension, from the first on.
    fn elements_there(
        &self,
        kernel: RegionId,
        var: VarId,
        lengths: &[Option<u64>],
        is_fixed: &impl Fn(VarId) -> bool,
    ) -> Option<Vec<Elements>> {
        let program = self.program;
        let maps = program.regions[kernel].construct.kinds().filter_map(|it| match it {
            ClauseKind::Map(it) if it.motion != Motion::Unsaid && it.iterators.is_empty() => {
                Some(&it.items)
            }
            _ => None,
        });
        let mapped = maps.flatten().filter_map(|it| self.part_named(*it));
        let written = mapped.filter(|it| it.0 == var).map(|it| it.1).next()?;
        let from_first =
            |it: &Written| it.first.is_none_or(|it| loops::constant(program, it) == Some(0));
        let is_open = |it: &ExprKind| match it {
            ExprKind::Var(var) => !is_fixed(*var),
            ExprKind::Int(_)
            | ExprKind::EnumConst(..)
            | ExprKind::Sizeof(_)
            | ExprKind::Cast(..)
            | ExprKind::Binary(..) => false,
            _ => true,
        };
        let said = |at: usize| written.get(at).map(|it| it.length);
        let there = |(at, length): (usize, &Option<u64>)| match (said(at), length) {
            (None | Some(Length::Rest), length) => length.map(Elements::Known),
            (Some(Length::One), _) => None,
            // Rows are there as a whole, or the next one would not follow.
            (Some(Length::Said(said)), Some(length)) if at > 0 => {
                let is_all = loops::constant(program, said) == i64::try_from(*length).ok();
                is_all.then_some(Elements::Known(*length))
            }
            (Some(Length::Said(said)), _) => {
                (!program.any_expr(Part::Expr(said), is_open)).then_some(Elements::Computed(said))
            }
        };
        let is_whole = written.iter().all(from_first);
        lengths.iter().enumerate().map(there).collect::<Option<_>>().filter(|_| is_whole)
    }

    /// The same with those that were found before; an error if there is no room for all beside `taken` bytes, or an array
    /// has two parts.
    pub(super) fn with_room(
        &self,
        before: &[Cached],
        found: Vec<Cached>,
        taken: u64,
    ) -> Result<Vec<Cached>, &'static str> {
        let Some(grid) = self.grid else { return Ok(Vec::new()) };
        let mut all = before.to_vec();
        for it in found {
            if all.iter().any(|other| other.var == it.var) {
                return Err(SECOND_PART);
            }
            all.push(it);
        }
        let size = |it: &Cached| {
            let one = self.program.model.size_of(&self.program.types, it.element).ok()?;
            one.checked_mul(it.count()?)?.checked_next_multiple_of(16)
        };
        let bytes = all.iter().map(size).sum::<Option<u64>>().and_then(|it| it.checked_add(taken));
        if bytes.is_some_and(|it| it <= room(grid)) { Ok(all) } else { Err(NO_ROOM) }
    }

    /// Makes room where a kernel begins; the printer then looks for elements in it.
    pub(super) fn put_rooms(
        &self,
        printer: &mut Printer<'_>,
        cached: &mut [Cached],
        out: &mut Out<'_>,
    ) {
        for it in cached {
            let Some(count) = it.count() else { continue };
            let ty = printer.type_name(it.element.plain());
            let number = self.fresh();
            it.piece = format!("__ferry_near{number}_{}", self.own_name(it.var));
            it.room = format!("__ferry_room{number}");
            out.line(&format!("__ferry_nearby({ty}, {}, {}, {count});", it.piece, it.room));
            let find = if it.is_written { "__ferry_kept" } else { "__ferry_seen" };
            let subscripts = it.dimensions.len();
            let finder = Finder {
                open: format!("{find}({ty}, {}, {}, ", it.piece, it.room),
                subscripts,
                close: format!("{})", ", 0".repeat(MOST_DIMENSIONS.saturating_sub(subscripts))),
            };
            printer.look_for_elements(it.var, finder);
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
        let near: Vec<&Cached> = team.cached().iter().filter(|it| it.at == id).collect();
        if near.is_empty() {
            return false;
        }
        out.line("__ferry_meet();");
        for it in near {
            let Cached { piece, room, .. } = it;
            let element = it.element_moved(printer);
            if it.is_written {
                out.line(&format!("__ferry_put_back({piece}, {room}, {element});"));
                // Another thread may have it.
                out.line("__ferry_meet();");
            }
            for (at, Dimension { first, count, all }) in it.dimensions.iter().enumerate() {
                let first = first.map_or_else(|| "0".to_owned(), |it| printer.expr(it));
                let all = match all {
                    Elements::Known(count) => count.to_string(),
                    Elements::Computed(count) => printer.expr(*count),
                };
                out.line(&format!("__ferry_clip({piece}, {at}, {first}, {count}, {all});"));
            }
            out.line(&format!("__ferry_bring({piece}, {room}, {element});"));
        }
        out.line("__ferry_meet();");
        true
    }

    /// What was written, when a kernel ends.
    pub(super) fn put_back(&self, printer: &Printer<'_>, out: &mut Out<'_>) {
        let state = self.state.borrow();
        let cached = state.team.as_ref().map_or(&[][..], Team::cached);
        let written: Vec<&Cached> = cached.iter().filter(|it| it.is_written).collect();
        if !written.is_empty() {
            out.line("__ferry_meet();");
        }
        for it in written {
            let element = it.element_moved(printer);
            out.line(&format!("__ferry_put_back({}, {}, {element});", it.piece, it.room));
        }
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
                    let counts: Vec<String> =
                        it.dimensions.iter().map(|it| it.count.to_string()).collect();
                    let back = if it.is_written { ", which go back" } else { "" };
                    format!("{} elements of `{}`{back}", counts.join(" x "), self.own_name(it.var))
                })
                .collect();
            let text = match (names.is_empty(), team) {
                (false, _) => {
                    let place = match grid {
                        Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => {
                            "in memory of a team, if the device is no processor"
                        }
                        Grid::Cuda | Grid::Hip => "in memory of a team",
                    };
                    format!("{place}: {}", names.join(", "))
                }
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

impl Cached {
    /// How many elements it has.
    fn count(&self) -> Option<u64> {
        self.dimensions.iter().map(|it| it.count).try_fold(1u64, u64::checked_mul)
    }

    /// The element in the array that a thread moves.
    fn element_moved(&self, printer: &Printer<'_>) -> String {
        let subscripts: Vec<String> = (0..self.dimensions.len())
            .map(|at| format!("[__ferry_subscript({}, {at})]", self.piece))
            .collect();
        format!("{}{}", printer.var_name(self.var), subscripts.concat())
    }
}
