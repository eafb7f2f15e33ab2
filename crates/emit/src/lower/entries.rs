//! What a construct tells the runtime of its data: one entry per thing that is mapped, passed or
//! moved, in the order of the offload ABI, and what the kernel makes of each.
//!
//! In: a region whose variables have their mappings, and a printer for the place where the entries
//! are built. Out: [`Entries`]. Members of one object get a common parent that spans them; what
//! pointers inside that object point to is attached. How all this is spelt is [`super::stub`]'s.

use abi::MapType;
use ir::construct::{
    ClauseKind, Construct, CopyEnd, IteratorVar, Leaf, Map, MapFlags, Motion, Presence, Transfer,
};
use ir::program::{DeviceVar, ExprId, ExprKind, Program, RegionId, Typed, VarId, VarStorage};
use ir::region::{Attribute, Mapping, Origin, Region, RegionVar, Rule};
use ir::types::{ArrayLen, Ty, TypeKind};

use super::mapper::Mappers;
use super::mentions::{self, Mention};
use super::place::{self, Place};
use crate::c::Printer;

/// One entry of a call: its pieces as C texts.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) base: String,
    pub(super) begin: String,
    pub(super) size: String,
    pub(super) bits: MapType,
    /// The entry that spans it and others.
    pub(super) parent: Option<usize>,
    /// What the user calls it.
    pub(super) name: String,
    /// The function that maps its parts.
    pub(super) mapper: Option<String>,
    /// Variables that it is repeated for.
    pub(super) iterators: Vec<IteratorVar<Typed>>,
    /// Dimensions of an update whose elements do not follow each other.
    pub(super) strided: Option<Vec<super::place::Dim>>,
}

/// How a kernel gets at a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// The argument is its address.
    Reference,
    /// The argument is its value.
    Value,
    /// It has one of its own.
    Own,
    /// By its name: it exists on the device from the start.
    Name,
}

/// A variable of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Captured {
    pub(super) var: VarId,
    pub(super) access: Access,
    /// Position among the kernel's arguments.
    pub(super) slot: Option<usize>,
    /// Lengths in its type that are known when it comes to life only: the expression and the
    /// argument that carries it.
    pub(super) lengths: Vec<(ExprId, usize)>,
}

/// All entries of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    pub(super) list: Vec<Entry>,
    pub(super) captured: Vec<Captured>,
    /// Expressions that are computed before the region begins, and the arguments they are.
    pub(super) computed: Vec<(ExprId, usize)>,
    slots: usize,
}

/// What one clause item asks for.
struct Wish {
    place: Place,
    bits: MapType,
    name: String,
    mapper: Option<String>,
    iterators: Vec<IteratorVar<Typed>>,
}

/// Entries of a region that runs on a device.
pub(super) fn of_kernel(printer: &Printer<'_>, mappers: &Mappers, id: RegionId) -> Entries {
    let region = &printer.program().regions[id];
    let mut entries = Entries::default();
    for var in &region.vars {
        entries.capture(printer, mappers, region, var);
    }
    entries.compute(printer, region);
    for it in mentions::of(printer.program(), id) {
        entries.mention(printer, &it);
    }
    entries
}

/// Entries of a construct that only moves data or ties its life.
pub(super) fn of_data(printer: &Printer<'_>, mappers: &Mappers, region: &Region) -> Entries {
    of_clauses(printer, mappers, &region.construct)
}

/// Components of one object, by the clauses of a mapper.
pub(super) fn of_mapper(
    printer: &Printer<'_>,
    mappers: &Mappers,
    construct: &Construct<Typed>,
) -> Entries {
    of_clauses(printer, mappers, construct)
}

