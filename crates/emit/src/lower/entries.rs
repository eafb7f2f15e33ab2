//! What a construct tells the runtime of its data: one entry per thing that is mapped, passed or
//! moved, in the order of the offload ABI, and what the kernel makes of each.
//!
//! In: a region whose variables have their mappings, and a printer for the place where the entries
//! are built. Out: [`Entries`]. Members of one object get a common parent that spans them; what
//! pointers inside that object point to is attached. How all this is spelt is [`super::stub`]'s.

mod object;
mod pointee;
mod value;
mod wish;

use abi::MapType;
use ir::construct::{ClauseKind, Construct, IteratorVar, Leaf};
use ir::program::{ExprId, ExprKind, RegionId, Typed, VarId};
use ir::region::{Attribute, Mapping, Origin, Region, RegionVar, Rule};

use super::allocators;
use super::mapper::Mappers;
use super::mentions::{self, Mention};
use super::room::Handle;
use crate::c::Printer;
pub(super) use object::link_pointer;
pub(super) use value::is_constant;
pub(super) use value::is_function_name;
pub(super) use value::variable_lengths;
use value::{as_slot, is_outside_name, is_stream};
use wish::{Wish, implied, map_wishes, resident_wishes, transfer_wishes, whole_wish, wishes};

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
    /// Loops that repeat it, outermost first.
    pub(super) repeats: Vec<Repeat>,
    /// Dimensions of an update whose elements do not follow each other.
    pub(super) strided: Option<Vec<super::place::Dim>>,
}

/// A loop around an entry: its pieces as C texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    /// The declaration of its variable.
    pub(super) declared: String,
    pub(super) name: String,
    pub(super) begin: String,
    pub(super) end: String,
    pub(super) step: String,
}

impl Repeat {
    /// The loop over the values of a user's iterator.
    pub(super) fn of(printer: &Printer<'_>, it: &IteratorVar<Typed>) -> Repeat {
        let name = printer.program().names.text(it.name).to_owned();
        Repeat {
            declared: it.ty.map_or_else(|| format!("int {name}"), |ty| printer.declare(ty, &name)),
            begin: printer.expr(it.begin),
            end: printer.expr(it.end),
            step: it.step.map_or_else(|| "1".to_owned(), |it| printer.expr(it)),
            name,
        }
    }

    /// The loop over the numbers from zero that are below `count`.
    pub(super) fn up_to(number: &str, count: &str) -> Repeat {
        Repeat {
            declared: format!("__ferry_i64 {number}"),
            name: number.to_owned(),
            begin: "0".to_owned(),
            end: count.to_owned(),
            step: "1".to_owned(),
        }
    }

    /// Its head.
    pub(super) fn head(&self) -> String {
        let Repeat { declared, name, begin, end, step } = self;
        format!(
            "for ({declared} = {begin}; ({step}) > 0 ? {name} < ({end}) : {name} > ({end}); \
             {name} += {step})"
        )
    }

    /// How often it runs.
    pub(super) fn trips(&self) -> String {
        format!("__ferry_trips({}, {}, {})", self.begin, self.end, self.step)
    }
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
    /// Lengths in types of the body that were computed before it, and the arguments they are.
    pub(super) lengths: Vec<(ExprId, usize)>,
    /// How many arguments the kernel has.
    pub(super) slots: usize,
}

/// Entries of a region that runs on a device.
pub(super) fn of_kernel(printer: &Printer<'_>, mappers: &Mappers, id: RegionId) -> Entries {
    let region = &printer.program().regions[id];
    let mut entries = Entries::default();
    for var in &region.vars {
        entries.capture(printer, mappers, region, var);
    }
    entries.attachments(printer, &region.construct);
    entries.compute(printer, region);
    for it in mentions::of(printer.program(), id) {
        entries.mention(printer, &it);
    }
    for var in allocators::traits(printer.program(), id) {
        if !entries.captured.iter().any(|it| it.var == var) {
            let origin = Origin::Rule(Rule::ScalarDefault);
            let (access, slot) = entries.first_private(printer, var, &origin);
            entries.push_captured(printer, var, access, slot);
        }
    }
    entries.outer_lengths(printer, id);
    entries
}

/// Entries of a construct that only moves data or ties its life.
pub(super) fn of_data(printer: &Printer<'_>, mappers: &Mappers, region: &Region) -> Entries {
    of_clauses(printer, mappers, &region.construct)
}

