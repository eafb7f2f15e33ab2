//! Copies that make no difference: given programs with what is to be said of them.

use ir::construct::Motion;
use ir::program::{Program, VarId};
use opt::dependence::Analysis;
use opt::transfer::Kept;

use super::support;

fn name(program: &Program, var: VarId) -> String {
    program.vars[var].name.map_or("?".to_owned(), |it| program.names.text(it).to_owned())
}

fn motion(it: Motion) -> &'static str {
    match it {
        Motion::To => "to",
        Motion::From => "from",
        Motion::ToFrom | Motion::Unsaid => "both",
        Motion::Alloc => "none",
        Motion::Release | Motion::Delete => "away",
    }
}

/// `p: to, 8 * n bytes; not-written`, for each transfer in which something is wasted.
fn wasted(text: &str) -> Vec<String> {
    let program = support::program(text);
    let analysis = Analysis::new(&program);
    let mut found = Vec::new();
    for (id, _) in program.regions.iter() {
        for it in analysis.transfers(id) {
            if it.waste.is_empty() {
                assert_eq!(it.enough, it.motion);
                continue;
            }
            let words: Vec<&str> = it.waste.iter().map(|it| it.word()).collect();
            let var = name(&program, it.var);
            found.push(format!("{var}: {} ({})", motion(it.enough), words.join(", ")));
        }
    }
    found
}

/// `p: to, 2 regions`, for each thing that could stay on the device.
fn kept(text: &str) -> Vec<String> {
    let program = support::program(text);
    let told = |it: &Kept| {
        let many = it.regions.len();
        let around = if it.is_loop { "loop" } else { "row" };
        format!("{}: {}, {many} in a {around}", name(&program, it.var), motion(it.motion))
    };
    Analysis::new(&program).kept().iter().map(told).collect()
}

#[track_caller]
fn check(body: &str, expect: &[&str]) {
    assert_eq!(wasted(&support::within(body)), expect, "{body}");
}

#[track_caller]
fn check_kept(body: &str, expect: &[&str]) {
    assert_eq!(kept(&support::within(body)), expect, "{body}");
}

#[test]
fn what_is_only_read_need_not_come_back() {
    check(
        "\n#pragma omp target teams distribute parallel for map(tofrom: p[0:n], q[0:n])\n\
         for (int i = 0; i < n; i++) q[i] += p[i];",
        &["p: to (not-written)"],
    );
    check(
        "\n#pragma acc kernels copy(p[0:n], q[0:n])\nfor (int i = 0; i < n; i++) q[i] += p[i];",
        &["p: to (not-written)"],
    );
    // By the implicit rule too.
    check(
        "double a[10]; for (int i = 0; i < n; i++) a[i] = i;\n#pragma omp target map(tofrom: q[0:n])\n\
         for (int i = 0; i < n; i++) q[i] += a[i];\nu[0] = a[0];",
        &["a: to (not-written)"],
    );
}

#[test]
fn another_name_may_write_it() {
    let body = "\n#pragma omp target map(tofrom: u[0:n], v[0:n])\nfor (int i = 0; i < n; i++) v[i] += u[i];";
    check(body, &[]);
    check("\n#pragma omp target map(tofrom: p[0:n])\n{ double *r = p; r[0] = p[1]; }", &[]);
    check("\n#pragma omp target map(tofrom: p[0:n])\n{ other(); u[0] = p[1]; }", &[]);
}

#[test]
fn what_is_all_written_need_not_go_there() {
    check(
        "\n#pragma omp target teams distribute parallel for map(tofrom: p[0:n])\n\
         for (int i = 0; i < n; i++) p[i] = i;",
        &["p: from (overwritten)"],
    );
    check(
        "static double a[8][9];\n#pragma acc parallel loop copy(a)\n\
         for (int i = 0; i < 8; i++)\nfor (int j = 8; j >= 0; j--) a[i][j] = i;",
        &["a: from (overwritten)"],
    );
    check(
        "\n#pragma acc parallel loop copy(p[0:n])\nfor (int i = 0; i < n; i++) p[n - 1 - i] = i;",
        &["p: from (overwritten)"],
    );
}

#[test]
fn what_may_keep_an_old_element_goes_there() {
    let bodies = [
        "for (int i = 0; i < n - 1; i++) p[i] = i;",
        "for (int i = 1; i < n; i++) p[i] = i;",
        "for (int i = 0; i < n; i += 2) p[i] = i;",
        "for (int i = 0; i < n; i++) if (q[i] > 0) p[i] = i;",
        "for (int i = 0; i < n; i++) p[0] = i;",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) p[i] = j;",
        "for (int i = 0; i < n; i++) { if (q[i] > 0) continue; p[i] = i; }",
        "for (int i = 0; i < n; i++) *(int *)&p[i] = i;",
        "for (int i = 0; i < n; i++) p[i] = p[i] + i;",
        "{ n--; for (int i = 0; i < n; i++) p[i] = i; }",
    ];
    for body in bodies {
        let text = format!("\n#pragma omp target map(tofrom: p[0:n])\n{body}");
        check(&text, &[]);
    }
}

