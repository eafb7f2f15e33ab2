//! Functions that are called through pointers on devices: the host's address of each leads, through
//! the table of mappings, to the device's.
//!
//! In: declarations that say so. Out: a row per function, and a variable of the device unit with the
//! function's address there, which the runtime reads.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{Declaration, ExprKind, FunctionId, Program};

use super::Lowering;
use super::frame::Row;

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
        indirect(self.program).into_iter().map(row).collect()
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
