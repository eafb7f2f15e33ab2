//! Directives in the typed program: what they are about, and the names that they bring along.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]
use directive::Directives;
use ir::layout::LP64;
use ir::program::{Item, Program, StmtKind};

#[track_caller]
fn program(text: &str) -> Program {
    let (program, faults) = checked(text);
    assert!(faults.is_empty(), "{text}: {faults:?}");
    assert_eq!(ir::verify::verify(&program), [], "{text}");
    program
}

fn checked(text: &str) -> (Program, Vec<String>) {
    let mut directives = Directives::new();
    let parsed = syntax::parse(text.as_bytes(), 1, &mut directives);
    let mut faults: Vec<_> = parsed.diagnostics.iter().map(|it| it.message.clone()).collect();
    let checked = sema::check(parsed.tree, &directives, &LP64);
    faults.extend(checked.diagnostics.iter().map(|it| it.message.clone()));
    (checked.program, faults)
}

/// Names of what a declaration is about: functions, then variables.
fn about(program: &Program, at: usize) -> Vec<String> {
    let declaration = program.declarations.get(at).expect("a declaration");
    let functions = declaration.functions.iter().map(|it| Some(program.functions[*it].name));
    let vars = declaration.vars.iter().map(|it| program.vars[*it].name);
    let names = functions.chain(vars).flatten();
    names.map(|it| program.names.text(it).to_owned()).collect()
}

#[test]
fn regions_nest_and_have_their_bodies() {
    let program = program(
        "void f(int n, double *a) {
         #pragma omp target data map(tofrom: a[0:n])
         {
         #pragma omp target teams distribute parallel for
           for (int i = 0; i < n; i++) a[i] = i;
         #pragma omp target update from(a[:n:2])
         }
         }",
    );
    let regions: Vec<_> = program.regions.iter().map(|(_, it)| it).collect();
    let [data, compute, update] = regions.as_slice() else { panic!("three regions") };
    assert_eq!(data.parent, None);
    assert_eq!((compute.parent.is_some(), update.parent), (true, compute.parent));
    let body = compute.body.expect("a loop");
    assert!(matches!(program.stmts[body].kind, StmtKind::For(_)));
    assert_eq!(update.body, None);
}

#[test]
fn a_reduction_for_two_types_is_two_declarations() {
    let program = program(
        "#pragma omp declare reduction(add : int, double : omp_out += omp_in) initializer(omp_priv = 0)\n
         int x;",
    );
    assert_eq!(program.declarations.len(), 2);
    assert_eq!(about(&program, 0), directive::REDUCTION_VARIABLES);
    let types: Vec<_> = program
        .declarations
        .iter()
        .map(|it| program.types.spell(&program.names, program.vars[it.vars[0]].ty))
        .collect();
    assert_eq!(types, ["int", "double"]);
    let items = program.items.as_slice();
    assert!(matches!(items, [Item::Declaration(0), Item::Declaration(1), Item::Var(_)]));
}

#[test]
fn clauses_in_front_of_a_function_name_its_parameters() {
    for function in
        ["double f(const double *p, int i);", "double f(const double *p, int i) { return p[i]; }"]
    {
        let text = format!(
            "#pragma omp declare simd uniform(p) linear(i)\n#pragma omp declare simd aligned(p : 32)\n{function}"
        );
        let program = program(&text);
        assert_eq!(program.declarations.len(), 2);
        assert_eq!(
            (about(&program, 0), about(&program, 1)),
            (vec!["f".to_owned()], vec!["f".to_owned()])
        );
    }
    let (_, faults) = checked("#pragma omp declare simd uniform(q)\nint f(int p);");
    assert_eq!(faults, ["`q` is not declared"]);
}

#[test]
fn variants_may_have_the_name_of_their_base() {
    let program = program(
        "int f(void) { return 1; }
         #pragma omp begin declare variant match(device={kind(gpu)})
         int f(void) { return 2; }
         #pragma omp end declare variant
         int g(void) { return f(); }",
    );
    let variant = about(&program, 0);
    assert!(variant.len() == 1 && variant[0].starts_with("f__"), "{variant:?} has its own name");
    assert_eq!(program.functions.len(), 3);
    let (_, base) = program.functions.iter().next().expect("a function");
    let (_, caller) = program.functions.iter().last().expect("a function");
    assert_eq!(caller.calls.len(), 1);
    assert_eq!(program.functions[caller.calls[0]].span, base.span);
}

#[test]
fn what_is_declared_up_to_an_end_marker_is_gathered() {
    let program = program(
        "int before;
         #pragma omp begin declare target
         int inside; int f(void) { return inside; }
         #pragma omp end declare target
         int after;
         #pragma omp declare target enter(before) link(after)
         ",
    );
    assert_eq!(about(&program, 0), ["f", "inside"]);
    assert!(
        program
            .declarations
            .iter()
            .enumerate()
            .any(|it| about(&program, it.0) == ["before", "after"])
    );
}

#[test]
fn threadprivate_variables_are_per_thread() {
    let program = program("int x;\n#pragma omp threadprivate(x)\n");
    let (_, x) = program.vars.iter().next().expect("a variable");
    assert!(x.thread_local);
}

#[test]
fn mappers_and_iterators_bring_their_variables() {
    let program = program(
        "struct v { int n; double *d; };
         #pragma omp declare mapper(deep : struct v s) map(s, s.d[0:s.n])
         void f(int n, double *a[], struct v x) {
         #pragma omp target map(mapper(deep), tofrom: x)
           x.d[0] = 1;
         #pragma omp task depend(iterator(int k = 0:n), in: a[k])
           ;
         }",
    );
    assert_eq!(about(&program, 0), ["s"]);
    assert_eq!(program.regions.len(), 2);
}

#[test]
fn names_in_clauses_are_looked_up() {
    let (_, faults) = checked(
        "void f(int n) {
         #pragma omp parallel for private(m) num_threads(n)
           for (int i = 0; i < n; i++) ;
         }",
    );
    assert_eq!(faults, ["`m` is not declared"]);
}

#[test]
fn the_other_standard_makes_the_same_program() {
    let program = program(
        "#pragma acc routine seq
         static double twice(double x) { return 2 * x; }
         void f(int n, double *restrict a) {
         #pragma acc data copy(a[0:n])
           {
         #pragma acc parallel loop gang vector
             for (int i = 0; i < n; i++) a[i] = twice(a[i]);
           }
         }",
    );
    assert_eq!(about(&program, 0), ["twice"]);
    assert_eq!(program.regions.len(), 2);
}
