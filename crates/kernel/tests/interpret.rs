//! Kernels are run, and do what they say; those that do wrong are told so.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

use kernel::interpret::{Form, Machine, Order};

/// What global variables hold after a kernel of one form has run, or what it did wrong.
fn run(form: Form, (groups, threads): (u64, u64), before: &str, body: &str) -> String {
    let text = format!("{before}\nvoid host(void) {{\n#pragma omp target\n{{ {body} }} }}\n");
    let module = support::module(&text).unwrap();
    let found = match form {
        Form::Outlined => kernel::verify::verify(&module),
        Form::Spmd => kernel::verify::verify_spmd(&module),
    };
    assert_eq!(found, []);
    let mut answers = Vec::new();
    for order in [Order::Forward, Order::Backward] {
        let mut machine = Machine::new(&module, groups, threads);
        machine.order = order;
        machine.steps = 1_000_000;
        answers.push(machine.run(&module.kernels[0], form).map_err(|it| it.text).map(|()| {
            let vars = module.program.vars.iter();
            let shown = vars.filter_map(|(id, var)| {
                let name = module.program.names.text(var.name?);
                Some(format!("{name} = {}", machine.show(id)?))
            });
            shown.collect::<Vec<_>>().join("; ")
        }));
    }
    // Which of two wrong things comes first depends on the order.
    assert!(answers[0] == answers[1] || answers.iter().all(Result::is_err), "{answers:?}");
    answers.swap_remove(0).unwrap_or_else(|it| it)
}

#[track_caller]
fn outlined(before: &str, body: &str, expected: &str) {
    assert_eq!(run(Form::Outlined, (2, 4), before, body), expected);
}

#[track_caller]
fn spmd(before: &str, body: &str, expected: &str) {
    let launch = "unsigned long t, T, g, G; __launch(t, T, g, G);";
    assert_eq!(run(Form::Spmd, (2, 4), before, &format!("{launch} {body}")), expected);
}

#[test]
fn expressions_of_c() {
    outlined(
        "int a[8]; unsigned char c = 250; float f = 0.1f; double d; long l; struct S { int x; short y : 3; int z[2]; } s;",
        "a[0] = -7 / 2; a[1] = -7 % 3; a[2] = 1 << 4 | 3; a[3] = 'a'; c += 10; d = f * 3.0f; l = -1u;
         a[4] = (signed char)200; a[5] = sizeof(struct S); s.x = 3; s.y = 5; s.z[1] = s.y; a[6] = c > 2 ? 7 : 8;
         int *p; p = &a[1]; a[7] = *(p + 1) + p[2] - *p++; d += 0x1.8p1;",
        "a = {-3, -1, 19, 97, -56, 16, 7, 117}; c = 4; f = 0.10000000149011612; d = 3.300000011920929; \
         l = 4294967295; s = {3, {0, -3}}",
    );
}

#[test]
fn statements_and_calls() {
    outlined(
        "int a[6]; static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
         struct P { int x, y; }; static struct P swap(struct P p) { struct P q = { p.y, p.x }; return q; }
         double sqrt(double); double r;",
        "a[0] = fib(10); struct P p; p.x = 1; p.y = 2; a[1] = swap(p).x; r = sqrt(2.25);
         __code(); { int i = 0; again: if (i < 5) { i++; goto again; } a[2] = i;
           switch (i) { case 1: a[3] = 1; case 5: a[3] += 5; case 6: a[3] += 6; break; default: a[3] = 9; } }
         int (*call)(int); call = fib; a[4] = call(6); a[5] = ({ int z = 4; z * 2; });
         for (int i = 0; i < 9; i++) { if (i == 2) continue; if (i == 4) break; a[0] += i; }",
        "a = {59, 2, 5, 11, 8, 8}; r = 1.5",
    );
}

