//! Kernels that run at the same time leave what the interpreter leaves of one after the other, in the cycles that are told;
//! channels that are no queues say why.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test"
)]

mod support;

use std::collections::BTreeMap;

use fpga::channels::{Channels, Piece, channels};
use fpga::device::{Device, Devices};
use fpga::hardware::{Passed, design};
use ir::program::{StmtId, VarId};
use kernel::{Kernel, Module};
use opt::passes::pipeline::run_pipelined;
use rtl::run::{run, together};
use support::{arguments, filled, interpreted, laid_out, left, module};

/// Kernels, what they are given, and how often their loops run.
struct Made {
    module: Module,
    kernels: Vec<Kernel>,
    passed: Vec<BTreeMap<VarId, Passed>>,
    rounds: BTreeMap<StmtId, u64>,
    device: Device,
}

impl Made {
    fn new(text: &str, device: &str) -> Made {
        let mut module = module(text);
        let device = Devices::built_in().get(device).unwrap();
        let all = module.kernels.clone();
        let made =
            |it: &Kernel| run_pipelined(&mut module.program, it, device.fabric(), None).unwrap();
        let kernels: Vec<Kernel> = all.iter().map(made).collect();
        let given = BTreeMap::from([("n".to_owned(), 37)]);
        let plan = |it| fpga::plan::plan(&module.program, it, &device, &given).rounds;
        let rounds = kernels.iter().flat_map(plan).collect();
        let passed = kernels.iter().map(|it| fpga::plan::passed(&module.program, it)).collect();
        Made { module, kernels, passed, rounds, device }
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        let all = self.kernels.iter().zip(&self.passed);
        all.map(|(kernel, passed)| Piece { kernel, passed }).collect()
    }

    fn channels(&self) -> Channels {
        channels(&self.module.program, &self.pieces(), &self.device)
    }
}

/// Runs the regions of a text, those at the same time that can; `groups`: the members of each. Answers the cycles of all, and
/// those of one after the other.
fn check(name: &str, device: &str, text: &str, groups: &[&[usize]]) -> (u64, u64) {
    let made = Made::new(text, device);
    let Made { module, kernels, passed, device, .. } = &made;
    let (mut state, found) = (filled(module), made.channels());
    let wanted = interpreted(module, &state);
    let members: Vec<&[usize]> = found.groups.iter().map(|it| it.members.as_slice()).collect();
    assert_eq!(members, groups, "{name}: {:?}", found.left);
    let (mut all, mut alone, mut at) = (0, 0, 0);
    while at < kernels.len() {
        let (first, places) = laid_out(&state);
        let mut memory = first.clone();
        let last = match found.groups.iter().find(|it| it.members[0] == at) {
            Some(group) => {
                let names: Vec<&str> = kernels.iter().map(|_| "k").collect();
                let value = group.made(&module.program, &made.pieces(), &names).unwrap();
                let begin = |(member, it): (&usize, &rtl::group::Member)| {
                    it.design.begin(&arguments(&passed[*member], &state, &places))
                };
                let members = group.members.iter().zip(&value.members);
                let registers: Vec<Vec<u64>> = members.map(begin).collect();
                let cycles = together(&value, &registers, memory.as_mut_slice(), 1_000_000)
                    .unwrap_or_else(|it| panic!("{name}: {it:?}"));
                assert_eq!(group.cycles(&made.rounds), Some(cycles), "{name}: told, counted");
                all += cycles;
                *group.members.last().unwrap()
            }
            None => at,
        };
        let mut then = first;
        for it in at..=last {
            let program = &module.program;
            let made = design(program, &kernels[it], device, Some(&passed[it])).unwrap().design;
            let mut registers = made.begin(&arguments(&passed[it], &state, &places));
            let cycles = run(&made, &mut registers, then.as_mut_slice(), 1_000_000).unwrap();
            alone += cycles;
            all += if last == at { cycles } else { 0 };
        }
        let memory = if last == at { then } else { memory };
        (at..=last).for_each(|it| state = left(&passed[it], &state, &memory, &places));
        at = last + 1;
    }
    for (var, bytes) in &wanted {
        let name_of = module.program.vars[*var].name.map(|it| module.program.names.text(it));
        // Nobody sees what a channel's array has.
        if !found.groups.iter().any(|it| it.queues.iter().any(|it| it.var == *var)) {
            assert_eq!(&state[var], bytes, "{name}: {name_of:?}");
        }
    }
    (all, alone)
}

