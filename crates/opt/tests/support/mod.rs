//! Kernels from text, through passes, and run.

use directive::Directives;
use ir::construct::Leaf;
use kernel::Module;
use kernel::interpret::{Form, Machine, Order};
use kernel::verify::{Fault, verify, verify_spmd};
use opt::passes::pipeline::{self, CORE_PASSES, LONE_PASSES, PASSES, Pass};
use opt::passes::{Cores, Fabric, Free, Groups, Refusal};
use source::{Severity, SourceMap};

/// The module that a text means, or what is wrong with the text. `is_c`: C whose regions are outlined.
pub(crate) fn module(text: &str, is_c: bool) -> Result<Module, String> {
    let mut map = SourceMap::new();
    let prelude = if is_c { "" } else { kernel::text::PRELUDE };
    let marked = format!("{prelude}# 1 \"t.k\"\n{text}");
    let file = map.add_preprocessed("t.k".to_owned(), marked.into_bytes()).unwrap();
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let found = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
    let errors: Vec<String> = found
        .filter(|it| it.severity == Severity::Error)
        .map(|it| format!("{}: {}", it.code, it.message))
        .collect();
    if !errors.is_empty() {
        return Err(errors.join("\n"));
    }
    let program = checked.program;
    if !is_c {
        return kernel::text::read(program).map_err(|it| it.text);
    }
    let goes = |it: &ir::region::Region| {
        it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels)
    };
    let computed = rustc_hash::FxHashSet::default();
    let regions: Vec<_> = program.regions.iter().filter(|it| goes(it.1)).map(|it| it.0).collect();
    let outlined = outline::outline(&program, &regions, &computed);
    match outlined.refused.first() {
        Some((_, refusal)) => Err(format!("not outlined: {}", refusal.why)),
        None => Ok(outlined.module),
    }
}

/// The faults as text.
pub(crate) fn faults(found: Vec<Fault>) -> String {
    if found.is_empty() {
        return "all laws hold\n".to_owned();
    }
    found.iter().map(|it| format!("{:?}: {}\n", it.law, it.text)).collect()
}

/// A device whose groups have so many threads at most.
fn groups(threads: u64) -> Groups {
    Groups {
        most_threads: threads,
        lanes: if threads.is_multiple_of(32) { threads / 4 } else { threads.min(2) },
        memory: 1 << 20,
        words: 32,
        questions: 8,
        posts: 1024,
        many: 100,
        at_once: 8,
        atomics: true,
    }
}

/// The module with its kernels after all passes; `deep`: all loops are shared that may be.
#[allow(dead_code, reason = "not every test that shares this asks")]
pub(crate) fn after_all(module: &Module, threads: u64, deep: bool) -> Result<Module, String> {
    let mut made = module.clone();
    let free = if deep { independent(module) } else { Free::default() };
    for at in 0..made.kernels.len() {
        let kernel = made.kernels[at].clone();
        made.kernels[at] = pipeline::run(&mut made.program, &kernel, groups(threads), &free, None)
            .map_err(refused)?;
    }
    Ok(made)
}

fn refused(refusal: Refusal) -> String {
    format!("refused: {}\n", refusal.bug.as_deref().unwrap_or(refusal.why))
}

/// Takes a module through passes and runs it after each that changes it: what is otherwise than at first. The last pass may
/// bring another form.
fn watched<'p>(
    module: &Module,
    passes: impl Iterator<Item = &'p Pass>,
    step: impl Fn(&Pass, &mut Module, usize) -> Result<(), Refusal>,
    (first, size, last): (&str, (u64, u64), Form),
) -> Result<String, String> {
    let mut made = module.clone();
    let mut told = String::new();
    let mut passes = passes.peekable();
    while let Some(pass) = passes.next() {
        let before = made.kernels.clone();
        for at in 0..made.kernels.len() {
            if let Err(refusal) = step(pass, &mut made, at) {
                return Err(format!("{told}after {}: {}", pass.name, refused(refusal)));
            }
        }
        let is_last = passes.peek().is_none();
        if !is_last && before == made.kernels {
            continue;
        }
        let form = if is_last { last } else { Form::Outlined };
        let found = if form == Form::Spmd { verify_spmd(&made) } else { verify(&made) };
        if !found.is_empty() {
            told.push_str(&format!("after {}: {}", pass.name, faults(found)));
        }
        let now = values(&made, form, size);
        if now != first {
            told.push_str(&format!("after {}:\n{now}", pass.name));
        }
    }
    Ok(told)
}

