//! What cannot be compiled, said by name.

use std::fmt;

use crate::llvm::Value;

/// Why there is no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    place: Option<(String, u32)>,
    function: Option<String>,
    message: String,
}

impl Error {
    /// Of no certain place.
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error { place: None, function: None, message: message.into() }
    }

    /// Of a file as a whole.
    pub(crate) fn in_file(file: &str, message: impl Into<String>) -> Error {
        Error { message: format!("{file}: {}", message.into()), ..Error::new("") }
    }

    /// Of a function or a global.
    pub(crate) fn of(global: Value, message: impl Into<String>) -> Error {
        let kind = if global.is_function() { "function" } else { "variable" };
        let function = Some(format!("{kind} {}", global.name()));
        Error { function, ..Error::new(message) }
    }

    /// At an instruction.
    pub(crate) fn at(instruction: Value, message: impl Into<String>) -> Error {
        let function = Some(format!("function {}", instruction.function().name()));
        Error { place: instruction.place(), function, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line)) = &self.place {
            write!(f, "{file}:{line}: ")?;
        }
        if let Some(function) = &self.function {
            write!(f, "{function}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
