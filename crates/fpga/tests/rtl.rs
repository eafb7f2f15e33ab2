//! Kernels as hardware: the same values as the interpreter of kernels leaves, in the cycles that estimates tell, here and, where
//! Icarus Verilog is installed, as Verilog.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use directive::Directives;
use fpga::device::Devices;
use fpga::hardware::{Hardware, design};
use ir::construct::Leaf;
use ir::program::{Item, VarId};
use kernel::Module;
use kernel::interpret::{Form, Machine};
use opt::passes::pipeline::run_pipelined;
use rtl::Design;
use rtl::circuit::Circuit;
use rtl::float::{self, DOUBLE, Order, SINGLE};
use rtl::run::run;
use rtl::verilog::{bench, verilog};
use source::SourceMap;

/// The regions of a text, outlined.
fn module(text: &str) -> Module {
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
type State = BTreeMap<VarId, Vec<u8>>;

fn file_variables(module: &Module) -> Vec<VarId> {
    let items = module.program.items.iter();
    items.filter_map(|it| if let Item::Var(var) = it { Some(*var) } else { None }).collect()
}

/// Numbers for the elements of all variables: small ones in `int`s, all kinds in others.
fn filled(module: &Module) -> State {
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
fn interpreted(module: &Module, state: &State) -> State {
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
fn laid_out(state: &State) -> (Vec<u8>, BTreeMap<VarId, u64>) {
    let (mut memory, mut places) = (vec![0; 64], BTreeMap::new());
    for (var, bytes) in state {
        places.insert(*var, memory.len() as u64);
        memory.extend(bytes);
        memory.resize(memory.len().next_multiple_of(8), 0);
    }
    (memory, places)
}

/// Registers as a kernel begins: values and addresses of variables.
fn registers(hardware: &Hardware, state: &State, places: &BTreeMap<VarId, u64>) -> Vec<u64> {
    let mut registers = vec![0; hardware.design.registers.len()];
    for (var, register) in &hardware.values {
        let mut word = [0; 8];
        let bytes = &state[var];
        word[..bytes.len()].copy_from_slice(bytes);
        registers[*register] = u64::from_le_bytes(word);
    }
    for (var, register) in &hardware.addresses {
        registers[*register] = places[var];
    }
    registers
}

/// Variables as a kernel has left them.
fn left(
    hardware: &Hardware,
    state: &State,
    registers: &[u64],
    memory: &[u8],
    places: &BTreeMap<VarId, u64>,
) -> State {
    let mut found = State::new();
    for (var, bytes) in state {
        let at = places[var] as usize;
        let mut now = memory[at..at + bytes.len()].to_vec();
        if let Some(register) = hardware.values.get(var) {
            now = registers[*register].to_le_bytes()[..bytes.len()].to_vec();
        }
        found.insert(*var, now);
    }
    found
}

/// The same as Verilog; nothing where there is no simulator.
fn simulated(
    design: &Design,
    registers: &[u64],
    memory: &[u8],
) -> Option<(u64, Vec<u64>, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("kernel.v", &verilog(design, "kernel"));
    write("bench.v", &bench(design, registers, memory.len(), 1_000_000));
    let mut hex = String::new();
    memory.iter().for_each(|it| writeln!(hex, "{it:02x}").unwrap());
    write("memory.hex", &hex);
    let mut build = Command::new("iverilog");
    build.args(["-g2012", "-o", "bench", "kernel.v", "bench.v"]).current_dir(folder.path());
    let Ok(built) = build.output() else {
        eprintln!("skipped: Icarus Verilog is not installed (Debian: iverilog)");
        return None;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new("vvp").arg("bench").current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let value = |name: &str, base: u32| {
        let line = said.lines().find_map(|it| it.strip_prefix(&format!("{name} ")));
        u64::from_str_radix(line.unwrap_or_else(|| panic!("{name}: {said}")).trim(), base).ok()
    };
    let cycles = value("cycles", 10).unwrap();
    // What nobody has set has no value.
    let registers =
        (0..registers.len()).map(|it| value(&format!("r{it}"), 16).unwrap_or(0)).collect();
    let bytes = fs::read_to_string(folder.path().join("memory.out")).unwrap();
    let lines = bytes.lines().filter(|it| !it.starts_with("//"));
    let memory =
        lines.flat_map(str::split_whitespace).map(|it| u8::from_str_radix(it, 16).unwrap());
    Some((cycles, registers, memory.collect()))
}

fn check(name: &str, device: &str, text: &str) {
    let mut module = module(text);
    let device = Devices::built_in().get(device).unwrap();
    let mut state = filled(&module);
    let wanted = interpreted(&module, &state);
    let kernels = module.kernels.clone();
    for kernel in &kernels {
        let single = run_pipelined(&mut module.program, kernel, device.fabric(), None).unwrap();
        let hardware = design(&module.program, &single, &device, None)
            .unwrap_or_else(|it| panic!("{name}: {}", it.why));
        let design = &hardware.design;
        let given = BTreeMap::from([("n".to_owned(), 37)]);
        let told = fpga::plan::plan(&module.program, &single, &device, &given).cycles;
        // Not everything that is hardware has an estimate.
        assert!(told.is_some() || name == "calls", "{name}: no estimate");
        let (first, places) = laid_out(&state);
        let begin = registers(&hardware, &state, &places);
        let (mut now, mut memory) = (begin.clone(), first.clone());
        let cycles = run(design, &mut now, memory.as_mut_slice(), 1_000_000)
            .unwrap_or_else(|it| panic!("{name}: {it:?}"));
        if let Some((counted, then, after)) = simulated(design, &begin, &first) {
            assert_eq!(counted, cycles, "{name}: cycles in Verilog");
            assert_eq!(after, memory, "{name}: memory in Verilog");
            for register in hardware.values.values() {
                assert_eq!(
                    then[*register], now[*register],
                    "{name}: register {register} in Verilog"
                );
            }
        }
        eprintln!("{name}: {cycles} cycles, told {told:?}");
        // From block to block a few cycles pass, which estimates leave out.
        let (blocks, told) = (design.states.len() as u64, told.unwrap_or(cycles));
        assert!(
            cycles.abs_diff(told) <= told / 100 + 4 * blocks,
            "{name}: {cycles} cycles, told {told}"
        );
        state = left(&hardware, &state, &now, &memory, &places);
    }
    for (var, bytes) in &wanted {
        let name_of = module.program.vars[*var].name.map(|it| module.program.names.text(it));
        assert_eq!(&state[var], bytes, "{name}: {name_of:?}");
    }
}

/// Numbers of all kinds: from the least to those that are none.
fn some(seed: &mut u64, bits: u32) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    let (exponent, fraction) = if bits == 32 { (8, 23) } else { (11, 52) };
    let (ones, sign) = ((1u64 << exponent) - 1, 1u64 << (bits - 1));
    let word = *seed & if bits == 32 { 0xffff_ffff } else { u64::MAX };
    match *seed >> 60 {
        0 => word & sign,
        1 => word & sign | ones << fraction,
        2 => word & !(ones << fraction),
        3 => word & sign | 1 << fraction,
        4..=8 => word & !(ones << fraction) | (ones / 2 - 2 + (*seed >> 40) % 5) << fraction,
        _ => word,
    }
}

/// A circuit gives what the processor gives.
fn same(name: &str, circuit: &Circuit, bits: u32, native: impl Fn([u64; 3]) -> u64) {
    let mut seed = 0x1234_5678_9abc_def1;
    for _ in 0..20_000 {
        let operands = [(); 3].map(|()| some(&mut seed, bits));
        let found = circuit.run(&operands.map(u128::from));
        assert_eq!(found, u128::from(native(operands)), "{name} {operands:x?}");
    }
}

#[test]
fn operators_on_floats_round_as_the_processor_does() {
    let f = |it: u64| f32::from_bits(it as u32);
    let d = f64::from_bits;
    let s = |it: f32| u64::from(if it.is_nan() { 0x7fc0_0000 } else { it.to_bits() });
    let l = |it: f64| if it.is_nan() { 0x7ff8 << 48 } else { it.to_bits() };
    same("add", &float::add(SINGLE, false), 32, |[a, b, _]| s(f(a) + f(b)));
    same("sub", &float::add(SINGLE, true), 32, |[a, b, _]| s(f(a) - f(b)));
    same("mul", &float::multiply(SINGLE), 32, |[a, b, _]| s(f(a) * f(b)));
    same("fma", &float::fused(SINGLE), 32, |[a, b, c]| s(f(a).mul_add(f(b), f(c))));
    same("div", &float::divide(SINGLE), 32, |[a, b, _]| s(f(a) / f(b)));
    same("sqrt", &float::sqrt(SINGLE), 32, |[a, _, _]| s(f(a).sqrt()));
    same("less", &float::compare(SINGLE, Order::Less), 32, |[a, b, _]| u64::from(f(a) < f(b)));
    same("equal", &float::compare(DOUBLE, Order::Equal), 64, |[a, b, _]| u64::from(d(a) == d(b)));
    same("order", &float::compare(DOUBLE, Order::LessOrEqual), 64, |[a, b, _]| {
        u64::from(d(a) <= d(b))
    });
    same("add", &float::add(DOUBLE, false), 64, |[a, b, _]| l(d(a) + d(b)));
    same("mul", &float::multiply(DOUBLE), 64, |[a, b, _]| l(d(a) * d(b)));
    same("fma", &float::fused(DOUBLE), 64, |[a, b, c]| l(d(a).mul_add(d(b), d(c))));
    same("div", &float::divide(DOUBLE), 64, |[a, b, _]| l(d(a) / d(b)));
    same("sqrt", &float::sqrt(DOUBLE), 64, |[a, _, _]| l(d(a).sqrt()));
    same("widen", &float::convert(SINGLE, DOUBLE), 32, |[a, _, _]| l(f64::from(f(a))));
    same("narrow", &float::convert(DOUBLE, SINGLE), 64, |[a, _, _]| s(d(a) as f32));
    same("to int", &float::to_integer(SINGLE, 32, true), 32, |[a, _, _]| {
        u64::from((f(a) as i32).cast_unsigned())
    });
    same("to long", &float::to_integer(DOUBLE, 64, true), 64, |[a, _, _]| {
        (d(a) as i64).cast_unsigned()
    });
    same("to unsigned", &float::to_integer(DOUBLE, 32, false), 64, |[a, _, _]| {
        u64::from(d(a) as u32)
    });
    same("of int", &float::from_integer(SINGLE, 32, true), 32, |[a, _, _]| {
        s((a as u32).cast_signed() as f32)
    });
    same("of long", &float::from_integer(DOUBLE, 64, true), 64, |[a, _, _]| {
        l(a.cast_signed() as f64)
    });
    same("of unsigned", &float::from_integer(SINGLE, 64, false), 64, |[a, _, _]| s(a as f32));
}

#[test]
fn what_is_no_hardware_yet_is_refused_by_name() {
    let refused = |text: &str, why: &str| {
        let mut module = module(text);
        let device = Devices::built_in().get("ecp5").unwrap();
        let kernel = module.kernels[0].clone();
        let single = run_pipelined(&mut module.program, &kernel, device.fabric(), None).unwrap();
        let found = design(&module.program, &single, &device, None).expect_err("it is no hardware");
        assert_eq!(found.why, why);
    };
    refused(
        "struct { int x : 3; } s[9];\nvoid f(void) {\n#pragma acc serial\n  for (int i = 0; i < 9; i++) s[i].x = i;\n}\n",
        "a bit-field",
    );
    refused(
        "int a[99];\nvoid f(void) {\n#pragma acc serial\n  for (int i = 0; i < 99; i++) { if (a[i] > 5) break; a[i] = 1; }\n}\n",
        "code that leaves a loop or the kernel early",
    );
    refused(
        "int a[99];\nvoid f(void) {\n#pragma acc serial\n  {\n    int b[50];\n    for (int i = 0; i < 50; i++) b[i] = a[i];\n    for (int i = 0; i < 50; i++) a[i] = b[49 - i];\n  }\n}\n",
        "an array of the kernel's own that lies in memory",
    );
    refused(
        "double exp(double); double a[99];\nvoid f(void) {\n#pragma acc serial\n  for (int i = 0; i < 99; i++) a[i] = exp(a[i]);\n}\n",
        "a call of `exp`, which is no operator",
    );
    refused(
        "int f(int x) { return x ? f(x - 1) : 0; } int a[99];\nvoid g(void) {\n#pragma acc serial\n  for (int i = 0; i < 99; i++) a[i] = f(i);\n}\n",
        "`f`, which calls itself",
    );
    refused(
        "int a[99];\nint f(int x) { for (int i = 0; i < 9; i++) if (a[i] == x) return i; return -1; }\nvoid g(void) {\n#pragma acc serial\n  for (int i = 0; i < 99; i++) a[i] = f(i);\n}\n",
        "a function that returns out of a loop",
    );
}

#[test]
fn loops_of_floats_and_integers_are_the_same_as_hardware() {
    check(
        "axpy",
        "stratix-v",
        "float x[64], y[64], a; int n;\nvoid f(void) {\n#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1)\n  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];\n}\n",
    );
    check(
        "doubles",
        "stratix-v",
        "double x[64], y[64], z[64]; int n;\nvoid f(void) {\n#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1)\n  for (int i = 0; i < n; i++) z[i] = x[i] / (y[i] - 1.5) + (float)x[i] * (i & 7);\n}\n",
    );
}

#[test]
fn a_sum_takes_turns_in_registers() {
    check(
        "sum",
        "stratix-v",
        "int a[64], s; int n;\nvoid f(void) {\n#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) reduction(+: s)\n  for (int i = 0; i < n; i++) s += a[i] * 3;\n}\n",
    );
    check(
        "plain sum",
        "ecp5",
        "float a[64], s; int n;\nvoid f(void) {\n#pragma acc serial\n  for (int i = 0; i < n; i++) s += a[i];\n}\n",
    );
}

#[test]
fn values_that_go_through_memory_are_waited_for() {
    check(
        "prefix",
        "ecp5",
        "int a[64]; int n;\nvoid f(void) {\n#pragma acc serial\n  for (int i = 2; i < n; i++) a[i] = a[i - 2] + i;\n}\n",
    );
}

#[test]
fn nests_and_conditions_are_states() {
    check(
        "alignment",
        "stratix-v",
        "int m[12][40], r[12][40]; int n;\nvoid f(void) {\n#pragma acc serial\n  for (int i = 1; i < n - 33; i++)\n    for (int j = 1; j < n; j++) {\n      \
         int a = m[i - 1][j - 1] + r[i][j], b = m[i][j - 1] - 2, c = m[i - 1][j] - 2;\n      int x = a > b ? a : b;\n      m[i][j] = x > c ? x : c;\n    }\n}\n",
    );
    // Without a value that goes through memory an iteration starts every cycle.
    check(
        "alignment in registers",
        "stratix-v",
        "int m[4][1200], r[4][1200];\nvoid f(void) {\n#pragma acc serial\n  for (int i = 1; i < 4; i++)\n    for (int j = 1; j < 1200; j++) {\n      \
         int a = m[i - 1][j - 1] + r[i][j], b = m[i][j - 1] - 2, c = m[i - 1][j] - 2;\n      int x = a > b ? a : b;\n      m[i][j] = x > c ? x : c;\n    }\n}\n",
    );
    check(
        "branches",
        "ecp5",
        "short a[64]; unsigned b[64]; int n;\nvoid f(void) {\n#pragma acc serial\n  for (int i = 0; i < n; i++) {\n    if (a[i] > 0 && b[i] < 100u) b[i] = a[i] % 7; else a[i] = -(a[i] >> 2);\n  }\n}\n",
    );
}

#[test]
fn calls_are_part_of_their_block() {
    check(
        "calls",
        "ecp5",
        "int a[64], b[64]; float x[64]; int n; struct pair { int low, high; };\n\
         int abs(int); float fmaxf(float, float); float fminf(float, float);\n\
         int clamp(int x, int low) { if (x < low) return low; else if (x == 5) x = -x; return x; }\n\
         void put(int *to, int v) { if (v < 0) return; *to = v; }\n\
         void f(void) {\n#pragma acc serial\n  for (int i = 1; i < n; i++) {\n    struct pair p;\n    \
         p.low = clamp(a[i], 10);\n    p.high = clamp(i, 4);\n    put(&b[n] - n + i, p.low - p.high * abs(a[i]));\n    \
         a[i] = (int)(&a[i] - a) + (b + i > b);\n    x[i] = fmaxf(x[i], 2) + fminf(x[i], -x[i]);\n  }\n}\n",
    );
}
