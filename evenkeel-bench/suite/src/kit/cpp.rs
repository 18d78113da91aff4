//! The C++ compiler.

use std::env;
use std::process::Command;

use super::toolchain::{self, Workshop};

/// Returns the compiler's command.
pub fn compiler() -> String {
    env::var("CXX").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "g++".to_owned())
}

/// Returns the compiler's version, if there is one.
pub fn version() -> Option<String> {
    toolchain::version(&compiler(), "--version")
}

/// Returns the error of the compiler for the program `trial`, or of that program when it runs;
/// `None` if it succeeds.
pub fn refusal(workshop: &Workshop, errors: Option<String>) -> Option<String> {
    let errors = match errors {
        Some(errors) => errors,
        None => match Command::new(workshop.path("trial")).output() {
            Ok(output) if output.status.success() => return None,
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        },
    };
    Some(first_error(&errors).to_owned())
}

/// Finds the line of a compiler's or a linker's output that names the error.
fn first_error(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let says = |line: &&str| line.contains("error") || line.contains("cannot");
    lines.clone().find(says).or(lines.next()).unwrap_or("its trial program fails without a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_words_the_error_is_quoted() {
        let text =
            "In file included from main.cpp:1:\nmain.cpp:3:10: fatal error: a.h: No such file\n";
        assert_eq!(first_error(text), "main.cpp:3:10: fatal error: a.h: No such file");
        assert_eq!(first_error("\nkilled\n"), "killed");
        assert_eq!(first_error(""), "its trial program fails without a word");
    }
}
