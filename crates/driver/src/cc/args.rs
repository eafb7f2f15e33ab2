//! A gcc command line, understood.
//!
//! In: the words after `ferry cc`. Out: [`Arguments`]: inputs with their languages, how far to go,
//! and every other flag in its order with the steps that are to see it. Only the words are looked
//! at here, never the files.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use directive::Meaning;
use ir::construct::Dialect;

use super::device::Targets;
use super::language::Language;
use super::llvm::Native;
use super::remote::Machine;
use super::response;
use super::table::{self, Depend, Own, Role, Shape, Stop};
use crate::designs::{Given, given};
use crate::options::Believed;

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) language: Language,
}

impl Input {
    /// Whether it is standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Whether it is a header, which is precompiled and not linked.
    pub(crate) fn is_header(&self) -> bool {
        match &self.language {
            Language::Foreign(Some(name)) => name.as_bytes().ends_with(b"-header"),
            Language::Foreign(None) => {
                const ENDINGS: &[&str] = &["h", "hh", "H", "hp", "hxx", "hpp", "HPP", "h++", "tcc"];
                let ending = self.path.extension().and_then(OsStr::to_str);
                ending.is_some_and(|it| ENDINGS.contains(&it))
            }
            Language::C | Language::PreprocessedC | Language::Linked => false,
        }
    }
}

/// Who sees a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Everywhere,
    Preprocess,
    Printed,
    Compile,
    Link,
    /// Not a flag: the input with this index, at its place in the link.
    Input(usize),
}

/// A flag with its value, or an input, in the order of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) step: Step,
    pub(crate) words: Vec<OsString>,
}

/// What to write about dependences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependences {
    /// `-MD` or `-MMD`, as passed on.
    pub(crate) flag: Option<&'static str>,
    /// `-MF`
    pub(crate) file: Option<OsString>,
    /// `-MT`, `-MQ`, `-MP`, `-MG` with their values.
    pub(crate) flags: Vec<OsString>,
    /// Whether a target is named.
    pub(crate) has_target: bool,
}

/// In which form verdicts are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Text,
    Json,
    Sarif,
}

/// What flags of other compilers ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// Devices, as ours are called; an empty list is the processor alone.
    pub(crate) devices: Option<Vec<String>>,
    /// Offload must happen, if the environment does not say otherwise.
    pub(crate) is_mandatory: bool,
    /// Those that mean nothing here.
    pub(crate) ignored: Vec<String>,
}

/// What is asked for instead of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Help,
    Version,
    /// The host compiler has the answer.
    Host,
}

/// The command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) inputs: Vec<Input>,
    pub(crate) items: Vec<Item>,
    pub(crate) stop: Option<Stop>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) dependences: Dependences,
    /// Standards that are switched off.
    pub(crate) off: Vec<Dialect>,
    /// Flags for standards that the user has written out, as the host compiler spells them.
    pub(crate) switches: Vec<&'static str>,
    pub(crate) no_warnings: bool,
    pub(crate) werror: bool,
    pub(crate) verbose: bool,
    pub(crate) question: Option<Question>,
    pub(crate) targets: Targets,
    /// Whether the user has named them in our words.
    pub(crate) names_devices: bool,
    /// What flags of other compilers ask for.
    pub(crate) foreign: Foreign,
    /// Where to leave what is made on the way; the current folder if empty.
    pub(crate) save_temps: Option<PathBuf>,
    pub(crate) report: Option<Report>,
    /// Where decisions on mappings are kept.
    pub(crate) mapping: Option<PathBuf>,
    /// The device whose numbers decide on mappings.
    pub(crate) profile: Option<String>,
    /// Arrays are not brought into the scratchpad of a cluster.
    pub(crate) no_tiles: bool,
    /// Designs for FPGAs are searched for, with these values of variables in the bounds of loops.
    pub(crate) search: Option<Given>,
    /// How far directives are believed.
    pub(crate) trust: Believed,
    /// The host compiler's command.
    pub(crate) host: Option<OsString>,
    /// The machine that the program starts on, if another than this one.
    pub(crate) origin: Option<Machine>,
    /// That is a 64-bit ARM.
    pub(crate) starts_on_arm: bool,
    /// The language of the command, where that is LLVM's to compile.
    pub(crate) native: Option<Native>,
    pub(crate) static_runtime: bool,
    pub(crate) no_cache: bool,
}

impl Arguments {
    /// Reads a command line; an error is a sentence about it.
    pub(crate) fn read(words: &[OsString]) -> Result<Arguments, String> {
        let words = response::expand(words)?;
        let mut reader =
            Reader { words: words.into_iter(), read: Arguments::default(), language: None };
        while let Some(word) = reader.words.next() {
            reader.word(word)?;
        }
        Ok(reader.read)
    }

