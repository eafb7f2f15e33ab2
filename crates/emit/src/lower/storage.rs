//! Variables that live elsewhere than C would put them: in memory of an allocator, or with a copy
//! that devices have for themselves.
//!
//! In: directives that say so. Out: what stands in their place, and the text that names such a
//! variable from then on ([`moved`]): a pointer is followed, since C cannot give memory a name.

use ir::construct::{Args, ClauseKind, Leaf, MemoryBy};
use ir::program::{Declaration, DeviceVar, ExprId, ExprKind, Program, RegionId, VarId, VarStorage};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Lowering, loops};
use crate::c::Printer;

/// Where memory comes from, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    /// Without one it is the thread's default.
    pub(super) allocator: Option<String>,
    /// Without one it is that of the type.
    pub(super) align: Option<String>,
}

/// The text that names each variable that lives elsewhere. On a device with memory of its own, what
/// devices have for themselves is where it is declared.
pub(super) fn moved(program: &Program, is_device: bool) -> FxHashMap<VarId, String> {
    let mut moved = FxHashMap::default();
    let allocated = program.declarations.iter().filter(|it| it.construct.has(Leaf::Allocate));
    for (construct, var) in allocated.flat_map(|it| it.vars.iter().map(|var| (&it.construct, *var)))
    {
        let number = moved.len();
        let is_aligned = construct.kinds().any(|it| matches!(it, ClauseKind::Align(_)));
        let text = match program.vars[var].storage {
            VarStorage::Local(_) => format!("(*__ferry_at{number})"),
            // C has no second word for it: another object takes its place.
            VarStorage::LocalStatic(_) if is_aligned => format!("__ferry_static{number}"),
            VarStorage::LocalStatic(_)
            | VarStorage::Param(_)
            | VarStorage::Global
            | VarStorage::Extern
            | VarStorage::Static => continue,
        };
        moved.entry(var).or_insert(text);
    }
    for (id, _, _) in kinds(program) {
        let Some(name) = program.vars[id].name.map(|it| program.names.text(it)) else { continue };
        let number = moved.len();
        let text = format!(
            "(*(__typeof__({name}) *)(__ferry_own{number} ? __ferry_own{number} \
             : {}(&__ferry_kind{number}, &__ferry_own{number})))",
            abi::names::INSTANCE
        );
        moved.entry(id).or_insert(text);
    }
    for (id, var) in program.vars.iter() {
        if let (Some(DeviceVar::Local), Some(name), false) = (var.device, var.name, is_device) {
            let name = program.names.text(name);
            let text = format!(
                "(*(__typeof__({name}) *){}((void *)&{name}, (void *)&__ferry_local_{name}, \
                 &__ferry_fresh_{name}, sizeof({name})))",
                abi::names::LOCAL_COPY
            );
            moved.insert(id, text);
        }
    }
    moved
}

/// Variables with a memory kind, each with the kind's name and whether what it points to lives there. Without a name it is
/// the fast memory.
fn kinds(program: &Program) -> Vec<(VarId, String, bool)> {
    let mut found: Vec<(VarId, String, bool)> = Vec::new();
    for declaration in &program.declarations {
        let Args::Memory(parts) = &declaration.construct.args else { continue };
        for part in parts {
            let kind = part.space.map_or(FAST_MEMORY, |it| program.names.text(it));
            let is_reference = part.by == Some(MemoryBy::Reference);
            for var in part.items.iter().filter_map(|it| named(program, *it)) {
                if !found.iter().any(|it| it.0 == var) {
                    found.push((var, kind.to_owned(), is_reference));
                }
            }
        }
    }
    found
}

/// The memory kind that is meant where none is named.
const FAST_MEMORY: &str = "fastmem";

