//! Peers in other languages: programs that are built when their toolchain is found.
//!
//! Their source is part of this binary, so it needs no checkout.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, fs, io, thread};

use anyhow::{Context, bail};
use tempfile::TempDir;

use crate::interrupt;
use crate::output::note;

/// The existing folders, for an end by [`leave`], which runs no destructors.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The status that a shell reports for a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs a handler so that Ctrl-C, or a request to terminate, removes the folders when it ends
/// this process. While a session measures, the session [ends](interrupt) by itself.
pub fn tidy_on_interrupt() -> anyhow::Result<()> {
    let interrupted = || {
        if !interrupt::signal() {
            leave(INTERRUPTED.into());
        }
        note!("interrupted: this ends after the current run; a second interrupt ends it at once");
    };
    ctrlc::set_handler(interrupted).context("cannot wait for Ctrl-C")
}

/// Ends this process, from any thread, and removes the folders: no destructors run.
pub fn leave(status: i32) -> ! {
    // The lock is kept to the end, so that no other thread makes a folder.
    let folders = folders();
    folders.iter().for_each(|folder| remove(folder));
    process::exit(status)
}

/// Removes a folder into which a tool may still be writing. A file that comes while the folder is
/// emptied keeps it, so it takes another try. A folder that cannot be removed stays, without a
/// report: the process is ending.
fn remove(folder: &Path) {
    for _ in 0..TRIES {
        match fs::remove_dir_all(folder) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(_) => thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// The tries to remove a folder, a tenth of a second in all. An estimate.
const TRIES: u32 = 50;

/// A folder with a peer's source. Dropping this value removes it.
pub struct Workshop {
    folder: TempDir,
}

impl Workshop {
    /// Makes a folder with these files, given by name and text, for a peer in this language.
    pub fn with(language: &str, sources: &[(&str, &str)]) -> anyhow::Result<Workshop> {
        let mut folders = folders();
        let folder = tempfile::Builder::new()
            .prefix(&format!("evenkeel-peer-{}-", language.to_lowercase()))
            .tempdir()
            .with_context(|| format!("cannot make a folder to build the {language} peer in"))?;
        folders.push(folder.path().to_owned());
        // Under the lock, so that an interrupt finds all of the files or no folder.
        for (name, text) in sources {
            fs::write(folder.path().join(name), text)
                .with_context(|| format!("cannot write {name} into {}", folder.path().display()))?;
        }
        Ok(Workshop { folder })
    }

    /// Returns the path of the folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a tool in the folder.
    pub fn run(
        &self,
        tool: &str,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> io::Result<Output> {
        Command::new(tool).args(arguments).current_dir(self.folder.path()).output()
    }

    /// Runs a compiler in the folder. Returns what it prints if it fails: the release of a compiler
    /// decides whether errors go to standard output or standard error.
    pub fn errors(
        &self,
        compiler: &str,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> anyhow::Result<Option<String>> {
        let Output { status, stdout, stderr } =
            self.run(compiler, arguments).with_context(|| format!("cannot start `{compiler}`"))?;
        let said = [stdout, stderr].concat();
        Ok((!status.success()).then(|| String::from_utf8_lossy(&said).into_owned()))
    }

    /// Builds a peer, which an error calls by this name.
    pub fn build(
        &self,
        peer: &str,
        compiler: &str,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> anyhow::Result<()> {
        match self.errors(compiler, arguments)? {
            None => Ok(()),
            Some(errors) => bail!("cannot build the {peer} peer:\n{errors}"),
        }
    }

    /// Returns the path of a program of this [name](program), once it is built.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(program(name))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let gone = |folder: &Path| folder == self.folder.path();
        folders().retain(|folder| !gone(folder));
    }
}

/// Returns the file name of a program.
pub fn program(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}

/// Returns the first line of a tool's output about its version; `None` if there is no such tool.
pub fn version(tool: &str, argument: &str) -> Option<String> {
    let output = Command::new(tool).arg(argument).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workshop_holds_its_sources_and_goes() {
        let workshop = Workshop::with("Text", &[("a.txt", "one"), ("b.txt", "two")]).unwrap();
        let file = workshop.folder.path().join("b.txt");
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        drop(workshop);
        assert!(!file.exists());
    }

    #[test]
    fn a_compiler_that_fails_is_quoted() {
        let workshop = Workshop::with("Text", &[]).unwrap();
        workshop.build("Text", env!("CARGO"), ["--version"]).unwrap();
        let error = workshop.build("Text", env!("CARGO"), ["no-such-command"]).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("cannot build the Text peer:\n"), "{error}");
        assert!(error.contains("no-such-command"), "{error}");
        let error = workshop.errors("evenkeel-no-such-tool", [""]).unwrap_err();
        assert_eq!(error.to_string(), "cannot start `evenkeel-no-such-tool`");
    }

    #[test]
    fn a_tool_that_is_not_there_has_no_version() {
        assert_eq!(version("evenkeel-no-such-tool", "--version"), None);
        let cargo = version(env!("CARGO"), "--version").unwrap();
        assert!(cargo.starts_with("cargo ") && !cargo.contains('\n'), "{cargo}");
    }
}
