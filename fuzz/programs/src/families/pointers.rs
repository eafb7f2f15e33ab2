//! Pointers: bare ones in clauses of OpenACC, which stand for the data they lead to, device addresses in both standards, and
//! variables that live on the device.

use crate::check::Check;

/// `present(p)`, `update self(p)`, `exit data copyout(p)`: the data that `p` leads to, whoever put them there.
pub(super) fn bare(c: &mut Check) {
    let id = c.seed;
    let size = c.rng.range(1, 9);
    let ty = c.rng.pick(&["int", "double", "long", "short"]);
    let (by, set) = (c.rng.range(1, 90), c.rng.range(1, 90));
    let split = c.rng.chance(50);
    let copies = c.rng.chance(50);
    let exit = if copies { "copyout" } else { "delete" };
    let exit_bare = c.rng.chance(70);
    if split && exit_bare {
        c.top(format!("static void end_{id}({ty} *q) {{\n#pragma acc exit data {exit}(q)\n}}"));
    }
    let present_split = c.rng.chance(30);
    let kernel = c.rng.pick(&[
        "parallel loop present(P)",
        "kernels loop independent present(P)",
        "parallel loop present(P) gang vector",
        "serial loop present(P)",
    ]);
    if present_split {
        c.top(format!("static void work_{id}({ty} *q) {{\n#pragma acc {}\n  for (int i = 0; i < {size}; i++) q[i] += {by};\n}}", kernel.replace('P', "q")));
    }
    c.line(format!("{ty} *p = malloc({size} * sizeof *p);"));
    c.line(format!("for (int i = 0; i < {size}; i++) p[i] = i;"));
    c.pragma(format!("acc enter data copyin(p[0:{size}])"));
    c.line("p[0] = 500;");
    if present_split {
        c.line(format!("work_{id}(p);"));
    } else {
        c.pragma(format!("acc {}", kernel.replace('P', "p")));
        c.line(format!("for (int i = 0; i < {size}; i++) p[i] += {by};"));
    }
    // What the device has; the host's is as it was until something is copied.
    let device: Vec<i64> = (0..size).map(|i| i + by).collect();
    let shared: Vec<i64> = (0..size).map(|i| if i == 0 { 500 + by } else { i + by }).collect();
    let mut host: Vec<i64> = (0..size).map(|i| if i == 0 { 500 } else { i }).collect();
    if c.rng.chance(40) {
        let words = c.rng.pick(&["self(p)", "host(p)"]);
        let part = if c.rng.chance(50) {
            words.replace("(p)", &format!("(p[0:{size}])"))
        } else {
            words.to_string()
        };
        c.pragma(format!("acc update {part}"));
        host.clone_from(&device);
        for i in 0..size as usize {
            c.either(&format!("p[{i}]"), Some(host[i]), Some(shared[i]));
        }
    }
    if split && exit_bare {
        c.line(format!("end_{id}(p);"));
    } else if exit_bare {
        c.pragma(format!("acc exit data {exit}(p)"));
    } else {
        c.pragma(format!("acc exit data {exit}(p[0:{size}])"));
    }
    if copies {
        host = device;
    }
    for i in 0..size as usize {
        c.either(&format!("p[{i}]"), Some(host[i]), Some(shared[i]));
    }
    c.line(format!(
        "if (!shared) same(\"p is still there\", acc_is_present(p, {size} * sizeof *p) != 0, 0);"
    ));
    // What is there no more is copied anew.
    if c.rng.chance(50) {
        c.line(format!("int seen = 0; p[0] = {set};"));
        c.pragma(format!("acc serial copyin(p[0:{size}]) copyout(seen)"));
        c.line("seen = p[0];");
        c.same("seen", set);
    }
    c.line("free(p);");
}

