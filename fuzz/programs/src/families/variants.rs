//! Versions of functions and directives: what the device runs and what the host runs of the same region. A region that the host
//! runs (`if(0)`, the initial device) takes the host's.

use crate::check::Check;

/// `declare variant`, called from regions, from functions and on the host.
pub(super) fn functions(c: &mut Check) {
    let id = c.seed;
    let (base, other) = (c.rng.range(1, 40), c.rng.range(50, 90));
    // Whether the device has the variant, and whether the host has.
    let (selector, on_device, on_host) = c.rng.pick(&[
        ("device = {kind(nohost)}", true, false),
        ("device = {kind(host)}", false, true),
        ("device = {kind(any)}", true, true),
        ("user = {condition(1)}", true, true),
        ("user = {condition(0)}", false, false),
    ]);
    c.top("#pragma omp begin declare target");
    c.top(format!("static int other_{id}(int x) {{ return x + {other}; }}"));
    c.top(format!("#pragma omp declare variant(other_{id}) match({selector})"));
    c.top(format!("static int base_{id}(int x) {{ return x + {base}; }}"));
    c.top(format!("static int via_{id}(int x) {{ return 2 * base_{id}(x); }}"));
    c.top("#pragma omp end declare target");
    let device = if on_device { other } else { base };
    let host = if on_host { other } else { base };
    c.line("int got = 0;");
    for _ in 0..c.rng.range(1, 3) {
        let arg = c.rng.range(0, 9);
        let via = c.rng.chance(40);
        let (call, factor) =
            if via { (format!("via_{id}({arg})"), 2) } else { (format!("base_{id}({arg})"), 1) };
        let (words, here) = c.rng.pick(&[
            ("omp target map(from: got)", false),
            ("omp target map(from: got)", false),
            ("omp target map(from: got) if(0)", true),
            ("omp target map(from: got) if(target: 0)", true),
            ("omp target map(from: got) device(omp_get_initial_device())", true),
            ("omp target parallel num_threads(1) map(from: got)", false),
            ("omp target teams num_teams(1) map(from: got) if(0)", true),
            ("", true),
        ]);
        if !words.is_empty() {
            c.pragma(words);
        }
        c.line(format!("got = {call};"));
        let at_host = factor * (arg + host);
        if here {
            c.same("got", at_host);
        } else {
            c.line(format!("same(\"got\", got, host ? {at_host} : {});", factor * (arg + device)));
        }
    }
}

/// `metadirective`: the directive that fits who runs it.
pub(super) fn directives(c: &mut Check) {
    let value = c.rng.range(1, 40);
    let selector = c.rng.pick(&["nohost", "host"]);
    let word = c.rng.pick(&["otherwise", "default"]);
    c.line("int y = 0, got = 0;");
    let off = c.rng.chance(50);
    c.pragma(format!(
        "omp target map(tofrom: got) firstprivate(y){}",
        if off { " if(0)" } else { "" }
    ));
    c.line("{");
    // The chosen directive has a copy of `y` of its own, or not.
    let copies = c.rng.chance(50);
    let (first, second) =
        if copies { ("firstprivate(y)", "shared(y)") } else { ("shared(y)", "firstprivate(y)") };
    c.pragma(format!(
        "omp metadirective when(device = {{kind({selector})}}: parallel num_threads(1) {first}) {word}(parallel num_threads(1) {second})"
    ));
    c.line(format!("y = y + {value};"));
    c.line("got = y;");
    c.line("}");
    // With its own copy the region leaves `y` at 0.
    let kept = |on_device: bool| {
        let chosen_first = (selector == "nohost") == on_device;
        if chosen_first == copies { 0 } else { value }
    };
    if off {
        c.same("got", kept(false));
    } else {
        c.line(format!("same(\"got\", got, host ? {} : {});", kept(false), kept(true)));
    }
}

/// `routine bind`: the name that a device calls, and the host does not.
pub(super) fn bind(c: &mut Check) {
    let id = c.seed;
    let (plain, tuned) = (c.rng.range(1, 40), c.rng.range(50, 90));
    let name = if c.rng.chance(30) { format!("\"tuned_{id}\"") } else { format!("tuned_{id}") };
    c.top(format!("int plain_{id}(int x);\nint tuned_{id}(int x);"));
    c.top(format!("#pragma acc routine(plain_{id}) seq bind({name})"));
    c.top(format!("#pragma acc routine(tuned_{id}) seq"));
    c.top(format!("int plain_{id}(int x) {{ return x + {plain}; }}"));
    c.top(format!("int tuned_{id}(int x) {{ return x + {tuned}; }}"));
    let via = c.rng.chance(40);
    if via {
        c.top(format!(
            "#pragma acc routine seq\nstatic int via_{id}(int x) {{ return 2 * plain_{id}(x); }}"
        ));
    }
    c.line("int got = 0;");
    for _ in 0..c.rng.range(1, 3) {
        let arg = c.rng.range(0, 9);
        let (words, here) = c.rng.pick(&[
            ("acc serial copyout(got)", false),
            ("acc parallel num_gangs(1) copyout(got)", false),
            ("acc serial copy(got) if(0)", true),
            ("acc parallel num_gangs(1) copy(got) if(0)", true),
            ("", true),
        ]);
        if !words.is_empty() {
            c.pragma(words);
        }
        let factor = if via { 2 } else { 1 };
        c.line(format!("got = {}_{id}({arg});", if via { "via" } else { "plain" }));
        let at_host = factor * (arg + plain);
        if here {
            c.same("got", at_host);
        } else {
            c.line(format!("same(\"got\", got, host ? {at_host} : {});", factor * (arg + tuned)));
        }
    }
}
