//! Locations in what `gcc -E` really prints: `sample/main.i` is its output for `sample/main.c`.

use proptest::prelude::*;

use super::*;

const PRINTED: &str = include_str!("sample/main.i");

fn sample(name: &str) -> Option<Vec<u8>> {
    match name {
        "main.c" => Some(include_bytes!("sample/main.c").to_vec()),
        "h.h" => Some(include_bytes!("sample/h.h").to_vec()),
        _ => None,
    }
}

fn span_of(map: &SourceMap, file: FileId, text: &str, part: &str) -> Span {
    let printed = map.bytes(file);
    let find = |hay: &[u8], it: &str| memchr::memmem::find(hay, it.as_bytes());
    let outer = find(printed, text).unwrap_or_else(|| panic!("`{text}` is not in the sample"));
    let inner = find(&printed[outer..], part).expect("the part is in the text");
    let start = map.base(file) + offset(outer + inner);
    Span::new(start, start + offset(part.len()))
}

/// `part` of the printed `text` was written as `expect` at this line and column.
#[track_caller]
fn check(text: &str, part: &str, at: (u32, u32), expect: &str) {
    let mut map = SourceMap::new();
    let file = map.add_preprocessed("main.i", PRINTED.into()).expect("fits");
    let locator = Locator::new(&map, &sample);
    let found = locator.locate(span_of(&map, file, text, part)).expect("is located");
    let written = sample(&found.file).expect("is a sample");
    let range = found.written.expect("the file is at hand");
    let shown = String::from_utf8_lossy(&written[range]).into_owned();
    assert_eq!((shown.as_str(), (found.line, found.column)), (expect, at), "{text}");
}

#[test]
fn blanks_and_tabs_are_put_back() {
    check("int f(int *v, int n)", "int n", (7, 15), "int n");
    check("int y = 3", "y = 3", (9, 29), "y = 3");
}

#[test]
fn macros_in_expressions_are_found_where_they_are_used() {
    check("int x = ((n) > (100)", "100", (8, 10), "MAX");
    check("int x = ((n) > (100)", "> (100)", (8, 10), "MAX");
    check("(100)) + hdr(2)", "hdr", (8, 22), "hdr");
    check("(2)) + undeclared", "undeclared", (15, 59), "undeclared");
    check("for (int i = 0; i < 100", "i < 100", (15, 19), "i < N");
}

#[test]
fn a_macro_call_may_run_over_lines() {
    check(
        "x = ((n) > (y) ? (n) : (y))",
        "((n) > (y) ? (n) : (y))",
        (10, 7),
        "MAX(n,\n          y)",
    );
    check("+ c;", "c", (11, 16), "c");
}

#[test]
fn a_pragma_of_several_lines_is_put_back_on_them() {
    check("#pragma omp target", "target", (12, 13), "target");
    check("distribute parallel for map", "parallel", (13, 7), "parallel");
    check("num_teams(100)", "num_teams", (14, 7), "num_teams");
    check("num_teams(100)", "100", (14, 17), "N");
    check("map(to: v[0:100])", "v", (13, 25), "v");
    check("map(to: v[0:100])", "map", (13, 22), "CL");
    check("map(to: v[0:100])", "map(to: v[0:100])", (13, 22), "CL(v[0:N])");
}

#[test]
fn pragma_operators_are_found_in_their_strings() {
    check("#pragma omp barrier", "barrier", (17, 16), "barrier");
    check("x = y; y = 2;", "y = 2", (17, 33), "y = 2");
    check("#pragma omp parallel for\n", "parallel", (16, 3), "PAR");
    check("i < n; i++) v[i]++", "v[i]++", (16, 31), "v[i]++");
}

#[test]
fn macros_of_system_headers_do_not_break_the_line() {
    let mut map = SourceMap::new();
    // gcc: `y = rand() / (MAX / 10);` where a system header defines `MAX`.
    let text = "# 4 \"w.c\"\ny = rand() / (\n# 4 \"w.c\" 3 4\n2147483647\n# 4 \"w.c\"\n / 10);\n";
    let file = map.add_preprocessed("w.i", text.into()).expect("fits");
    let files = |_: &str| Some(b"\n\n\ny = rand() / (MAX / 10);\n".to_vec());
    let locator = Locator::new(&map, &files);
    for (part, column, system) in [("10", 21, false), ("2147483647", 15, true), ("y", 1, false)] {
        let found = locator.locate(span_of(&map, file, part, part)).expect("is located");
        assert_eq!((found.line, found.column, found.in_system_header), (4, column, system));
    }
}