/// Two regions in a data region: the first loop writes `t`, the second reads it.
fn pair(declared: &str, first: &str, second: &str) -> String {
    format!(
        "static int a[99], b[99], c[99], t[80], u[80]; static float x[99]; int n; {declared}\n\
         void f(int m) {{\n#pragma acc data copyin(a) copy(b, c, x) pipe(t, u)\n  {{\n\
         #pragma acc parallel num_gangs(1) num_workers(1) vector_length(1) pipeout(t, u)\n    {{ {first} }}\n\
         #pragma acc parallel num_gangs(1) num_workers(1) vector_length(1) pipein(t, u)\n    {{ {second} }}\n  }}\n}}\n"
    )
}

const OUT: &str = "for (int i = 0; i < 80; i++) { t[i] = a[i] * 3; u[i] = a[i] + i; }";
const IN: &str = "for (int i = 0; i < 80; i++) b[i] = t[i] - u[i];";

#[test]
fn regions_with_queues_between_them_run_at_the_same_time() {
    let queues = |text: &str, name: &str| {
        for device in ["stratix-v", "ecp5", "arria-10"] {
            let (all, alone) = check(&format!("{name}, {device}"), device, text, &[&[0, 1]]);
            assert!(all < alone, "{name}, {device}: {all} cycles, {alone} one after the other");
        }
    };
    queues(&pair("", OUT, IN), "a map");
    // A division makes one channel late, and the other end takes the late one first.
    let late = "for (int i = 0; i < 80; i++) { t[i] = a[i] / (i + 7); u[i] = a[i]; }";
    queues(
        &pair("", late, "for (int i = 0; i < 80; i++) { b[i] = (t[i] * 5 + 1) / 3 - u[i]; }"),
        "late",
    );
    // Who reads is slow, or who writes.
    let sum = "float s = 0; for (int i = 0; i < 80; i++) { s = s * 0.5f + t[i] + u[i]; x[i] = s; }";
    queues(&pair("", OUT, sum), "a slow reader");
    let walk = "int s = 1; for (int i = 0; i < 80; i++) { s = (s * 7 + a[i]) % 1001 / 3; t[i] = s; u[i] = i; }";
    queues(&pair("", walk, IN), "a slow writer");
    // Nests, with one subscript or two, and counters that do not begin with zero.
    let nest = "for (int i = 2; i <= 3; i++) for (int j = 0; j < 40; j++) { t[(i - 2) * 40 + j] = a[i * 40 + j - 80]; u[i * 40 + j - 80] = i; }";
    queues(&pair("", nest, IN), "a nest");
    queues(&pair("", OUT, nest_in()), "a nest that reads");
    // What one has to do before or after.
    let before = "for (int i = 0; i < 90; i++) b[i] = a[i + 1] * 5; for (int i = 0; i < 80; i++) c[i] = t[i] + u[i];";
    queues(&pair("", OUT, before), "a reader that begins late");
}

fn nest_in() -> &'static str {
    "for (int k = 0; k < 2; k++) { for (int i = 0; i < 40; i++) b[k + i] = t[k * 40 + i] + u[40 * k + i]; }"
}

