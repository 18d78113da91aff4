//! Finds the one line that installs what a peer lacks, for this machine's package manager.

use crate::kit::places::Places;

/// The name of one package at each package manager.
pub struct Package {
    /// For Debian and Ubuntu.
    pub apt: &'static str,
    /// For Fedora.
    pub dnf: &'static str,
    /// For Homebrew.
    pub brew: &'static str,
    /// The advice where none of these package managers is found.
    pub otherwise: &'static str,
}

impl Package {
    /// Returns the line.
    pub fn line(&self) -> String {
        self.line_on(&Places::here())
    }

    /// Returns the line for this machine.
    pub fn line_on(&self, places: &Places) -> String {
        let managers = [("apt-get", self.apt), ("dnf", self.dnf), ("brew", self.brew)];
        match managers.into_iter().find(|(tool, _)| places.has(tool)) {
            Some((tool, package)) => format!("{tool} install {package}"),
            None => self.otherwise.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::kit::toolchain::program;

    #[test]
    fn the_line_is_that_of_the_package_manager_that_is_there() {
        let package = Package { apt: "g++", dnf: "gcc-c++", brew: "gcc", otherwise: "install g++" };
        let folder = tempfile::tempdir().unwrap();
        let line = || package.line_on(&Places::below(folder.path(), &[("PATH", "")]));
        assert_eq!(line(), "install g++");
        // If several are found, the first is the system's own.
        for (tool, due) in [
            ("brew", "brew install gcc"),
            ("dnf", "dnf install gcc-c++"),
            ("apt-get", "apt-get install g++"),
        ] {
            fs::write(folder.path().join(program(tool)), "").unwrap();
            assert_eq!(line(), due);
        }
    }
}
