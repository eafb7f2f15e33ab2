//! Each law has a kernel that breaks it, and one that does not.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

use kernel::verify::{Law, verify, verify_spmd};
use kernel::{Module, Space, Stmt, StmtKind};
use source::{Id, Span};

fn module(body: &str) -> Module {
    let text = format!(
        "int a[64]; int n = 8; double x;\nint answer(int);\nvoid f(void) {{\n#pragma omp target\n{{ {body} }} }}\n"
    );
    support::module(&text).unwrap()
}

fn told(found: Vec<kernel::verify::Fault>) -> Vec<(Law, String)> {
    found.into_iter().map(|it| (it.law, it.text)).collect()
}

#[track_caller]
fn holds(body: &str) {
    assert_eq!(told(verify(&module(body))), []);
}

#[track_caller]
fn breaks(law: Law, text: &str, body: &str) {
    assert_eq!(told(verify(&module(body))), [(law, text.to_owned())]);
}

#[track_caller]
fn breaks_spmd(law: Law, text: &str, body: &str) {
    assert_eq!(told(verify_spmd(&module(body))), [(law, text.to_owned())]);
}

#[track_caller]
fn holds_spmd(body: &str) {
    assert_eq!(told(verify_spmd(&module(body))), []);
}

/// Threads with variables for their loops.
fn parallel(body: &str) -> String {
    format!("unsigned long me, of, at; __uniform(of); int i; __parallel(me, of); {{ {body} }}")
}

