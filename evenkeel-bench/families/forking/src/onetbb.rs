//! Where oneTBB lies. Its installers put it where compilers do not look by themselves.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a compiler and a linker are told to use it: one list for each place where it may lie, and
/// for the compiler's own. What the user says comes first.
pub(super) fn flags() -> Vec<Vec<String>> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let Places { said, usual } = Places::below(Path::new("/"), variable);
    let mut all: Vec<Vec<String>> = said.iter().filter_map(|place| within(place)).collect();
    all.push(vec![LIBRARY.to_owned()]);
    all.extend(pkg_config());
    all.extend(usual.iter().filter_map(|place| within(place)));
    all
}

const LIBRARY: &str = "-ltbb";

/// Folders that may hold its headers and its library.
struct Places {
    /// Those that the user has named.
    said: Vec<PathBuf>,
    /// Those of the usual installers.
    usual: Vec<PathBuf>,
}

impl Places {
    /// Those of a machine whose files begin at `root`.
    fn below(root: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        // Intel's installer, for all users or for one.
        let oneapi = [
            variable("ONEAPI_ROOT"),
            Some(root.join("opt/intel/oneapi")),
            variable("HOME").map(|home| home.join("intel/oneapi")),
        ];
        let oneapi = oneapi.into_iter().flatten().map(|place| place.join("tbb/latest"));
        let brew = [
            variable("HOMEBREW_PREFIX"),
            Some(root.join("opt/homebrew")),
            Some(root.join("home/linuxbrew/.linuxbrew")),
            Some(root.join("usr/local")),
        ];
        let brew = brew.into_iter().flatten().map(|place| place.join("opt/tbb"));
        let mut usual: Vec<PathBuf> = oneapi.collect();
        usual.extend(variable("CONDA_PREFIX"));
        usual.extend(brew);
        usual.push(root.join("usr/local"));
        Self { said: variable("TBBROOT").into_iter().collect(), usual }
    }
}

/// The flags for a folder that holds it; `None` if it does not.
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

/// What pkg-config says of it, if it knows it.
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
    use std::fs;

    use super::*;

    /// Puts it below `place`, with its library in a folder of this name.
    fn put(place: &Path, library: &str) {
        for file in ["include/oneapi/tbb/task_arena.h", &format!("{library}/libtbb.so")] {
            let file = place.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
    }

    /// What is found below a root, by the paths that the flags name.
    fn found(root: &Path, variables: &[(&str, &Path)]) -> Vec<Vec<String>> {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name);
        let variable = |name: &str| value(name).map(|(_, path)| path.to_path_buf());
        let Places { said, usual } = Places::below(root, variable);
        said.iter().chain(&usual).filter_map(|place| within(place)).collect()
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
            let root = tempfile::tempdir().unwrap();
            assert_eq!(found(root.path(), &[]), Vec::<Vec<String>>::new());
            let place = root.path().join(place);
            put(&place, library);
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
        let root = tempfile::tempdir().unwrap();
        let of = |name: &str| root.path().join(name);
        let (own, conda, oneapi, home) = (of("own"), of("conda"), of("intel"), of("home"));
        put(&own, "lib");
        put(&conda, "lib");
        put(&oneapi.join("tbb/latest"), "lib");
        put(&home.join("intel/oneapi/tbb/latest"), "lib");
        let found = found(
            root.path(),
            &[
                ("CONDA_PREFIX", &conda),
                ("TBBROOT", &own),
                ("ONEAPI_ROOT", &oneapi),
                ("HOME", &home),
            ],
        );
        let first: Vec<&str> = found.iter().map(|flags| flags[0].as_str()).collect();
        let include = |place: PathBuf| format!("-I{}/include", place.display());
        let due = [
            include(own),
            include(oneapi.join("tbb/latest")),
            include(home.join("intel/oneapi/tbb/latest")),
            include(conda),
        ];
        assert_eq!(first, due);
    }

    #[test]
    fn a_folder_that_lacks_headers_or_library_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("usr/local");
        put(&place, "lib");
        fs::remove_file(place.join("include/oneapi/tbb/task_arena.h")).unwrap();
        assert_eq!(within(&place), None);
        put(&place, "lib");
        fs::remove_file(place.join("lib/libtbb.so")).unwrap();
        assert_eq!(within(&place), None);
    }
}