#[test]
fn columns_count_characters() {
    check("'x', 1.5e+3f", "1.5e+3f", (20, 26), "1.5e+3f");
}

#[test]
fn included_files_have_their_own_lines() {
    check("return ((a) + 1)", "+", (2, 39), "HDR");
}

#[test]
fn an_empty_span_follows_the_token_before() {
    let mut map = SourceMap::new();
    let file = map.add_preprocessed("main.i", PRINTED.into()).expect("fits");
    let locator = Locator::new(&map, &sample);
    let after = span_of(&map, file, "int x = ((n)", "x =").after();
    let found = locator.locate(after).expect("is located");
    assert_eq!((found.line, found.column, found.end_column), (8, 9, 9));
}

#[test]
fn a_span_over_lines_reaches_from_its_first_to_its_last_token() {
    let mut map = SourceMap::new();
    let file = map.add_preprocessed("main.i", PRINTED.into()).expect("fits");
    let locator = Locator::new(&map, &sample);
    let first = span_of(&map, file, "for (int i = 0; i < 100", "for");
    let last = span_of(&map, file, "x = y; y", "y;");
    let found = locator.locate(first.to(last)).expect("is located");
    assert_eq!((found.line, found.column, found.end_line, found.end_column), (15, 3, 17, 32));
}

#[test]
fn without_the_written_file_its_name_and_line_remain() {
    let mut map = SourceMap::new();
    let file = map.add_preprocessed("main.i", PRINTED.into()).expect("fits");
    let locator = Locator::new(&map, &NoFiles);
    let span = span_of(&map, file, "x = y; y = 2;", "y = 2");
    let found = locator.locate(span).expect("is located");
    assert_eq!((&*found.file, found.line, found.written), ("main.c", 17, None));
    assert_eq!(found.end_column - found.column, 5);
}

#[test]
fn a_file_that_was_not_the_one_preprocessed_is_not_believed() {
    let mut map = SourceMap::new();
    let file = map.add_preprocessed("a.i", b"# 3 \"a.c\"\nint x;\n".to_vec()).expect("fits");
    let short = |_: &str| Some(b"\n".to_vec());
    let found = Locator::new(&map, &short).locate(span_of(&map, file, "int x", "x"));
    let found = found.expect("is located");
    assert_eq!((found.line, found.column, found.written), (3, 5, None));
}

#[test]
fn nobody_has_no_location() {
    let map = SourceMap::new();
    assert_eq!(Locator::new(&map, &NoFiles).locate(Span::NONE), None);
}

/// Texts in which the interesting bytes are likely.
fn c_like() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("# 1 \"w.c\"\n"),
        Just("# 2 \"w.c\" 3\n"),
        Just("#pragma a\n"),
        Just("\n"),
        Just("a"),
        Just("N"),
        Just("("),
        Just(")"),
        Just("/*"),
        Just("*/"),
        Just("//"),
        Just("\""),
        Just("'"),
        Just("\\\n"),
        Just("\\"),
        Just("\r\n"),
        Just("\t"),
        Just(" "),
        Just("1e+"),
        Just("ä"),
        Just("_Pragma(\"a b\")"),
        Just("#define N\n"),
        Just("_Pragma(\""),
        Just("_Pragma")
    ];
    let texts = proptest::collection::vec(piece, 0..40).prop_map(|it| it.concat().into_bytes());
    prop_oneof![texts, proptest::collection::vec(any::<u8>(), 0..80)]
}

proptest! {
    #[test]
    fn any_span_of_any_text_is_located_or_refused(
        printed in c_like(),
        written in c_like(),
        start in 0u32..120,
        len in 0u32..60,
    ) {
        let mut map = SourceMap::new();
        map.add_preprocessed("w.i", printed).expect("fits");
        let files = |_: &str| Some(written.clone());
        let locator = Locator::new(&map, &files);
        for span in [Span::new(start, start + len), Span { start, end: u32::MAX }] {
            if let Some(found) = locator.locate(span) {
                prop_assert!((found.line, found.column) <= (found.end_line, found.end_column));
                let range = found.written.unwrap_or_default();
                prop_assert!(range.start <= range.end && range.end <= written.len());
            }
        }
    }
}
