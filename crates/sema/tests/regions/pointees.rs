//! Data behind pointers: what a region does with it, directly and through functions.

use super::support::pointees;

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    let text = format!(
        "struct node {{ double v; struct node *next; double *list; }};\n\
         void look(const double *), change(double *), print(const char *, ...);\n\
         double *keep;\n\
         void set(double *to, const double *from, int n) {{ to[n] = *from; }}\n\
         void twice(double *one) {{ set(one, one + 1, 2); }}\n\
         void even(double *e, int n); void odd(double *o, int n) {{ if (n) even(o, n - 1); }}\n\
         void even(double *e, int n) {{ if (n) odd(e, n - 1); else *e = 0; }}\n\
         double *shift(double *p, int n) {{ return p + n; }}\n\
         void f(int n, double *p, const double *c, double **pp, double (*m)[8], struct node *s) {{\n\
         double own[4], *q;\n\
         \n#pragma omp parallel private(q)\n{{ {body} }}\n}}\n"
    );
    assert_eq!(pointees(&text), expected, "{body}");
}

#[test]
fn elements_are_told_from_pointers() {
    check("p[n] = c[n];", &["c r--", "p -w-"]);
    check("*p += *c;", &["c r--", "p rw-"]);
    check("*(p + 2) = 1; p[1]++;", &["p rw-"]);
    check("*p++ = 0;", &["p -w-"]);
    check("m[n][2] = *(m[n] + 1);", &["m rw-"]);
    check("s->v = s->next->list[1];", &["s rw-"]);
    check("pp[n][1] = 0;", &["pp rw-"]);
    check("*&p[1] = 0;", &["p -w-"]);
    check("(n ? p : *pp)[0] = 0;", &["p -w-", "pp rw-"]);
    check("((float *)p)[0] = 0;", &["p -w-"]);
}

#[test]
fn the_pointer_alone_leads_nowhere() {
    check("if (p && p != c) n = m - 0 == 0; p = 0; p++;", &[]);
    check("own[1] = 1; n = sizeof *p;", &[]);
}

#[test]
fn functions_that_are_seen_tell_what_they_do() {
    check("set(p, c, n);", &["p -w-", "c r--"]);
    check("twice(p);", &["p rw-"]);
    check("twice(&p[n]); twice(m[1]);", &["p rw-", "m rw-"]);
    check("odd(p, n);", &["p -w-"]);
    check("set(own, p, 1);", &["p r--"]);
    check("odd(pp[1], n);", &["pp rw-"]);
}

#[test]
fn functions_that_are_not_seen_may_do_what_their_types_allow() {
    check("look(p);", &["p r--"]);
    check("change(p);", &["p --e"]);
    check("print(\"%p\", p);", &["p --e"]);
    check("(n ? change : twice)(p);", &["p --e"]);
}

#[test]
fn a_pointer_that_is_kept_escapes() {
    check("q = p; q[0] = 1;", &["q -w-", "p --e"]);
    check("double *r = p;", &["p --e"]);
    check("keep = &p[1];", &["p --e"]);
    check("const double *r = c;", &["c r--"]);
    check("*shift(p, 1) = 0;", &["p --e"]);
}

#[test]
fn a_copy_with_the_same_value_leads_to_the_same_data() {
    let text = "void f(int *p, int *q) {\n#pragma omp parallel\n{\n\
                #pragma omp task firstprivate(p) private(q)\n{ *p = 1; q = p; *q = 2; }\n}\n}\n";
    assert_eq!(pointees(text), ["p -we", "p -we", "q -w-"]);
}