#[test]
fn what_nobody_looks_at_need_not_come_back() {
    let region = "\n#pragma omp target map(tofrom: a) map(tofrom: q[0:n])\n\
                  for (int i = 0; i < 10; i++) { a[i] += i; q[i] = a[i]; }\n";
    check(&format!("double a[10]; a[0] = n; {region}"), &["a: to (not-needed)"]);
    check(&format!("double a[10]; {region} q[0] = a[1];"), &[]);
    check(&format!("static double a[10]; {region}"), &[]);
    check(&format!("double a[10]; double *r = a; {region} q[0] = r[1];"), &[]);
    check(&format!("double a[10]; for (int k = 0; k < n; k++) {{ {region} }}"), &[]);
}

#[test]
fn what_is_asked_for_in_any_case_is_left_alone() {
    let loop_ = "for (int i = 0; i < n; i++) q[i] = p[i];";
    let clauses = [
        "map(always, tofrom: p[0:n]) map(from: q[0:n])",
        "map(tofrom: p[0:n]) map(from: q[0:n]) nowait",
        "map(present, tofrom: p[0:n]) map(from: q[0:n])",
    ];
    for clause in clauses {
        check(&format!("\n#pragma omp target {clause}\n{loop_}"), &[]);
    }
    // Nothing is copied here at all.
    let inner = "\n#pragma omp target map(tofrom: p[0:n])\n{ q[0] = p[0]; }\n";
    check(&format!("\n#pragma omp target data map(to: p[0:n], q[0:n])\n{{ {inner} }}"), &[]);
}

#[test]
fn data_regions_are_asked_what_is_done_in_them() {
    let data = "\n#pragma acc data copy(p[0:n], q[0:n])\n";
    let region = "\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) q[i] = p[i];\n";
    check(&format!("{data} {{ {region} }}"), &["p: to (not-written)"]);
    check(&format!("{data} {{ {region} p[0] = 1; }}"), &[]);
    check(&format!("{data} {{ {region} other(); }}"), &[]);
    check(&format!("{data} {{ {region}\n#pragma acc update self(p[0:n])\n }}"), &[]);
}

#[test]
fn what_the_host_leaves_alone_may_stay() {
    let read = "\n#pragma acc parallel loop copyin(p[0:n]) copyout(q[0:n])\nfor (int i = 0; i < n; i++) q[i] = p[i];\n";
    let change =
        "\n#pragma acc parallel loop copy(p[0:n])\nfor (int i = 0; i < n; i++) p[i] += 1;\n";
    check_kept(&format!("{read} {read}"), &["p: to, 2 in a row"]);
    check_kept(&format!("{change} {change}"), &["p: both, 2 in a row"]);
    check_kept(&format!("{read} m = 1; {read}"), &["p: to, 2 in a row"]);
    check_kept(&format!("{read} q[0] = p[0]; {read}"), &["p: to, 2 in a row"]);
    check_kept(&format!("{change} q[0] = p[0]; {read}"), &[]);
    check_kept(&format!("{read} p[0] = 1; {read}"), &[]);
    check_kept(&format!("{read} n = 1; {read}"), &[]);
    check_kept(&format!("{read} p++; {read}"), &[]);
    check_kept(&format!("{read} other(); {read}"), &[]);
    check_kept(&format!("{read} printf(\"%d\\n\", n); {read}"), &["p: to, 2 in a row"]);
    check_kept(&format!("{read} if (m) return; {read}"), &[]);
    let part =
        "\n#pragma acc parallel loop copyin(p[0:m])\nfor (int i = 0; i < m; i++) q[i] = p[i];\n";
    check_kept(&format!("{read} {part}"), &[]);
}

#[test]
fn what_a_region_writes_for_itself_is_not_seen_by_the_next() {
    let read = "\n#pragma acc parallel loop copyin(p[0:n]) copyout(q[0:n])\nfor (int i = 0; i < n; i++) q[i] = p[i];\n";
    let scratch =
        "\n#pragma acc parallel loop copyin(p[0:n])\nfor (int i = 0; i < n; i++) p[i] = 1;\n";
    let new = "\n#pragma acc parallel loop create(p[0:n])\nfor (int i = 0; i < n; i++) p[i] = 1;\n";
    check_kept(&format!("{read} {scratch} {read}"), &[]);
    check_kept(&format!("{read} {new} {read}"), &[]);
    check_kept(
        &format!("for (int k = 0; k < m; k++) {{ {read} {new} }}"),
        &["q: from, 1 in a loop"],
    );
}

#[test]
fn what_a_loop_copies_in_each_round_may_stay() {
    let step = "\n#pragma omp target teams distribute parallel for map(tofrom: p[0:n])\n\
                for (int i = 0; i < n; i++) p[i] += 1;\n";
    check_kept(&format!("for (int k = 0; k < m; k++) {{ {step} }}"), &["p: both, 1 in a loop"]);
    check_kept(&format!("for (int k = 0; k < m; k++) {{ {step} u[k] = p[0]; }}"), &[]);
    check_kept(&format!("for (int k = 0; k < m; k++) {{ {step} n--; }}"), &[]);
    check_kept(&format!("for (int k = 0; k < m; k++) {{ {step} if (k > 3) return; }}"), &[]);
    check_kept(&format!("for (int k = 0; k < m; k++) {{ double p[9]; {step} p[0] = 1; }}"), &[]);
    let data = format!(
        "\n#pragma omp target data map(tofrom: p[0:n])\nfor (int k = 0; k < m; k++) {{ {step} }}"
    );
    check_kept(&data, &[]);
}