fn of_clauses(printer: &Printer<'_>, mappers: &Mappers, construct: &Construct<Typed>) -> Entries {
    let mut entries = Entries::default();
    let mut roots: Vec<Option<VarId>> = Vec::new();
    let mut wishes: Vec<Wish> = construct
        .clauses
        .iter()
        .flat_map(|clause| match &clause.kind {
            ClauseKind::Map(map) => map_wishes(printer, mappers, construct, map),
            ClauseKind::Transfer(transfer) => transfer_wishes(printer, mappers, transfer),
            _ => Vec::new(),
        })
        .collect();
    if construct.has(Leaf::DeclareMapper) {
        // The object itself: this is its mapper.
        let is_whole = |it: &Wish| it.place.pointers.is_empty() && !it.place.is_member;
        wishes.iter_mut().filter(|it| is_whole(it)).for_each(|it| it.mapper = None);
        // Its parts are reached through it, so it must be there.
        if let Some(root) = wishes.iter().find_map(|it| it.place.root)
            && !wishes.iter().any(is_whole)
        {
            let bits = MapType::TO | MapType::FROM;
            wishes.insert(0, whole_wish(printer, root, bits));
        }
    }
    for wish in &wishes {
        if !roots.contains(&wish.place.root) || wish.place.root.is_none() {
            roots.push(wish.place.root);
        }
    }
    if construct.has(Leaf::Update) {
        wishes.into_iter().for_each(|it| entries.motion(it));
        return entries;
    }
    let mut wishes: Vec<Option<Wish>> = wishes.into_iter().map(Some).collect();
    for root in roots {
        let group: Vec<Wish> = wishes
            .iter_mut()
            .filter(|it| it.as_ref().is_some_and(|it| it.place.root == root))
            .filter_map(Option::take)
            .collect();
        entries.object(printer, root, group, false);
    }
    entries
}

impl Entries {
    /// One variable of a kernel.
    fn capture(
        &mut self,
        printer: &Printer<'_>,
        mappers: &Mappers,
        region: &Region,
        it: &RegionVar,
    ) {
        // The C library of the device has its own.
        if is_stream(printer.program(), it.var) {
            return self.push_captured(printer, it.var, Access::Name, None);
        }
        // Named in a clause only, or declared inside.
        let Some(first) = it.mappings.first() else { return };
        let (access, slot) = match &first.value {
            Mapping::Map(..) => self.mapped(printer, mappers, region, it),
            Mapping::FirstPrivate => self.first_private(printer, it.var, &first.origin),
            Mapping::Private => (Access::Own, None),
            Mapping::DevicePointer => {
                let text = format!("(void *)({})", printer.var_name(it.var));
                (Access::Value, self.literal(printer, it.var, text))
            }
            Mapping::DeviceAddress => {
                let text = format!("(void *)&{}", printer.var_name(it.var));
                (Access::Reference, self.literal(printer, it.var, text))
            }
            Mapping::PointerToMapped => {
                let name = printer.var_name(it.var);
                let bits = MapType::IMPLICIT;
                let value = format!("(void *)({name})");
                let spoken = printer.declared_name(it.var);
                let entry = entry(value.clone(), value, "0".to_owned(), bits, &spoken);
                (Access::Value, self.param(entry))
            }
            Mapping::Declared => (Access::Name, None),
        };
        self.push_captured(printer, it.var, access, slot);
    }

    /// How many teams and threads: asked of the host, before the region begins.
    fn compute(&mut self, printer: &Printer<'_>, region: &Region) {
        if !region.construct.has(Leaf::Teams) {
            return;
        }
        let program = printer.program();
        let exprs = region.construct.clauses.iter().flat_map(|it| match &it.kind {
            ClauseKind::NumTeams { lower, counts } => {
                lower.iter().chain(counts).copied().collect::<Vec<_>>()
            }
            ClauseKind::ThreadLimit(limit) => vec![*limit],
            _ => Vec::new(),
        });
        for expr in exprs {
            if !matches!(program.exprs[expr].kind, ExprKind::Int(_)) {
                let text = format!("(void *)(__ferry_word)({})", printer.expr(expr));
                if let Some(slot) = self.value(text) {
                    self.computed.push((expr, slot));
                }
            }
        }
    }

    /// A variable that only a construct inside speaks of.
    fn mention(&mut self, printer: &Printer<'_>, it: &Mention) {
        let program = printer.program();
        if program.vars[it.var].device.is_some() {
            return;
        }
        let (access, slot) = match it.is_private {
            true => (Access::Own, None),
            false
                if is_outside_name(program, it.var)
                    && !program.types.is_scalar(program.vars[it.var].ty) =>
            {
                (Access::Name, None)
            }
            false => self.first_private(printer, it.var, &Origin::Rule(Rule::ScalarDefault)),
        };
        self.push_captured(printer, it.var, access, slot);
    }

