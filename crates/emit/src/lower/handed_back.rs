//! Regions that kernels on a grid of threads hand back to the host.
//!
//! What the host runs is no code of the device: there the body of such a region is a few calls that name what goes to the host
//! ([`stubbed`]), for checks and passes. What is printed is a frame with the region's name, its place and its entries, and a call
//! that puts it into the mailbox of the device ([`abi::mailbox`]).

use abi::names::{COMPONENT_COUNT, PUSH_COMPONENT};
use ir::program::{Program, RegionId, StmtId, StmtKind, VarId, VarStorage};
use ir::region::Mapping;
use ir::walk::Part;
use kernel::build::Builder;
use kernel::intrinsic;

use super::entries::{self, Access, Entries};
use super::{Lowering, mentions};
use crate::c::{Out, Printer, Setting, Used};

/// What such a text needs, in both languages.
const MAILBOX: &str = include_str!("grid/mailbox.c");

/// The word that leads to the mailbox.
pub(super) const PLACE: &str = "__ferry_mailbox";

/// What the text of a cluster calls: answers the number of a mapper that is to push components, or 0 when the region is done. The
/// last three words are where those go.
pub(super) const CLUSTER: &str = "\
struct __ferry_handed { __ferry_u64 __words[8], __components[3]; };
extern __ferry_u64 ferry_hand_back(const struct __ferry_ident *, const struct __ferry_region *, \
struct __ferry_args *, struct __ferry_handed *);
";

/// Whether kernels hand regions back.
pub(super) fn has_some(program: &Program) -> bool {
    program.regions.iter().any(|it| it.1.construct.goes_back())
}

/// The program as devices see it; none if no kernel hands anything back.
pub(super) fn stubbed(program: &Program) -> Option<Program> {
    if !has_some(program) {
        return None;
    }
    let mut stubbed = program.clone();
    for (id, region) in program.regions.iter().filter(|it| it.1.construct.goes_back()) {
        let printer = Printer::new(program, Setting::Alone);
        let lengths = mentions::lengths(&printer, id);
        let function = region.function;
        let mut build = Builder { program: &mut stubbed, function, span: region.construct.span };
        let mut list: Vec<StmtId> = Vec::new();
        for (var, is_value) in named(program, id) {
            let it = build.var(var);
            let it = match is_value {
                true => it,
                false => {
                    let at = build.address(it);
                    intrinsic::hand_back(&mut build, at)
                }
            };
            list.push(build.stmt(StmtKind::Expr(it)));
        }
        list.extend(lengths.into_iter().map(|it| build.stmt(StmtKind::Expr(it.0))));
        let body = build.stmt(StmtKind::Block(list.into()));
        stubbed.regions[id].body = Some(body);
    }
    Some(stubbed)
}

/// Variables of the device that a region names, and whether only their values matter.
fn named(program: &Program, id: RegionId) -> Vec<(VarId, bool)> {
    let region = &program.regions[id];
    let mut found: Vec<(VarId, bool)> = Vec::new();
    for var in &region.vars {
        let is_of_host = |it: &Mapping| matches!(it, Mapping::Declared | Mapping::Private);
        let is_value = |it: &Mapping| matches!(it, Mapping::FirstPrivate);
        let mut mappings = var.mappings.iter().map(|it| &it.value);
        if !var.mappings.is_empty() && !mappings.clone().all(is_of_host) {
            let is_scalar = program.types.is_scalar(program.vars[var.var].ty);
            found.push((var.var, is_scalar && mappings.all(is_value)));
        }
    }
    // Those in clauses alone are not the host's.
    let Some(body) = region.body else { return found };
    let mut used = Used::default();
    used.part(program, Part::Stmt(body));
    let inside = mentions::declared_in(program, body);
    for var in used.vars.into_iter().filter(|it| !inside.contains(it)) {
        let it = &program.vars[var];
        let is_local = matches!(it.storage, VarStorage::Local(of) | VarStorage::Param(of) if of == region.function);
        let is_scalar = it.name.is_some() && program.types.is_scalar(it.ty);
        if is_local && is_scalar && !found.iter().any(|that| that.0 == var) {
            found.push((var, true));
        }
    }
    found
}

