//! Regions whose results nobody reads yet, on the driver that does everything late: they are not waited for, and the
//! program cannot tell.

use super::{Ran, told, with_driver};

/// Tests, by their names.
pub(super) const OWN: &[(&str, super::Test)] = &[
    ("a_chain_of_regions_is_waited_for_once", a_chain),
    ("who_wants_it_waits_for_each_region", always),
    ("who_is_told_of_regions_is_told_that_they_are_waited_for", told_of),
    ("what_a_region_was_passed_may_change_at_once", what_was_passed),
    ("locked_memory_is_read_before_a_region_returns", locked_memory),
    ("updates_and_regions_keep_their_order", updates),
    ("regions_that_nobody_waits_for_mix_with_those_that_are_left", mixed),
    ("threads_see_what_others_have_left", threads),
    ("memory_goes_back_when_what_was_left_is_done", memory),
    ("kept_memory_is_used_again_in_order", kept_memory),
    ("a_crash_of_what_was_left_is_told_with_its_line", a_crash),
    ("a_crash_that_nobody_looked_for_is_told_at_the_end", a_crash_at_the_end),
    ("a_crash_names_all_that_were_left", a_crash_of_several),
    ("a_program_that_knows_addresses_is_waited_for", addresses),
    ("the_clock_waits_for_regions", the_clock),
    ("kernels_that_print_are_waited_for", prints),
    ("a_child_does_not_wait_for_its_parents_regions", a_child),
];

const SUMS: &[(&str, &str)] = &[("SUMS", "1")];

impl Ran {
    /// How many calls begin with a word.
    fn count(&self, word: &str) -> usize {
        self.calls.iter().filter(|it| it.starts_with(word)).count()
    }

    fn fails(&self) -> Option<String> {
        (!self.output.status.success()).then(|| told(&self.output))
    }
}

fn succeeds(program: &str) -> Option<String> {
    with_driver(program, "cuda", SUMS)?.fails()
}

/// A program with so many regions, one after the other, each of which adds one to what is on the device.
const CHAIN: &str = "
    int a = 5, one = 1;
    int main(void) {
        #pragma omp target data map(tofrom: a) map(to: one)
        for (int k = 0; k < 100; k++) {
            #pragma omp target map(tofrom: a) map(to: one)
            a += one;
        }
        return a != 105; }";

fn a_chain() -> Option<String> {
    let ran = with_driver(CHAIN, "cuda", SUMS)?;
    let (kernels, waits) = (ran.count("kernel"), ran.count("wait"));
    let is_right = kernels == 100 && waits == 1 && ran.count("mark") == 0;
    ran.fails().or_else(|| (!is_right).then(|| format!("{kernels} kernels, {waits} waits")))
}

fn always() -> Option<String> {
    let ran = with_driver(CHAIN, "cuda", &[("SUMS", "1"), ("FERRY_WAIT", "always")])?;
    let waits = ran.count("wait");
    ran.fails().or_else(|| (waits < 100).then(|| format!("{waits} waits")))
}

fn told_of() -> Option<String> {
    let ran = with_driver(CHAIN, "cuda", &[("SUMS", "1"), ("FERRY_INFO", "1")])?;
    let said = told(&ran.output);
    let is_right = said.matches("each call is waited for while this is told").count() == 2;
    ran.fails().or_else(|| (ran.count("wait") < 100 || !is_right).then_some(said))
}

fn what_was_passed() -> Option<String> {
    // A value, data that only this region maps, and more of both than is put aside.
    succeeds(
        "struct number { int value, more[5000]; };
    struct large { int value, more[50000]; };
    int sum[1] = {0}, x[1];
    int main(void) {
        static struct number it;
        static struct large that;
        #pragma omp target enter data map(to: sum)
        for (int k = 1; k <= 100; k++) {
            it.value = that.value = x[0] = k;
            #pragma omp target map(tofrom: sum) firstprivate(it)
            sum[0] += it.value;
            it.value = 1000;
            #pragma omp target map(tofrom: sum) map(to: x)
            sum[0] += x[0];
            x[0] = 1000;
            #pragma omp target map(tofrom: sum) map(to: that)
            sum[0] += *(int *)&that;
            that.value = 1000;
        }
        #pragma omp target exit data map(from: sum)
        return sum[0] != 3 * 5050; }",
    )
}

