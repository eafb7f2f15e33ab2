//! Time that grows with the program, not with its square.
//!
//! Each program has one part that is repeated often. What grows with the square would take much
//! longer than the limit; what is linear takes a fraction of a second.

use std::fmt::Write;
use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::support::faults;

const MANY: usize = 20_000;
/// Where each step is so short that only this many show their square.
const VERY_MANY: usize = 5 * MANY;
const LIMIT: Duration = Duration::from_secs(5);

/// How long this thread has had a processor, whatever else the machine had to do; where the system does not
/// say, the time.
fn busy() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let start = *START;
    let said = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = said.split_whitespace().next().and_then(|it| it.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// A program of many parts is checked in time, and is right.
#[track_caller]
fn quick(before: &str, part: impl Fn(&mut String, usize) -> std::fmt::Result, after: &str) {
    quick_of(MANY, before, part, after);
}

#[track_caller]
fn quick_of(
    many: usize,
    before: &str,
    part: impl Fn(&mut String, usize) -> std::fmt::Result,
    after: &str,
) {
    let mut text = before.to_owned();
    for at in 0..many {
        assert!(part(&mut text, at).is_ok());
    }
    text.push_str(after);
    let start = busy();
    assert_eq!(faults(&text), Vec::<String>::new());
    let took = busy() - start;
    assert!(took < LIMIT, "{took:?}");
}

#[test]
fn many_names_in_one_list() {
    let mut text = String::new();
    for at in 0..MANY {
        write!(text, "int v{at};").expect("a string takes all that is written");
    }
    for clause in ["to", "link"] {
        let before = format!("{text}\n#pragma omp declare target {clause}(v0");
        quick(&before, |out, at| if at == 0 { Ok(()) } else { write!(out, ",v{at}") }, ")\n");
    }
}

#[test]
fn many_routines() {
    quick("", |out, at| write!(out, "void g{at}(void);\n#pragma acc routine(g{at}) seq\n"), "");
}

#[test]
fn many_variants() {
    let variant = |out: &mut String, at: usize| {
        write!(
            out,
            "void v{at}(void);\n#pragma omp declare variant(v{at}) match(construct={{target}})\n\
             void b{at}(void);\n"
        )
    };
    quick("", variant, "");
}

#[test]
fn many_regions() {
    let region = "#pragma omp target\n{\n#pragma omp teams\n;\n}\n";
    quick("void f(void) {\n", |out, _| out.write_str(region), "}\n");
}

/// Each asks what the threads around have of it.
#[test]
fn many_variables_of_one_region() {
    let mut text = String::from("void f(void) {\n");
    for at in 0..VERY_MANY {
        write!(text, "int v{at} = 0;").expect("a string takes all that is written");
    }
    let mut all = String::new();
    for at in 0..VERY_MANY {
        write!(all, "v{at}++;").expect("a string takes all that is written");
    }
    let before = format!("{text}\n#pragma omp parallel\n{{\n#pragma omp task\n{{");
    quick_of(VERY_MANY, &before, |out, at| write!(out, "v{at}++;"), "}\n}\n}\n");
    let before =
        format!("{text}\n#pragma omp parallel\n{{\n{all}\n#pragma omp sections reduction(+: v0");
    quick_of(
        VERY_MANY,
        &before,
        |out, at| if at == 0 { Ok(()) } else { write!(out, ",v{at}") },
        ")\n{ ; }\n}\n}\n",
    );
}

#[test]
fn many_variables_of_devices() {
    let mut text = String::from("#pragma omp begin declare target\n");
    for at in 0..VERY_MANY {
        write!(text, "int v{at};").expect("a string takes all that is written");
    }
    let before = format!(
        "{text}\n#pragma omp end declare target\nvoid f(void) {{\n#pragma omp target\n{{\n"
    );
    quick_of(VERY_MANY, &before, |out, at| write!(out, "v{at}++;"), "}\n}\n");
}

/// Each asks whether device code calls its function.
#[test]
fn many_loops_in_functions_for_devices() {
    let part = |out: &mut String, at: usize| {
        write!(
            out,
            "void h{at}(void) {{\n#pragma acc loop\nfor (int i = 0; i < 9; i++) ;\n}}\n\
             void k{at}(void) {{\n#pragma acc parallel\nh{at}();\n}}\n"
        )
    };
    quick("", part, "");
}

#[test]
fn many_callees() {
    let mut text = String::new();
    for at in 0..MANY {
        write!(text, "void g{at}(void);").expect("a string takes all that is written");
    }
    let before = format!("{text}\nvoid f(void) {{\n#pragma omp parallel\n{{\n");
    quick(&before, |out, at| write!(out, "g{at}();"), "}\n}\n");
}

#[test]
fn many_members() {
    let mut text = String::from("struct s {");
    for at in 0..MANY {
        write!(text, "int m{at};").expect("a string takes all that is written");
    }
    text.push_str("};\nvoid f(struct s *p) {");
    quick(&text, |out, at| write!(out, "p->m{at} = 1;"), "}\n");
}

#[test]
fn many_designators_in_no_order() {
    quick("int a[] = {", |out, at| write!(out, "[{}] = 1,", MANY - at), "};\n");
}
