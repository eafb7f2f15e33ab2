//! Regions of texts, what the interpreter of kernels makes of their variables, and how these are launched.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;

use directive::Directives;
use fpga::hardware::Passed;
use ir::construct::Leaf;
use ir::program::{Item, VarId};
use kernel::Module;
use kernel::interpret::{Form, Machine};
use source::SourceMap;

/// The regions of a text, outlined.
pub(crate) fn module(text: &str) -> Module {
    let mut map = SourceMap::new();
    let marked = format!("# 1 \"t.c\"\n{text}");
    let file = map.add_preprocessed("t.c".to_owned(), marked.into_bytes()).unwrap();
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    assert_eq!(checked.diagnostics.errors(), 0, "{:?}", checked.diagnostics);
    let program = checked.program;
    let regions: Vec<_> =
        program.regions.iter().filter(|it| it.1.construct.has(Leaf::Offload)).collect();
    let regions: Vec<_> = regions.into_iter().map(|it| it.0).collect();
    outline::outline(&program, &regions, &rustc_hash::FxHashSet::default()).module
}

/// Variables of the file with their bytes.
pub(crate) type State = BTreeMap<VarId, Vec<u8>>;

pub(crate) fn file_variables(module: &Module) -> Vec<VarId> {
    let items = module.program.items.iter();
    items.filter_map(|it| if let Item::Var(var) = it { Some(*var) } else { None }).collect()
}

/// Numbers for the elements of all variables: small ones in `int`s, all kinds in others.
pub(crate) fn filled(module: &Module) -> State {
    let program = &module.program;
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut state = State::new();
    for var in file_variables(module) {
        let mut ty = program.vars[var].ty;
        let size = program.model.size_of(&program.types, ty).unwrap();
        while let Some(element) = program.types.element(ty) {
            ty = element;
        }
        let each = program.model.size_of(&program.types, ty).unwrap();
        let is_integer = program.types.is_integer(ty);
        let name = program.vars[var].name.map(|it| program.names.text(it)).unwrap_or_default();
        let mut bytes = Vec::new();
        for at in 0..size / each {
            let value = (next() >> 40) as i64 % 1000 - 500;
            let fraction = value as f64 / 7.0;
            match (is_integer, each) {
                _ if name == "n" => bytes.extend(&37i64.to_le_bytes()[..each as usize]),
                (true, _) => bytes.extend(&value.to_le_bytes()[..each as usize]),
                (false, 4) if at % 11 == 5 => bytes.extend((fraction as f32 * 1e-42).to_le_bytes()),
                (false, 4) => bytes.extend((fraction as f32).to_le_bytes()),
                (false, _) => bytes.extend(fraction.to_le_bytes()),
            }
        }
        state.insert(var, bytes);
    }
    state
}

/// What the interpreter of kernels makes of it.
pub(crate) fn interpreted(module: &Module, state: &State) -> State {
    let mut machine = Machine::new(module, 1, 1);
    for (var, bytes) in state {
        machine.bind(*var, bytes).unwrap();
    }
    for kernel in &module.kernels {
        machine.run(kernel, Form::Outlined).unwrap_or_else(|it| panic!("{}", it.text));
    }
    state.keys().map(|it| (*it, machine.object(*it).unwrap().to_vec())).collect()
}

/// Where variables are in a memory of their bytes, each after the other.
pub(crate) fn laid_out(state: &State) -> (Vec<u8>, BTreeMap<VarId, u64>) {
    let (mut memory, mut places) = (vec![0; 64], BTreeMap::new());
    for (var, bytes) in state {
        places.insert(*var, memory.len() as u64);
        memory.extend(bytes);
        memory.resize(memory.len().next_multiple_of(8), 0);
    }
    (memory, places)
}

/// Arguments of a launch: values and addresses of variables.
pub(crate) fn arguments(
    passed: &BTreeMap<VarId, Passed>,
    state: &State,
    places: &BTreeMap<VarId, u64>,
) -> Vec<u64> {
    let mut arguments = vec![0; passed.len()];
    for (var, how) in passed {
        match how {
            Passed::Own => {}
            Passed::Address(slot) => arguments[*slot] = places[var],
            Passed::Value(slot) => {
                let mut word = [0; 8];
                let bytes = &state[var];
                word[..bytes.len()].copy_from_slice(bytes);
                arguments[*slot] = u64::from_le_bytes(word);
            }
        }
    }
    arguments
}

/// Variables as a kernel has left them; those that it was given the value of stay.
pub(crate) fn left(
    passed: &BTreeMap<VarId, Passed>,
    state: &State,
    memory: &[u8],
    places: &BTreeMap<VarId, u64>,
) -> State {
    let mut found = state.clone();
    for (var, how) in passed {
        if let (Passed::Address(_), Some(bytes)) = (how, found.get_mut(var)) {
            let at = places[var] as usize;
            let end = at + bytes.len();
            bytes.copy_from_slice(&memory[at..end]);
        }
    }
    found
}