    fn push_captured(
        &mut self,
        printer: &Printer<'_>,
        var: VarId,
        access: Access,
        slot: Option<usize>,
    ) {
        let mut lengths = Vec::new();
        if access != Access::Name {
            let ty = printer.program().vars[var].ty;
            for (expr, text) in variable_lengths(printer.program(), ty, &printer.var_name(var)) {
                let entry = value_entry(format!("(void *)({text})"), "");
                if let Some(slot) = self.param(entry) {
                    lengths.push((expr, slot));
                }
            }
        }
        self.captured.push(Captured { var, access, slot, lengths });
    }

    fn first_private(
        &mut self,
        printer: &Printer<'_>,
        var: VarId,
        origin: &Origin,
    ) -> (Access, Option<usize>) {
        let program = printer.program();
        let ty = program.vars[var].ty;
        let name = printer.var_name(var);
        if let Some(value) = as_slot(program, ty, &name) {
            return (Access::Value, self.literal(printer, var, value));
        }
        let bits = MapType::PRIVATE | MapType::TO | implied(origin);
        let address = format!("(void *)&{name}");
        let spoken = printer.declared_name(var);
        let entry = entry(address.clone(), address, format!("sizeof({name})"), bits, &spoken);
        (Access::Reference, self.param(entry))
    }

    fn mapped(
        &mut self,
        printer: &Printer<'_>,
        mappers: &Mappers,
        region: &Region,
        it: &RegionVar,
    ) -> (Access, Option<usize>) {
        let wishes: Vec<Wish> = it
            .mappings
            .iter()
            .filter_map(|mapping| wish(printer, mappers, region, it.var, mapping))
            .collect();
        self.object(printer, Some(it.var), wishes, true)
    }

    /// Everything that is asked of one variable and what it points to.
    fn object(
        &mut self,
        printer: &Printer<'_>,
        root: Option<VarId>,
        wishes: Vec<Wish>,
        is_param: bool,
    ) -> (Access, Option<usize>) {
        let root_name = root.map(|it| printer.var_name(it)).unwrap_or_default();
        // Whether the pointer variable itself is mapped; if not, what it points to is the object.
        let has_own = wishes.iter().any(|it| it.place.pointers.is_empty());
        let starts_at_pointer = !has_own
            && wishes.iter().all(|it| it.place.pointers.first().is_some_and(|it| *it == root_name));
        let depth = usize::from(starts_at_pointer);
        let base = match starts_at_pointer {
            true => format!("(void *)({root_name})"),
            false => format!("(void *)&{root_name}"),
        };
        let access = if starts_at_pointer { Access::Value } else { Access::Reference };
        // The device's code finds a `link` variable through a pointer, which is attached.
        let pointer = root.filter(|it| is_linked(printer.program(), *it) && !starts_at_pointer);
        let pointer = pointer.map(|it| link_pointer(printer, it));
        let attach = |made: &mut Entry| {
            if let Some(pointer) = &pointer {
                made.base = format!("(void *)&{pointer}");
                made.bits |= MapType::PTR_AND_OBJ;
            }
        };
        let mut slot = None;
        let mut claim = |entries: &mut Entries, entry: Entry| {
            let is_first = slot.is_none() && is_param;
            let at = entries.list.len();
            if is_first {
                slot = entries.param(entry);
            } else {
                entries.list.push(entry);
            }
            at
        };
        let (direct, attached): (Vec<Wish>, Vec<Wish>) =
            wishes.into_iter().partition(|it| it.place.pointers.len() <= depth);
        let whole = direct
            .iter()
            .position(|it| !it.place.is_member && it.place.dims.is_empty() && depth == 0);
        // Data of a pointer in an object that this construct says nothing else of: the object may
        // be on the device or not.
        let only_attached = !is_param && direct.is_empty();
        let needs_parent =
            whole.is_none() && !only_attached && (!attached.is_empty() || direct.len() > 1);
        let mut parent = None;
        if needs_parent {
            let (begin, size) = span(&direct, &attached, depth);
            let bits = if direct.iter().chain(&attached).all(|it| it.bits.has(MapType::DELETE)) {
                MapType::DELETE
            } else {
                MapType::ALLOC
            };
            let mut entry = entry(base.clone(), begin, size, bits, &root_name);
            attach(&mut entry);
            parent = Some(claim(self, entry));
        }
        for (at, wish) in direct.into_iter().enumerate() {
            let begin = format!("(void *)&{}", wish.place.first);
            let base = match root {
                Some(_) => base.clone(),
                None => begin.clone(),
            };
            let mut made = entry(base, begin, wish.place.bytes(), wish.bits, &wish.name);
            made.mapper = wish.mapper;
            made.iterators = wish.iterators;
            // Pieces of one object lie on the device as they do on the host: in what spans them.
            if needs_parent {
                made.parent = parent;
            }
            if made.parent.is_none() {
                attach(&mut made);
            }
            let index = match made.parent.is_some() || !made.iterators.is_empty() {
                true => {
                    self.list.push(made);
                    self.list.len() - 1
                }
                false => claim(self, made),
            };
            if whole == Some(at) {
                parent = Some(index);
            }
        }
        let attach = if only_attached { MapType::ATTACH } else { MapType::ALLOC };
        for wish in attached {
            let pointer = wish.place.pointers.last().cloned().unwrap_or_default();
            let mut made = entry(
                format!("(void *)&{pointer}"),
                format!("(void *)&{}", wish.place.first),
                wish.place.bytes(),
                wish.bits | MapType::PTR_AND_OBJ | attach,
                &wish.name,
            );
            made.parent = parent;
            made.mapper = wish.mapper;
            made.iterators = wish.iterators;
            self.list.push(made);
        }
        (access, slot)
    }

