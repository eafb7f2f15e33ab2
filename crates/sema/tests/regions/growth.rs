//! Time that grows with the program, not with its square.
//!
//! Each program has one part that is repeated often. What grows with the square would take much
//! longer than the limit; what is linear takes a fraction of a second.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::support::faults;

const MANY: usize = 20_000;
const LIMIT: Duration = Duration::from_secs(5);

/// A program of many parts is checked in time, and is right.
#[track_caller]
fn quick(before: &str, part: impl Fn(&mut String, usize) -> std::fmt::Result, after: &str) {
    let mut text = before.to_owned();
    for at in 0..MANY {
        assert!(part(&mut text, at).is_ok());
    }
    text.push_str(after);
    let start = Instant::now();
    assert_eq!(faults(&text), Vec::<String>::new());
    let took = start.elapsed();
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