    /// The flags that any of `steps` sees, in order.
    pub(crate) fn flags(&self, steps: &[Step]) -> impl Iterator<Item = &OsString> {
        self.items.iter().filter(|it| steps.contains(&it.step)).flat_map(|it| &it.words)
    }

    /// Whether a flag was given, as one word.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.items.iter().any(|it| matches!(it.words.as_slice(), [word] if word == flag))
    }

    /// Whether floating-point numbers may be added in another order than they are written in: the
    /// last flag about it decides.
    pub(crate) fn reassociates(&self) -> bool {
        let mut may = false;
        for word in self.items.iter().flat_map(|it| &it.words).filter_map(|it| it.to_str()) {
            match word {
                "-Ofast" | "-ffast-math" | "-funsafe-math-optimizations" | "-fassociative-math" => {
                    may = true;
                }
                "-fno-fast-math" | "-fno-unsafe-math-optimizations" | "-fno-associative-math" => {
                    may = false
                }
                _ => {}
            }
        }
        may
    }

    /// The user's level of optimisation: the last one; kernels are made for speed where nothing is said.
    pub(crate) fn level(&self) -> &'static str {
        let words = self.items.iter().flat_map(|it| &it.words).filter_map(|it| it.to_str());
        let level = |word: &str| match word {
            "-O0" => Some("-O0"),
            "-O" | "-O1" | "-Og" => Some("-O1"),
            "-O2" => Some("-O2"),
            "-Os" => Some("-Os"),
            "-O3" | "-Ofast" => Some("-O3"),
            _ => None,
        };
        words.filter_map(level).next_back().unwrap_or("-O3")
    }
}

struct Reader {
    words: std::vec::IntoIter<OsString>,
    read: Arguments,
    language: Option<Language>,
}

impl Reader {
    fn word(&mut self, word: OsString) -> Result<(), String> {
        let is_option = word.as_bytes().starts_with(b"-") && word != "-";
        if !is_option {
            self.input(word);
            return Ok(());
        }
        // Options are ASCII up to their value; what is not text can only be a value.
        let text = word.to_string_lossy().into_owned();
        if let Some((short, value)) = table::short_name(&text) {
            let value = value.map(OsString::from);
            return self.long(short, value);
        }
        if let Some(switch) = directive::switch(&text) {
            self.read.off.retain(|it| *it != switch.dialect);
            if !switch.on {
                self.read.off.push(switch.dialect);
            }
            self.read.switches.push(switch.host);
            if let Some(meaning) = directive::switched_devices(&text) {
                self.foreign(text, meaning)?;
            }
            return Ok(());
        }
        if let Some(meaning) = directive::foreign(&text) {
            return self.foreign(text, meaning);
        }
        let Some(row) = table::find(&text) else {
            self.pass(Step::Everywhere, vec![word]);
            return Ok(());
        };
        let tail = |word: &OsStr| -> OsString {
            OsString::from_vec(word.as_bytes().get(row.name.len()..).unwrap_or_default().to_vec())
        };
        let value = match row.shape {
            Shape::Alone => None,
            Shape::Joined | Shape::Open => Some(tail(&word)),
            Shape::Separate => Some(self.next_word(row.name)?),
            Shape::Either if word.len() > row.name.len() => Some(tail(&word)),
            Shape::Either => Some(self.next_word(row.name)?),
        };
        let mut words = vec![word];
        // A value in a word of its own stays one: some options mean something else when joined.
        if matches!(row.shape, Shape::Separate | Shape::Either) && text.len() == row.name.len() {
            words.extend(value.clone());
        }
        self.option(row.name, row.role, words, value.unwrap_or_default())
    }

    /// A flag of another compiler.
    fn foreign(&mut self, mut flag: String, meaning: Meaning) -> Result<(), String> {
        let foreign = &mut self.read.foreign;
        match meaning {
            Meaning::Devices(names) => foreign.devices.get_or_insert_default().extend(names),
            Meaning::Mandatory => foreign.is_mandatory = true,
            Meaning::Version(version) => {
                let words = directive::version_flags(version).map(OsString::from);
                self.pass(Step::Preprocess, words.to_vec());
            }
            Meaning::Host(word) => self.pass(Step::Everywhere, vec![word.into()]),
            Meaning::ForDevices => {
                let word = self.next_word(&flag)?.to_string_lossy().into_owned();
                match directive::for_devices(&word) {
                    Some(meaning) => return self.foreign(word, meaning),
                    None => self.read.foreign.ignored.push(format!("{flag} {word}")),
                }
            }
            Meaning::Nothing { takes_word } => {
                if takes_word {
                    let word = self.next_word(&flag)?;
                    flag = format!("{flag} {}", word.display());
                }
                self.read.foreign.ignored.push(flag);
            }
        }
        Ok(())
    }