/// Loops whose rounds are independent.
fn independent(module: &Module) -> Free {
    let regions: Vec<_> = module.kernels.iter().map(|it| it.region).collect();
    let options = opt::marks::Options::default();
    opt::passes::independent(&module.program, &module.program, &regions, &options)
}

/// The module with its kernels after a pass for cores and those before it, and what was chosen.
fn after_for_cores(module: &Module, pass: &str) -> Result<(Module, String), String> {
    let mut made = module.clone();
    let regions: Vec<_> = module.kernels.iter().map(|it| it.region).collect();
    let independent = independent(module);
    let summing = opt::passes::summing(&module.program, &module.program, &regions);
    let cores = Cores { vector: 16, independent, summing };
    let mut notes = String::new();
    for at in 0..made.kernels.len() {
        let kernel = made.kernels[at].clone();
        match pipeline::run_for_cores(&mut made.program, &kernel, &cores, Some(pass)) {
            Ok(kernel) => made.kernels[at] = kernel,
            Err(refusal) => return Err(format!("{refusal:?}\n")),
        }
        let chosen = &made.kernels[at].launch.notes;
        let chosen = if chosen.is_empty() { "as it is".to_owned() } else { chosen.join("; ") };
        notes.push_str(&format!("{at}: {chosen}\n"));
    }
    Ok((made, notes))
}

/// The same as [`same`] with the passes for cores: what is otherwise later, and what was chosen.
#[allow(dead_code, reason = "not all who use this ask for cores")]
pub(crate) fn same_for_cores(module: &Module, size: (u64, u64)) -> (String, String) {
    let first = values(module, Form::Outlined, size);
    let (mut told, mut chosen) = (String::new(), String::new());
    let mut before = module.kernels.clone();
    // Each shared loop is changed by one of the later passes at most.
    for pass in CORE_PASSES.iter().take(2).chain(CORE_PASSES.last()) {
        let (made, notes) = match after_for_cores(module, pass.name) {
            Ok(made) => made,
            Err(wrong) => {
                told.push_str(&format!("after {}: {wrong}", pass.name));
                break;
            }
        };
        chosen = notes;
        if made.kernels == before {
            continue;
        }
        let found = verify(&made);
        if !found.is_empty() {
            told.push_str(&format!("after {}: {}", pass.name, faults(found)));
        }
        let now = values(&made, Form::Outlined, size);
        if now != first {
            told.push_str(&format!("after {}:\n{now}before:\n{first}", pass.name));
        }
        before = made.kernels;
    }
    (told, chosen)
}

/// The values that kernels leave in the file's variables, whichever thread goes first.
pub(crate) fn values(module: &Module, form: Form, (groups, threads): (u64, u64)) -> String {
    let mut answers = Vec::new();
    for order in [Order::Forward, Order::Backward] {
        let mut machine = Machine::new(module, groups, threads);
        machine.order = order;
        let mut answer = String::new();
        for kernel in &module.kernels {
            let form = if kernel.all.is_some() { Form::Spmd } else { form };
            if let Err(error) = machine.run(kernel, form) {
                answer.push_str(&format!("error: {}\n", error.text));
            }
        }
        for (id, var) in module.program.vars.iter() {
            let is_of_file = module.program.items.contains(&ir::program::Item::Var(id));
            if let (true, Some(name), Some(shown)) = (is_of_file, var.name, machine.show(id)) {
                let name = module.program.names.text(name);
                answer.push_str(&format!("{name} = {shown}\n"));
            }
        }
        answers.push(answer);
    }
    if answers[0] == answers[1] || answers[0].starts_with("error") {
        return answers.swap_remove(0);
    }
    format!("{}backwards:\n{}", answers[0], answers[1])
}