/// Entries of a declaration about data of a function.
pub(super) fn of_scope(
    printer: &Printer<'_>,
    mappers: &Mappers,
    construct: &Construct<Typed>,
) -> Entries {
    of_clauses(printer, mappers, construct)
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
            ClauseKind::DeviceResident(items) if construct.has(Leaf::Declare) => {
                resident_wishes(printer, construct, items)
            }
            ClauseKind::Transfer(transfer) => {
                transfer_wishes(printer, mappers, construct, transfer)
            }
            _ => Vec::new(),
        })
        .collect();
    if construct.has(Leaf::DeclareMapper) {
        // The object itself: this is its mapper.
        let is_whole = |it: &Wish| it.place.pointers.is_empty() && !it.place.is_member;
        wishes.iter_mut().filter(|it| is_whole(it)).for_each(|it| it.mapper = None);
        // Its parts are reached through it, so it must be there; what no clause names is not copied.
        if let Some(root) = wishes.iter().find_map(|it| it.place.root)
            && !wishes.iter().any(is_whole)
        {
            wishes.insert(0, whole_wish(printer, root, MapType::ALLOC));
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
    entries.attachments(printer, construct);
    entries
}

impl Entries {
    /// Whether a kernel that takes these arguments takes those too.
    pub(super) fn has_same_slots(&self, other: &Entries) -> bool {
        let slots = |it: &Entries| -> Vec<(VarId, Access, Option<usize>)> {
            it.captured.iter().map(|it| (it.var, it.access.clone(), it.slot)).collect()
        };
        self.slots == other.slots && slots(self) == slots(other)
    }

    /// One variable of a kernel.
    fn capture(
        &mut self,
        printer: &Printer<'_>,
        mappers: &Mappers,
        region: &Region,
        it: &RegionVar,
    ) {
        // The C library of the device has its own; a function's name is written down.
        if is_function_name(printer.program(), it.var) || is_stream(printer.program(), it.var) {
            return self.push_captured(printer, it.var, Access::Name, None);
        }
        // Named in a clause only, or declared inside. A map of it or its parts says more than that
        // its target may be there.
        let is_map = |it: &&Attribute<Mapping>| matches!(it.value, Mapping::Map(..));
        let first = it.mappings.iter().find(is_map).or_else(|| it.mappings.first());
        let Some(first) = first else { return };
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
            ClauseKind::If(condition) if it.on == Some(Leaf::Teams) => vec![*condition],
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

    /// A variable of the file that functions of the region use.
    pub(super) fn reach(&mut self, it: &Handle, name: &str, is_pointer: bool) {
        let (at, bits) = (it.at.clone(), MapType::TO | MapType::FROM | MapType::IMPLICIT);
        self.list.push(entry(at.clone(), at.clone(), it.size.clone(), bits, name));
        if is_pointer {
            // As for a pointer in the body: it leads to the device's data if they are there.
            let bits = MapType::PTR_AND_OBJ | MapType::IMPLICIT;
            let mut made = entry(at.clone(), format!("*(void **){at}"), "0".to_owned(), bits, name);
            made.parent = Some(self.list.len() - 1);
            self.list.push(made);
        }
    }

    /// Lengths in types that the body names, of variables and typedefs around it: they are what they
    /// were when those came to life.
    fn outer_lengths(&mut self, printer: &Printer<'_>, id: RegionId) {
        let known: Vec<ExprId> =
            self.captured.iter().flat_map(|it| it.lengths.iter().map(|it| it.0)).collect();
        for (length, text) in mentions::lengths(printer, id) {
            if !known.contains(&length)
                && let Some(slot) = self.param(value_entry(format!("(void *)({text})"), ""))
            {
                self.lengths.push((length, slot));
            }
        }
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
        if let Some(value) = as_slot(printer, ty, &name) {
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
            .flat_map(|mapping| wishes(printer, mappers, region, it.var, mapping))
            .collect();
        self.object(printer, Some(it.var), wishes, true)
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

fn entry(base: String, begin: String, size: String, bits: MapType, name: &str) -> Entry {
    Entry {
        base,
        begin,
        size,
        bits,
        parent: None,
        name: name.to_owned(),
        mapper: None,
        repeats: Vec::new(),
        strided: None,
    }
}

fn value_entry(text: String, name: &str) -> Entry {
    let bits = MapType::LITERAL | MapType::IMPLICIT;
    entry(text.clone(), text, "8".to_owned(), bits, name)
}

/// Whether the device gets the value of a variable, and not its place.
pub(super) fn is_value(var: &ir::region::RegionVar) -> bool {
    var.mappings.iter().any(|it| matches!(it.value, Mapping::FirstPrivate | Mapping::Private))
}
