//! Programs on simulated hardware from the command line: what only that does, and what it says when something is wrong.
//!
//! That programs give the same answer there as everywhere is tried in `everywhere.rs`.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use support::{ferry, told};

fn build(folder: &Path, device: &str, files: &[(&str, &str)]) -> Output {
    let mut words = vec!["cc", "--device", device, "-O1", "-o", "program"];
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file");
        words.push(name);
    }
    ferry(&words, folder)
}

/// Builds and runs; whether it ended well, and what was printed.
fn answer(device: &str, files: &[(&str, &str)], settings: &[(&str, &str)]) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let built = build(folder.path(), device, files);
    assert!(built.status.success(), "{}", told(&built));
    let mut command = Command::new(folder.path().join("program"));
    command.env("FERRY_DEVICE", "fpga-rtl").env("OMP_TARGET_OFFLOAD", "MANDATORY");
    let ran = command.envs(settings.iter().copied()).output().expect("the program runs");
    (ran.status.success(), told(&ran))
}

const ADDS: &str = "\
float a[1000], b[1000];
int main(void) {
  for (int i = 0; i < 1000; i++) a[i] = i;
#pragma omp target teams distribute parallel for map(to : a) map(from : b)
  for (int i = 0; i < 1000; i++) b[i] = a[i] + 1;
  return b[999] != 1000;
}
";

/// Cycles of the only region.
fn cycles(said: &str) -> u64 {
    let words: Vec<&str> = said.split_whitespace().collect();
    let at = words.windows(3).find(|it| it.ends_with(&["cycles", "simulated,"]));
    at.and_then(|it| it.first()).and_then(|it| it.parse().ok()).expect(said)
}

#[test]
fn cycles_are_told_and_are_those_of_the_device_that_is_named() {
    let info = [("FERRY_INFO", "1")];
    let (is_right, small) = answer("fpga-rtl", &[("a.c", ADDS)], &info);
    assert!(is_right && small.contains("the latencies of `ecp5`"), "{small}");
    let (is_right, large) = answer("fpga-rtl:stratix-v", &[("a.c", ADDS)], &info);
    assert!(is_right && large.contains("the latencies of `stratix-v`"), "{large}");
    // An iteration starts every cycle; memory answers late.
    let (small, large) = (cycles(&small), cycles(&large));
    assert!((1000..1400).contains(&small) && (1000..1800).contains(&large), "{small} {large}");
    assert_ne!(small, large);
}

#[test]
fn an_access_outside_of_mapped_data_ends_the_program_with_its_line() {
    let text = ADDS
        .replace("map(to : a)", "map(to : a[0:500])")
        .replace("float a[1000],", "float a[1000], *p = a,");
    let text = text.replace("a[0:500]", "p[0:500]").replace("= a[i] + 1", "= p[i] + 1");
    let (is_right, said) = answer("fpga-rtl", &[("a.c", &text)], &[]);
    assert!(!is_right && said.contains("read of an unmapped address"), "{said}");
    assert!(said.contains("a.c:4"), "{said}");
}

#[test]
fn a_region_that_takes_too_long_is_stopped() {
    let (is_right, said) = answer("fpga-rtl", &[("a.c", ADDS)], &[("FERRY_CYCLE_LIMIT", "900")]);
    assert!(!is_right && said.contains("within 900 cycles"), "{said}");
}

#[test]
fn files_of_a_program_are_linked_if_they_are_for_one_device() {
    let other = "int g[9];\nint f(void) {\n#pragma omp target map(from : g)\n  for (int i = 0; i < 9; i++) g[i] = i;\n  return g[8];\n}\n";
    let main = "int f(void);\nint main(void) {\n  int x = 0;\n#pragma omp target map(tofrom : x)\n  x += 34;\n  return f() + x != 42;\n}\n";
    let (is_right, said) = answer("fpga-rtl", &[("a.c", main), ("b.c", other)], &[]);
    assert!(is_right, "{said}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text, device) in [("a", main, "fpga-rtl"), ("b", other, "fpga-rtl:arria-10")] {
        fs::write(folder.path().join(format!("{name}.c")), text).expect("a file");
        let built = ferry(&["cc", "--device", device, "-c", &format!("{name}.c")], folder.path());
        assert!(built.status.success(), "{}", told(&built));
    }
    let linked =
        ferry(&["cc", "--device", "fpga-rtl", "a.o", "b.o", "-o", "program"], folder.path());
    let said = told(&linked);
    assert!(
        !linked.status.success() && said.contains("compile all files for one device"),
        "{said}"
    );
    assert!(said.contains("b.o") && said.contains("arria-10"), "{said}");
}