/// Runs kernels as they are and after each pass: what they leave at first, and what is otherwise later. Groups of one thread
/// have passes of their own. `deep`: all loops are shared that may be.
pub(crate) fn same(module: &Module, size: (u64, u64), deep: bool) -> (String, String) {
    let passes = if size.1 == 1 { LONE_PASSES } else { PASSES };
    let first = values(module, Form::Outlined, size);
    let found = verify(module);
    let outlined = match found.is_empty() {
        true => String::new(),
        false => format!("as outlined: {}", faults(found)),
    };
    let free = if deep { independent(module) } else { Free::default() };
    let step = |pass: &Pass, made: &mut Module, at: usize| {
        pipeline::step(pass, &mut made.program, &mut made.kernels[at], groups(size.1), &free)
    };
    let told = watched(module, passes.iter(), step, (&first, size, Form::Spmd));
    (first, format!("{outlined}{}", told.unwrap_or_else(|it| it)))
}

/// An FPGA with slow operators of different speed.
const FABRIC: Fabric = Fabric {
    add: [3, 2, 8, 11],
    multiply: [3, 4, 6, 16],
    extreme: [2, 1, 3, 2],
    reads: 1,
    lanes: 1,
    units: 1,
    memory: 1 << 20,
    without: &[],
};

/// The same with iterations side by side: numbers that divide few others.
const WIDE: Fabric = Fabric { lanes: 3, units: 2, ..FABRIC };

/// Runs kernels as they are and after each pass that makes a pipeline, with one thread: what is otherwise later. A second time
/// with iterations side by side, after all of them.
pub(crate) fn pipelined(module: &Module) -> (String, String) {
    let first = values(module, Form::Outlined, (1, 1));
    let told = watched(
        module,
        pipeline::PIPELINED.iter(),
        |pass, made, at| {
            pipeline::step_pipelined(pass, &mut made.program, &mut made.kernels[at], FABRIC)
        },
        (&first, (1, 1), Form::Outlined),
    );
    let mut told = match told {
        Ok(told) => told,
        Err(refused) => return (first, refused),
    };
    let mut made = module.clone();
    for at in 0..made.kernels.len() {
        let kernel = made.kernels[at].clone();
        match pipeline::run_pipelined(&mut made.program, &kernel, WIDE, None) {
            Ok(kernel) => made.kernels[at] = kernel,
            Err(refusal) => {
                let wrong = format!("{told}after partial: {}", refused(refusal));
                return (first, wrong);
            }
        }
    }
    let now = values(&made, Form::Outlined, (1, 1));
    if now != first {
        told.push_str(&format!("after partial:\n{now}"));
    }
    (first, told)
}

/// What passes have chosen for a pipeline with iterations side by side, a line for each.
#[allow(dead_code, reason = "not every test that shares this asks")]
pub(crate) fn chosen_wide(module: &Module) -> String {
    chosen_with(module, WIDE)
}

/// The same with one iteration after the other.
#[allow(dead_code, reason = "not every test that shares this asks")]
pub(crate) fn chosen(module: &Module) -> String {
    chosen_with(module, FABRIC)
}

fn chosen_with(module: &Module, fabric: Fabric) -> String {
    let mut made = module.clone();
    let mut told = String::new();
    for (at, kernel) in module.kernels.iter().enumerate() {
        match pipeline::run_pipelined(&mut made.program, kernel, fabric, None) {
            Ok(kernel) => kernel
                .launch
                .notes
                .iter()
                .for_each(|it| told.push_str(&format!("kernel {at}: {it}\n"))),
            Err(refusal) => told.push_str(&format!("kernel {at}: refused: {}\n", refusal.why)),
        }
    }
    told
}
