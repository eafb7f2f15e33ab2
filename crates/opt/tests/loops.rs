//! What is found of loops: given programs with the expected verdicts, random ones beside their runs.

mod loops {
    mod brute_force;
    mod support;
    mod verdicts;
}