/// The line and the cycles of each region that was simulated, in their order.
fn simulated(said: &str, name: &str) -> Vec<(u64, u64)> {
    let one = |line: &str| {
        let rest = line.strip_prefix(&format!("ferry: {name}:"))?;
        let before = rest.split(" cycles simulated").next().filter(|it| it.len() < rest.len())?;
        let cycles = before.rsplit(' ').next()?.parse().ok()?;
        Some((rest.split(':').next()?.parse().ok()?, cycles))
    };
    said.lines().filter_map(one).collect()
}

/// Cycles that are told of each region, by its line, before anything is run; where designs are searched for, those of the
/// chosen one.
fn foretold(folder: &Path, device: &str, name: &str, more: &[&str]) -> Vec<(u64, u64)> {
    let fpga = format!("--fpga={device}");
    let told = ferry(&[&["explain", &fpga, "--json", name], more].concat(), folder);
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).expect("a report");
    let regions = told.get("regions").and_then(|it| it.as_array()).expect("regions");
    let number = |it: &serde_json::Value, key: &str| it.get(key).and_then(|it| it.as_u64());
    let one = |it: &serde_json::Value| {
        // Of regions that run at the same time the last tells what all take.
        let together = it.get("together");
        let lines = together.and_then(|it| it.get("lines")).and_then(|it| it.as_array());
        if let Some(last) = lines.and_then(|it| it.last()) {
            let is_last = last.as_u64() == number(it, "line");
            return is_last.then(|| Some((number(it, "line")?, number(together?, "cycles")?)));
        }
        let mut designs = it.get("designs").and_then(|it| it.as_array()).into_iter().flatten();
        let chosen = designs.find(|it| it.get("chosen").is_some_and(|it| *it == true));
        let cycles = number(chosen.unwrap_or(it), "cycles");
        Some(number(it, "line").zip(cycles))
    };
    let told = regions.iter().filter_map(one);
    told.map(|it| it.expect("cycles are told of each region")).collect()
}

/// Words are equal, numbers with a fraction nearly: sums are taken in another order.
fn is_same(a: &str, b: &str) -> bool {
    let number = |it: &str| it.parse::<f64>().ok().filter(|_| it.contains('.'));
    let is_near = |(a, b): (&str, &str)| match (number(a), number(b)) {
        (Some(x), Some(y)) => (x - y).abs() <= 1e-4 * x.abs().max(1e-3),
        (_, _) => a == b,
    };
    let (x, y) = (a.split_whitespace(), b.split_whitespace());
    x.clone().count() > 0 && x.clone().count() == y.clone().count() && x.zip(y).all(is_near)
}

