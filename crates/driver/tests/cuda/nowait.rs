//! Regions that nobody waits for, on the driver that does everything late: who starts them, what they come
//! after, and what is told when one crashes.

use super::{Ran, told, with_driver};

/// Tests, by their names.
pub(super) const OWN: &[(&str, super::Test)] = &[
    ("regions_that_nobody_waits_for_are_started_by_the_caller", the_caller_starts_them),
    ("small_regions_are_started_together", small_ones_are_started_together),
    ("small_regions_do_not_wait_for_the_host", small_ones_do_not_wait_for_the_host),
    ("regions_on_streams_keep_their_dependences", they_keep_their_dependences),
    ("data_of_a_region_go_before_the_next_one_comes", data_go_before_the_next_one_comes),
    ("regions_share_data_that_both_map", they_share_data),
    ("values_are_passed_as_they_were_at_the_call", values_are_those_of_the_call),
    ("more_regions_than_are_kept_come_to_an_end", many_come_to_an_end),
    ("a_program_that_ends_ends_its_regions", the_end_ends_them),
    ("regions_run_while_a_program_ends", threads_are_at_their_end_when_the_last_come),
    ("a_crash_that_nobody_waited_for_is_told_with_its_region", a_crash_is_told),
    ("queues_start_their_regions_at_once", queues_start_them_at_once),
    ("queues_wait_for_each_other_and_copy_in_order", queues_keep_their_order),
    ("tasks_of_threads_start_regions", tasks_of_threads),
];

/// What is wrong with a program that says so itself.
fn succeeds(program: &str) -> Option<String> {
    succeeds_with(program, &[("SUMS", "1")])
}

fn succeeds_with(program: &str, settings: &[(&str, &str)]) -> Option<String> {
    let ran = with_driver(program, "cuda", settings)?;
    (!ran.output.status.success()).then(|| told(&ran.output))
}