impl Lowering<'_> {
    /// A region that goes back to the host, in a kernel.
    pub(super) fn ask_from_grid(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let span = region.construct.span;
        let is_same =
            |it: &&super::device::Kernel| self.program.regions[it.region].construct.span == span;
        let kernel = self.state.borrow().back.iter().find(is_same).cloned();
        let entries = entries::of_kernel(printer, &self.mappers, id);
        let Some(kernel) = kernel.filter(|it| has_same_arguments(&it.entries, &entries)) else {
            return self.not_for_grid(span, "a region that goes back to the host with these data");
        };
        let has_iterators = entries.list.iter().any(|it| !it.repeats.is_empty());
        if has_iterators {
            return self.not_for_grid(span, "iterators in a map to the host");
        }
        let (name, place) = (kernel.name, self.at(id).ident());
        let count = entries.list.len();
        let mut words = vec![count.to_string(), name.len().to_string(), "0".to_owned()];
        for (entry, bits) in entries.list.iter().zip(super::stub::all_bits(&entries.list)) {
            let number = |it: &str| {
                let mut mappers = self.mappers.list.iter().zip(1_u32..);
                mappers.find(|that| that.0.function == it).map_or(0, |it| it.1)
            };
            let mapper = entry.mapper.as_deref().map_or(0, number);
            words.push(format!("(unsigned long)({})", entry.base));
            words.push(format!("(unsigned long)({})", entry.begin));
            words.push(format!("(unsigned long)({})", entry.size));
            words.extend([format!("{bits}ul"), mapper.to_string()]);
        }
        let head = words.len() * 8;
        let text = [name.as_bytes(), place.as_bytes()].concat();
        for piece in text.chunks(8) {
            let mut bytes = [0; 8];
            bytes.iter_mut().zip(piece).for_each(|(to, from)| *to = *from);
            words.push(format!("{:#x}ul", u64::from_le_bytes(bytes)));
        }
        let size = head + text.len();
        if size > abi::mailbox::PIECE {
            return self
                .not_for_grid(span, "a region that goes back to the host with so many data");
        }
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            out.line(&format!("const unsigned long __fq[] = {{ {} }};", words.join(", ")));
            out.line(&format!("__ferry_hand_back(__fq, {size}ul);"));
        });
        out.line("}");
    }

    /// The call of a cluster: mappers are called by their names, as code there has no addresses for the host.
    pub(super) fn ask_from_cluster(&self, entries: &Entries, name: &str, out: &mut Out<'_>) {
        out.line("struct __ferry_handed __fh = { { 0 }, { 0 } };");
        out.line("__ferry_u64 __fw;");
        out.line(&format!(
            "while ((__fw = ferry_hand_back(&__fi, &__ferry_region_{name}, &__fk, &__fh)) != 0) {{"
        ));
        out.indented(|out| {
            for (entry, number) in entries.list.iter().zip(1_u32..) {
                let Some(mapper) = &entry.mapper else { continue };
                out.line(&format!(
                    "if (__fw == {number}) {mapper}(__fh.__components, (void *)__fh.__words[2], \
                     (void *)__fh.__words[3], (__ferry_i64)__fh.__words[4], (__ferry_i64)__fh.__words[5], 0);"
                ));
            }
        });
        out.line("}");
    }

    /// What stands before the functions of a text whose kernels hand regions back.
    pub(super) fn mailbox_text(&self) -> String {
        [abi::mailbox::header(), super::frame::mapper_macros(), MAILBOX.to_owned()].concat()
    }

    /// The functions that users' mappers become, and one that calls them by their numbers.
    pub(super) fn mailbox_mappers(&self) -> String {
        let mut text = String::new();
        let mut cases = String::new();
        for (mapper, number) in
            self.mappers.list.iter().zip(1_u32..).filter(|_| self.needs_mappers())
        {
            text.push_str(&self.grid_mapper(mapper));
            let function = &mapper.function;
            cases.push_str(&format!(
                "  if (mapper == {number}ul)\n    {function}(base, begin, size, type);\n"
            ));
        }
        format!(
            "{text}__ferry_fn void __ferry_expand(unsigned long mapper, unsigned long base, unsigned long begin, \
             __ferry_i64 size, __ferry_i64 type)\n{{\n{cases}}}\n"
        )
    }

    /// Whether a region that goes back has data that a mapper maps.
    fn needs_mappers(&self) -> bool {
        let state = self.state.borrow();
        state.back.iter().flat_map(|it| &it.entries.list).any(|it| it.mapper.is_some())
    }

    fn grid_mapper(&self, mapper: &super::mapper::Mapper) -> String {
        let Some(var) = mapper.var else { return String::new() };
        let Some(declaration) = self.program.declarations.get(mapper.declaration) else {
            return String::new();
        };
        let mut printer = self.printer(Setting::Alone);
        printer.substitute(var, "(*__v)");
        let entries = entries::of_mapper(&printer, &self.mappers, &declaration.construct);
        let mut out = Out::new();
        out.raw(&format!(
            "__ferry_fn void {}(unsigned long __base, unsigned long __begin, __ferry_i64 __size, __ferry_i64 __type)\n{{",
            mapper.function
        ));
        out.indented(|out| {
            let (push, count) = (PUSH_COMPONENT, COMPONENT_COUNT);
            out.line(&format!("if (!{count}()) {push}(__base, __begin, 0, 0);"));
            out.line(&format!("const __ferry_i64 __whole = __ferry_member({count}() + 1);"));
            out.line(&format!("{push}(__base, __begin, __size, __ferry_storage(__type));"));
            let pointer = printer.declare_pointer(mapper.ty, "__v");
            let cast = printer.declare_pointer(mapper.ty, "");
            out.line(&format!("{pointer} = ({cast})__ferry_flat(__begin);"));
            out.line("const __ferry_i64 __count = __size / (__ferry_i64)sizeof(*__v);");
            out.line("for (__ferry_i64 __i = 0; __i < __count; __i++, __v++) {");
            out.indented(|out| {
                for entry in entries.list.iter().filter(|it| super::mapper::is_more_than_storage(it)) {
                    super::stub::iterator_loops(out, entry);
                    let called = entry.mapper.as_deref().unwrap_or(push);
                    out.line(&format!(
                        "{called}((unsigned long)({}), (unsigned long)({}), {}, __ferry_decay({:#x}, __type) | __whole);",
                        entry.base, entry.begin, entry.size, entry.bits.0
                    ));
                }
            });
            out.line("}");
        });
        out.raw("}");
        out.into_text()
    }
}

/// Whether the host's version of a region takes these arguments: variables may go by other names on the device.
fn has_same_arguments(host: &Entries, device: &Entries) -> bool {
    let slots = |it: &Entries| -> Vec<(Access, Option<usize>)> {
        let slotted = it.captured.iter().filter(|it| it.slot.is_some());
        slotted.map(|it| (it.access.clone(), it.slot)).collect()
    };
    host.slots == device.slots && slots(host) == slots(device)
}
