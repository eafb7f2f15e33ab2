//! Functions that are called through pointers on devices: the host's address of each leads, through
//! the table of mappings, to the device's.
//!
//! In: declarations that say so. Out: a row per function, and a variable of the device unit with the
//! function's address there, which the runtime reads.
//!
//! A pointer may also have come with data, where nobody knows that it is one: a device unit that calls through pointers has
//! a table with both addresses of all such functions, which the runtime fills, and looks there what a pointer leads to.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{Declaration, ExprKind, FunctionId, Program};

use super::Lowering;
use super::frame::Row;
use crate::c::Grid;

/// What the table is called inside of the unit.
pub(super) const TABLE: &str = "__ferry_functions";
/// Its words.
pub(super) const WORDS: usize = 1 + 2 * abi::entry::MOST_FUNCTIONS;

impl Lowering<'_> {
    /// The rows of the host's table.
    pub(super) fn indirect_rows(&self) -> Vec<Row> {
        let row = |id: FunctionId| Row {
            address: self.name_of(id).to_owned(),
            name: self.address_symbol(id),
            size: "sizeof(void *)".to_owned(),
            flags: abi::entry::INDIRECT,
            data: 0,
        };
        let table = self.calls_through_pointers().then(|| Row {
            address: "0".to_owned(),
            name: self.function_table(),
            size: format!("{WORDS} * 8"),
            flags: abi::entry::FUNCTIONS,
            data: 0,
        });
        indirect(self.program).into_iter().map(row).chain(table).collect()
    }

    /// The name of the table in the image.
    fn function_table(&self) -> String {
        format!("{TABLE}_{:016x}", self.unit)
    }

    /// Whether some function or region calls through a pointer.
    fn calls_through_pointers(&self) -> bool {
        let functions = self.program.functions.iter().map(|(_, it)| &it.indirect_calls);
        let regions = self.program.regions.iter().map(|(_, it)| &it.indirect_calls);
        functions.chain(regions).any(|it| !it.is_empty())
    }

    /// Whether calls through pointers ask the table.
    pub(super) fn asks_table(&self) -> bool {
        let has_pointers = !self.grid.is_some_and(Grid::is_opencl);
        let is_linked = !self.standalone && self.near.is_none();
        self.is_device && has_pointers && is_linked && self.calls_through_pointers()
    }

    /// The table, and the function that asks it.
    pub(super) fn function_lookup(&self) -> String {
        if !self.asks_table() {
            return String::new();
        }
        let table = self.function_table();
        let (before, after, inline) = match self.grid {
            Some(_) => ("extern \"C\" { __device__ ", " }", "__device__ static"),
            None => ("", "", "static __inline__ __attribute__((unused))"),
        };
        format!(
            "{before}unsigned long {table}[{WORDS}];{after}\n\
             {inline} void *__ferry_function(const void *__to) {{\n\
             for (unsigned long __i = 1; __i <= 2 * {table}[0]; __i += 2)\n\
             if ({table}[__i] == (unsigned long)__to) return (void *){table}[__i + 1];\n\
             return (void *)__to; }}\n"
        )
    }

    /// The variables of the device unit.
    pub(super) fn indirect_addresses(&self) -> String {
        let define = |id: FunctionId| {
            format!("void *const {} = (void *){};\n", self.address_symbol(id), self.name_of(id))
        };
        indirect(self.program).into_iter().map(define).collect()
    }

    /// What those variables are called, and the functions.
    pub(super) fn indirect_functions(&self) -> Vec<(String, String)> {
        let named = |id| (self.address_symbol(id), format!("__ferry_f_{}", self.name_of(id)));
        indirect(self.program).into_iter().map(named).collect()
    }

    /// The functions.
    pub(super) fn indirect_ids(&self) -> Vec<FunctionId> {
        indirect(self.program)
    }

    fn address_symbol(&self, id: FunctionId) -> String {
        format!("__ferry_f_{:016x}_{}", self.unit, self.name_of(id))
    }

    fn name_of(&self, id: FunctionId) -> &str {
        self.program.names.text(self.program.functions[id].name)
    }
}

/// Functions defined here that declarations call callable through pointers, each once.
fn indirect(program: &Program) -> Vec<FunctionId> {
    let mut found = Vec::new();
    for declaration in program.declarations.iter().filter(|it| says_so(it)) {
        for id in declaration.functions.iter().copied().chain(listed(program, declaration)) {
            if program.functions[id].body.is_some() && !found.contains(&id) {
                found.push(id);
            }
        }
    }
    found
}

fn says_so(declaration: &Declaration) -> bool {
    let construct = &declaration.construct;
    // A condition that is false has been taken out as absent.
    (construct.has(Leaf::DeclareTarget) || construct.has(Leaf::BeginDeclareTarget))
        && construct.clauses.iter().any(|it| matches!(it.kind, ClauseKind::Indirect(_)))
}

fn listed<'a>(
    program: &'a Program,
    declaration: &'a Declaration,
) -> impl Iterator<Item = FunctionId> + 'a {
    let items = declaration.construct.clauses.iter().flat_map(|it| match &it.kind {
        ClauseKind::DeviceEnter { items, .. } => items.as_slice(),
        _ => &[],
    });
    items.filter_map(|it| match program.exprs[*it].kind {
        ExprKind::Function(id) => Some(id),
        _ => None,
    })
}
