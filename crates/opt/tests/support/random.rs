//! Random kernels, as C.

/// Numbers that decide what a kernel is: by a seed, the same in each run, or by the bytes of a fuzzer.
pub(crate) struct Random {
    state: u64,
    bytes: Option<Vec<u8>>,
}

impl Random {
    #[allow(dead_code, reason = "not all who use this have a seed")]
    pub(crate) fn seeded(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1, bytes: None }
    }

    /// When all bytes are used, the first choice is taken each time.
    #[allow(dead_code, reason = "not all who use this have bytes")]
    pub(crate) fn of(bytes: &[u8]) -> Random {
        Random { state: 0, bytes: Some(bytes.iter().rev().copied().collect()) }
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        if let Some(bytes) = &mut self.bytes {
            return u64::from(bytes.pop().unwrap_or(0)) % end;
        }
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % end
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

    /// What an iteration does: it writes one element of one array, or of two, may add to it in a loop, and may take numbers.
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
        if self.below(5) == 0 {
            let take = self.one(&["at = q[1]++;", "{ q[0] -= 2; at = q[0]; }"]);
            text.push_str(&format!(
                "if (own % 3) {{ int at;\n#pragma omp atomic capture\n{take}\nown += at == 1 << 20; }} "
            ));
        }
        let op = self.one(&["=", "+=", "^="]);
        text.push_str(&format!("{target}[{at}] {op} own; "));
        if self.below(4) == 0 {
            let (rounds, left_out, far) = (self.below(6), self.below(9), self.below(24));
            let read = self.one(reads);
            let change = match self.below(3) {
                0 => format!("{target}[{at}] = {target}[{at}] % 1000 + {read}[(k + {far}) % 24];"),
                1 => format!("{target}[{at}] += {read}[(k + {at}) % 24] % 100 + k;"),
                _ => format!("if ({read}[k] > {target}[{at}]) {target}[{at}] -= {read}[k] % 100;"),
            };
            text.push_str(&format!(
                "for (int k = 0; k < {rounds}; k++) {{ if (k == {left_out}) continue; {change} }} "
            ));
        }
        if self.below(4) == 0 {
            text.push_str(&format!("v[{at}] = own - 1; "));
        }
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

    /// A loop or nest that threads of a team share.
    fn shared(&mut self, word: &str) -> String {
        match self.below(8) {
            0 => return self.made(word),
            1 => return self.nest(word),
            2 if !word.contains("distribute") => return self.prefixes(word),
            _ => {}
        }
        let sum = if self.below(2) == 0 { Some(self.one(&["s", "t"])) } else { None };
        let clause = sum.map_or(String::new(), |it| format!("reduction(+: {it})"));
        let (schedule, header, (body, _)) = (self.schedule(), self.header(), self.body("i", sum));
        format!("\n#pragma omp {word} {schedule} {clause}\n{header} {{ {body} }}\n")
    }

    /// A loop that another directive makes of the one that is written.
    fn made(&mut self, word: &str) -> String {
        let size = 1 + self.below(5);
        let made = match self.below(4) {
            0 => format!("tile sizes({size})"),
            1 => format!("stripe sizes({size})"),
            2 => format!("unroll partial({size})"),
            _ => "reverse".to_owned(),
        };
        let (schedule, header, (body, _)) = (self.schedule(), self.header(), self.body("i", None));
        format!("\n#pragma omp {word} {schedule}\n#pragma omp {made}\n{header} {{ {body} }}\n")
    }

    /// Two or three loops, whose bounds may follow each other, or with code between them.
    fn nest(&mut self, word: &str) -> String {
        let (body, _) = self.body("e", None);
        let e = "int e = i * 4 + j;";
        match self.below(4) {
            0 => {
                let low = self.one(&["i", "0", "i - 2 < 0 ? 0 : i - 2"]);
                // A bound that follows is a sum of the outer variable and a constant.
                let low = if low.contains('?') { "i" } else { low };
                let high = if low == "i" { "4" } else { self.one(&["i", "i + 1", "4"]) };
                format!(
                    "\n#pragma omp {word} collapse(2)\nfor (int i = 0; i < 4; i++)\n\
                     for (int j = {low}; j < {high}; j++) {{ {e} {body} }}\n"
                )
            }
            1 => format!(
                "\n#pragma omp {word} collapse(3)\nfor (int i = 3; i >= 0; i--)\n\
                 for (int j = i; j < 4; j++)\nfor (long k = j; k <= j; k++) {{ {e} {body} }}\n"
            ),
            2 => {
                let (schedule, far) = (self.schedule(), self.below(20));
                format!(
                    "\n#pragma omp {word} collapse(2) {schedule}\nfor (int i = 0; i < 6; i++) {{\n\
                     int far = {far}; far += i; r[i] += 1;\n\
                     for (int j = 0; j < 4; j++) {{ {e} {body} v[e] += far; }}\n u[i] += far; }}\n"
                )
            }
            _ => {
                let (schedule, size) = (self.schedule(), 1 + self.below(4));
                format!(
                    "\n#pragma omp {word} collapse(2) {schedule}\n#pragma omp tile sizes({size}, 3)\n\
                     for (int i = 0; i < 6; i++)\nfor (int j = 0; j < 4; j++) {{ {e} {body} }}\n"
                )
            }
        }
    }

    /// A loop whose iterations use what those before them have given.
    fn prefixes(&mut self, word: &str) -> String {
        let (sum, header) = (self.one(&["s", "t"]), self.header());
        let (gives, target) = (self.value("i", &["c"], 1), self.one(&["a", "b"]));
        let head = format!("\n#pragma omp {word} reduction(inscan, +: {sum})\n{header} {{ ");
        let (give, take) = (format!("{sum} += {gives};"), format!("{target}[i] = {sum} % 1000;"));
        match self.below(2) {
            0 => format!("{head}{give}\n#pragma omp scan inclusive({sum})\n{take} }}\n"),
            _ => format!("{head}{take}\n#pragma omp scan exclusive({sum})\n{give} }}\n"),
        }
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

    pub(crate) fn program(&mut self) -> String {
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
            "int a[24], b[24] = {{3, 1, 4, 1, 5, 9, 2, 6}}, c[24] = {{[3] = 7, [8] = -2}}, d[1], w[4], r[6], u[6], v[24], q[2]; unsigned n = 22;
long s, t = 4;\nint omp_get_thread_num(void);\nvoid host(void) {{ {region} }}\n"
        )
    }

    /// A subscript of an array of 18 columns, made of two of these counters.
    fn place(&mut self, counters: &[&str]) -> String {
        let far = self.below(3);
        let (row, column) = (self.one(counters), self.one(counters));
        match self.below(6) {
            0 => format!("[{row}][{column} + {far}]"),
            1 => format!("[{row} + {far}][{column}]"),
            2 => format!("[{column}][{row}]"),
            _ => format!("[{row}][{column}]"),
        }
    }

    /// A nest for cores: its iterations may have inner loops, and look at arrays in any order.
    #[allow(dead_code, reason = "not all who use this ask for cores")]
    pub(crate) fn blocks(&mut self) -> String {
        let ty = self.one(&["int", "long", "short", "float", "double", "unsigned char"]);
        let sum = if ty == "float" || ty == "double" { ty } else { "long" };
        let count = self.one(&["int", "long", "unsigned", "int"]);
        let dims = 1 + self.below(3) as usize;
        let names = ["i", "j", "l"];
        let own: Vec<&str> = names.iter().copied().take(dims).collect();
        let (begin, end) = (self.below(2), 2 + self.below(if dims > 2 { 7 } else { 13 }));
        let is_open = self.below(4) == 0 && dims == 2;
        let collapse = match is_open {
            true => String::new(),
            false => format!("collapse({dims})"),
        };
        let mut text = format!("{ty} a[18][18], b[18][18], r[15][15][9];\nint n = {end};\n");
        text.push_str(&format!("{sum} total, most;\nint bins[4];\n"));
        text.push_str("void nest(void)\n{\n");
        text.push_str("#pragma omp target\n");
        text.push_str("  for (int x = 0; x < 18; x++)\n    for (int y = 0; y < 18; y++)\n");
        text.push_str("      a[x][y] = (x * 7 + y * 3) % 11, b[x][y] = (x + y * 5) % 7;\n");
        let has_array = self.below(6) == 0;
        let private = if has_array { "private(w)" } else { "" };
        text.push_str("  int w[3];\n");
        let (has_sum, has_bins) = (self.below(4) == 0, self.below(6) == 0);
        let combined = if has_sum { "reduction(+: total) reduction(max: most)" } else { "" };
        text.push_str(&format!(
            "#pragma omp target teams distribute parallel for {collapse} {private} {combined}\n"
        ));
        for name in &own {
            let (mut from, test) =
                ((self.below(2) * begin).to_string(), self.one(&["<", "<", "<="]));
            let mut to = if *name == "i" && self.below(2) == 0 {
                "n".to_owned()
            } else {
                (end / (1 + self.below(2))).to_string()
            };
            // A triangle.
            if *name == "j" && self.below(3) == 0 {
                match self.below(4) {
                    0 => from = "i".to_owned(),
                    1 => from = "2 * i".to_owned(),
                    2 => to = "i".to_owned(),
                    _ => to = "i + 1".to_owned(),
                }
            }
            text.push_str(&format!(
                "  for ({count} {name} = {from}; {name} {test} {to}; {name}++)\n"
            ));
        }
        text.push_str("  {\n");
        if has_array {
            text.push_str("    for (int k = 0; k < 3; k++) w[k] = i + k;\n");
        }
        if has_bins {
            text.push_str("#pragma omp atomic\n    bins[i % 4] += 2;\n");
        }
        let place = match dims {
            1 => "[i][0][0]".to_owned(),
            2 => self.one(&["[i][j][0]", "[j][i][1]", "[i][j][i % 3]"]).to_owned(),
            _ => self.one(&["[i][j][l]", "[j][i][l]"]).to_owned(),
        };
        if self.below(4) == 0 {
            let load = format!("a{}", self.place(&own));
            text.push_str(&format!("    const {ty} first = {load};\n    r{place} = first + 1;\n"));
        }
        match self.below(4) {
            0 => {
                let (one, other) = (self.place(&own), self.place(&own));
                text.push_str(&format!("    r{place} = a{one} + b{other} * 2;\n"));
                if has_sum {
                    text.push_str(&format!("    total += r{place};\n"));
                    text.push_str(&format!("    if (a{one} > most) most = a{one};\n"));
                }
            }
            kind => {
                let rounds = self.one(&["n", "5", "3", "n - 1"]);
                let inner: Vec<&str> = own.iter().copied().chain(["k"]).collect();
                let start = self.one(&["0", "1"]);
                text.push_str(&format!("    {sum} s = {};\n", self.below(3)));
                text.push_str(&format!("    for (int k = {start}; k < {rounds}; k++) {{\n"));
                let (one, other) = (self.place(&inner), self.place(&inner));
                match kind {
                    1 => text.push_str(&format!("      s += a{one} * b{other};\n")),
                    2 => text.push_str(&format!(
                        "      {sum} t = a{one} + s % 3;\n      if (t > 4) s += b{other}; else s -= t;\n"
                    ).replace("s % 3", if sum == "long" { "s % 3" } else { "1" })),
                    _ => text.push_str(&format!(
                        "      for (int m = 0; m < 3; m++)\n        s += a{one} * m + b{other};\n"
                    )),
                }
                text.push_str("    }\n");
                let more = if has_array { " + w[1]" } else { "" };
                text.push_str(&format!("    r{place} {} s{more};\n", self.one(&["=", "+="])));
                if has_sum {
                    text.push_str("    total += s;\n    most = s > most ? s : most;\n");
                }
            }
        }
        text.push_str("  }\n}\n");
        text
    }
}