fn locked_memory() -> Option<String> {
    succeeds(
        "#include <omp.h>
    int sum[1] = {0};
    int main(void) {
        omp_alloctrait_t trait = {omp_atk_pinned, omp_atv_true};
        omp_allocator_handle_t pinned = omp_init_allocator(omp_default_mem_space, 1, &trait);
        int *x = omp_alloc(400000, pinned);
        #pragma omp target enter data map(to: sum)
        for (int k = 1; k <= 10; k++) {
            x[0] = k;
            #pragma omp target map(tofrom: sum) map(to: x[0:100000])
            sum[0] += x[0];
            x[0] = 1000;
        }
        omp_free(x, pinned);
        #pragma omp target exit data map(from: sum)
        return sum[0] != 55; }",
    )
}

fn updates() -> Option<String> {
    succeeds(
        "int a[1] = {0}, one[1] = {1};
    int main(void) {
        int wrong = 0;
        #pragma omp target data map(to: a, one)
        for (int k = 1; k <= 50; k++) {
            one[0] = k;
            #pragma omp target update to(one)
            one[0] = 1000;
            #pragma omp target map(tofrom: a) map(to: one)
            a[0] += one[0];
            if (k % 10 == 0) {
                #pragma omp target update from(a)
                wrong += a[0] != k * (k + 1) / 2;
            }
        }
        return wrong; }",
    )
}

fn mixed() -> Option<String> {
    succeeds(
        "int a[1] = {1}, b[1] = {10}, c[1] = {100};
    int main(void) {
        #pragma omp target enter data map(to: a, b, c)
        for (int k = 0; k < 20; k++) {
            #pragma omp target map(tofrom: b) map(to: c)
            b[0] += c[0];
            #pragma omp target nowait depend(inout: a) map(tofrom: a) map(to: b)
            a[0] += b[0];
            #pragma omp target depend(inout: a) map(tofrom: a) map(to: c)
            a[0] += c[0];
        }
        #pragma omp target map(tofrom: a) map(to: c)
        a[0] += c[0];
        #pragma omp target nowait map(tofrom: a) map(to: c)
        a[0] += c[0];
        #pragma omp taskwait
        #pragma omp target exit data map(from: a) map(release: b, c)
        int expect = 1, there = 10;
        for (int k = 0; k < 20; k++) there += 100, expect += there + 100;
        return a[0] != expect + 200; }",
    )
}

fn threads() -> Option<String> {
    succeeds(
        "int a[1] = {0}, one[1] = {1};
    int main(void) {
        int wrong = 0, turn = 0;
        #pragma omp target enter data map(to: a, one)
        for (int k = 0; k < 20; k++) {
            #pragma omp target map(tofrom: a) map(to: one)
            a[0] += one[0];
        }
        #pragma omp parallel num_threads(4)
        for (int k = 0; k < 40; k++)
            #pragma omp critical
            {
                #pragma omp target map(tofrom: a) map(to: one)
                a[0] += one[0];
                turn++;
                #pragma omp target update from(a)
                wrong += a[0] != 20 + turn;
            }
        for (int k = 0; k < 20; k++) {
            #pragma omp target map(tofrom: a) map(to: one)
            a[0] += one[0];
        }
        #pragma omp parallel num_threads(2)
        #pragma omp single
        {
            #pragma omp target update from(a)
        }
        return wrong || a[0] != 200; }",
    )
}

fn memory() -> Option<String> {
    // More than is kept, so that it goes back to the driver; the kernel would find it gone.
    let program = "#include <stdlib.h>
    int a[1] = {0};
    int main(void) {
        int *x = malloc(60 << 20);
        x[0] = 7;
        #pragma omp target enter data map(to: a)
        #pragma omp target enter data map(to: x[0:15 << 20])
        #pragma omp target map(tofrom: a) map(to: x[0:1])
        a[0] += x[0];
        #pragma omp target exit data map(delete: x[0:15 << 20])
        free(x);
        #pragma omp target exit data map(from: a)
        return a[0] != 7; }";
    let ran = with_driver(program, "cuda", &[("SUMS", "1"), ("MEMORY", "104857600")])?;
    ran.fails().or_else(|| (ran.count("back") == 0).then(|| format!("{:?}", ran.calls)))
}

fn kept_memory() -> Option<String> {
    let program = "int a[1] = {0};
    int main(void) {
        int x[1000];
        #pragma omp target enter data map(to: a)
        for (int k = 1; k <= 100; k++) {
            x[0] = k;
            #pragma omp target map(tofrom: a) map(to: x)
            a[0] += x[0];
        }
        #pragma omp target exit data map(from: a)
        return a[0] != 5050; }";
    let ran = with_driver(program, "cuda", SUMS)?;
    // One piece of memory for all, and waits where what is put aside is full.
    let (memory, waits) = (ran.count("memory"), ran.count("wait"));
    let is_right = memory == 1 && waits < 20;
    ran.fails().or_else(|| (!is_right).then(|| format!("{memory} pieces, {waits} waits")))
}

