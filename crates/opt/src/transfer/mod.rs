//! What moves between host and device at each region, and which of these copies nobody needs.
//!
//! In: a region. Out: a [`Transfer`] for each thing it maps: how many bytes, and [`Waste`] where a copy is proven to
//! make no difference: what the device does not write need not come back, what it writes all of before it reads
//! any need not go there, what nobody looks at afterwards neither; and what the host leaves alone between
//! two regions ([`kept`]) may stay where it is.
//!
//! What is not proven is not said. Regions that are not waited for, and data whose copies are asked for in any case,
//! are left alone.

mod filled;
mod kept;
mod shape;
mod uses;

use ir::construct::{ClauseKind, Leaf, MapFlags, Motion, Presence};
use ir::program::{ExprId, RegionId, StmtId, VarId};
use ir::region::{Attribute, Mapping, Origin, Region, Rule, Sharing};
use ir::walk::Part;

use crate::access::Base;
use crate::dependence::Analysis;
use crate::extent::{self, Extent, Implied};
use crate::poly::Poly;
use crate::sum::Sum;
use shape::Shape;
use uses::{Side, Use, Uses};

pub use kept::Kept;

/// Something that a region maps.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The variable, or the pointer that leads to the data.
    pub var: VarId,
    /// The item of the clause, if it names a part.
    pub item: Option<ExprId>,
    /// The parts that were inferred, where no clause names the data behind a pointer; they may overlap.
    pub inferred: Vec<extent::Part>,
    /// Copies at the start, at the end.
    pub motion: Motion,
    /// Who says so.
    pub origin: Origin,
    /// How many bytes, over variables as they are at the entry.
    pub bytes: Option<Sum>,
    /// The region around that holds the data on the device already: nothing is copied here.
    pub held_by: Option<RegionId>,
    /// Copies that make no difference.
    pub waste: Vec<Waste>,
    /// The motion that does the same without them; as it is if there are none.
    pub enough: Motion,
}

/// Why a copy makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waste {
    /// It is copied back, but the device does not write it.
    NotWritten,
    /// It is copied back, but nothing reads it afterwards.
    NotNeeded,
    /// It is copied to the device, which does not use it.
    NotUsed,
    /// It is copied to the device, which writes all of it and reads nothing of it.
    Overwritten,
    /// It is copied to the device, which only writes it, and nothing comes back.
    Lost,
}

impl Waste {
    /// A short word for machines; stable.
    pub fn word(self) -> &'static str {
        match self {
            Waste::NotWritten => "not-written",
            Waste::NotNeeded => "not-needed",
            Waste::NotUsed => "not-used",
            Waste::Overwritten => "overwritten",
            Waste::Lost => "lost",
        }
    }

    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Waste::NotWritten => "copied back, but the device does not write it",
            Waste::NotNeeded => "copied back, but nothing reads it afterwards",
            Waste::NotUsed => "copied to the device, which does not use it",
            Waste::Overwritten => {
                "copied to the device, which writes all of it and reads nothing of it"
            }
            Waste::Lost => "copied to the device, which does not read it, and nothing comes back",
        }
    }
}

