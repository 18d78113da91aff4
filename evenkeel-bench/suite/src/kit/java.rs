//! The Java compilers of this machine.

use std::path::PathBuf;

use super::places::{PATH, Places};
use super::toolchain;

/// Folders of JDKs: those of the system, SDKMAN, asdf, mise and Homebrew.
const JDKS: [&str; 9] = [
    "$JAVA_HOME/bin",
    PATH,
    "/usr/lib/jvm/*/bin",
    "~/.sdkman/candidates/java/*/bin",
    "~/.asdf/installs/java/*/bin",
    "~/.local/share/mise/installs/java/*/bin",
    "/opt/homebrew/opt/openjdk*/bin",
    "/usr/local/opt/openjdk*/bin",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home/bin",
];

/// A compiler.
#[derive(Clone, Debug)]
pub struct Javac {
    /// Its path; `java` lies beside it.
    pub javac: PathBuf,
    /// Its version in its own words, such as `javac 17.0.15`.
    pub version: String,
    /// The first number of its version.
    pub major: u32,
}

/// Returns the first compiler of this major version or a later one, or an error with one that is
/// too old, if any.
pub fn javac(places: &Places, oldest: u32) -> Result<Javac, Option<String>> {
    let mut old = None;
    for javac in places.tools("javac", &JDKS) {
        let version = toolchain::version(&javac.to_string_lossy(), "--version");
        match version.as_deref().and_then(major) {
            Some(major) if major >= oldest => {
                return Ok(Javac { javac, version: version.unwrap_or_default(), major });
            }
            _ => old = old.or(version),
        }
    }
    Err(old)
}

/// Returns the first number of a compiler's version, such as 17 of `javac 17.0.15`.
fn major(version: &str) -> Option<u32> {
    let number = version.trim_start_matches("javac ");
    number.split(|symbol: char| !symbol.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_tells_its_version() {
        assert_eq!(major("javac 17.0.15"), Some(17));
        assert_eq!(major("javac 25"), Some(25));
        assert_eq!(major("javac 26-ea"), Some(26));
        assert_eq!(major("a compiler"), None);
    }
}