/// The same program where variables are aligned as directives and clauses ask for them or for copies of them; none if
/// there are none. Copies are aligned as their variables are.
pub(super) fn aligned(program: &Program) -> Option<Program> {
    let mut asked: Vec<(VarId, i64)> = Vec::new();
    for declaration in program.declarations.iter().filter(|it| it.construct.has(Leaf::Allocate)) {
        let aligns = declaration.construct.kinds().filter_map(|it| match it {
            ClauseKind::Align(align) => loops::constant(program, *align),
            _ => None,
        });
        asked.extend(aligns.flat_map(|align| declaration.vars.iter().map(move |it| (*it, align))));
    }
    for kind in program.regions.iter().flat_map(|it| it.1.construct.kinds()) {
        if let ClauseKind::Allocate(it) = kind
            && let Some(align) = it.align.and_then(|it| loops::constant(program, it))
        {
            let vars = it.items.iter().filter_map(|it| named(program, *it));
            asked.extend(vars.map(|it| (it, align)));
        }
    }
    if asked.is_empty() {
        return None;
    }
    let mut aligned = program.clone();
    for (var, align) in asked {
        let var = &mut aligned.vars[var];
        var.align = var.align.max(u64::try_from(align).ok());
    }
    Some(aligned)
}

/// Variables that begin as zeros on devices, somewhere: then they are not the host's own, even where
/// memory is shared.
pub(super) fn apart(program: &Program) -> FxHashSet<VarId> {
    let regions = program.regions.iter().map(|(_, it)| &it.construct);
    let constructs = regions.chain(program.declarations.iter().map(|it| &it.construct));
    let items = constructs.flat_map(|it| &it.clauses).filter_map(|it| match &it.kind {
        ClauseKind::Map(map) if map.flags.zero => Some(&map.items),
        _ => None,
    });
    items.flatten().filter_map(|it| named(program, *it)).collect()
}

/// The variable that an item is, or is a part of.
fn named(program: &Program, item: ExprId) -> Option<VarId> {
    match &program.exprs[item].kind {
        ExprKind::Var(var) => Some(*var),
        ExprKind::Section(section) => named(program, section.base),
        ExprKind::Index(base, _) | ExprKind::Member(base, ..) | ExprKind::Cast(_, base) => {
            named(program, *base)
        }
        _ => None,
    }
}