/// Addresses of the device: found with `use_device`, given to kernels as they are.
pub(super) fn device(c: &mut Check) {
    let size = c.rng.range(1, 8);
    let (by, other) = (c.rng.range(1, 50), c.rng.range(1, 50));
    let ty = c.rng.pick(&["int", "double", "long"]);
    if c.rng.chance(50) {
        c.line("int device = omp_get_default_device(), at_home = omp_get_initial_device();");
        c.line(format!("{ty} a[{size}], b[{size}], *d = omp_target_alloc(sizeof a, device);"));
        c.line(format!("for (int i = 0; i < {size}; i++) a[i] = i + {other}, b[i] = 0;"));
        c.line("omp_target_memcpy(d, a, sizeof a, 0, 0, device, at_home);");
        c.pragma(format!(
            "omp {} is_device_ptr(d)",
            c.rng.pick(&["target", "target teams distribute parallel for", "target parallel for"])
        ));
        c.line(format!("for (int i = 0; i < {size}; i++) d[i] = 2 * d[i] + {by};"));
        let from = c.rng.below(size as usize) as i64;
        c.line(format!("omp_target_memcpy(b, d, (size_t){} * sizeof *d, 0, {from} * sizeof *d, at_home, device);", size - from));
        c.line("omp_target_free(d, device);");
        for i in 0..size {
            c.same(&format!("a[{i}]"), i + other);
            c.same(
                &format!("b[{i}]"),
                if i < size - from { 2 * (i + from + other) + by } else { 0 },
            );
        }
        return;
    }
    let openmp = c.rng.chance(50);
    c.line(format!("{ty} *a = malloc({size} * sizeof *a);"));
    c.line(format!("for (int i = 0; i < {size}; i++) a[i] = i;"));
    c.pragma(if openmp {
        format!("omp target data map(tofrom: a[0:{size}])")
    } else {
        format!("acc data copy(a[0:{size}])")
    });
    c.line("{");
    c.line("a[0] = 300;");
    if openmp {
        c.pragma("omp target data use_device_ptr(a)");
        c.pragma("omp target is_device_ptr(a)");
    } else {
        c.pragma("acc host_data use_device(a)");
        c.pragma("acc parallel loop deviceptr(a)");
    }
    c.line(format!("for (int i = 0; i < {size}; i++) a[i] = 3 * a[i] + {by};"));
    c.line("}");
    for i in 0..size {
        let shared = if i == 0 { 300 } else { i };
        c.either(&format!("a[{i}]"), Some(3 * i + by), Some(3 * shared + by));
    }
    c.line("free(a);");
}

/// Variables of the program that the device has copies of for as long as it runs.
pub(super) fn globals(c: &mut Check) {
    let id = c.seed;
    let size = c.rng.range(1, 6);
    let ty = c.rng.pick(&["int", "double", "long", "short"]);
    let openmp = c.rng.chance(60);
    let (by, set) = (c.rng.range(1, 50), c.rng.range(1, 50));
    let kind = c.rng.pick(&["", "static "]);
    c.top(format!("{kind}{ty} g_{id}[{size}] = {{7}};"));
    if openmp {
        c.top(format!("#pragma omp declare target {}(g_{id})", c.rng.pick(&["to", "enter"])));
    } else {
        c.top(format!("#pragma acc declare {}(g_{id})", c.rng.pick(&["copyin", "create"])));
    }
    // `create` gives no values: all that is read was brought there before.
    let update = if openmp { "omp target update to" } else { "acc update device" };
    let (region, back) = if openmp {
        ("omp target", "omp target update from")
    } else {
        ("acc serial", "acc update self")
    };
    c.line(format!("for (int i = 0; i < {size}; i++) g_{id}[i] = i + {set};"));
    c.pragma(format!("{update}(g_{id})"));
    c.line(format!("g_{id}[0] = 900;"));
    let through = c.rng.chance(40);
    if through {
        c.top(if openmp { "#pragma omp begin declare target" } else { "#pragma acc routine seq" });
        c.top(format!("static void change_{id}(void) {{ for (int i = 0; i < {size}; i++) g_{id}[i] += {by}; }}"));
        if openmp {
            c.top("#pragma omp end declare target");
        }
    }
    c.pragma(region);
    if through {
        c.line(format!("change_{id}();"));
    } else {
        c.line(format!("for (int i = 0; i < {size}; i++) g_{id}[i] += {by};"));
    }
    for i in 0..size {
        let at_home = if i == 0 { 900 } else { i + set };
        c.either(&format!("g_{id}[{i}]"), Some(at_home), Some(at_home + by));
    }
    let from = c.rng.below(size as usize) as i64;
    c.pragma(format!("{back}(g_{id}[{from}:{}])", size - from));
    for i in 0..size {
        let at_home = if i == 0 { 900 } else { i + set };
        let apart = if i >= from { i + set + by } else { at_home };
        c.either(&format!("g_{id}[{i}]"), Some(apart), Some(at_home + by));
    }
}