    /// One item of an update.
    fn motion(&mut self, wish: Wish) {
        let begin = format!("(void *)&{}", wish.place.first);
        let mut made = entry(begin.clone(), begin, wish.place.bytes(), wish.bits, &wish.name);
        if wish.place.is_strided() || wish.place.dims.len() > 1 {
            made.bits |= MapType::NON_CONTIG;
            made.strided = Some(wish.place.dims.clone());
        }
        made.mapper = wish.mapper;
        made.iterators = wish.iterators;
        self.list.push(made);
    }

    /// An argument that is a value.
    fn literal(&mut self, printer: &Printer<'_>, var: VarId, text: String) -> Option<usize> {
        self.param(value_entry(text, &printer.declared_name(var)))
    }

    /// One more argument that is a value; its position.
    pub(super) fn value(&mut self, text: String) -> Option<usize> {
        self.param(value_entry(text, ""))
    }

    fn param(&mut self, mut entry: Entry) -> Option<usize> {
        entry.bits |= MapType::TARGET_PARAM;
        self.list.push(entry);
        self.slots += 1;
        Some(self.slots - 1)
    }
}

fn is_linked(program: &Program, var: VarId) -> bool {
    program.vars[var].device == Some(DeviceVar::Link)
}

/// The pointer to a `link` variable in the host's text.
pub(super) fn link_pointer(printer: &Printer<'_>, var: VarId) -> String {
    format!("{}{}", printer.declared_name(var), abi::names::LINK_SUFFIX)
}

fn entry(base: String, begin: String, size: String, bits: MapType, name: &str) -> Entry {
    Entry {
        base,
        begin,
        size,
        bits,
        parent: None,
        name: name.to_owned(),
        mapper: None,
        iterators: Vec::new(),
        strided: None,
    }
}

fn value_entry(text: String, name: &str) -> Entry {
    let bits = MapType::LITERAL | MapType::IMPLICIT;
    entry(text.clone(), text, "8".to_owned(), bits, name)
}