#[test]
fn applications_are_right_in_the_cycles_that_are_told_before() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/fpga");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut names = Vec::new();
    for it in fs::read_dir(&sources).expect("programs").flatten() {
        let name = it.file_name().into_string().expect("a name");
        fs::copy(it.path(), folder.path().join(&name)).expect("a copy");
        names.extend(Some(name).filter(|it| it.ends_with(".c")));
    }
    names.sort();
    assert_eq!(names.len(), 13);
    for name in names {
        let mut host = Command::new("cc");
        host.args(["-O1", "-w", "-ffp-contract=off", &name, "-o", "host", "-lm"]);
        assert!(host.current_dir(folder.path()).status().expect("a compiler").success());
        let right = Command::new(folder.path().join("host")).output().expect("it runs").stdout;
        for device in ["stratix-v", "ecp5"] {
            let words = ["cc", "-O1", "-ffp-contract=off", "--device"];
            let target = format!("fpga-rtl:{device}");
            let built = [&words[..], &[&target, &name, "-o", "program", "-lm"]].concat();
            let built = ferry(&built, folder.path());
            assert!(built.status.success(), "{}", told(&built));
            let mut run = Command::new(folder.path().join("program"));
            run.env("FERRY_DEVICE", "fpga-rtl").env("FERRY_INFO", "1");
            let ran = run.env("OMP_TARGET_OFFLOAD", "MANDATORY").output().expect("it runs");
            assert!(ran.status.success(), "{}", told(&ran));
            let [right, found] = [&right, &ran.stdout].map(|it| String::from_utf8_lossy(it));
            assert!(is_same(&right, &found), "{name} on {device}: {found}, not {right}");
            let counted = simulated(&told(&ran), &name);
            for (line, cycles) in foretold(folder.path(), device, &name, &[]) {
                let found = counted.iter().find(|it| it.0 == line);
                let (_, found) = found.unwrap_or_else(|| panic!("{name}:{line} did not run"));
                let is_near = cycles.abs_diff(*found) * 100 <= *found;
                assert!(is_near, "{name}:{line} on {device}: {found} cycles, {cycles} told");
            }
        }
    }
}

/// Neighbours, a map whose end is only known when it runs, and a sum.
const DESIGNED: &str = "\
#include <stdio.h>
#include <stdlib.h>
int a[1026], b[1026], c[999], d[999];
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 997, wrong = 0, sum = 0;
  for (int i = 0; i < 1026; i++) a[i] = i * i % 17;
  for (int i = 0; i < 999; i++) c[i] = i, d[i] = -1;
#pragma acc parallel loop copyin(a) copy(b)
  for (int i = 1; i < 1025; i++) b[i] = a[i - 1] + 3 * a[i] - a[i + 1];
#pragma omp target teams distribute parallel for map(to : c) map(tofrom : d)
  for (int i = 0; i < n; i++) d[i] = c[i] * 3 + 1;
#pragma omp target teams distribute parallel for map(to : c) reduction(+ : sum)
  for (int i = 0; i < 999; i++) sum += c[i];
  for (int i = 1; i < 1025; i++) wrong += b[i] != a[i - 1] + 3 * a[i] - a[i + 1];
  for (int i = 0; i < 999; i++) wrong += d[i] != (i < n ? 3 * i + 1 : -1);
  printf(\"%d %d\\n\", wrong, sum);
  return wrong != 0 || sum != 498501;
}
";

#[test]
fn searched_designs_are_built_and_take_the_cycles_that_are_told_before() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.c"), DESIGNED).expect("a file");
    let counted = |more: &[&str]| {
        let words = ["cc", "-O1", "--device", "fpga-rtl:stratix-v", "a.c", "-o", "program"];
        let built = ferry(&[&words, more].concat(), folder.path());
        assert!(built.status.success(), "{}", told(&built));
        let mut run = Command::new(folder.path().join("program"));
        run.env("FERRY_DEVICE", "fpga-rtl").env("FERRY_INFO", "1");
        let ran = run.env("OMP_TARGET_OFFLOAD", "MANDATORY").output().expect("it runs");
        assert!(ran.status.success(), "{}", told(&ran));
        simulated(&told(&ran), "a.c")
    };
    let (plain, searched) = (counted(&[]), counted(&["--ferry-search=n=997"]));
    let foretold = foretold(folder.path(), "stratix-v", "a.c", &["--search", "--given", "n=997"]);
    assert_eq!(searched, foretold);
    // A lane for each of several iterations: but for a sum, which is one loop.
    let lines: Vec<u64> = plain.iter().map(|it| it.0).collect();
    assert_eq!(lines, [8, 10, 12]);
    let gains = plain.iter().zip(&searched).map(|(a, b)| a.1 > b.1 + b.1 / 5);
    assert_eq!(gains.collect::<Vec<_>>(), [true, true, false], "{plain:?} {searched:?}");
    let wrong = ferry(&["cc", "--device", "fpga-rtl", "--ferry-search=n", "a.c"], folder.path());
    assert!(!wrong.status.success() && told(&wrong).contains("this is not `name=value`"));
    let wrong = ferry(&["cc", "--device", "cpu", "--ferry-search", "a.c"], folder.path());
    assert!(!wrong.status.success() && told(&wrong).contains("is about FPGAs"));
}