/// What is wrong if a program that crashes does not say all of this.
fn says(program: &str, words: &[&str]) -> Option<String> {
    let ran = with_driver(program, "cuda", &[("CRASH", "1")])?;
    let said = told(&ran.output);
    let is_right = ran.output.status.code() == Some(1) && words.iter().all(|it| said.contains(it));
    (!is_right).then_some(said)
}

fn a_crash() -> Option<String> {
    says(
        "int a[1024]; int main(void) {
        #pragma omp target enter data map(to: a)
        #pragma omp target map(tofrom: a)
        a[0] = 1;
        #pragma omp target update from(a)
        return 0; }",
        &[
            "error: a.c:3:",
            "in `main:3` the kernel crashed: it used memory that is not there",
            "found at a.c:5:",
        ],
    )
}

fn a_crash_at_the_end() -> Option<String> {
    says(
        "int a[1024]; int main(void) {
        #pragma omp target enter data map(to: a)
        #pragma omp target map(tofrom: a)
        a[0] = 1;
        return 0; }",
        &["error: a.c:3:", "in `main:3` the kernel crashed", "the end of the program"],
    )
}

fn a_crash_of_several() -> Option<String> {
    says(
        "int a[1024]; int main(void) {
        #pragma omp target enter data map(to: a)
        #pragma omp target map(tofrom: a)
        a[0] = 1;
        #pragma omp target map(tofrom: a)
        a[1] = 1;
        #pragma omp target exit data map(from: a)
        return 0; }",
        &["error: a.c:7:", "`main:3` (a.c:3:", "`main:5` (a.c:5:", "FERRY_WAIT=always"],
    )
}

fn addresses() -> Option<String> {
    let program = "#include <omp.h>
    int a = 0, one = 1;
    int main(void) {
        #pragma omp target enter data map(to: a, one)
        int *there = omp_get_mapped_ptr(&a, 0);
        for (int k = 0; k < 10; k++) {
            #pragma omp target map(tofrom: a) map(to: one)
            a += one;
            /* As other libraries see it: the driver has done it. */
            if (*there != k + 1) return k + 1;
        }
        return 0; }";
    let of_directive = program.replace(
        "int *there = omp_get_mapped_ptr(&a, 0);",
        "int *there = &a;
        #pragma omp target data use_device_addr(a)
        there = &a;",
    );
    succeeds(program).or_else(|| succeeds(&of_directive))
}

fn the_clock() -> Option<String> {
    let program = "#include <omp.h>
    int a = 0, one = 1;
    int main(void) {
        #pragma omp target enter data map(to: a, one)
        double sum = 0;
        for (int k = 0; k < 10; k++) {
            #pragma omp target map(tofrom: a) map(to: one)
            a += one;
            sum += omp_get_wtime();
        }
        return sum <= 0; }";
    let ran = with_driver(program, "cuda", SUMS)?;
    let waits = ran.count("wait");
    ran.fails().or_else(|| (waits < 10).then(|| format!("{waits} waits")))
}

fn prints() -> Option<String> {
    let program = "#include <stdio.h>
    int a = 0;
    int main(void) {
        #pragma omp target enter data map(to: a)
        for (int k = 0; k < 10; k++) {
            #pragma omp target map(tofrom: a)
            printf(\"%d\\n\", a);
        }
        return 0; }";
    let ran = with_driver(program, "cuda", SUMS)?;
    let waits = ran.count("wait");
    ran.fails().or_else(|| (waits < 10).then(|| format!("{waits} waits")))
}

fn a_child() -> Option<String> {
    let program = "#include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int a = 0, one = 1;
    int main(void) {
        #pragma omp target enter data map(to: a, one)
        #pragma omp target map(tofrom: a) map(to: one)
        a += one;
        pid_t child = fork();
        if (child == 0) exit(0);
        int status = 1;
        waitpid(child, &status, 0);
        return status; }";
    let ran = with_driver(program, "cuda", SUMS)?;
    // The child has written to the same file.
    let waits = ran.count("wait");
    ran.fails().or_else(|| (waits > 1).then(|| format!("{waits} waits")))
}