#[test]
fn a_kernel_of_every_kind_holds() {
    holds(
        "unsigned long g, G, t, T, at, b, e, k, m; __uniform(g, G, T); int i; int s; __group(s);
         __teams(g, G, __ask(4), __limit(8)); {
           s = 0;
           __share(g, G, __number(at), __for(i = 0, i < n, i++), __pieces(b, e)); {
             __parallel(t, T, __ask(3), __when(n > 4), __limit(b)); {
               int own; own = 0;
               __share(t, T, __number(at), __for(i = 0, i < n, i++), __within(b, e), __chunks(2), __ordered()); {
                 own += a[i];
               } __last(); { a[0] = own; }
               __reduce(t, T, \"+\", own); { s += own; }
               __barrier();
               __primary(); { a[1] = s; }
               __only(n - 1); { a[2] = s; }
               switch (own) { case 1: a[3] = 1; break; default: a[3] = 2; }
               for (int j = 0; j < 3; j++) { if (j == 1) continue; else break; }
               __code(); { int z = 0; while (z < 3) { z++; if (z == 2) break; } a[4] = z; }
             }
           }
           __league(g, G, \"+\", s); { a[5] += s; }
         }",
    );
}

#[test]
fn handles_name_what_exists() {
    let mut module = module("a[0] = 1;");
    module.kernels[0].body.push(Stmt::new(StmtKind::Eval(Id::from_index(999_999)), Span::NONE));
    assert_eq!(told(verify(&module))[0].0, Law::Handle);
    module.kernels[0].body.pop();
    module.kernels[0].spaces.push((Id::from_index(999_999), Space::Group));
    assert_eq!(told(verify(&module))[0].0, Law::Handle);
}

#[test]
fn types_agree() {
    let mut wrong = module("a[0] = 1;");
    let StmtKind::Eval(e) = wrong.kernels[0].body[0].kind else { panic!() };
    let double = wrong.program.exprs.iter().find(|it| wrong.program.types.is_array(it.1.ty));
    wrong.program.exprs[e].ty = double.unwrap().1.ty;
    assert_eq!(told(verify(&wrong))[0].0, Law::Type);
    breaks(
        Law::Type,
        "`me` is no unsigned number of 64 bits",
        "int me; unsigned long of; __uniform(of); __parallel(me, of); { a[0] = 1; }",
    );
    // C itself refuses this, so the switch is changed afterwards.
    let mut wrong = module("switch (n) { case 1: break; } x = 1.0;");
    let StmtKind::Eval(e) = wrong.kernels[0].body[1].kind else { panic!() };
    let StmtKind::Switch(on, _) = &mut wrong.kernels[0].body[0].kind else { panic!() };
    *on = e;
    assert_eq!(told(verify(&wrong)), [(Law::Type, "what is switched on is no integer".into())]);
}

#[test]
fn levels_nest_downwards() {
    breaks(
        Law::Level,
        "a league is not outermost",
        "unsigned long g, G, h, H; __teams(g, G); { __teams(h, H); { a[0] = 1; } }",
    );
    breaks(
        Law::Level,
        "a league is not outermost",
        &parallel("unsigned long h, H; __teams(h, H); { a[0] = 1; }"),
    );
    breaks(
        Law::Level,
        "a parallel region stands in another, or in code for one thread",
        &parallel("unsigned long h, H; __parallel(h, H); { a[0] = 1; }"),
    );
    breaks(
        Law::Level,
        "a parallel region stands in another, or in code for one thread",
        "unsigned long h, H; __primary(); { __parallel(h, H); { a[0] = 1; } }",
    );
    let on = "a barrier stands in code for one thread or in a shared loop";
    breaks(Law::Level, on, &parallel("__primary(); { __barrier(); }"));
    breaks(Law::Level, on, &parallel("__only(1); { if (n) __barrier(); }"));
    breaks(
        Law::Level,
        "a shuffle stands in code for one thread or in a shared loop",
        &parallel("int x, y; __primary(); { __shuffle(x, y, 1, 32); }"),
    );
    let types = "what a shuffle gives is not what it gets";
    breaks(Law::Type, types, &parallel("int x; long y; __shuffle(x, y, 1, 32);"));
    let lanes = "a subgroup has no power of two of threads";
    breaks(Law::Crew, lanes, &parallel("int x, y; __shuffle(x, y, 1, 3);"));
    breaks(
        Law::Level,
        on,
        &parallel("__share(me, of, __number(at), __for(i = 0, i < n, i++)); { __barrier(); }"),
    );
    breaks(
        Law::Level,
        "a shared loop stands in code for one thread",
        &parallel("__primary(); { __share(me, of, __number(at), __for(i = 0, i < n, i++)); { } }"),
    );
    breaks(
        Law::Level,
        "a shared loop stands in another of the same crew",
        &parallel(
            "unsigned long at2; int j; __share(me, of, __number(at), __for(i = 0, i < n, i++)); {
               __share(me, of, __number(at2), __for(j = 0, j < n, j++)); { } }",
        ),
    );
    breaks(
        Law::Level,
        "a reduction stands in code for one thread or in a shared loop",
        &parallel("int s; __primary(); { __reduce(me, of, \"+\", s); { n += s; } }"),
    );
    breaks(
        Law::Level,
        "teams are combined where there are none, or by many threads",
        &parallel("int s; __league(me, of, \"+\", s); { n += s; }"),
    );
    breaks(
        Law::Level,
        "code for one thread stands in such code",
        &parallel("__primary(); { __primary(); { a[0] = 1; } }"),
    );
    breaks(
        Law::Level,
        "a construct in what combines",
        &parallel("int s; __reduce(me, of, \"+\", s); { __primary(); { n += s; } }"),
    );
}

#[test]
fn teams_may_meet_in_loops_that_leagues_share() {
    holds(
        "unsigned long g, G, at, me, of; __uniform(of); int i;
         __teams(g, G); { __share(g, G, __number(at), __for(i = 0, i < n, i++)); {
           __parallel(me, of); { __barrier(); } } }",
    );
}

#[test]
fn crews_are_there() {
    let elsewhere = module(
        "unsigned long me, of, at; __uniform(of); int i; __parallel(me, of); { a[me] = 1; }
         __share(me, of, __number(at), __for(i = 0, i < n, i++)); { a[i] = 1; }",
    );
    let text = "the crew is that of a construct elsewhere".to_owned();
    assert!(told(verify(&elsewhere)).contains(&(Law::Crew, text)));
    breaks(
        Law::Crew,
        "the number of a thread is not private",
        "unsigned long me, of; __uniform(me, of); __parallel(me, of); { a[0] = 1; }",
    );
    holds(
        "unsigned long t, T, g, G; __launch(t, T, g, G); unsigned long at; int i;
         __share(g, G, __number(at), __for(i = 0, i < n, i++)); { a[i] = 1; }",
    );
    let mut wrong = module(
        "unsigned long me, of, at; int i; __share(me, of, __number(at), __for(i = 0, i < n, i++)); { a[i] = 1; }",
    );
    assert_eq!(told(verify(&wrong)), []);
    let StmtKind::Share(share) = &wrong.kernels[0].body[4].kind else { panic!() };
    let gone = share.crew.number;
    wrong.kernels[0].body.retain(|it| it.kind != StmtKind::Local(gone));
    wrong.kernels[0].spaces.retain(|it| it.0 != gone);
    assert_eq!(told(verify(&wrong)), [(Law::Crew, "nobody has set the crew".into())]);
}

#[test]
fn serial_code_concerns_nobody_else() {
    let jump = "a jump leaves serial code";
    breaks(Law::Code, jump, "for (;;) { __code(); { break; } }");
    breaks(Law::Code, jump, "for (;;) { __code(); { switch (n) { default: continue; } } }");
    breaks(
        Law::Code,
        "a construct in serial code concerns others",
        "__code();\n#pragma omp parallel\n{ a[0] = 1; }",
    );
    holds("__code(); { int z = 0; again: z++; if (z < 3) goto again; a[0] = z; }");
    holds("__code();\n#pragma omp atomic\na[0] += 1;");
}

#[test]
fn variables_have_one_space_and_live_where_they_are_used() {
    let mut twice = module("int s; s = 1;");
    let var = twice.kernels[0].spaces[4].0;
    twice.kernels[0].spaces.push((var, Space::Group));
    assert_eq!(told(verify(&twice)), [(Law::Storage, "`s` has two spaces".into())]);
    twice.kernels[0].spaces.retain(|it| it.0 != var);
    assert_eq!(told(verify(&twice)), [(Law::Storage, "`s` has no space".into())]);

    let mut outside = module("{ int s; s = 1; } a[0] = 1;");
    let StmtKind::Block(inner) = outside.kernels[0].body[0].kind.clone() else { panic!() };
    outside.kernels[0].body.push(inner[1].clone());
    assert_eq!(
        told(verify(&outside)),
        [(Law::Storage, "`s` is used where it is not declared".into())]
    );
    let mut again = module("int s; s = 1;");
    let local = again.kernels[0].body[0].clone();
    again.kernels[0].body.push(local);
    assert_eq!(told(verify(&again)), [(Law::Storage, "`s` is declared where it lives".into())]);

    let mut of_code = module("__code(); { int z = 1; z++; a[0] = z; }");
    let uses_z = of_code
        .program
        .exprs
        .iter()
        .find(|it| matches!(it.1.kind, ir::program::ExprKind::Step(..)));
    let uses_z = uses_z.unwrap().0;
    of_code.kernels[0].body.push(Stmt::new(StmtKind::Eval(uses_z), Span::NONE));
    assert_eq!(
        told(verify(&of_code)),
        [(Law::Storage, "`z` is declared in serial code and used elsewhere".into())]
    );
    breaks(
        Law::Storage,
        "`s` is group storage of no constant size",
        "int s[n]; __group(s); s[0] = 1;",
    );
    breaks(
        Law::Storage,
        "`n` is set by a shared loop and has no space",
        "unsigned long me, of, at; __share(me, of, __number(at), __for(n = 0, n < 8, n++)); { a[0] = 1; }",
    );
}

#[test]
fn uniform_variables_are_the_same_in_all_threads() {
    breaks(
        Law::Uniform,
        "`u` is uniform, and threads of a parallel region write it",
        &format!("int u; __uniform(u); {}", parallel("u = 1;")),
    );
    breaks(
        Law::Uniform,
        "`u` is uniform, and not all threads write it",
        &parallel("int u; __uniform(u); if (me == 0) u = 1;"),
    );
    breaks(
        Law::Uniform,
        "`u` is uniform, and not all threads write it",
        &parallel("int u; __uniform(u); __primary(); { u = 1; }"),
    );
    breaks(
        Law::Uniform,
        "`u` is uniform, and gets a value of each thread's own",
        &parallel("unsigned long u; __uniform(u); u = me;"),
    );
    holds(&parallel("unsigned long u; __uniform(u); u = of; if (u > 3) u++;"));
    holds("unsigned long u, v; __uniform(u); v = 3; if (v > 2) u = v;");
    breaks_spmd(
        Law::Uniform,
        "`u` is uniform, and gets a value of each thread's own",
        "unsigned long t, T, g, G; __launch(t, T, g, G); unsigned long u; __uniform(u); u = t;",
    );
}

#[test]
fn jumps_have_targets() {
    let mut wrong = module("a[0] = 1;");
    for (kind, text) in [
        (StmtKind::Break, "a break has nothing around it to act on"),
        (StmtKind::Continue, "a continue has nothing around it to act on"),
        (StmtKind::Case(1, 1), "a case does not stand directly in a switch"),
        (StmtKind::Default, "a case does not stand directly in a switch"),
    ] {
        wrong.kernels[0].body[0].kind = kind;
        assert_eq!(told(verify(&wrong)), [(Law::Jump, text.to_owned())]);
    }
    breaks(
        Law::Jump,
        "a break has nothing around it to act on",
        "for (;;) { __primary(); { break; } }",
    );
    breaks(
        Law::Jump,
        "a continue has nothing around it to act on",
        "for (;;) { __only(1); { switch (n) { case 1: continue; } } }",
    );
}

#[test]
fn nothing_parallel_is_left_in_spmd_form() {
    breaks_spmd(Law::Spmd, "code for one thread is left", "__primary(); { a[0] = 1; }");
    breaks_spmd(
        Law::Spmd,
        "a shared loop is left",
        "unsigned long me, of, at; int i; __share(me, of, __number(at), __for(i = 0, i < n, i++)); { a[i] = 1; }",
    );
    breaks_spmd(Law::Spmd, "a parallel region is left", &parallel("a[0] = 1;"));
}

#[test]
fn all_threads_reach_a_barrier_in_spmd_form() {
    let launch = "unsigned long t, T, g, G; __launch(t, T, g, G); int u; __uniform(u); u = n; int s; __group(s);";
    let text = "not all threads reach the barrier: a condition is not uniform";
    let check = |body: &str| breaks_spmd(Law::Barrier, text, &format!("{launch} {body}"));
    check("if (t < 3) __barrier();");
    check("for (unsigned long i = t; i < 8; i += T) __barrier();");
    check("int *p; p = a; if (p[0]) __barrier();");
    check("if (answer(u)) __barrier();");
    check("switch (t) { case 1: __barrier(); }");
    check("a[1] = n; if (a[0]) __barrier();");
    let jumps = |word: &str| format!("not all threads reach a {word} before a barrier");
    breaks_spmd(
        Law::Barrier,
        &jumps("break"),
        &format!("{launch} for (;;) {{ if (t == 1) break; __barrier(); }}"),
    );
    breaks_spmd(
        Law::Barrier,
        &jumps("continue"),
        &format!("{launch} for (; u < 9;) {{ if (t == 1) continue; __barrier(); }}"),
    );
    holds_spmd(&format!(
        "{launch} if (u > 2 && n) {{ for (; u < 9; u++) {{ if (s) break; if (g + G + T) __barrier(); }} }}
         for (int i = 0; i < 9; i++) {{ if (t == 1) break; }}"
    ));
}