#[test]
fn queues_make_chains_and_trees() {
    let region = |ends: &str, code: &str| {
        format!(
            "#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) {ends}\n{code}\n"
        )
    };
    let around = |code: &str| {
        format!(
            "static int a[70], b[70], c[70], t[64], u[64], v[64]; int s;\nvoid f(void) {{\n\
             #pragma acc data copyin(a) copy(b, c) pipe(t, u, v)\n  {{\n{code}  }}\n}}\n"
        )
    };
    let each = |code: &str| format!("for (int i = 0; i < 64; i++) {{ {code} }}");
    let chain = [
        region("pipeout(t)", &each("t[i] = a[i] * 3;")),
        region("pipein(t) pipeout(u)", &each("u[i] = t[i] % 11;")),
        region("pipein(u) pipeout(v)", &each("v[i] = u[i] + i;")),
        region("pipein(v)", &each("b[i] = v[i];")),
    ];
    let (all, alone) = check("chain", "stratix-v", &around(&chain.concat()), &[&[0, 1, 2, 3]]);
    assert!(all * 2 < alone, "{all} {alone}");
    // One region hands on to two.
    let tree = [
        region("pipeout(t, u)", &each("t[i] = a[i]; u[i] = -a[i];")),
        region("pipein(t)", &each("b[i] = t[i];")),
        region("pipein(u)", &each("c[i] = u[i];")),
    ];
    let text = around(&tree.concat()).replace("pipe(t, u, v)", "pipe(t, u)");
    check("tree", "ecp5", &text, &[&[0, 1, 2]]);
    // The last waits for two ways, of which one could stop the other: its channels are arrays, the others not.
    let diamond = [
        region("pipeout(t, u)", &each("t[i] = a[i]; u[i] = -a[i];")),
        region("pipein(t) pipeout(v)", &each("v[i] = t[i];")),
        region("pipein(u, v)", &each("c[i] = u[i] + v[i];")),
    ];
    check("diamond", "ecp5", &around(&diamond.concat()), &[&[0, 1]]);
    // A sum goes back to the host: the region with it is the last of its group.
    let sum = [
        region("pipeout(t)", &each("t[i] = a[i];")),
        region("pipein(t) reduction(+: s)", &each("s += t[i];")),
        region("pipeout(u)", &each("u[i] = a[i] * 2;")),
        region("pipein(u)", &each("b[i] = u[i];")),
    ];
    let text = around(&sum.concat()).replace("pipe(t, u, v)", "pipe(t, u)");
    check("sum", "ecp5", &text, &[&[0, 1], &[2, 3]]);
}