/// Counts the threads of the process: the program's own, and one that looks after small kernels.
const THREADS: &str = "#include <dirent.h>
    static int threads(void) {
        DIR *folder = opendir(\"/proc/self/task\");
        int count = 0;
        for (struct dirent *it; (it = readdir(folder));) count += it->d_name[0] != '.';
        closedir(folder);
        return count; }
";

/// What is wrong if not so many kernels were started before the first wait, or streams waited for.
fn starts_all(ran: &Ran, kernels: usize, most_waits: usize) -> Option<String> {
    let first_wait = ran.calls.iter().position(|it| it.starts_with("wait"));
    let before = ran.calls.iter().take(first_wait.unwrap_or(ran.calls.len()));
    let started = before.filter(|it| it.starts_with("kernel")).count();
    let waits = ran.calls.iter().filter(|it| it.starts_with("wait")).count();
    let is_right = ran.output.status.success() && started == kernels && waits <= most_waits;
    (!is_right).then(|| format!("{started} started, {waits} waits, {}", told(&ran.output)))
}

fn the_caller_starts_them() -> Option<String> {
    let program = format!(
        "{THREADS}
    #include <omp.h>
    int main(void) {{
        int *d = omp_target_alloc(64 * 4096, 0);
        for (int k = 0; k < 64; k++) {{
            #pragma omp target teams distribute parallel for nowait is_device_ptr(d)
            for (int i = 0; i < 1024; i++) d[k * 1024 + i]++;
        }}
        int count = threads();
        #pragma omp taskwait
        return count > 2; }}"
    );
    // They are on many streams, and waited for in one go.
    starts_all(&with_driver(&program, "cuda", &[])?, 64, 1)
}

/// A program that starts as many small regions as there are numbers, each of which adds one to its own.
fn burst(after: &str) -> String {
    format!(
        "#include <omp.h>
    #include <unistd.h>
    int main(void) {{
        int a[100] = {{0}}, one = 1, host = omp_get_initial_device();
        int *there = omp_target_alloc(sizeof a, 0), *more = omp_target_alloc(sizeof one, 0);
        omp_target_memcpy(there, a, sizeof a, 0, 0, 0, host);
        omp_target_memcpy(more, &one, sizeof one, 0, 0, 0, host);
        for (int round = 0; round < 3; round++) {{
            for (int k = 0; k < 100; k++) {{
                int *it = there + k;
                #pragma omp target teams distribute parallel for nowait is_device_ptr(it, more)
                for (int i = 0; i < 1; i++) it[i] += more[i];
            }}
            {after}
        }}
        omp_target_memcpy(a, there, sizeof a, 0, 0, host, 0);
        for (int k = 0; k < 100; k++) if (a[k] != 3) return k + 1;
        return 0; }}"
    )
}

fn small_ones_are_started_together() -> Option<String> {
    let ran = with_driver(&burst("#pragma omp taskwait"), "cuda", &[("SUMS", "1")])?;
    let count = |word: &str| ran.calls.iter().filter(|it| it.starts_with(word)).count();
    // The first of each round at once, the others by sixteen at most; a slow machine may start fewer.
    let (kernels, together) = (count("kernel"), count("together"));
    let is_right = ran.output.status.success() && kernels == 300 && (18..200).contains(&together);
    (!is_right).then(|| format!("{kernels} kernels, {together} graphs, {}", told(&ran.output)))
}

fn small_ones_do_not_wait_for_the_host() -> Option<String> {
    let ran = with_driver(&burst("usleep(200000); _exit(0);"), "cuda", &[])?;
    let kernels = ran.calls.iter().filter(|it| it.starts_with("kernel")).count();
    (kernels != 100).then(|| format!("{kernels} kernels were started, {}", told(&ran.output)))
}

fn they_keep_their_dependences() -> Option<String> {
    succeeds(
        "int a = 1, b = 10, c = 100, e = 1000, f = 5;
    int main(void) {
        #pragma omp target enter data map(to: a, b, c, e, f)
        #pragma omp target nowait depend(out: a) map(tofrom: a) map(to: b)
        a += b;
        #pragma omp target nowait depend(out: c) map(tofrom: c) map(to: e)
        c += e;
        #pragma omp target nowait depend(inout: a) depend(in: c) map(tofrom: a) map(to: c)
        a += c;
        #pragma omp target depend(inout: a) map(tofrom: a) map(to: f)
        a += f;
        #pragma omp target exit data map(from: a) map(release: b, c, e, f)
        return a != 1116; }",
    )
}

fn data_go_before_the_next_one_comes() -> Option<String> {
    // The first region changes a copy that nobody is to see.
    succeeds_with(
        "int copy = 5, one = 1, ten = 10;
    int main(void) {
        #pragma omp target nowait depend(out: copy) map(to: copy, one)
        copy += one;
        #pragma omp target nowait depend(inout: copy) map(tofrom: copy) map(to: ten)
        copy += ten;
        #pragma omp taskwait
        return copy != 15; }",
        &[("SUMS", "1"), ("LATE", "wait")],
    )
}

fn they_share_data() -> Option<String> {
    succeeds(
        "int a[2] = {1, 2}, b = 10;
    int main(void) {
        for (int round = 1; round < 20; round++) {
            a[0] = round;
            #pragma omp target nowait map(tofrom: a) map(to: b)
            a[0] += b;
            #pragma omp target nowait map(tofrom: a) map(to: b)
            a[0] += b;
            #pragma omp taskwait
            if (a[0] != round + 20) return round;
        }
        #pragma omp target data map(tofrom: a) map(to: b)
        {
            #pragma omp target nowait map(tofrom: a) map(to: b)
            a[0] += b;
            #pragma omp target nowait map(tofrom: a) map(to: b)
            a[0] += b;
            #pragma omp taskwait
        }
        return a[0] != 59; }",
    )
}

fn values_are_those_of_the_call() -> Option<String> {
    succeeds(
        "struct number { int value, more[5000]; };
    int sum[1] = {0};
    int main(void) {
        struct number it = {0, {0}};
        #pragma omp target enter data map(to: sum)
        for (int k = 1; k <= 100; k++) {
            it.value = k;
            #pragma omp target nowait depend(inout: sum) map(tofrom: sum) firstprivate(it)
            sum[0] += it.value;
        }
        it.value = 1000;
        #pragma omp taskwait
        #pragma omp target exit data map(from: sum)
        return sum[0] != 5050; }",
    )
}

fn many_come_to_an_end() -> Option<String> {
    succeeds(
        "int a = 0, one = 1;
    int main(void) {
        #pragma omp target enter data map(to: a, one)
        for (int k = 0; k < 5000; k++) {
            #pragma omp target nowait depend(inout: a) map(tofrom: a) map(to: one)
            a += one;
        }
        #pragma omp taskwait depend(in: a)
        #pragma omp target update from(a)
        return a != 5000; }",
    )
}

fn the_end_ends_them() -> Option<String> {
    let program = "#include <stdlib.h>
    #include <unistd.h>
    int a = 0, one = 1;
    static void look(void) { if (a != 1) _exit(3); }
    int main(void) {
        atexit(look);
        #pragma omp target nowait map(tofrom: a) map(to: one)
        a += one;
        return 0; }";
    succeeds(program)
}

fn threads_are_at_their_end_when_the_last_come() -> Option<String> {
    // What is the thread's own is gone when this runs.
    succeeds(
        "#include <stdlib.h>
    #include <unistd.h>
    int a = 0, one = 1;
    static void last(void) {
        #pragma omp target map(tofrom: a) map(to: one)
        a += one;
        _exit(a != 2); }
    int main(void) {
        atexit(last);
        #pragma omp target map(tofrom: a) map(to: one)
        a += one;
        return 4; }",
    )
}

fn a_crash_is_told() -> Option<String> {
    let program = "int a[1024]; int main(void) {
        #pragma omp target enter data map(to: a)
        #pragma omp target nowait map(tofrom: a)
        a[0] = 1;
        #pragma omp target nowait map(tofrom: a)
        a[1] = 1;
        #pragma omp taskwait
        return 0; }";
    let ran = with_driver(program, "cuda", &[("CRASH", "1")])?;
    let said = told(&ran.output);
    let is_right = ran.output.status.code() == Some(1)
        && said.contains("a.c:3:")
        && said.contains("`main:3` the kernel crashed: it used memory that is not there")
        && said.contains("may have been one of them: `")
        && said.contains("`main:5` (a.c:5:")
        && !said.contains("`main:3` (");
    (!is_right).then_some(said)
}

