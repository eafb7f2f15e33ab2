//! Verdicts on loops, one line each: what each loop of a function is found to be, outermost first.

mod support;

use support::check;

#[test]
fn elements_of_their_own_are_independent() {
    check(
        "double a[100], b[100]; for (int i = 0; i < 100; i++) a[i] = b[i] + a[i];",
        &["parallel"],
    );
    check("int a[100]; for (int i = 0; i < 50; i++) a[2 * i] = a[2 * i + 1];", &["parallel"]);
    check("int a[100]; for (int i = 99; i >= 0; i -= 3) a[i] = i;", &["parallel"]);
    check("int a[100]; for (int i = 0; i != 100; ++i) a[99 - i] = i;", &["parallel"]);
    check("int a[100]; for (int i = 0; i < 50; i++) a[i] = a[i + 50];", &["parallel"]);
    check(
        "int a[100]; for (int i = 0; i <= 50; i++) a[i] = a[i + 50];",
        &["anti: a[i + 50] -> a[i] = a[i + 50]"],
    );
}

#[test]
fn values_passed_on_are_carried() {
    check(
        "int a[100]; for (int i = 1; i < 100; i++) a[i] = a[i - 1];",
        &["flow 1: a[i] = a[i - 1] -> a[i - 1]"],
    );
    check(
        "int a[100]; for (int i = 0; i < 97; i++) a[i] = a[i + 3];",
        &["anti 3: a[i + 3] -> a[i] = a[i + 3]"],
    );
    check("int a[100]; for (int i = 0; i < 97; i++) a[0] = i;", &["output: a[0] = i -> a[0] = i"]);
}
