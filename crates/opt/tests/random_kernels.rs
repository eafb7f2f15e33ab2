//! Random kernels: as outlined and after each pass they leave the same values, break no law and have no race.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    /// An expression that reads arrays which nobody writes meanwhile.
    fn value(&mut self, at: &str, reads: &[&str], depth: u32) -> String {
        match self.below(if depth == 0 { 3 } else { 7 }) {
            0 => self.below(50).to_string(),
            1 => at.to_owned(),
            2 => {
                let (array, far) = (self.one(reads), self.below(24));
                format!("{array}[({at} + {far}) % 24]")
            }
            3 => format!(
                "({} ? {} : {})",
                self.value(at, reads, 0),
                self.value(at, reads, 0),
                self.value(at, reads, depth - 1)
            ),
            _ => {
                let op = self.one(&["+", "-", "*", "^", "&", "|", "<"]);
                format!(
                    "(({}) {op} ({})) % 1000",
                    self.value(at, reads, depth - 1),
                    self.value(at, reads, depth - 1)
                )
            }
        }
    }

    /// What an iteration does: it writes one element of one array.
    fn body(&mut self, at: &str, sum: Option<&str>) -> (String, &'static str) {
        let target = self.one(&["a", "b"]);
        let reads: &[&str] = if target == "a" { &["b", "c"] } else { &["a", "c"] };
        let mut text = String::new();
        if self.below(3) == 0 {
            text.push_str(&format!("if ({} % 5 == 1) continue; ", at));
        }
        text.push_str(&format!("int own = {}; ", self.value(at, reads, 2)));
        if self.below(3) == 0 {
            text.push_str(&format!(
                "for (int k = 0; k < {}; k++) {{ if (own > 900) break; own += k; }} ",
                self.below(5)
            ));
        }
        let op = self.one(&["=", "+=", "^="]);
        text.push_str(&format!("{target}[{at}] {op} own; "));
        if let Some(sum) = sum {
            text.push_str(&format!("{sum} += own % 100; "));
        }
        (text, target)
    }

    fn schedule(&mut self) -> String {
        match self.below(4) {
            0 => String::new(),
            1 => "schedule(static)".to_owned(),
            2 => format!("schedule(static, {})", 1 + self.below(6)),
            _ => format!("schedule(dynamic, {})", 1 + self.below(3)),
        }
    }

    fn header(&mut self) -> &'static str {
        self.one(&[
            "for (int i = 0; i < 24; i++)",
            "for (int i = 23; i >= 0; i--)",
            "for (unsigned i = 1; i < n; i += 3)",
            "for (long i = 20; i > 2; i -= 4)",
            "for (int i = 5; i <= 5; i++)",
            "for (int i = 9; i < 4; i++)",
        ])
    }

    /// A loop that threads of a team share.
    fn shared(&mut self, word: &str) -> String {
        let sum = if self.below(2) == 0 { Some(self.one(&["s", "t"])) } else { None };
        let clause = sum.map_or(String::new(), |it| format!("reduction(+: {it})"));
        let (schedule, header, (body, _)) = (self.schedule(), self.header(), self.body("i", sum));
        format!("\n#pragma omp {word} {schedule} {clause}\n{header} {{ {body} }}\n")
    }

    /// What a thread does between two barriers.
    fn phase(&mut self) -> String {
        match self.below(5) {
            0 => "\n#pragma omp barrier\n".to_owned(),
            1 => {
                format!("\n#pragma omp single\n{{ c[{}] += {}; }}\n", self.below(24), self.below(9))
            }
            2 => format!(
                "\n#pragma omp barrier\n\n#pragma omp masked filter({})\n{{ d[0] += {}; }}\n\n#pragma omp barrier\n",
                self.below(3),
                self.below(9)
            ),
            3 => format!("w[omp_get_thread_num()] += {};", self.below(30)),
            _ => self.shared("for"),
        }
    }

    /// What a team does before its threads begin and between.
    fn serial(&mut self, depth: u32) -> String {
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 => format!("x += {}; c[x % 24] += {};", self.below(7), self.below(7)),
            1 => self.shared("parallel for"),
            2 => {
                let count = 1 + self.below(4);
                let phases: String = (0..3).map(|_| self.phase()).collect();
                format!("\n#pragma omp parallel num_threads({count})\n{{ {phases} }}\n")
            }
            3 => format!(
                "if (x % 3 == {}) {{ {} }} else {{ {} }}",
                self.below(3),
                self.serial(depth - 1),
                self.serial(depth - 1)
            ),
            4 => format!(
                "for (int k = 0; k < {}; k++) {{ {} {} }}",
                self.below(4),
                self.serial(depth - 1),
                self.serial(depth - 1)
            ),
            _ => format!("{} {}", self.serial(depth - 1), self.serial(depth - 1)),
        }
    }

    fn program(&mut self) -> String {
        let region = match self.below(4) {
            0 => {
                let teams = match self.below(3) {
                    0 => String::new(),
                    it => format!("num_teams({})", it * 3 - 1),
                };
                let clauses = format!("{teams} map(tofrom: s, t)");
                self.shared(&format!("target teams distribute parallel for {clauses}"))
            }
            1 => {
                let phases: String = (0..4).map(|_| self.phase()).collect();
                format!("\n#pragma omp target parallel map(tofrom: s, t)\n{{ {phases} }}\n")
            }
            _ => format!(
                "\n#pragma omp target map(tofrom: s, t)\n{{ int x = {}; {} {} }}\n",
                self.below(5),
                self.serial(2),
                self.serial(2)
            ),
        };
        format!(
            "int a[24], b[24] = {{3, 1, 4, 1, 5, 9, 2, 6}}, c[24] = {{[3] = 7, [8] = -2}}, d[1], w[4]; unsigned n = 22;
long s, t = 4;\nint omp_get_thread_num(void);\nvoid host(void) {{ {region} }}\n"
        )
    }
}

#[test]
fn passes_keep_the_meaning_of_random_kernels() {
    let mut refused = 0;
    let many = std::env::var("FERRY_RANDOM_KERNELS").ok().and_then(|it| it.parse().ok());
    let many: u64 = many.unwrap_or(300);
    for seed in 0..many {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let text = random.program();
        let size = (1 + random.below(3), 1 + random.below(4));
        let module = match support::module(&text, true) {
            Ok(module) => module,
            Err(wrong) if wrong.starts_with("not outlined") => {
                refused += 1;
                continue;
            }
            Err(wrong) => panic!("seed {seed}: {wrong}\n{text}"),
        };
        let (first, told) = support::same(&module, size);
        assert!(!first.starts_with("error"), "seed {seed}, {size:?}: {first}\n{text}");
        if told.contains("refused") {
            refused += 1;
            continue;
        }
        assert_eq!(told, "", "seed {seed}, {size:?}\n{first}\n{text}");
    }
    println!("{refused} of {many} kernels are refused");
    assert!(refused * 4 < many, "{refused} of {many} kernels are refused");
}