fn queues_start_them_at_once() -> Option<String> {
    let program = format!(
        "{THREADS}
    int main(void) {{
        int n = 7;
        for (int k = 0; k < 20; k++) {{
            #pragma acc parallel async(k % 3) firstprivate(n)
            n++;
        }}
        int count = threads();
        #pragma acc wait
        return count > 2; }}"
    );
    starts_all(&with_driver(&program, "cuda", &[])?, 20, 16)
}

fn queues_keep_their_order() -> Option<String> {
    succeeds(
        "#include <openacc.h>
    int a = 1, b = 10, c = 100, e = 1000;
    int main(void) {
        #pragma acc enter data copyin(a, b, c, e)
        #pragma acc parallel async(1) present(a, b)
        a += b;
        #pragma acc parallel async(2) present(c, e)
        c += e;
        #pragma acc wait(2) async(1)
        #pragma acc parallel async(1) present(a, c)
        a += c;
        #pragma acc update self(a) async(1)
        while (!acc_async_test(1)) ;
        if (a != 1111) return 1;
        #pragma acc exit data copyout(c) delete(a, b, e)
        int x = 1;
        for (int k = 0; k < 10; k++) {
            #pragma acc parallel async(1) copy(x) copyin(b)
            x += b;
        }
        #pragma acc wait(1)
        return c != 1100 || x != 101; }",
    )
}

fn tasks_of_threads() -> Option<String> {
    succeeds(
        "int a[8], one[1] = {1};
    int main(void) {
        int wrong = 0;
        #pragma omp target enter data map(to: a, one)
        #pragma omp parallel num_threads(4)
        #pragma omp single
        for (int k = 0; k < 50; k++) {
            #pragma omp task depend(inout: a)
            wrong += 0;
            #pragma omp target nowait depend(inout: a) map(tofrom: a) map(to: one)
            a[0] += one[0];
        }
        #pragma omp target exit data map(from: a) map(release: one)
        return wrong || a[0] != 50; }",
    )
}
