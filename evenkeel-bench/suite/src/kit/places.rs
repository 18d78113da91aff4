//! Where installers put tools and libraries. The places are patterns, of which existing paths are
//! found.
//!
//! A pattern is a path in which `*` stands for any text; matches come with the newest first. It
//! begins with `/`, with `~` for the user's home, or with a variable such as `$JAVA_HOME`, which
//! may hold a list of paths. A pattern with an unset variable matches nothing.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::kit::toolchain::program;

/// The file system and the variables of a machine.
pub struct Places {
    root: PathBuf,
    home: Option<PathBuf>,
    variable: Variable,
}

/// Returns the value of a variable.
type Variable = Box<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

impl Places {
    /// Returns the places of this machine.
    pub fn here() -> Places {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        Places { root: "/".into(), home: env::home_dir(), variable: Box::new(variable) }
    }

    /// Returns the existing paths of these patterns, in their order.
    pub fn all(&self, patterns: &[impl AsRef<str>]) -> Vec<PathBuf> {
        patterns.iter().flat_map(|pattern| self.of(pattern.as_ref())).collect()
    }

    /// Returns the tools of this name in these folders, in their order.
    pub fn tools(&self, name: &str, folders: &[&str]) -> Vec<PathBuf> {
        let patterns = folders.iter().map(|folder| format!("{folder}/{}", program(name)));
        let mut tools = self.all(&patterns.collect::<Vec<_>>());
        tools.retain(|tool| tool.is_file());
        tools
    }

    /// Returns whether a tool is on the search path.
    pub fn has(&self, name: &str) -> bool {
        !self.tools(name, &[PATH]).is_empty()
    }

    fn of(&self, pattern: &str) -> Vec<PathBuf> {
        let mut parts = pattern.split('/');
        let start = match parts.next() {
            Some("") => vec![self.root.clone()],
            Some("~") => self.home.iter().cloned().collect(),
            Some(name) => {
                let value = name.strip_prefix('$').and_then(&self.variable);
                value.iter().flat_map(env::split_paths).collect()
            }
            None => Vec::new(),
        };
        parts.fold(start, |found, part| found.iter().flat_map(|at| within(at, part)).collect())
    }

    /// Returns the places below one folder, into which the variables point as well: for tests.
    pub fn below(root: &Path, variables: &[(&'static str, &str)]) -> Places {
        let value = |&(name, folder): &(&'static str, &str)| (name, root.join(folder));
        let known: Vec<_> = variables.iter().map(value).collect();
        let variable = move |name: &str| {
            known.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into())
        };
        let home = Some(root.join("home"));
        Places { root: root.to_owned(), home, variable: Box::new(variable) }
    }
}

/// The search path, as a pattern.
pub const PATH: &str = "$PATH";

/// Returns the entries of a folder that match a name, the newest first.
fn within(folder: &Path, name: &str) -> Vec<PathBuf> {
    let Some((before, after)) = name.split_once('*') else {
        let path = folder.join(name);
        return if path.exists() { vec![path] } else { Vec::new() };
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_meant = |name: &String| {
        name.len() >= before.len() + after.len()
            && name.starts_with(before)
            && name.ends_with(after)
    };
    let mut names: Vec<String> = names.filter(is_meant).collect();
    names.sort_by_cached_key(|name| Reverse((numbers(name), name.clone())));
    names.iter().map(|name| folder.join(name)).collect()
}

/// Returns the numbers in a name: of two versions, the one with the larger numbers is newer.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::kit::fake::tree;

    /// Returns the paths found among these files, by their names.
    pub(crate) fn found(files: &[&str], patterns: &[impl AsRef<str>]) -> Vec<String> {
        let root = tree(files);
        let found = Places::below(root.path(), &[("CACHE", "cache")]).all(patterns);
        let name = |path: PathBuf| path.strip_prefix(root.path()).unwrap().display().to_string();
        found.into_iter().map(name).collect()
    }

    #[test]
    fn places_are_looked_at_in_their_order_and_the_newest_comes_first() {
        let files = ["usr/lib/jvm/9/bin/java", "usr/lib/jvm/17/bin/java", "home/jdk/java"];
        let seen = found(&files, &["~/jdk/java", "/usr/lib/jvm/*/bin/java", "/nowhere/*"]);
        assert_eq!(seen, [files[2], files[1], files[0]]);
        let jars = ["m/a-1.9.jar", "m/a-1.10.jar", "m/a-1.10.pom", "m/b-2.jar"];
        assert_eq!(found(&jars, &["/m/a-*.jar"]), [jars[1], jars[0]]);
        assert_eq!(found(&["cache/a", "b"], &["$UNSET/b", "$CACHE/a", "b"]), ["cache/a"]);
    }

    #[test]
    fn a_tool_is_a_file_and_a_path_is_a_list() {
        let root = tree(&["a/tool", "b/tool", "c/tool/file"]);
        let tools = Places::below(root.path(), &[]).tools("tool", &["$PATH", "/b", "/c", "/a"]);
        assert_eq!(tools, ["b/tool", "a/tool"].map(|tool| root.path().join(tool)));
        let cargo = Path::new(env!("CARGO")).file_stem().unwrap().to_str().unwrap();
        assert!(Places::here().has(cargo), "{cargo}, which runs this test, is on the search path");
        assert!(!Places::here().has("evenkeel-no-such-tool"));
    }
}