    /// A long name is read as the short one, with its value if it takes any.
    fn long(&mut self, short: &'static str, value: Option<OsString>) -> Result<(), String> {
        let takes = table::find(short).map(|it| it.shape);
        let value = match takes {
            Some(Shape::Either | Shape::Separate) if value.is_none() => {
                Some(self.next_word(short)?)
            }
            _ => value,
        };
        let mut words = vec![OsString::from(short)];
        match (table::find(short), value) {
            (Some(row), value) => {
                words.extend(value.clone());
                self.option(row.name, row.role, words, value.unwrap_or_default())
            }
            (None, value) => {
                let mut word = OsString::from(short);
                word.push(value.unwrap_or_default());
                self.word(word)
            }
        }
    }

    fn option(
        &mut self,
        name: &'static str,
        role: Role,
        words: Vec<OsString>,
        value: OsString,
    ) -> Result<(), String> {
        let read = &mut self.read;
        match role {
            Role::Everywhere => self.pass(Step::Everywhere, words),
            Role::Preprocess => self.pass(Step::Preprocess, words),
            Role::Printed => self.pass(Step::Printed, words),
            Role::Compile => self.pass(Step::Compile, words),
            Role::Link => self.pass(Step::Link, words),
            Role::Library if value == directive::HOST_LIBRARY => {
                // Comes with the host's flag, behind our own library.
                read.switches.extend(directive::host_linker_flags(&[]));
            }
            Role::Library => self.pass(Step::Link, words),
            Role::Stop(stop) => {
                if stop == Stop::Dependences {
                    self.pass(Step::Printed, words);
                }
                // The shortest way wins, as with gcc.
                let read = &mut self.read;
                let earlier = read.stop.filter(|it| (*it as u8) < (stop as u8));
                read.stop = Some(earlier.unwrap_or(stop));
            }
            Role::Output => read.output = Some(value.into()),
            Role::Language => self.language = Language::named(&value)?,
            Role::Depend(Depend::All) => read.dependences.flag = Some("-MD"),
            Role::Depend(Depend::User) => read.dependences.flag = Some("-MMD"),
            Role::Depend(Depend::File) => read.dependences.file = Some(value),
            Role::Depend(Depend::Passed) => {
                read.dependences.has_target |= matches!(name, "-MT" | "-MQ");
                read.dependences.flags.extend(words);
            }
            Role::Silent => {
                read.no_warnings = true;
                self.pass(Step::Everywhere, words);
            }
            Role::WarningsAreErrors(are) => {
                read.werror = are;
                self.pass(Step::Everywhere, words);
            }
            Role::Verbose => {
                read.verbose = true;
                self.pass(Step::Everywhere, words);
            }
            Role::Question => {
                read.question.get_or_insert(Question::Host);
                self.pass(Step::Everywhere, words);
            }
            Role::Own(own) => return self.own(own, value),
            Role::Foreign => {}
        }
        Ok(())
    }

    fn own(&mut self, own: Own, value: OsString) -> Result<(), String> {
        let read = &mut self.read;
        match own {
            Own::Help => read.question = Some(Question::Help),
            Own::Version => read.question = Some(Question::Version),
            Own::Device => {
                read.targets = Targets::read(&value.to_string_lossy())?;
                read.names_devices = true;
            }
            Own::SaveTemps => read.save_temps = Some(value.into()),
            Own::Report => {
                read.report = Some(match value.to_str() {
                    Some("" | "text") => Report::Text,
                    Some("json") => Report::Json,
                    Some("sarif") => Report::Sarif,
                    _ => {
                        let value = value.display();
                        return Err(format!(
                            "`--ferry-report={value}`: reports are `text`, `json` or `sarif`"
                        ));
                    }
                });
            }
            Own::Mapping => read.mapping = Some(value.into()),
            Own::Profile => read.profile = Some(value.to_string_lossy().into_owned()),
            Own::Trust => {
                let word = value.to_string_lossy();
                read.trust = <Believed as clap::ValueEnum>::from_str(&word, false)
                    .map_err(|_| format!("`--trust {word}`: say `trust`, `verify` or `strict`"))?;
            }
            Own::Host => read.host = Some(value),
            Own::Origin => read.origin = Some(Machine::read(&value.to_string_lossy())?),
            Own::StaticRuntime => read.static_runtime = true,
            Own::NoTiles => read.no_tiles = true,
            Own::Search => {
                let word = value.to_string_lossy();
                let values = word.split(',').filter(|it| !it.is_empty()).map(given);
                let wrong = |why| format!("`--ferry-search={word}`: {why}");
                read.search = Some(values.collect::<Result<_, _>>().map_err(wrong)?);
            }
            Own::NoCache => read.no_cache = true,
        }
        Ok(())
    }

