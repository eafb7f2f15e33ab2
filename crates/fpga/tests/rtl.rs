//! Kernels as hardware: the same values as the interpreter of kernels leaves, in the cycles that estimates tell, here and, where
//! Icarus Verilog or Verilator is installed, as Verilog.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test"
)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use fpga::device::Devices;
use fpga::hardware::design;
use opt::passes::Fabric;
use opt::passes::pipeline::run_pipelined;
use rtl::Design;
use rtl::run::run;
use rtl::verilog::{bench, verilog};
use support::{arguments, filled, interpreted, laid_out, left, module};

/// Who runs Verilog.
#[derive(Clone, Copy, PartialEq)]
enum Simulator {
    Icarus,
    Verilator,
}

impl Simulator {
    /// The command that builds `bench`, the one that runs it, and where it is from.
    fn commands(self) -> (Command, Command, &'static str) {
        let (mut build, mut run);
        match self {
            Simulator::Icarus => {
                (build, run) = (Command::new("iverilog"), Command::new("vvp"));
                build.args(["-g2012", "-o", "bench"]);
                run.arg("bench");
                (build, run, "Icarus Verilog is not installed (Debian: iverilog)")
            }
            Simulator::Verilator => {
                (build, run) = (Command::new("verilator"), Command::new("./made/Vbench"));
                build.args(["--binary", "--top-module", "bench", "-Mdir", "made", "-j", "2"]);
                build.args([
                    "-O0",
                    "-Wno-lint",
                    "-Wno-style",
                    "-Wno-MULTIDRIVEN",
                    "-CFLAGS",
                    "-O0",
                ]);
                (build, run, "Verilator is not installed (Debian: verilator)")
            }
        }
    }
}