#[test]
fn teams_and_threads_and_shared_loops() {
    outlined(
        "int a[12]; int n = 12; int sum; int last; int who[12];",
        "unsigned long g, G, t, T, at, b, e; __uniform(g, G, T, at, b, e); int i; __uniform(i); unsigned long k; int j;
         __teams(g, G, __ask(3)); {
           int s; __group(s); s = 0;
           __share(g, G, __number(at), __for(i = 0, i < n, i++), __pieces(b, e)); {
             __parallel(t, T, __ask(3)); {
               int own; own = 0;
               __share(t, T, __number(k), __for(j = 0, j < n, j++), __within(b, e), __chunks(1)); {
                 if (j == 7) __next();
                 own += j; a[j] = j * j; who[j] = (int)(g * 10 + t);
               } __last(); { last = j; }
               __reduce(t, T, \"+\", own); { s += own; }
             }
           }
           __league(g, G, \"+\", s); { sum += s; }
         }",
        "a = {0, 1, 4, 9, 16, 25, 36, 0, 64, 81, 100, 121}; n = 12; sum = 59; last = 11; \
         who = {0, 1, 2, 0, 10, 11, 12, 0, 20, 21, 22, 20}",
    );
}

#[test]
fn triangles_and_order() {
    outlined(
        "int a[20]; int at;",
        "unsigned long t, T, k; __uniform(T); int i, j;
         __parallel(t, T, __ask(3)); {
           __share(t, T, __number(k), __for(i = 0, i < 4, i++), __for(j = i, j >= 0, j--), __chunks(2), __ordered()); {
             a[at++] = i * 10 + j;
           }
         }",
        "a = {0, 11, 10, 22, 21, 20, 33, 32, 31, 30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; at = 10",
    );
}

#[test]
fn one_thread_and_barriers() {
    outlined(
        "int a[4];",
        "unsigned long t, T; __uniform(T); int s; __group(s);
         __parallel(t, T); {
           __primary(); { s = 5; }
           __barrier();
           a[t] = s + (int)t;
           __barrier();
           __only(T - 1); { s = 9; }
           __barrier();
           if (t == 0) a[0] = s;
         }",
        "a = {9, 6, 7, 8}",
    );
}

#[test]
fn spmd_form_with_barriers_in_loops() {
    spmd(
        "int sums[2]; int n = 10;",
        "int part[4]; __group(part); int u; __uniform(u); part[t] = (int)(g * 100 + t);
         for (u = 2; u > 0; u /= 2) { __barrier(); if (t < u) part[t] += part[t + u]; }
         __barrier(); if (t == 0) sums[g] = part[0] + n;",
        "sums = {16, 416}; n = 10",
    );
}

#[test]
fn threads_of_a_subgroup_exchange_values() {
    spmd(
        "double a[4];",
        "double own; own = 10.0 * (double)t; double other; __shuffle(other, own, 1, 2);
         __barrier(); if (g == 0) a[t] = other;",
        "a = {10, 10, 30, 30}",
    );
    outlined(
        "int a[4];",
        "unsigned long t, T; __uniform(T);
         __parallel(t, T); { int own, other; own = 1; if (t < 2) __shuffle(other, own, 1, 4); }",
        "2 of 4 threads reach the shuffle",
    );
}

#[test]
fn wrong_kernels_are_told_so() {
    let race = "two threads use the same memory, one writes it, and nothing orders them";
    spmd("int a[4];", "int s; __group(s); if (t == 0) s = 1; a[t] = s;", race);
    spmd("int a[4]; int x;", "x += 1;", race);
    spmd("int a[4];", "a[g] = 1; a[1] = 2;", race);
    outlined("int x;", "unsigned long t, T; __uniform(T); __parallel(t, T); { x = (int)t; }", race);
    outlined("int a[4];", "a[4] = 1;", "4 bytes are used at an address outside of objects");
    outlined("int a[4]; int *p;", "a[0] = *p;", "4 bytes are used at a null pointer");
    outlined("int a[4];", "int i; a[0] = i;", "memory is read that has no value");
    outlined("int a[4];", "for (;;) ;", "the kernel takes too many steps");
    outlined("int a[4];", "int i; i = 0; a[0] = 3 / i;", "a division by zero");
    outlined(
        "int a; static int f(int i) { return f(i + 1); }",
        "a = f(1);",
        "calls or expressions nest too deeply",
    );
    outlined(
        "int a[4];",
        "unsigned long t, T; __uniform(T); __parallel(t, T); { if (t < 2) __barrier(); }",
        "2 of 4 threads reach the barrier",
    );
    outlined(
        "int a[4];",
        "int own; unsigned long t, T; __uniform(T); own = 1; __parallel(t, T); { a[t] = own; }",
        "memory is read that has no value",
    );
    outlined("int a; int there(int);", "a = there(1);", "`there` has no body and is not known");
}

#[test]
fn atomic_updates_and_locks_are_no_race() {
    spmd("int x;", "__code();\n#pragma omp atomic\nx += 1;", "x = 8");
    spmd("int x;", "__code();\n#pragma omp critical\n{ x += 2; }", "x = 16");
}