/// From the lowest to the highest byte that is touched of one object.
fn span(direct: &[Wish], attached: &[Wish], depth: usize) -> (String, String) {
    let pieces: Vec<(String, String)> = direct
        .iter()
        .map(|it| (format!("&{}", it.place.first), it.place.bytes()))
        .chain(attached.iter().filter_map(|it| {
            let pointer = it.place.pointers.get(depth)?;
            Some((format!("&{pointer}"), format!("sizeof({pointer})")))
        }))
        .collect();
    let fold = |name: &str, texts: Vec<String>| {
        let mut texts = texts.into_iter();
        let first = texts.next().unwrap_or_else(|| "0".to_owned());
        texts.fold(first, |all, it| format!("{name}({all}, {it})"))
    };
    let low = fold("__ferry_low", pieces.iter().map(|it| it.0.clone()).collect());
    let ends = pieces.iter().map(|it| format!("(char *)({}) + {}", it.0, it.1)).collect();
    let high = fold("__ferry_high", ends);
    (format!("(void *)({low})"), format!("(char *)({high}) - (char *)({low})"))
}

// ---------------------------------------------------------------- what clauses ask for

fn wish(
    printer: &Printer<'_>,
    mappers: &Mappers,
    region: &Region,
    var: VarId,
    mapping: &Attribute<Mapping>,
) -> Option<Wish> {
    let Mapping::Map(motion, presence, part) = &mapping.value else { return None };
    let program = printer.program();
    let clause = match mapping.origin {
        Origin::Clause(at) => region.construct.clauses.get(at as usize),
        Origin::Enclosing(..) | Origin::Declared(_) | Origin::Rule(_) => None,
    };
    let map = clause.and_then(|it| match &it.kind {
        ClauseKind::Map(map) => Some(map),
        _ => None,
    });
    let flags = map.map(|it| it.flags).unwrap_or_default();
    let hold = region.construct.rules.holds_data;
    let mut bits = motion_bits(*motion, *presence, flags, hold) | implied(&mapping.origin);
    // What cannot change is not brought back; it may lie in memory that nobody may write.
    if bits.has(MapType::IMPLICIT) && is_constant(program, var) {
        bits = bits.without(MapType::FROM);
    }
    let place = match part {
        Some(item) => place::of(printer, *item),
        None => Place {
            root: Some(var),
            first: printer.var_name(var),
            pointers: Vec::new(),
            dims: Vec::new(),
            is_member: false,
            ty: program.vars[var].ty,
        },
    };
    let name = match part {
        Some(item) => printer.as_written().expr(*item),
        None => printer.declared_name(var),
    };
    let mapper = mappers.of(program, map.and_then(|it| it.mapper), place.ty);
    let iterators = map.map(|it| it.iterators.clone()).unwrap_or_default();
    Some(Wish { place, bits, name, mapper, iterators })
}

/// A variable as a whole.
fn whole_wish(printer: &Printer<'_>, var: VarId, bits: MapType) -> Wish {
    let place = Place {
        root: Some(var),
        first: printer.var_name(var),
        pointers: Vec::new(),
        dims: Vec::new(),
        is_member: false,
        ty: printer.program().vars[var].ty,
    };
    let name = printer.declared_name(var);
    Wish { place, bits, name, mapper: None, iterators: Vec::new() }
}

fn map_wishes(
    printer: &Printer<'_>,
    mappers: &Mappers,
    construct: &Construct<Typed>,
    map: &Map<Typed>,
) -> Vec<Wish> {
    let motion = match map.motion {
        Motion::Unsaid if construct.has(Leaf::EnterData) => Motion::To,
        Motion::Unsaid if construct.has(Leaf::ExitData) => Motion::From,
        Motion::Unsaid => Motion::ToFrom,
        other => other,
    };
    let hold = construct.rules.holds_data;
    let bits = motion_bits(motion, map.presence, map.flags, hold);
    items(printer, mappers, &map.items, bits, map.mapper, &map.iterators)
}

fn transfer_wishes(
    printer: &Printer<'_>,
    mappers: &Mappers,
    transfer: &Transfer<Typed>,
) -> Vec<Wish> {
    let mut bits = if transfer.to_device { MapType::TO } else { MapType::FROM };
    if transfer.presence == Presence::Required {
        bits |= MapType::PRESENT;
    }
    items(printer, mappers, &transfer.items, bits, transfer.mapper, &transfer.iterators)
}

