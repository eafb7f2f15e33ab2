//! What is found of loops: given programs with the expected verdicts, random ones beside their runs.

#![allow(clippy::indexing_slicing, reason = "the tables of a test are as long as it says")]

mod loops {
    mod brute_force;
    mod corpus;
    mod extents;
    mod growth;
    mod marks;
    mod shapes;
    mod support;
    mod tiles;
    mod transfers;
    mod verdicts;
}
