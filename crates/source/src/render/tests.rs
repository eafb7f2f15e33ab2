//! What each renderer shows, on a written text, on preprocessed text, and on odd input.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{Diagnostic, FileId, Files, Locator, NoFiles, SourceMap, Span};

const PROGRAM: &str = "int main(void) {\n\tint total = 0;\n\ttotal += n;\n\treturn total;\n}\n";

fn written(text: &[u8]) -> (SourceMap, FileId) {
    let mut map = SourceMap::new();
    let file = map.add("dir/a b.c", text.to_vec()).expect("fits");
    (map, file)
}

fn span_of(map: &SourceMap, file: FileId, part: &str) -> Span {
    let at = memchr::memmem::find(map.bytes(file), part.as_bytes()).expect("is there");
    let start = map.base(file) + u32::try_from(at).expect("small");
    Span::new(start, start + u32::try_from(part.len()).expect("small"))
}

fn sample(map: &SourceMap, file: FileId) -> Vec<Diagnostic> {
    vec![
        Diagnostic::error("F0301", "`n` is not declared")
            .at(span_of(map, file, "n;"), "not found in this scope")
            .label(span_of(map, file, "total = 0"), "summed up here")
            .note("every name must be declared before it is used")
            .help("declare it: `int n;`"),
        Diagnostic::warning("F0102", "the result is lost").at(span_of(map, file, "return"), ""),
        Diagnostic::info("F0001", "nothing was offloaded"),
    ]
}

fn plain(diagnostics: &[Diagnostic], map: &SourceMap, files: &dyn Files) -> String {
    terminal(diagnostics, &Locator::new(map, files), Colour::Never)
}