impl Analysis<'_> {
    /// What a region moves, in the order of its variables.
    pub fn transfers(&self, id: RegionId) -> Vec<Transfer> {
        let region = &self.program.regions[id];
        let mut found = self.transfers_alone(id);
        if uses::offloads(&region.construct) || region.construct.has(Leaf::DataRegion) {
            self.find_waste(id, &mut found);
        }
        found
    }

    /// The same, without asking whether they are needed.
    fn transfers_alone(&self, id: RegionId) -> Vec<Transfer> {
        let region = &self.program.regions[id];
        let implied = self.implied(id);
        let mut found = Vec::new();
        for it in &region.vars {
            match implied.iter().find(|implied| implied.var == it.var) {
                Some(implied) => found.extend(self.inferred(id, implied)),
                None => {
                    found.extend(it.mappings.iter().filter_map(|map| self.mapped(id, it.var, map)));
                }
            }
        }
        found
    }

    fn inferred(&self, id: RegionId, implied: &Implied) -> Option<Transfer> {
        let Extent::Known(parts) = &implied.extent else { return None };
        let target = self.program.types.pointee(self.program.vars[implied.var].ty)?;
        let size = self.program.model.size_of(&self.program.types, target).ok()?;
        let size = i64::try_from(size).ok()?;
        let bytes = match parts.as_slice() {
            [part] => part.high.minus(&part.low).times(size),
            _ => None,
        };
        Some(Transfer {
            var: implied.var,
            item: None,
            inferred: parts.clone(),
            motion: implied.motion,
            origin: Origin::Rule(Rule::Touched),
            bytes,
            held_by: self.holder(id, implied.var),
            waste: Vec::new(),
            enough: implied.motion,
        })
    }

    fn mapped(&self, id: RegionId, var: VarId, map: &Attribute<Mapping>) -> Option<Transfer> {
        let Mapping::Map(motion, _, item) = map.value else { return None };
        let held_by = match map.origin {
            Origin::Enclosing(outer, _) => Some(outer),
            Origin::Clause(_) | Origin::Declared(_) | Origin::Rule(_) => self.holder(id, var),
        };
        let bytes = self.shape(id, var, item).and_then(|it| it.bytes(self.program));
        let whole = || {
            let size = self.program.model.size_of(&self.program.types, self.program.vars[var].ty);
            item.is_none().then(|| size.ok()).flatten().map(|it| Poly::constant(i128::from(it)))
        };
        Some(Transfer {
            var,
            item,
            inferred: Vec::new(),
            motion,
            origin: map.origin,
            bytes: bytes.or_else(whole).and_then(|it| Sum::of(&it)),
            held_by,
            waste: Vec::new(),
            enough: motion,
        })
    }

    /// The data region around that maps a variable.
    fn holder(&self, id: RegionId, var: VarId) -> Option<RegionId> {
        let is_mapped = |it: &RegionId| {
            let region = &self.program.regions[*it];
            let entry = region.vars.iter().find(|it| it.var == var);
            let is_map = |it: &Attribute<Mapping>| {
                matches!(it.value, Mapping::Map(..)) && matches!(it.origin, Origin::Clause(_))
            };
            region.construct.has(Leaf::DataRegion)
                && entry.is_some_and(|it| it.mappings.iter().any(is_map))
        };
        self.regions_around(id).find(is_mapped)
    }

    fn regions_around(&self, id: RegionId) -> impl Iterator<Item = RegionId> {
        let parent = |it: &RegionId| self.program.regions[*it].parent;
        std::iter::successors(parent(&id), parent)
    }

    /// What is mapped, if it is plain data.
    fn shape(&self, id: RegionId, var: VarId, item: Option<ExprId>) -> Option<Shape> {
        let it = &self.program.vars[var];
        let names_array = self.program.regions[id].construct.rules.declared_shapes;
        let is_pointer = self.program.types.is_pointer(it.ty);
        if item.is_none() && is_pointer && !(names_array && it.declared_len.is_some()) {
            return None;
        }
        let shape = Shape::new(self.program, var, item)?;
        self.program.types.is_arithmetic(shape.element).then_some(shape)
    }

    /// What a transfer is about, if all that happens to it is seen and it is copied in the plain way.
    fn plain(&self, id: RegionId, it: &Transfer) -> Option<Shape> {
        let region = &self.program.regions[id];
        let entry = region.vars.iter().find(|entry| entry.var == it.var)?;
        let is_shared = match entry.sharing.as_ref().map(|it| &it.value) {
            None | Some(Sharing::Shared) => true,
            Some(
                Sharing::Private
                | Sharing::FirstPrivate
                | Sharing::LastPrivate
                | Sharing::FirstLastPrivate
                | Sharing::Reduction(_)
                | Sharing::Linear
                | Sharing::ThreadPrivate,
            ) => false,
        };
        let is_only = !it.inferred.is_empty() || entry.mappings.len() == 1;
        if !is_shared || !is_only || it.held_by.is_some() || !self.is_plain_region(region) {
            return None;
        }
        let is_data =
            |outer: RegionId| self.program.regions[outer].construct.leaves == [Leaf::DataRegion];
        if !self.regions_around(id).all(is_data) || !self.has_plain_words(region, it) {
            return None;
        }
        let var = &self.program.vars[it.var];
        if var.device.is_some() || var.thread_local {
            return None;
        }
        let shape = match it.inferred.as_slice() {
            [] => self.shape(id, it.var, it.item)?,
            [_] => Shape {
                base: Base::Pointee(it.var),
                dims: None,
                element: self.program.types.innermost_element(self.program.types.pointee(var.ty)?),
            },
            // Which of them are there is known when the program runs.
            _ => return None,
        };
        let types = &self.program.types;
        let is_restless = types.resolve(var.ty).quals.is_volatile
            || types.resolve(shape.element).quals.is_volatile;
        (types.is_arithmetic(shape.element) && !is_restless && !types.is_atomic(shape.element))
            .then_some(shape)
    }

    fn is_plain_region(&self, region: &Region) -> bool {
        let construct = &region.construct;
        let function = &self.program.functions[region.function];
        uses::is_waited_for(construct)
            && construct.groups.is_empty()
            && !construct.goes_back()
            && !function.device.declared
    }

    /// Whether its clause is one that only says which copies are made.
    fn has_plain_words(&self, region: &Region, it: &Transfer) -> bool {
        match it.origin {
            Origin::Clause(at) => {
                let clause = region.construct.clauses.get(at as usize);
                clause.is_some_and(|it| {
                    if let ClauseKind::Map(map) = &it.kind {
                        map.flags == MapFlags::default()
                            && map.presence == Presence::Any
                            && map.mapper.is_none()
                            && map.iterators.is_empty()
                    } else {
                        false
                    }
                })
            }
            Origin::Rule(Rule::Touched) => self.implied_is_plain(region),
            Origin::Rule(rule) => rule == Rule::AggregateDefault,
            Origin::Enclosing(..) | Origin::Declared(_) => false,
        }
    }

    /// Whether what is inferred may be absent before.
    fn implied_is_plain(&self, region: &Region) -> bool {
        let rule = region.construct.rules.mapping.aggregate.implicit;
        matches!(rule, ir::construct::Implicit::Map(_, Presence::Any))
    }

    fn find_waste(&self, id: RegionId, transfers: &mut [Transfer]) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        let runs = uses::offloads(&region.construct);
        let on_device = if runs {
            self.uses(&[Part::Stmt(body)], Side::Device)
        } else {
            self.uses_of_regions_in(body)
        };
        if on_device.is_open {
            return;
        }
        let on_host =
            if runs { Uses::default() } else { self.uses(&[Part::Stmt(body)], Side::Host) };
        for it in transfers {
            let Some(shape) = self.plain(id, it) else { continue };
            let object = (shape.base, Some(shape.element));
            let (goes, returns) = uses::copied(it.motion);
            // What the host changes meanwhile, the copy back would undo.
            let is_changed = |it: &Use| {
                let stays =
                    it.base == shape.base && it.by.is_some_and(|it| self.copies_if_absent(it));
                it.writes && !stays && self.may_be(it, object)
            };
            if on_host.is_open || on_host.list.iter().any(is_changed) {
                continue;
            }
            let reads = self.touches(&on_device, object, false);
            let writes = self.touches(&on_device, object, true);
            let is_needed = || self.is_needed_after(id, it);
            if returns && !writes {
                it.waste.push(Waste::NotWritten);
            } else if returns && !is_needed() {
                it.waste.push(Waste::NotNeeded);
            }
            let comes_back = returns && it.waste.is_empty();
            let mut wanted = goes;
            if goes && runs && !reads {
                let waste = if !writes {
                    Some(Waste::NotUsed)
                } else if !comes_back {
                    Some(Waste::Lost)
                } else if self.is_filled(id, &shape) {
                    Some(Waste::Overwritten)
                } else {
                    None
                };
                wanted = waste.is_none();
                it.waste.extend(waste);
            }
            it.enough = match (wanted, comes_back) {
                (true, true) => Motion::ToFrom,
                (true, false) => Motion::To,
                (false, true) => Motion::From,
                (false, false) => Motion::Alloc,
            };
            if it.waste.is_empty() {
                it.enough = it.motion;
            }
        }
    }

    /// Whether a region copies only what is not on the device yet.
    fn copies_if_absent(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let is_plain = |it: &ClauseKind<ir::program::Typed>| {
            if let ClauseKind::Map(map) = it {
                map.flags == MapFlags::default() && map.mapper.is_none()
            } else {
                true
            }
        };
        let moves = region.construct.has(Leaf::Update)
            || region.construct.has(Leaf::EnterData)
            || region.construct.has(Leaf::ExitData);
        !moves && region.construct.clauses.iter().all(|it| is_plain(&it.kind))
    }

    /// What the regions for a device in some code do there.
    fn uses_of_regions_in(&self, body: StmtId) -> Uses {
        let mut found = Uses::default();
        let mut stack = vec![Part::Stmt(body)];
        while let Some(part) = stack.pop() {
            if let Part::Region(id) = part
                && uses::offloads(&self.program.regions[id].construct)
            {
                let uses = self.uses(&[part], Side::Device);
                found.list.extend(uses.list);
                found.is_open |= uses.is_open;
                continue;
            }
            self.program.parts(part, &mut |it| stack.push(it));
        }
        found
    }

    /// Whether the host may look at the data after the region.
    fn is_needed_after(&self, id: RegionId, it: &Transfer) -> bool {
        let Some(stmt) = self.outline.region(id) else { return true };
        let base = if it.item.is_some() || !it.inferred.is_empty() {
            self.shape(id, it.var, it.item).map(|it| it.base)
        } else {
            Some(Base::Var(it.var))
        };
        !base.is_some_and(|base| base == Base::Var(it.var) && self.is_hidden(base))
            || self.is_live_after(stmt, it.var)
    }
}
