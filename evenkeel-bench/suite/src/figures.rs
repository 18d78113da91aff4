//! The name of the subject, and the places of runtimes in an analysis.

/// The runtimes with a fixed place; others follow in the order of their runs.
///
/// A runtime keeps its colour and marker in every analysis, whatever else was measured. On the
/// pages of the suite a peer has those of its family, [`slot`](crate::peer::Known::slot). There are
/// fewer colours than runtimes: those with the same one, eight places apart, are not in the same
/// experiments.
const RUNTIMES: [&str; 15] = [
    "evenkeel",
    "tokio-hand",
    "tokio-native",
    "go-hand",
    "go-native",
    "evenkeel-worker",
    "rayon",
    "chili",
    "serial",
    "forte",
    "onetbb",
    "openmp",
    "serial-cpp",
    "rayon+tokio",
    "tokio-one",
];

/// The runtime that this suite is about: every other one is a peer.
pub const SUBJECT: &str = RUNTIMES[0];

/// How many colours, and markers, there are to tell runtimes apart.
pub const SLOTS: usize = 8;

/// The names of runtimes in their order, and the colour and marker of each.
///
/// If there are strangers among them, each runtime has the colour of its place among those
/// measured.
pub fn places_of_runtimes(names: &[&str]) -> (Vec<String>, Vec<usize>) {
    let (names, slots) = places(names, &RUNTIMES);
    match slots.iter().all(|slot| *slot < RUNTIMES.len()) {
        true => (names, slots),
        false => (0..names.len()).map(|slot| (names[slot].clone(), slot)).unzip(),
    }
}

/// Sorts `names` after the `known` ones, strangers last, and tells each one's place among all.
fn places(names: &[&str], known: &[&str]) -> (Vec<String>, Vec<usize>) {
    let strangers = names.iter().filter(|name| !known.contains(name));
    let all = known.iter().chain(strangers).enumerate();
    all.filter(|(_, name)| names.contains(name))
        .map(|(place, name)| (name.to_string(), place))
        .unzip()
}