impl Lowering<'_> {
    /// What stands in the place of a directive about storage; nothing for other directives.
    pub(super) fn stored(&self, printer: &Printer<'_>, it: &Declaration) -> Option<String> {
        let mut vars: Vec<VarId> = Vec::new();
        // One directive may be recorded for each variable it names.
        let same = self.program.declarations.iter().filter(|that| {
            that.construct.span == it.construct.span && that.construct.leaves == it.construct.leaves
        });
        for var in same.flat_map(|it| it.vars.iter().copied()) {
            if !vars.contains(&var) {
                vars.push(var);
            }
        }
        if it.construct.has(Leaf::Allocate) {
            return Some(self.allocations(printer, it, &vars));
        }
        if it.construct.has(Leaf::Memory) {
            return Some(self.own_of_threads(printer, it, &vars));
        }
        let is_local = it.construct.kinds().any(|it| matches!(it, ClauseKind::DeviceLocal(_)));
        is_local.then(|| self.device_copies(printer, &vars))
    }

    fn allocations(&self, printer: &Printer<'_>, it: &Declaration, vars: &[VarId]) -> String {
        let mut storage = Storage { allocator: None, align: None };
        for kind in it.construct.kinds() {
            match kind {
                ClauseKind::Allocator(e) => storage.allocator = Some(printer.expr(*e)),
                ClauseKind::Align(e) => storage.align = Some(printer.expr(*e)),
                _ => {}
            }
        }
        let mut text = String::new();
        for id in vars {
            let var = &self.program.vars[*id];
            let name = printer.declared_name(*id);
            let (linkage, align) = match (var.storage, &storage.align) {
                (VarStorage::Local(_), _) => {
                    let moved = self.moved.get(id).map_or("", String::as_str);
                    let pointer = moved.trim_start_matches("(*").trim_end_matches(')');
                    text.push_str(&self.allocated(pointer, &name, &storage));
                    if var.init.is_some() {
                        text.push_str(&format!(
                            " __builtin_memcpy((void *){pointer}, &{name}, sizeof({name}));"
                        ));
                    }
                    text.push(' ');
                    continue;
                }
                // Allocators that may be named for these all have the memory of the program.
                (_, None) => continue,
                (VarStorage::Global | VarStorage::Extern, Some(align)) => ("extern", align),
                (VarStorage::Static, Some(align)) => ("static", align),
                (VarStorage::LocalStatic(_), Some(align)) => {
                    let moved = self.moved.get(id).map_or("", String::as_str);
                    let init = var.init.map_or_else(String::new, |it| {
                        format!(" = {}", printer.init(it, var.ty).replace('\n', " "))
                    });
                    text.push_str(&format!(
                        "static __typeof__({name}) {moved} __attribute__((aligned({align}))){init}; (void){name}; "
                    ));
                    continue;
                }
                (VarStorage::Param(_), Some(_)) => {
                    self.not_lowered(&it.construct);
                    continue;
                }
            };
            text.push_str(&format!(
                "{linkage} __typeof__({name}) {name} __attribute__((aligned({align}))); "
            ));
        }
        text
    }

    /// Pointers to variables that live elsewhere and are reduced: a list names what they point to.
    /// Answers a printer that names the variables through them, and the lines that make them.
    pub(super) fn reduced<'p>(
        &self,
        printer: &Printer<'p>,
        id: RegionId,
    ) -> (Printer<'p>, Vec<String>) {
        let (mut inside, mut lines) = (printer.clone(), Vec::new());
        for kind in self.program.regions[id].construct.kinds() {
            let ClauseKind::Reduction(reduction) = kind else { continue };
            for item in &reduction.items {
                let ExprKind::Var(var) = self.program.exprs[*item].kind else { continue };
                let name = printer.var_name(var);
                if self.moved.get(&var) != Some(&name) {
                    continue;
                }
                let pointer = format!("__ferry_sum{}", self.fresh());
                lines.push(format!("__typeof__({name}) *{pointer} = &{name};"));
                inside.substitute(var, format!("(*{pointer})"));
            }
        }
        (inside, lines)
    }

    /// What the kernel of a region declares a variable of its own with, where a clause asks for an alignment.
    pub(super) fn alignment(&self, printer: &Printer<'_>, id: RegionId, var: VarId) -> String {
        if self.grid.is_some() {
            let align =
                self.program.vars[var].align.map(|it| format!(" __attribute__((aligned({it})))"));
            return align.unwrap_or_default();
        }
        let is_it = |it: &ExprId| named(self.program, *it) == Some(var);
        let align = self.program.regions[id].construct.kinds().find_map(|it| match it {
            ClauseKind::Allocate(it) if it.items.iter().any(is_it) => it.align,
            _ => None,
        });
        let align = align.map(|it| format!(" __attribute__((aligned({})))", printer.expr(it)));
        align.unwrap_or_default()
    }

    /// A pointer to memory for a variable of the type of `like`, which goes with its block.
    pub(super) fn allocated(&self, pointer: &str, like: &str, storage: &Storage) -> String {
        self.declare_calls();
        let least = format!("_Alignof(__typeof__({like}))");
        let align = match &storage.align {
            Some(align) => format!("(({align}) > {least} ? ({align}) : {least})"),
            None => least,
        };
        let allocator = storage.allocator.as_deref().unwrap_or("0");
        format!(
            "__typeof__({like}) *{pointer} __attribute__((cleanup(__ferry_drop))) = \
             __ferry_aligned_alloc({align}, (sizeof({like}) + {align} - 1) / {align} * {align}, \
             (unsigned long)({allocator})); if (!{pointer}) __builtin_abort();"
        )
    }

    /// Descriptions of variables that threads have in a memory of some kind.
    fn own_of_threads(&self, printer: &Printer<'_>, it: &Declaration, vars: &[VarId]) -> String {
        if self.standalone {
            self.not_standalone(it.construct.span, "a variable with a memory kind");
        }
        let call = format!(
            "{}extern void *{}(const struct __ferry_kind *, void **);\n",
            abi::names::KIND_STRUCT,
            abi::names::INSTANCE
        );
        let mut state = self.state.borrow_mut();
        if !state.declarations.contains(&call) {
            state.declarations.push(call);
        }
        drop(state);
        let mut text = String::new();
        for (id, kind, is_reference) in kinds(self.program) {
            let Some(moved) = self.moved.get(&id).filter(|_| vars.contains(&id)) else { continue };
            let number: String = moved
                .split("__ferry_own")
                .nth(1)
                .unwrap_or("")
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            let name = printer.declared_name(id);
            let object = if is_reference { format!("*{name}") } else { name.clone() };
            let at = self.locator.locate(self.program.vars[id].span);
            let (file, line) = at.map_or((String::new(), 0), |it| (it.file.to_string(), it.line));
            let unused = "__attribute__((unused))";
            text.push_str(&format!(
                "static __thread void *__ferry_own{number} {unused}; \
                 static const struct __ferry_kind __ferry_kind{number} {unused} = {{ &{name}, sizeof({object}), \
                 __alignof__({object}), \"{kind}\", \"{}\", {}, {line}, {} }}; ",
                self.lasting_name(id),
                super::stub::quoted(&file),
                u32::from(is_reference)
            ));
        }
        text
    }

    /// What a variable is called in every run of the program: names that other files may have are told apart.
    fn lasting_name(&self, id: VarId) -> String {
        let var = &self.program.vars[id];
        let name = var.name.map_or("", |it| self.program.names.text(it));
        let file = self.locator.locate(var.span).map_or_else(String::new, |it| it.file.to_string());
        let file = file.rsplit('/').next().unwrap_or_default();
        match var.storage {
            VarStorage::Global | VarStorage::Extern => name.to_owned(),
            VarStorage::Static => format!("{file}.{name}"),
            VarStorage::LocalStatic(of) | VarStorage::Local(of) | VarStorage::Param(of) => {
                let function = self.program.names.text(self.program.functions[of].name);
                format!("{file}.{function}.{name}")
            }
        }
    }

    /// The copies that devices have.
    fn device_copies(&self, printer: &Printer<'_>, vars: &[VarId]) -> String {
        if self.standalone {
            let span = vars.first().map_or(source::Span::NONE, |it| self.program.vars[*it].span);
            self.not_standalone(span, "a variable of which each device has one");
        }
        let call = format!(
            "extern void *{}(void *, void *, const void *, __ferry_size);\n",
            abi::names::LOCAL_COPY
        );
        let mut state = self.state.borrow_mut();
        if !state.declarations.contains(&call) {
            state.declarations.push(call);
        }
        let mut text = String::new();
        for id in vars.iter().filter(|it| self.moved.contains_key(it)) {
            let var = &self.program.vars[*id];
            let name = printer.declared_name(*id);
            let init = var.init.map_or_else(String::new, |it| {
                format!(" = {}", printer.init(it, var.ty).replace('\n', " "))
            });
            let linkage = match var.storage {
                VarStorage::Global => "__attribute__((weak))",
                VarStorage::Extern => "extern",
                VarStorage::Static
                | VarStorage::LocalStatic(_)
                | VarStorage::Param(_)
                | VarStorage::Local(_) => "static",
            };
            for copy in ["local", "fresh"] {
                text.push_str(&format!(
                    "{linkage} __typeof__({name}) __ferry_{copy}_{name}{init}; "
                ));
            }
        }
        text
    }

    fn declare_calls(&self) {
        let mut state = self.state.borrow_mut();
        if !state.declarations.iter().any(|it| it == directive::STORAGE_CALLS) {
            state.declarations.push(directive::STORAGE_CALLS.to_owned());
        }
    }
}