#[test]
fn channels_that_are_no_queues_say_why() {
    let left = |text: &str, why: &str| {
        let made = Made::new(text, "stratix-v");
        let found = made.channels();
        let reasons: Vec<&str> = found.left.iter().map(|it| it.why.as_str()).collect();
        assert!(found.groups.is_empty(), "{text}");
        assert!(reasons.iter().any(|it| it.contains(why)), "{why}: {reasons:?}\n{text}");
        check(why, "stratix-v", text, &[]);
    };
    let number = "the subscript is not the number of the iteration";
    left(&pair("", OUT, "for (int i = 0; i < 80; i++) b[i] = t[79 - i] + u[i];"), number);
    left(&pair("", OUT, "for (int i = 0; i < 40; i++) b[i] = t[i * 2] + u[i];"), number);
    left(&pair("", OUT, "for (int i = 1; i < 80; i++) b[i] = t[i] + u[i];"), number);
    left(
        &pair(
            "",
            "for (int i = 0; i < 8; i++) for (int j = 0; j < 10; j++) { t[j * 8 + i] = a[i] + j; u[i * 10 + j] = i; }",
            IN,
        ),
        number,
    );
    left(
        &pair("", OUT, "for (int i = 0; i < 79; i++) b[i] = t[i] + t[i + 1] + u[i];"),
        "more than one access",
    );
    left(
        &pair("", OUT, "for (int i = 0; i < 80; i++) { b[i] = u[i]; if (a[i] > 0) b[i] = t[i]; }"),
        "not every iteration makes the access",
    );
    left(
        &pair("", OUT, "for (int i = 0; i < 80; i++) b[i] = (a[i] > 0 ? t[i] : 0) + u[i];"),
        "not every iteration makes the access",
    );
    left(
        &pair("", "int j = 0; for (int i = 0; i < 80; i++) { t[j] = a[i]; u[i] = i; j++; }", IN),
        number,
    );
    left(
        &pair("", OUT, "for (int i = 0; i < 70; i++) b[i] = t[i] + u[i];"),
        "as many elements are read as written",
    );
    left(
        &pair(
            "",
            OUT,
            "for (int k = 0; k < 3; k++) for (int i = 0; i < 80; i++) b[i] = t[i] + u[i] + k;",
        ),
        number,
    );
    left(
        &pair(
            "",
            OUT,
            "for (int i = 0; i < 80; i++) b[i] = t[i]; for (int i = 0; i < 80; i++) c[i] = u[i];",
        ),
        "in different loops",
    );
    // What the regions share otherwise.
    let memory = "for (int i = 0; i < 80; i++) { t[i] = a[i]; u[i] = i; c[i] = i; }";
    left(
        &pair("", memory, "for (int i = 0; i < 80; i++) b[i] = t[i] + u[i] + c[0];"),
        "writes `c`, and this one reads that",
    );
    left(
        &pair("", "for (int i = 0; i < 80; i++) { t[i] = b[79]; u[i] = i; }", IN),
        "reads `b`, and this one writes that",
    );
    let pointer =
        pair("static int *p = b;", OUT, IN).replace("copy(b, c, x)", "copy(b, c, x, p[0:99])");
    left_only(
        &pointer.replace("t[i] = a[i] * 3", "t[i] = p[i]"),
        "reads what `p` leads to, and this one writes `b`",
    );
    // Who else has the array.
    left_only(
        &pair("", OUT, IN).replace("t[80]", "*t").replace("pipe(t,", "pipe(t[0:80],"),
        "it is a pointer",
    );
    left(
        &pair("", OUT, IN)
            .replace("static int a[99]", "int t[80]; static int a[99]")
            .replace("c[99], t[80]", "c[99]"),
        "other names or other files",
    );
    left(&pair("int *q(void) { return t; }", OUT, IN), "other names or other files");
    let update = pair("", OUT, IN).replace(
        "b[i] = t[i] - u[i]; }\n  }",
        "b[i] = t[i] - u[i]; }\n#pragma acc update self(t)\n  }",
    );
    assert!(update.contains("update self"));
    left(&update, "another directive names it");
    // What happens between them.
    let between = |what: &str| {
        pair("", OUT, IN).replacen(
            " }\n#pragma acc parallel",
            &format!(" }}\n{what}\n#pragma acc parallel"),
            1,
        )
    };
    left(
        &between("#pragma acc parallel loop\n    for (int i = 0; i < 9; i++) c[i] = i;"),
        "another region comes between them",
    );
    let counted = |what: &str| between(what).replace("i < 80", "i < m");
    let text = counted("");
    assert_eq!(Made::new(&text, "ecp5").channels().groups.len(), 1, "{text}");
    left_only(&counted("m = 40;"), "as many elements are read as written");
    left_only(&counted("m--;"), "as many elements are read as written");
    // What goes back to the host when the first has ended.
    let own = pair("", OUT, IN).replace("copyin(a) copy(b, c, x)", "copyin(a) copy(b)");
    let own = own.replace("t[i] = a[i] * 3;", "t[i] = a[i] * 3; c[i] = i;");
    left(&own, "`c` leaves the device when the region that runs before has ended");
}

/// The same for texts with pointers, or with numbers that nobody knows here.
fn left_only(text: &str, why: &str) {
    let found = Made::new(text, "stratix-v").channels();
    let reasons: Vec<&str> = found.left.iter().map(|it| it.why.as_str()).collect();
    assert!(found.groups.is_empty() && reasons.iter().any(|it| it.contains(why)), "{reasons:?}");
}