fn items(
    printer: &Printer<'_>,
    mappers: &Mappers,
    items: &[ExprId],
    bits: MapType,
    mapper: Option<source::Name>,
    iterators: &[IteratorVar<Typed>],
) -> Vec<Wish> {
    let one = |item: &ExprId| {
        let place = place::of(printer, *item);
        let mapper = mappers.of(printer.program(), mapper, place.ty);
        Wish {
            place,
            bits,
            name: printer.as_written().expr(*item),
            mapper,
            iterators: iterators.to_vec(),
        }
    };
    items.iter().map(one).collect()
}

fn motion_bits(motion: Motion, presence: Presence, flags: MapFlags, hold: bool) -> MapType {
    let mut bits = match motion {
        Motion::Unsaid | Motion::ToFrom => MapType::TO | MapType::FROM,
        Motion::To => MapType::TO,
        Motion::From => MapType::FROM,
        Motion::Alloc | Motion::Release => MapType::ALLOC,
        Motion::Delete => MapType::DELETE,
    };
    if flags.delete {
        bits |= MapType::DELETE;
    }
    let always = match flags.always_at {
        None => flags.always,
        Some(CopyEnd::Start) => bits.has(MapType::TO),
        Some(CopyEnd::End) => bits.has(MapType::FROM),
    };
    if always {
        bits |= MapType::ALWAYS;
    }
    if flags.close {
        bits |= MapType::CLOSE;
    }
    if presence == Presence::Required {
        bits |= MapType::PRESENT;
    }
    if hold || flags.hold {
        bits |= MapType::HOLD;
    }
    bits
}

/// What a rule maps tolerates that only a part of it is there.
fn implied(origin: &Origin) -> MapType {
    match origin {
        Origin::Clause(_) => MapType::ALLOC,
        Origin::Enclosing(..) | Origin::Declared(_) | Origin::Rule(_) => MapType::IMPLICIT,
    }
}

// ---------------------------------------------------------------- values and lengths

/// The value of a variable as one argument, if it fits.
fn as_slot(program: &Program, ty: Ty, name: &str) -> Option<String> {
    let fits = program.model.size_of(&program.types, ty).is_ok_and(|it| it <= 8);
    if program.types.is_pointer(ty) {
        return Some(format!("(void *)({name})"));
    }
    if !fits || program.types.is_aggregate(ty) || program.types.is_complex(ty) {
        return None;
    }
    if program.types.is_integer(ty) {
        return Some(format!("(void *)(__ferry_word)({name})"));
    }
    // Of a copy: a variable whose address is taken is slower in the user's own loops.
    Some(format!("__ferry_value(&(__typeof__({name})){{ {name} }}, sizeof({name}))"))
}

/// The lengths in a type that are computed when the variable comes to life, and how to get them
/// back from the variable.
fn variable_lengths(program: &Program, ty: Ty, name: &str) -> Vec<(ExprId, String)> {
    let mut found = Vec::new();
    let (mut ty, mut object) = (ty, name.to_owned());
    loop {
        match program.types.shape(ty) {
            TypeKind::Array(element, len) => {
                if let ArrayLen::Variable(Some(len)) = len {
                    found.push((*len, format!("sizeof({object}) / sizeof(({object})[0])")));
                }
                object = format!("({object})[0]");
                ty = *element;
            }
            TypeKind::Pointer(to) => {
                object = format!("*({object})");
                ty = *to;
            }
            _ => return found,
        }
    }
}

/// Whether a kernel at the end of the file can name the variable.
fn is_outside_name(program: &Program, var: VarId) -> bool {
    match program.vars[var].storage {
        VarStorage::Global | VarStorage::Extern | VarStorage::Static => true,
        VarStorage::LocalStatic(_) | VarStorage::Param(_) | VarStorage::Local(_) => false,
    }
}

fn is_constant(program: &Program, var: VarId) -> bool {
    let ty = program.vars[var].ty;
    program.types.resolve(program.types.innermost_element(ty)).quals.is_const
}

/// One of the C library's streams.
fn is_stream(program: &Program, var: VarId) -> bool {
    let var = &program.vars[var];
    let name = var.name.map_or("", |it| program.names.text(it));
    var.storage == VarStorage::Extern && matches!(name, "stdin" | "stdout" | "stderr")
}
