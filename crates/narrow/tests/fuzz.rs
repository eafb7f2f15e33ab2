//! Random programs that move pointers about: on the cluster they must leave what they leave on the host, with pointers
//! assigned and without, and no pointer of the host may ever be taken for one of the accelerator.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use std::fmt::Write;

use common::{Model, OnHost, inputs, run, same, tools_are_here};
use narrow::{Assign, Hardware, Options};

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len() as u64) as usize]
    }
}

const HEAD: &str = r#"
#include "device.h"
struct node { int n; int *p; struct node *next; int *q; };
union either { int *p; uint64_t number; unsigned char bytes[8]; };
static int table[32];
static int *kept, *slots_of[4];
static struct node root;
int *shared;
NOINLINE static int *same(int *p) { return p; }
NOINLINE static int *other(int *p, int *q, int which) { return which & 1 ? p : q; }
NOINLINE static void swap(int **a, int **b) { int *t = *a; *a = *b; *b = t; }
NOINLINE static void put(struct node *n, int *p, int *q) { n->p = p; n->q = q; }
NOINLINE static uintptr_t number(void *p) { return (uintptr_t)p; }
NOINLINE static void bytewise(void *to, const void *from, int n) {
    for (int i = 0; i < n; i++) ((volatile unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}
static int *(*const ways[2])(int *) = {same, same};
#ifdef HOST
void prepare(void *const *slots) {
    for (int s = 0; s < 3; s++) for (int i = 0; i < 64; i++) ((int *)slots[s])[i] = i * 7 + s * 1000;
}
#endif
"#;

/// An expression that is a pointer to at least 16 numbers.
fn pointer(dice: &mut Dice) -> String {
    let variable = |dice: &mut Dice| format!("p{}", dice.roll(4));
    match dice.roll(16) {
        0 => format!("(int *)slots[{}]", dice.roll(3)),
        1 => "near".to_owned(),
        2 => "table".to_owned(),
        3 => "spm".to_owned(),
        4 => "*pp".to_owned(),
        5 => format!("a[{}]", dice.roll(3)),
        6 => format!("a[(x & 1) + {}]", dice.roll(2)),
        7 => dice.pick(&["s.p", "s.q", "t.p", "t.q", "s.next->p", "root.q"]).to_owned(),
        8 => format!("same({})", variable(dice)),
        9 => format!("other({}, {}, x)", variable(dice), variable(dice)),
        10 => dice
            .pick(&["kept", "slots_of[1]", "slots_of[x & 3]", "shared", "box[0]", "box[1]"])
            .to_owned(),
        11 => format!("(int *)number({})", variable(dice)),
        12 => "u.p".to_owned(),
        13 => format!("ways[x & 1]({})", variable(dice)),
        _ => variable(dice),
    }
}

/// Somewhere a pointer can be put.
fn place(dice: &mut Dice) -> String {
    match dice.roll(10) {
        0 => "*pp".to_owned(),
        1 => format!("a[{}]", dice.roll(3)),
        2 => "a[x & 1]".to_owned(),
        3 => dice.pick(&["s.p", "s.q", "t.p", "t.q", "s.next->q", "root.p", "root.q"]).to_owned(),
        4 => dice
            .pick(&["kept", "slots_of[1]", "slots_of[x & 3]", "shared", "box[0]", "box[1]"])
            .to_owned(),
        5 => "u.p".to_owned(),
        _ => format!("p{}", dice.roll(4)),
    }
}

fn statement(dice: &mut Dice, depth: u32) -> String {
    match dice.roll(14) {
        0..=4 => format!("{} = {};", place(dice), pointer(dice)),
        5 => format!(
            "pp = &{};",
            dice.pick(&["p0", "p1", "p2", "a[1]", "s.q", "kept", "t.p", "root.p", "box[1]"])
        ),
        6 => format!(
            "swap(&{}, &p{});",
            dice.pick(&["p0", "a[2]", "s.p", "box[0]", "kept"]),
            dice.roll(4)
        ),
        7 => format!("x += ({})[{}];", pointer(dice), dice.roll(16)),
        8 => format!("({})[{}] += x & 255;", pointer(dice), dice.roll(16)),
        9 => dice
            .pick(&[
                "t = s;",
                "s.next->p = s.q;",
                "put(&t, p1, p2);",
                "memcpy(&t, &s, sizeof t);",
                "bytewise(&t, &s, sizeof t);",
                "s = root;",
                "root = t;",
                "memcpy(a, slots_of, 24);",
                "memcpy(box, a, 16);",
                "memmove(a, a + 1, 16);",
                "bytewise(&p3, &a[1], 8);",
            ])
            .to_owned(),
        10 => dice
            .pick(&[
                "u.number += 0;",
                "for (int i = 0; i < 8; i++) v.bytes[i] = u.bytes[i]; p2 = v.p;",
                "p1 = (int *)((number(p0) ^ number(p1)) ^ number(p0));",
                "kept = (int *)(number(kept) | 0);",
                "x += p0 == p1;",
                "x += p1 < near + 3 && p1 >= near;",
                "x += a[0] != 0;",
            ])
            .to_owned(),
        11 if depth > 0 => {
            format!("if (x & 1) {{ {} }} else {{ {} }}", block(dice, depth), block(dice, depth))
        }
        12 if depth > 0 => {
            format!("for (int i = 0; i < {}; i++) {{ {} }}", 1 + dice.roll(3), block(dice, depth))
        }
        _ => format!("x = x * 5 + ({})[x & 7];", pointer(dice)),
    }
}

fn block(dice: &mut Dice, depth: u32) -> String {
    (0..1 + dice.roll(4)).map(|_| statement(dice, depth - 1)).collect::<Vec<_>>().join(" ")
}

fn program(dice: &mut Dice, kernels: u32) -> String {
    let mut text = HEAD.to_owned();
    for kernel in 0..kernels {
        // Some programs never see some of the memories, so that something is left to be narrowed.
        let first = dice.pick(&["near", "table", "spm", "(int *)slots[1]"]);
        let body: Vec<String> = (0..12).map(|_| format!("    {}", statement(dice, 2))).collect();
        let hides = dice.roll(2) == 0;
        let body = body.join("\n");
        let body =
            if hides { body.replace("slots[", "nears[").replace("box[", "a[") } else { body };
        write!(
            text,
            "void __ferry_k_f{kernel}(void *const *slots) {{\n    int x = 3, near[32];\n    int *spm = spm_alloc(128);\n    \
             for (int i = 0; i < 32; i++) near[i] = i * 3, spm[i] = i * 5, table[i] = i;\n    \
             int *nears[3] = {{near, spm, table}};\n    int **box = (int **)slots[2] + 20;\n    \
             int *p0 = {first}, *p1 = near, *p2 = spm, *p3 = table, *a[4] = {{near, spm, table, near}};\n    \
             int **pp = &p0;\n    box[0] = box[1] = {box_start};\n    kept = shared = near;\n    \
             slots_of[0] = slots_of[1] = slots_of[2] = slots_of[3] = p0;\n    \
             struct node s = {{1, near, &root, spm}}, t = s;\n    root = s;\n    union either u = {{near}}, v = u;\n\
             {body}\n    int *out = (int *)slots[3];\n    out[{kernel}] = x;\n    \
             for (int i = 0; i < 32; i++) out[100 + i] = near[i], out[140 + i] = spm[i], out[180 + i] = table[i];\n    \
             box[0] = box[1] = 0;\n    shared = 0;\n    spm_free_all();\n}}\n",
            box_start = if hides { "slots[2]" } else { "near" },
        )
        .unwrap();
    }
    text
}

#[test]
fn random_programs_leave_on_the_cluster_what_they_leave_on_the_host() {
    if !tools_are_here() {
        return;
    }
    const KERNELS: u32 = 12;
    // `FERRY_NARROW_SEEDS=100..200` tries others.
    let seeds = std::env::var("FERRY_NARROW_SEEDS").unwrap_or_else(|_| "0..3".to_owned());
    let (first, end) = seeds.split_once("..").unwrap();
    let (mut narrow, mut by_paper, mut none) = (0, 0, 0);
    for seed in first.parse::<u64>().unwrap()..end.parse::<u64>().unwrap() {
        let text = program(&mut Dice(seed * 7919 + 17), KERNELS);
        let work = tempfile::tempdir().unwrap();
        let file = work.path().join("fuzz.c");
        std::fs::write(&file, &text).unwrap();
        let wide = inputs(&file, Model::Host, &[]);
        let untyped = inputs(&file, Model::Host, &["-fno-strict-aliasing", "-O0"]);
        let mut made = Vec::new();
        let ways = [
            (&wide, 3, Assign::Points),
            (&untyped, 1, Assign::Points),
            (&wide, 2, Assign::None),
            (&wide, 3, Assign::Paper),
            (&untyped, 1, Assign::Paper),
        ];
        for (inputs, level, assign) in ways {
            let options = Options {
                hardware: Hardware::Csr,
                level,
                assign,
                check: level == 1,
                ..Options::default()
            };
            let result = narrow::compile(inputs, &options);
            let (object, stats) = result.unwrap_or_else(|it| panic!("seed {seed}: {it}\n{text}"));
            match assign {
                Assign::Points => narrow += stats.device(),
                Assign::Paper => by_paper += stats.device(),
                Assign::None => none += stats.device(),
            }
            made.push((object, format!("-O{level}, {assign:?}")));
        }
        let host = OnHost::new(&file, &[]);
        for kernel in (0..KERNELS).map(|it| format!("__ferry_k_f{it}")) {
            let [before, after] = host.run(&kernel);
            for (object, how) in &made {
                let ran = run(object, &kernel, Hardware::Csr, &before);
                same(&ran.buffers, &after, &format!("seed {seed}, {kernel}, {how}"));
            }
        }
    }
    // The paper's is compiled as often as ours, no assignment half as often.
    println!("device accesses: {narrow}, by the paper {by_paper}, without assignment 2 * {none}");
    assert!(narrow > by_paper && by_paper > 2 * none);
}