/// The same as Verilog; nothing where there is no simulator.
fn simulated(
    simulator: Simulator,
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
    let (mut build, mut run, absent) = simulator.commands();
    build.args(["kernel.v", "bench.v"]).current_dir(folder.path());
    let Ok(built) = build.output() else {
        eprintln!("skipped: {absent}");
        return None;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = run.current_dir(folder.path()).output().unwrap();
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

/// Runs regions; answers the cycles of all.
fn check(name: &str, device: &str, text: &str) -> u64 {
    checked(name, device, text, Simulator::Icarus, (1, 1), &[])
}

/// The same with lanes and units.
fn check_lanes(name: &str, device: &str, text: &str, simulator: Simulator, sides: (u64, u64)) {
    checked(name, device, text, simulator, sides, &[]);
}

/// The same without some passes; answers the cycles of all regions.
fn checked(
    name: &str,
    device: &str,
    text: &str,
    simulator: Simulator,
    (lanes, units): (u64, u64),
    without: &'static [&'static str],
) -> u64 {
    let mut all = 0;
    let mut module = module(text);
    let device = Devices::built_in().get(device).unwrap();
    let mut state = filled(&module);
    let wanted = interpreted(&module, &state);
    let kernels = module.kernels.clone();
    for kernel in &kernels {
        let fabric = Fabric { lanes, units, without, ..device.fabric() };
        let single = run_pipelined(&mut module.program, kernel, fabric, None).unwrap();
        let passed = fpga::plan::passed(&module.program, &single);
        let hardware = design(&module.program, &single, &device, Some(&passed))
            .unwrap_or_else(|it| panic!("{name}: {}", it.why));
        let design = &hardware.design;
        let given = BTreeMap::from([("n".to_owned(), 37)]);
        let told = fpga::plan::plan(&module.program, &single, &device, &given);
        assert!(told.is_hardware, "{name}");
        let told = told.cycles.unwrap();
        let (first, places) = laid_out(&state);
        let begin = design.begin(&arguments(&passed, &state, &places));
        let (mut now, mut memory) = (begin.clone(), first.clone());
        let cycles = run(design, &mut now, memory.as_mut_slice(), 1_000_000)
            .unwrap_or_else(|it| panic!("{name}: {it:?}"));
        if let Some((counted, then, after)) = simulated(simulator, design, &begin, &first) {
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
        all += cycles;
        assert!(cycles.abs_diff(told) * 100 <= told, "{name}: {cycles} cycles, told {told}");
        state = left(&passed, &state, &memory, &places);
    }
    for (var, bytes) in &wanted {
        let name_of = module.program.vars[*var].name.map(|it| module.program.names.text(it));
        assert_eq!(&state[var], bytes, "{name}: {name_of:?}");
    }
    all
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
        "int a[99];\nvoid f(void) {\n#pragma acc serial\n  {\n    int b[90000000];\n    for (int i = 0; i < 50; i++) b[i] = a[i];\n    for (int i = 0; i < 50; i++) a[i] = b[49 - i];\n  }\n}\n",
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

const AXPY: &str = "float x[64], y[64], a; int n;\nvoid f(void) {\n#pragma acc parallel loop\n  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];\n}\n";

#[test]
fn lanes_and_units_take_the_cycles_that_are_told() {
    // 37 iterations: the last group is not full.
    for lanes in [2, 5] {
        check_lanes("lanes", "stratix-v", AXPY, Simulator::Icarus, (lanes, 1));
    }
    let stencil = "int a[20][40], b[20][40];\nvoid f(void) {\n#pragma acc parallel loop collapse(2)\n  for (int i = 1; i < 19; i++)\n    \
                   for (int j = 1; j < 38; j++) b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] - a[i][j + 1];\n}\n";
    for (lanes, units) in [(3, 1), (2, 3)] {
        check_lanes("stencil", "stratix-v", stencil, Simulator::Icarus, (lanes, units));
        check_lanes("stencil", "ecp5", stencil, Simulator::Icarus, (lanes, units));
    }
}

#[test]
fn a_second_simulator_of_verilog_agrees() {
    let text = AXPY.replace("float", "int");
    check_lanes("lanes", "ecp5", &text, Simulator::Verilator, (2, 1));
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
        "float a[64], s; int n;\nvoid f(void) {\n#pragma acc serial copy(s)\n  for (int i = 0; i < n; i++) s += a[i];\n}\n",
    );
}

#[test]
fn inner_sums_take_turns_in_registers() {
    // Whole numbers: their sums are the same in any order.
    let text = "float a[6][40], b[40][5], c[6][5]; int n;\nvoid f(void) {\n#pragma acc parallel loop collapse(2)\n  for (int i = 0; i < 6; i++)\n    \
                for (int j = 0; j < 5; j++) {\n      float sum = 0;\n#pragma acc loop reduction(+: sum)\n      for (int k = 0; k < n; k++) sum += (float)(int)a[i][k] * (float)(int)b[k][j];\n      \
                c[i][j] = sum;\n    }\n}\n";
    for device in ["stratix-v", "ecp5"] {
        let with = check(&format!("product, {device}"), device, text);
        let without = check("product", device, &text.replace("reduction(+: sum)", "seq"));
        assert!(with < without, "{with} cycles, {without} without registers");
    }
}

/// Neighbours of several rows: corners, conditions at the edges, three dimensions, bounds that are not zero.
const STENCILS: [(&str, &str); 5] = [
    (
        "nine",
        "int a[20][40], b[20][40];\nvoid f(void) {\n#pragma acc parallel loop collapse(2)\n  for (int i = 1; i < 19; i++)\n    for (int j = 1; j < 39; j++)\n      \
         b[i][j] = a[i - 1][j - 1] - a[i - 1][j + 1] + 2 * (a[i][j - 1] - a[i][j + 1]) + a[i + 1][j - 1] - a[i + 1][j + 1] + 3 * (a[i - 1][j] + a[i + 1][j]);\n}\n",
    ),
    (
        "edges",
        "float a[18][30], b[18][30];\nvoid f(void) {\n#pragma acc parallel loop collapse(2)\n  for (int i = 0; i < 18; i++)\n    for (int j = 0; j < 30; j++)\n      \
         b[i][j] = a[i > 0 ? i - 1 : 0][j] + a[i < 17 ? i + 1 : 17][j] - a[i][j > 0 ? j - 1 : 0] * a[i][j < 29 ? j + 1 : 29] + a[i][j];\n}\n",
    ),
    (
        "branches",
        "double a[16][20], b[16][20], p[16][20];\nvoid f(void) {\n#pragma acc parallel loop collapse(2)\n  for (int i = 0; i < 16; i++)\n    for (int j = 0; j < 20; j++) {\n      \
         double d;\n      if (i == 0) d = p[i][j] + a[i + 1][j];\n      else if (i == 15) d = p[i][j] - a[i - 1][j];\n      else d = p[i][j] * (a[i + 1][j] - a[i - 1][j]);\n      b[i][j] = a[i][j] + d;\n    }\n}\n",
    ),
    (
        "cube",
        "short a[14][9][11], b[14][9][11];\nvoid f(void) {\n#pragma acc parallel loop collapse(3)\n  for (int i = 2; i < 12; i++)\n    for (int j = 1; j <= 7; j++)\n      for (int k = 1; k < 10; k++)\n        \
         b[i][j][k] = a[i - 2][j][k] + a[i + 2][j][k] - a[i][j - 1][k] + a[i][j + 1][k] * 3 + a[i][j][k - 1] - a[i][j][k + 1];\n}\n",
    ),
    (
        "one subscript",
        "int a[800], b[800];\nvoid f(void) {\n#pragma acc parallel loop collapse(2)\n  for (int i = 1; i < 19; i++)\n    for (int j = 0; j < 40; j++)\n      \
         b[i * 40 + j] = a[(i - 1) * 40 + j] + a[(i + 1) * 40 + j] - 2 * a[i * 40 + j - 1];\n}\n",
    ),
];

#[test]
fn rows_stay_on_the_chip_where_loads_take_turns() {
    for (name, text) in STENCILS {
        let mut last = u64::MAX;
        for (device, loads) in [("stratix-v", false), ("ecp5", true)] {
            let cycles = check(&format!("{name}, {device}"), device, text);
            // One element is loaded an iteration, with some before each row: fewer cycles than two loads take.
            last = if loads { cycles } else { last };
        }
        let without = checked(name, "ecp5", text, Simulator::Icarus, (1, 1), &["lines"]);
        assert!(
            last * 3 < without * 2,
            "{name}: {last} cycles, {without} without rows on the chip"
        );
    }
}

#[test]
fn arrays_of_the_kernel_lie_on_the_chip() {
    check(
        "turned",
        "ecp5",
        "int a[99]; short c[4][9];\nvoid f(void) {\n#pragma acc serial\n  {\n    int b[50]; short d[3][9];\n    for (int i = 0; i < 50; i++) b[i] = a[i];\n    \
         for (int i = 0; i < 50; i++) a[i] = b[49 - i];\n    for (int i = 0; i < 50; i++) { b[i % 7] = i; a[i] += b[i % 7 / 2]; }\n    \
         for (int i = 0; i < 3; i++) for (int j = 0; j < 9; j++) d[i][j] = c[i][j] + j;\n    for (int i = 0; i < 3; i++) for (int j = 0; j < 9; j++) c[i + 1][j] = d[2 - i][8 - j];\n  }\n}\n",
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
