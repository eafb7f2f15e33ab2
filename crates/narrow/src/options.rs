//! What is asked for.

/// How the cores reach addresses of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum Hardware {
    /// A register beside each core, in memory, holds the upper half of the next address.
    #[default]
    Mapped,
    /// A control register does.
    Csr,
    /// There are loads and stores with an address in two registers.
    Isa,
}

/// How it is found out which pointers lead to the accelerator's memory alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum Assign {
    /// By all places that each pointer of the program may lead to.
    #[default]
    Points,
    /// By the paper's algorithms, for comparison.
    Paper,
    /// Not at all: every pointer of the program is generic.
    None,
}

/// How words of the host's memory are changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Atomics {
    /// By one instruction; a register beside each core, in memory, makes its address.
    Mapped,
    /// The same by a control register.
    Csr,
    /// Under a lock of the runtime, of which the host does not know.
    Lock,
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum Emit {
    /// An object file.
    #[default]
    Obj,
    /// Assembly.
    Asm,
    /// LLVM's bitcode.
    Bc,
    /// The same as text.
    Ll,
}

/// How a program is compiled.
#[derive(Clone, Debug)]
pub struct Options {
    /// 0 to 3, as for compilers.
    pub level: u32,
    /// How the cores reach the host.
    pub hardware: Hardware,
    /// How words of the host are changed; as the cores reach the host, if none.
    pub atomics: Option<Atomics>,
    /// How pointers are assigned to memories.
    pub assign: Assign,
    /// Functions whose names begin so are kernels.
    pub kernels: Vec<String>,
    /// The instruction set, such as `rv32imaf`.
    pub march: String,
    /// What is written.
    pub emit: Emit,
    /// Whether the program looks, each time it cuts a pointer to 32 bits, that nothing is lost.
    pub check: bool,
}

impl Options {
    /// How words of the host are changed.
    pub(crate) fn atomics(&self) -> Atomics {
        self.atomics.unwrap_or(match self.hardware {
            Hardware::Mapped => Atomics::Mapped,
            Hardware::Csr => Atomics::Csr,
            // There is no such form of the instructions that change a word.
            Hardware::Isa => Atomics::Lock,
        })
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            level: 3,
            hardware: Hardware::default(),
            atomics: None,
            assign: Assign::default(),
            kernels: vec!["__ferry_k_".to_owned()],
            march: "rv32imaf".to_owned(),
            emit: Emit::default(),
            check: false,
        }
    }
}

/// Features of LLVM and the calling convention for an instruction set.
///
/// # Errors
/// It is not one of 32 bits, or has a letter that is not known.
pub(crate) fn machine(march: &str) -> Result<(String, &'static str), String> {
    let Some(letters) = march.strip_prefix("rv32i") else {
        return Err(format!(
            "`{march}` is not understood; expected `rv32i` and letters, such as `rv32imaf`"
        ));
    };
    let mut features = String::from("+relax,+zicsr");
    let mut abi = "ilp32";
    for letter in letters.chars() {
        match letter {
            'm' | 'a' | 'c' => {}
            'f' => abi = if abi == "ilp32d" { abi } else { "ilp32f" },
            'd' => abi = "ilp32d",
            _ => {
                return Err(format!(
                    "`{letter}` in `{march}` is not understood: any of m, a, f, d, c may follow `rv32i`"
                ));
            }
        }
        features.push_str(&format!(",+{letter}"));
    }
    Ok((features, abi))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_give_features_and_a_convention() {
        assert_eq!(machine("rv32im"), Ok(("+relax,+zicsr,+m".to_owned(), "ilp32")));
        assert_eq!(machine("rv32imaf").unwrap().1, "ilp32f");
        assert_eq!(machine("rv32imafd").unwrap().1, "ilp32d");
    }

    #[test]
    fn other_machines_are_refused_by_name() {
        assert!(machine("rv64imaf").unwrap_err().contains("rv64imaf"));
        assert!(machine("rv32imx").unwrap_err().contains("`x`"));
    }
}