    fn input(&mut self, path: OsString) {
        let path = PathBuf::from(path);
        let language = self.language.clone().unwrap_or_else(|| Language::of_file(&path));
        let index = self.read.inputs.len();
        self.pass(Step::Input(index), Vec::new());
        self.read.inputs.push(Input { path, language });
    }

    fn pass(&mut self, step: Step, words: Vec<OsString>) {
        self.read.items.push(Item { step, words });
    }

    fn next_word(&mut self, option: &str) -> Result<OsString, String> {
        self.words.next().ok_or_else(|| format!("`{option}` needs a value after it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Arguments {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Arguments::read(&words).expect("a good command line")
    }

    #[track_caller]
    fn inputs(line: &str, expect: &[&str]) {
        let found = read(line).inputs;
        let found: Vec<&Path> = found.iter().map(|it| it.path.as_path()).collect();
        assert_eq!(found, expect.iter().map(Path::new).collect::<Vec<_>>(), "{line}");
    }

    #[test]
    fn the_last_flag_about_the_order_of_sums_decides() {
        assert!(!read("-O3 a.c").reassociates());
        assert!(read("-Ofast a.c").reassociates());
        assert!(!read("-ffast-math -fno-associative-math a.c").reassociates());
    }

    #[test]
    fn values_are_never_taken_for_inputs() {
        inputs("-c a.c -o b.c", &["a.c"]);
        inputs("-MD -MF dep.c -MT t.c -MQ q.c a.c", &["a.c"]);
        inputs("-I inc -isystem sys -iquote q -idirafter d -include i.h -imacros m a.c", &["a.c"]);
        inputs("-Xlinker a -Xpreprocessor b -Xassembler c -z now -u sym -T script a.c", &["a.c"]);
        inputs("--param x=1 -isysroot d --sysroot e -B f -specs g -wrapper h a.c", &["a.c"]);
        inputs("-x c a.txt -x none b.o", &["a.txt", "b.o"]);
        inputs("-D X -U Y -L d -l m - b.c", &["-", "b.c"]);
        inputs("--output x.o --include-directory inc --define-macro M a.c", &["a.c"]);
        inputs("--device cpu:separate --ferry-cc gcc a.c", &["a.c"]);
        inputs("-dumpbase a.c -dumpdir d b.c", &["b.c"]);
    }

    #[test]
    fn each_step_sees_its_flags_in_order() {
        let it = read("-O2 -DA=1 -Wl,-x a.c -lm -g -Iinc b.o -Wa,-y -P -L lib");
        let flags = |steps: &[Step]| it.flags(steps).map(|it| it.to_str()).collect::<Vec<_>>();
        assert_eq!(flags(&[Step::Everywhere]), [Some("-O2"), Some("-g")]);
        assert_eq!(flags(&[Step::Preprocess]), [Some("-DA=1"), Some("-Iinc")]);
        assert_eq!(flags(&[Step::Link]), [Some("-Wl,-x"), Some("-lm"), Some("-L"), Some("lib")]);
        assert_eq!(flags(&[Step::Compile, Step::Printed]), [Some("-Wa,-y"), Some("-P")]);
    }

    #[test]
    fn the_shortest_way_wins() {
        assert_eq!(read("-c -E a.c").stop, Some(Stop::Preprocessed));
        assert_eq!(read("-S -c a.c").stop, Some(Stop::Assembly));
        assert_eq!(read("a.c").stop, None);
    }

    #[test]
    fn standards_are_on_until_switched_off() {
        assert_eq!(read("a.c").off, []);
        assert_eq!(read("-fno-openmp a.c").off, [directive::OPENMP]);
        assert_eq!(read("-fno-openmp -fopenmp -fno-openacc a.c").off, [directive::OPENACC]);
        let it = read("-fopenmp -acc=gpu -mp -foffload=nvptx-none -fopenmp-targets=x86_64 a.c");
        assert_eq!(it.off, []);
        assert_eq!(it.flags(&[Step::Everywhere]).count(), 0, "{:?}", it.items);
        assert_eq!(read("-fopenmp-simd a.c").flags(&[Step::Everywhere]).count(), 1);
    }

    #[test]
    fn wrong_lines_are_told() {
        for (line, words) in [
            ("a.c -o", "`-o` needs a value"),
            ("a.c -MF", "`-MF` needs a value"),
            ("--ferry-report=yaml a.c", "`text`, `json` or `sarif`"),
            ("--device abacus a.c", "`abacus`"),
            ("-x klingon a.c", "klingon"),
        ] {
            let list: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let error = Arguments::read(&list).expect_err(line);
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn questions_are_answered_before_work() {
        assert_eq!(read("--version").question, Some(Question::Version));
        assert_eq!(read("-print-prog-name=ld").question, Some(Question::Host));
        assert_eq!(read("-dumpmachine").question, Some(Question::Host));
        assert_eq!(read("-c a.c --help").question, Some(Question::Help));
    }
}
