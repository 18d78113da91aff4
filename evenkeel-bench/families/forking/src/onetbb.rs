//! Where oneTBB lies. Its installers put it where compilers do not look by default.

use std::path::{Path, PathBuf};
use std::process::Command;

use suite::kit::places::Places;

const LIBRARY: &str = "-ltbb";

/// Where the user says it is.
const SAID: [&str; 1] = ["$TBBROOT"];

/// Where Intel's installer (for all users or for one), conda, Homebrew, and `make install` put it.
const USUAL: [&str; 9] = [
    "$ONEAPI_ROOT/tbb/latest",
    "/opt/intel/oneapi/tbb/latest",
    "~/intel/oneapi/tbb/latest",
    "$CONDA_PREFIX",
    "$HOMEBREW_PREFIX/opt/tbb",
    "/opt/homebrew/opt/tbb",
    "/home/linuxbrew/.linuxbrew/opt/tbb",
    "/usr/local/opt/tbb",
    "/usr/local",
];

/// The flags of compiler and linker that use it: one list for each place where it may lie, and one
/// for the compiler's own places. The user's place comes first.
pub(super) fn flags() -> Vec<Vec<String>> {
    let places = Places::here();
    let mut all: Vec<Vec<String>> = within_any(&places, &SAID);
    all.push(vec![LIBRARY.to_owned()]);
    all.extend(pkg_config());
    all.extend(within_any(&places, &USUAL));
    all
}

/// The flags for each of these places that has the library.
fn within_any(places: &Places, patterns: &[&str]) -> Vec<Vec<String>> {
    places.all(patterns).iter().filter_map(|place| within(place)).collect()
}

/// The flags for a folder that holds the library; `None` if the folder does not.
fn within(place: &Path) -> Option<Vec<String>> {
    let include = place.join("include");
    let libraries = ["lib/intel64/gcc4.8", "lib64", "lib"].map(|name| place.join(name));
    let holds = |folder: &&PathBuf| {
        ["libtbb.so", "libtbb.dylib"].iter().any(|name| folder.join(name).is_file())
    };
    let library = libraries.iter().find(holds)?;
    let headers = include.join("oneapi/tbb/task_arena.h");
    headers.is_file().then(|| {
        let (include, library) = (include.display(), library.display());
        let said = [format!("-I{include}"), format!("-L{library}"), LIBRARY.to_owned()];
        with_paths(said.into_iter())
    })
}

/// The flags from pkg-config, if it knows the library.
fn pkg_config() -> Option<Vec<String>> {
    let output = Command::new("pkg-config").args(["--cflags", "--libs", "tbb"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| with_paths(text.split_whitespace().map(str::to_owned)))
}

/// The same flags, and for each folder of libraries one that finds it when the program runs.
fn with_paths(flags: impl Iterator<Item = String>) -> Vec<String> {
    let mut flags: Vec<String> = flags.collect();
    let folders = flags.iter().filter_map(|flag| flag.strip_prefix("-L"));
    let paths: Vec<String> = folders.map(|folder| format!("-Wl,-rpath,{folder}")).collect();
    flags.extend(paths);
    flags
}

#[cfg(test)]
mod tests {
    use suite::kit::fake::tree;

    use super::*;

    /// A machine with oneTBB in these folders, each with its library in a subfolder of that name.
    fn machine(places: &[(&str, &str)]) -> tempfile::TempDir {
        let files = places.iter().flat_map(|(place, library)| {
            let (header, file) = ("include/oneapi/tbb/task_arena.h", "libtbb.so");
            [format!("{place}/{header}"), format!("{place}/{library}/{file}")]
        });
        let files: Vec<String> = files.collect();
        tree(&files.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The flags found below a root, those of the user's place first.
    fn found(root: &Path, variables: &[(&'static str, &str)]) -> Vec<Vec<String>> {
        let places = Places::below(root, variables);
        [within_any(&places, &SAID), within_any(&places, &USUAL)].concat()
    }

    #[test]
    fn it_is_found_wherever_an_installer_puts_it() {
        for (place, library) in [
            ("opt/intel/oneapi/tbb/latest", "lib/intel64/gcc4.8"),
            ("opt/intel/oneapi/tbb/latest", "lib"),
            ("opt/homebrew/opt/tbb", "lib"),
            ("home/linuxbrew/.linuxbrew/opt/tbb", "lib"),
            ("usr/local/opt/tbb", "lib"),
            ("usr/local", "lib64"),
        ] {
            assert_eq!(found(machine(&[]).path(), &[]), Vec::<Vec<String>>::new());
            let root = machine(&[(place, library)]);
            let place = root.path().join(place);
            let (place, library) = (place.display(), place.join(library));
            let library = library.display();
            let due = [
                format!("-I{place}/include"),
                format!("-L{library}"),
                "-ltbb".to_owned(),
                format!("-Wl,-rpath,{library}"),
            ];
            assert_eq!(found(root.path(), &[]), [due]);
        }
    }

    #[test]
    fn it_is_found_where_a_variable_says_and_that_of_the_user_comes_first() {
        let root = machine(&[
            ("own", "lib"),
            ("conda", "lib"),
            ("intel/tbb/latest", "lib"),
            ("home/intel/oneapi/tbb/latest", "lib"),
        ]);
        let variables = [("CONDA_PREFIX", "conda"), ("TBBROOT", "own"), ("ONEAPI_ROOT", "intel")];
        let found = found(root.path(), &variables);
        let first: Vec<&str> = found.iter().map(|flags| flags[0].as_str()).collect();
        let include = |place: &str| format!("-I{}/include", root.path().join(place).display());
        let due = ["own", "intel/tbb/latest", "home/intel/oneapi/tbb/latest", "conda"];
        let due = due.map(include);
        assert_eq!(first, due);
    }

    #[test]
    fn a_folder_that_lacks_headers_or_library_is_passed_over() {
        for file in ["usr/local/include/oneapi/tbb/task_arena.h", "usr/local/lib/libtbb.so"] {
            let root = tree(&[file]);
            assert_eq!(found(root.path(), &[]), Vec::<Vec<String>>::new(), "{file}");
        }
    }
}