#[test]
fn the_terminal_shows_the_written_lines() {
    let (map, file) = written(PROGRAM.as_bytes());
    assert_snapshot!(plain(&sample(&map, file), &map, &NoFiles), @r##"
    error[F0301]: `n` is not declared
     --> dir/a b.c:3:11
      |
    2 |     int total = 0;
      |         --------- summed up here
    3 |     total += n;
      |              ^^ not found in this scope
      |
      = note: every name must be declared before it is used
      = help: declare it: `int n;`

    warning[F0102]: the result is lost
     --> dir/a b.c:4:2
      |
    4 |     return total;
      |     ^^^^^^

    info[F0001]: nothing was offloaded
    "##);
}

#[test]
fn colours_are_asked_for() {
    let (map, file) = written(PROGRAM.as_bytes());
    let locator = Locator::new(&map, &NoFiles);
    let coloured = terminal(&sample(&map, file), &locator, Colour::Always);
    assert!(coloured.contains("\u{1b}["));
    assert!(!plain(&sample(&map, file), &map, &NoFiles).contains('\u{1b}'));
}

#[test]
fn preprocessed_text_is_shown_as_it_was_written() {
    let mut map = SourceMap::new();
    let text = b"# 1 \"h.h\" 1\nint g;\n# 3 \"w.c\" 2\nint x = ((n) > (100) ? (n) : (100)) + y;\n";
    let file = map.add_preprocessed("w.i", text.to_vec()).expect("fits");
    let files = |name: &str| match name {
        "w.c" => Some(b"#include \"h.h\"\n#define N 100\nint  x = MAX(n,\tN) + y;\n".to_vec()),
        _ => None,
    };
    let report = Diagnostic::error("F0301", "`y` is not declared")
        .at(span_of(&map, file, "y;"), "here")
        .label(span_of(&map, file, "((n) > (100) ? (n) : (100))"), "added to this")
        .label(span_of(&map, file, "g;"), "from a file that cannot be read");
    assert_snapshot!(plain(&[report], &map, &files), @r##"
    error[F0301]: `y` is not declared
     --> w.c:3:22
      |
    3 | int  x = MAX(n,    N) + y;
      |          ------------   ^^ here
      |          |
      |          added to this
      |
     ::: h.h:1:5
      |
    1 | int g;
      |     -- from a file that cannot be read
    "##);
}

#[test]
fn labels_far_apart_leave_out_what_lies_between() {
    let text = format!("int first;\n{}int last;\n", "int x;\n".repeat(500));
    let (map, file) = written(text.as_bytes());
    let report = Diagnostic::error("F0302", "declared twice")
        .at(span_of(&map, file, "last"), "again here")
        .label(span_of(&map, file, "first"), "first here");
    assert_snapshot!(plain(&[report], &map, &NoFiles), @r##"
    error[F0302]: declared twice
       --> dir/a b.c:502:5
        |
    502 | int last;
        |     ^^^^ again here
        |
       ::: dir/a b.c:1:5
        |
      1 | int first;
        |     ----- first here
    "##);
}

#[test]
fn long_lines_are_cut_around_the_label() {
    let text = format!("int a = {};\n", "1 + ".repeat(1000) + "b" + &" + 2".repeat(1000));
    let (map, file) = written(text.as_bytes());
    let report = Diagnostic::error("F0301", "`b` is not declared")
        .at(span_of(&map, file, "b"), "not found in this scope");
    assert_snapshot!(plain(&[report], &map, &NoFiles), @r##"
    error[F0301]: `b` is not declared
     --> dir/a b.c:1:4009
      |
    1 | ...+ 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + b + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + 2 + ...
      |                                                                  ^ not found in this scope
    "##);
}

#[test]
fn odd_bytes_are_shown_as_well_as_can_be() {
    let (map, file) = written(b"int \xe4\xf6 = 1; /* \xc3\xa4 */ int c;\r\nint d;");
    let reports = [
        Diagnostic::error("F0001", "one").at(span_of(&map, file, "c;"), "after odd bytes"),
        Diagnostic::error("F0002", "two").at(map.span(file).after(), "at the end"),
        Diagnostic::error("F0003", "three").at(Span::NONE, "a label of nobody"),
    ];
    assert_snapshot!(plain(&reports, &map, &NoFiles), @r##"
    error[F0001]: one
     --> dir/a b.c:1:25
      |
    1 | int �� = 1; /* ä */ int c;
      |                         ^^ after odd bytes

    error[F0002]: two
     --> dir/a b.c:2:7
      |
    2 | int d;
      |       ^ at the end

    error[F0003]: three
     |
     = note: a label of nobody
    "##);
}

#[test]
fn an_empty_file_has_an_end() {
    let (map, file) = written(b"");
    let report = Diagnostic::error("F0001", "no program").at(map.span(file), "expected `main`");
    assert_snapshot!(plain(&[report], &map, &NoFiles), @r##"
    error[F0001]: no program
     --> dir/a b.c:1:1
      |
    1 |
      | ^ expected `main`
    "##);
}

#[test]
fn json_has_one_object_a_line() {
    let (map, file) = written(PROGRAM.as_bytes());
    let report = json(&sample(&map, file), &Locator::new(&map, &NoFiles));
    assert!(report.lines().all(|it| serde_json::from_str::<Value>(it).is_ok()));
    assert_snapshot!(report, @r##"
    {"code":"F0301","severity":"error","message":"`n` is not declared","file":"dir/a b.c","line":3,"column":11,"end_line":3,"end_column":13,"labels":[{"primary":true,"text":"not found in this scope","file":"dir/a b.c","line":3,"column":11,"end_line":3,"end_column":13},{"primary":false,"text":"summed up here","file":"dir/a b.c","line":2,"column":6,"end_line":2,"end_column":15}],"notes":["every name must be declared before it is used"],"helps":["declare it: `int n;`"]}
    {"code":"F0102","severity":"warning","message":"the result is lost","file":"dir/a b.c","line":4,"column":2,"end_line":4,"end_column":8,"labels":[{"primary":true,"text":"","file":"dir/a b.c","line":4,"column":2,"end_line":4,"end_column":8}],"notes":[],"helps":[]}
    {"code":"F0001","severity":"info","message":"nothing was offloaded","file":null,"line":null,"column":null,"end_line":null,"end_column":null,"labels":[],"notes":[],"helps":[]}
    "##);
}

#[test]
fn sarif_names_rules_places_and_levels() {
    let (map, file) = written(PROGRAM.as_bytes());
    let diagnostics = sample(&map, file);
    let report = sarif(diagnostics.iter().take(1), &Locator::new(&map, &NoFiles), "1.2.3");
    assert_snapshot!(report, @r##"
    {
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
      "version": "2.1.0",
      "runs": [
        {
          "tool": {
            "driver": {
              "name": "ferry",
              "version": "1.2.3",
              "rules": [
                {
                  "id": "F0301"
                }
              ]
            }
          },
          "columnKind": "unicodeCodePoints",
          "results": [
            {
              "ruleId": "F0301",
              "ruleIndex": 0,
              "level": "error",
              "message": {
                "text": "`n` is not declared\nnote: every name must be declared before it is used\nhelp: declare it: `int n;`"
              },
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "dir/a%20b.c"
                    },
                    "region": {
                      "startLine": 3,
                      "startColumn": 11,
                      "endLine": 3,
                      "endColumn": 13
                    }
                  },
                  "message": {
                    "text": "not found in this scope"
                  }
                }
              ],
              "relatedLocations": [
                {
                  "id": 0,
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "dir/a%20b.c"
                    },
                    "region": {
                      "startLine": 2,
                      "startColumn": 6,
                      "endLine": 2,
                      "endColumn": 15
                    }
                  },
                  "message": {
                    "text": "summed up here"
                  }
                }
              ]
            }
          ]
        }
      ]
    }
    "##);
}

/// What the schema of SARIF 2.1.0 requires of the objects we write.
#[test]
fn sarif_has_what_the_standard_requires() {
    let (map, file) = written(PROGRAM.as_bytes());
    let report = sarif(&sample(&map, file), &Locator::new(&map, &NoFiles), "1.2.3");
    let log: Value = serde_json::from_str(&report).expect("is JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = driver["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 3);
    for result in results {
        assert!(!result["message"]["text"].as_str().expect("a text").is_empty());
        assert!(["none", "note", "warning", "error"].iter().any(|it| result["level"] == *it));
        let index = result["ruleIndex"].as_u64().expect("an index");
        let rule = &rules[usize::try_from(index).expect("small")];
        assert_eq!(rule["id"], result["ruleId"]);
        let places = ["locations", "relatedLocations"].map(|it| result[it].as_array());
        for place in places.into_iter().flatten().flatten() {
            let physical = &place["physicalLocation"];
            let uri = physical["artifactLocation"]["uri"].as_str().expect("a URI");
            assert_eq!(uri, "dir/a%20b.c");
            for bound in ["startLine", "startColumn", "endLine", "endColumn"] {
                assert!(physical["region"][bound].as_u64().expect("a number") >= 1, "{bound}");
            }
        }
    }
}

#[test]
fn many_diagnostics_in_a_long_file_take_no_long_time() {
    let mut text = String::from("# 1 \"w.c\"\n");
    let mut source = String::new();
    for line in 0..200_000 {
        text.push_str(&format!("int name{line} = (100) + other;\n"));
        source.push_str(&format!("int  name{line} = N + other;\n"));
    }
    let mut map = SourceMap::new();
    let file = map.add_preprocessed("w.i", text.clone().into_bytes()).expect("fits");
    let starts: Vec<usize> = text.match_indices("other").map(|it| it.0).step_by(20).collect();
    let reports: Vec<Diagnostic> = starts
        .iter()
        .map(|it| map.base(file) + u32::try_from(*it).expect("small"))
        .map(|it| Diagnostic::error("F0301", "not declared").at(Span::new(it, it + 5), "here"))
        .map(|it| it.label(Span::new(map.base(file) + 14, map.base(file) + 16), "far away"))
        .collect();
    assert_eq!(reports.len(), 10_000);
    let files = |_: &str| Some(source.clone().into_bytes());
    let started = Instant::now();
    let locator = Locator::new(&map, &files);
    let shown = terminal(&reports, &locator, Colour::Never);
    assert!(shown.contains("w.c:199981:"), "the last one is there");
    assert!(started.elapsed() < Duration::from_secs(20), "took {:?}", started.elapsed());
}

proptest! {
    #[test]
    fn any_span_of_any_text_is_rendered(
        text in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(b'\n'), Just(b'\r'), Just(b'\t'), Just(b'a')], 0..300),
        spans in proptest::collection::vec((0u32..310, 0u32..310), 1..4),
        long in 1usize..4,
    ) {
        let mut map = SourceMap::new();
        map.add("a.c", text.repeat(long)).expect("fits");
        map.add_preprocessed("a.i", text).expect("fits");
        let mut report = Diagnostic::error("F0001", "a \u{1b} message\nof lines");
        for (index, (start, len)) in spans.into_iter().enumerate() {
            let span = Span::new(start, start + len);
            report = if index == 0 { report.at(span, "first") } else { report.label(span, "") };
        }
        let locator = Locator::new(&map, &NoFiles);
        terminal([&report], &locator, Colour::Never);
        json([&report], &locator);
        sarif([&report], &locator, "0");
    }
}