/// Lanes and units for a nest; units for a sum, which has none; a number that is no constant, and one that is too large.
const ADVISED: &str = "\
int a[20][70], b[20][70], s;
int main(void) {
  for (int i = 0; i < 20; i++) for (int j = 0; j < 70; j++) a[i][j] = i + j;
#pragma openarc opencl num_simd_work_items(3) num_compute_units(2)
#pragma acc parallel loop collapse(2) copyin(a) copyout(b)
  for (int i = 0; i < 20; i++) for (int j = 0; j < 70; j++) b[i][j] = a[i][j] * 3;
  int n = 2;
#pragma openarc opencl num_compute_units(2)
#pragma acc parallel loop reduction(+:s) copy(s)
  for (int i = 0; i < 20; i++) s += b[i][1];
#pragma openarc opencl num_simd_work_items(n)
#pragma acc parallel loop copy(b)
  for (int i = 0; i < 70; i++) b[1][i] += 1;
#pragma openarc opencl num_simd_work_items(1000000000)
#pragma acc parallel loop copy(b)
  for (int i = 0; i < 70; i++) b[2][i] += 1;
  int wrong = s != 630;
  for (int i = 0; i < 20; i++) for (int j = 0; j < 70; j++) wrong += b[i][j] != (i + j) * 3 + (i == 1 || i == 2);
  return wrong;
}
";

#[test]
fn fpgas_take_the_lanes_and_units_that_openarc_asks_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cycles = |text: &str, warnings: usize| {
        let built = build(folder.path(), "fpga-rtl:stratix-v", &[("a.c", text)]);
        let said = told(&built);
        assert!(built.status.success(), "{said}");
        assert_eq!(said.matches("[F0739]").count(), warnings, "{said}");
        assert_eq!(said.matches("has no effect on this region").count(), warnings, "{said}");
        let mut run = Command::new(folder.path().join("program"));
        run.env("FERRY_DEVICE", "fpga-rtl").env("FERRY_INFO", "1");
        let ran = run.env("OMP_TARGET_OFFLOAD", "MANDATORY").output().expect("it runs");
        assert!(ran.status.success(), "{}", told(&ran));
        simulated(&told(&ran), "a.c")
    };
    let plain: String = ADVISED
        .lines()
        .map(|it| if it.contains("openarc") { "\n".into() } else { format!("{it}\n") })
        .collect();
    let (plain, pinned) = (cycles(&plain, 0), cycles(ADVISED, 3));
    assert_eq!(pinned, foretold(folder.path(), "stratix-v", "a.c", &[]));
    assert_eq!(pinned, foretold(folder.path(), "stratix-v", "a.c", &["--search"]));
    // Six iterations at a time of 1400; others are as they were.
    assert_eq!(plain[0].0, 5);
    assert!(pinned[0].1 + 900 < plain[0].1, "{plain:?} {pinned:?}");
    assert_eq!(pinned[1..], plain[1..]);
}

#[test]
fn what_is_no_hardware_is_refused_with_its_line() {
    let text = "#include <math.h>\nint main(void) {\n  double x = 1;\n#pragma omp target map(tofrom : x)\n  x = exp(x);\n  return x < 2;\n}\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let built = build(folder.path(), "fpga-rtl", &[("a.c", text)]);
    let said = told(&built);
    assert!(!built.status.success(), "{said}");
    for words in ["error[F0737]", "a call of `exp`, which is no operator", "a.c:5:7", "fpga-intel"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    let unknown = build(folder.path(), "fpga-rtl:nobody", &[("a.c", text)]);
    let said = told(&unknown);
    assert!(
        !unknown.status.success() && said.contains("nobody") && said.contains("ecp5"),
        "{said}"
    );
}
