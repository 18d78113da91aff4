//! The cells of a design: every row on every column, each measured equally often.

use super::error::Error;
use super::fields::REGIME;
use super::response::Response;
use suite::words;

/// A factor and its levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Factor {
    /// The fields that tell the levels apart.
    pub(crate) fields: Vec<String>,
    pub(crate) levels: Vec<String>,
}

impl Factor {
    /// Returns the fields in words.
    pub(crate) fn name(&self) -> String {
        if self.fields.is_empty() { "row".to_owned() } else { self.fields.join(", ") }
    }
}

/// Replications of one cell, possibly only some of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Observation {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) values: Vec<f64>,
}

/// Replications by row and column.
pub(crate) type Cells = Vec<Vec<Vec<f64>>>;

/// A full factorial design. All cells hold the same number of replications, at least two, and not
/// all replications are equal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Design {
    /// Factor A.
    pub(crate) rows: Factor,
    /// Factor B.
    pub(crate) columns: Factor,
    pub(crate) response: Response,
    pub(crate) replications: usize,
    pub(crate) cells: Cells,
    /// The colour and marker of each column.
    pub(crate) slots: Vec<usize>,
    /// Settings with the same value in all runs.
    pub(crate) everywhere: Vec<String>,
    /// Remarks for the reader, one sentence each.
    pub(crate) remarks: Vec<String>,
}

impl Design {
    /// Makes a design of observations.
    pub(super) fn of(
        rows: Factor,
        columns: Factor,
        response: Response,
        observations: &[Observation],
        without_serial: bool,
    ) -> Result<Self, Error> {
        if let [level] = &columns.levels[..] {
            let (field, level) = (columns.name(), level.clone());
            return Err(Error::OneColumn { field, level, serial: without_serial });
        }
        if let [level] = &rows.levels[..] {
            return Err(Error::OneRow { level: level.clone() });
        }
        let mut cells = vec![vec![Vec::new(); columns.levels.len()]; rows.levels.len()];
        for Observation { row, column, values } in observations {
            cells[*row][*column].extend_from_slice(values);
        }
        let replications = balance(&rows, &columns, &cells)?;
        let further: usize = cells.iter().flatten().map(|cell| cell.len() - replications).sum();
        cells.iter_mut().flatten().for_each(|cell| cell.truncate(replications));
        if all_equal(&cells) {
            return Err(Error::ZeroVariance);
        }
        let slots = (0..columns.levels.len()).collect();
        let remark = || {
            let left_out = words::count(further, "replication");
            format!("{left_out} left out, so that each cell has {replications}.")
        };
        let (everywhere, remarks) = (Vec::new(), (further > 0).then(remark).into_iter().collect());
        Ok(Self { rows, columns, response, replications, cells, slots, everywhere, remarks })
    }

    /// Returns the number of all observations.
    pub(crate) fn observations(&self) -> usize {
        self.rows.levels.len() * self.columns.levels.len() * self.replications
    }

    /// Returns the name of a cell, such as `fib, n 10 on rayon`.
    pub(crate) fn name(&self, row: usize, column: usize) -> String {
        name(&self.rows, &self.columns, row, column)
    }
}

fn name(rows: &Factor, columns: &Factor, row: usize, column: usize) -> String {
    format!("{} on {}", rows.levels[row], columns.levels[column])
}

/// Returns the number of replications that every cell has. Some cells may have more: not all cells
/// lose equally many runs that do not count, and the suite repeats those. A cell with fewer than
/// half the replications of another cell is a fault of the data.
fn balance(rows: &Factor, columns: &Factor, cells: &Cells) -> Result<usize, Error> {
    let most = cells.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let least = cells.iter().flatten().map(Vec::len).min().unwrap_or(0);
    if least >= 2 && 2 * least >= most {
        return Ok(least);
    }
    if most == least {
        return Err(Error::OneReplication { hint: hint(rows) });
    }
    let needed = most.div_ceil(2).max(2);
    let mut fewer = Vec::new();
    for (row, line) in cells.iter().enumerate() {
        for (column, cell) in line.iter().enumerate().filter(|(_, cell)| cell.len() < needed) {
            fewer.push(format!("{} has {}", name(rows, columns, row, column), cell.len()));
        }
    }
    let way = whole(columns, cells, needed);
    Err(Error::Unbalanced { most, cells: fewer, way, hint: hint(rows) })
}

/// Returns the condition that leaves out all columns without enough replications, or a placeholder
/// if fewer than two others remain.
fn whole(columns: &Factor, cells: &Cells, needed: usize) -> String {
    let lacks = |column: &usize| cells.iter().any(|line| line[*column].len() < needed);
    let lacking: Vec<&str> =
        (0..columns.levels.len()).filter(lacks).map(|column| &*columns.levels[column]).collect();
    match columns.levels.len() - lacking.len() {
        ..2 => "--where bench!=...".to_owned(),
        _ => format!("--where '{}!={}'", columns.name(), lacking.join(",")),
    }
}

/// Returns a hint: cells may lack replications because the regime, or a result, was taken for a
/// setting.
fn hint(rows: &Factor) -> String {
    if rows.fields.iter().any(|field| field == REGIME) {
        return "; runs with nearer and with farther cores are rows of their own: take those of one \
                distance by --where regime=..., or to count that as chance, --pool regime"
            .to_owned();
    }
    format!(
        "; rows are told apart by {}: if one of these should count as chance, --pool it",
        rows.name(),
    )
}

/// Returns whether the replications of each cell are all equal.
pub(super) fn all_equal(cells: &Cells) -> bool {
    let equal = |cell: &Vec<f64>| cell.iter().all(|value| *value == cell[0]);
    cells.iter().flatten().all(equal)
}

#[cfg(test)]
impl Design {
    /// An invented design of two programs on three runtimes.
    pub(crate) fn example() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let rows = Factor { fields: names(&["bench"]), levels: names(&["fib", "heat"]) };
        let levels = names(&["evenkeel", "rayon", "chili"]);
        let columns = Factor { fields: names(&["runtime"]), levels };
        let response =
            Response { field: "seconds".to_owned(), unit: "ms".to_owned(), better: None };
        let cell = |row: usize, column: usize| {
            let middle = (1 + row) as f64 * (2 + column) as f64;
            Observation { row, column, values: vec![middle * 0.99, middle, middle * 1.02] }
        };
        let cells: Vec<_> = (0..2).flat_map(|i| (0..3).map(move |j| cell(i, j))).collect();
        Self::of(rows, columns, response, &cells, false).expect("it is balanced")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(name: &str, levels: &[&str]) -> Factor {
        let levels = levels.iter().map(|level| level.to_string()).collect();
        Factor { fields: vec![name.to_owned()], levels }
    }

    /// A design of two benchmarks on two runtimes with these replications.
    fn design(cells: [[&[f64]; 2]; 2]) -> Result<Design, Error> {
        let mut observations = Vec::new();
        for (row, line) in cells.iter().enumerate() {
            for (column, values) in line.iter().enumerate() {
                observations.push(Observation { row, column, values: values.to_vec() });
            }
        }
        let rows = factor("bench", &["fib", "heat"]);
        let columns = factor("runtime", &["evenkeel", "rayon"]);
        let response = Response { field: "seconds".to_owned(), unit: "s".to_owned(), better: None };
        Design::of(rows, columns, response, &observations, false)
    }

    #[test]
    fn cells_with_fewer_replications_are_named() {
        let error = design([[&[1.0, 2.0], &[1.0]], [&[], &[1.0, 2.0]]]).unwrap_err().to_string();
        let cells = "; one has 2, and fib on rayon has 1; heat on evenkeel has 0; measure them";
        assert!(error.contains(cells), "{error}");
        assert!(error.contains("told apart by bench: if one of these"), "{error}");
        // A cell with fewer replications than another, but at least half of them, is not listed.
        let cells: [[&[f64]; 2]; 2] = [[&[1.0; 6], &[1.0; 5]], [&[1.0; 3], &[1.0; 2]]];
        let error = design(cells).unwrap_err().to_string();
        assert!(error.contains("; one has 6, and heat on rayon has 2; measure them"), "{error}");
        assert!(error.contains("such as by --where bench!=...;"), "{error}");
    }

    #[test]
    fn columns_that_lack_replications_are_left_out_by_a_condition_that_is_named() {
        let columns = factor("runtime", &["evenkeel", "rayon", "chili", "go"]);
        let cells = |lacking: &[usize]| -> Cells {
            let runs = |row, column| if row == 0 && lacking.contains(&column) { 1 } else { 3 };
            (0..2).map(|row| (0..4).map(|column| vec![1.0; runs(row, column)]).collect()).collect()
        };
        assert_eq!(whole(&columns, &cells(&[1, 3]), 2), "--where 'runtime!=rayon,go'");
        assert_eq!(whole(&columns, &cells(&[0, 1, 3]), 2), "--where bench!=...");
    }

    #[test]
    fn cells_with_further_replications_are_cut_to_the_same_number() {
        let cells: [[&[f64]; 2]; 2] = [[&[1.0, 2.0, 9.0], &[1.0, 3.0]], [&[4.0, 5.0], &[1.0, 2.0]]];
        let design = design(cells).unwrap();
        assert_eq!((design.replications, &design.cells[0][0][..]), (2, &[1.0, 2.0][..]));
        assert_eq!(design.remarks, ["1 replication left out, so that each cell has 2."]);
    }

    #[test]
    fn one_replication_is_refused() {
        let error = design([[&[1.0], &[2.0]], [&[3.0], &[4.0]]]).unwrap_err().to_string();
        assert!(error.starts_with("one replication only") && error.contains("--reps"), "{error}");
    }

    #[test]
    fn replications_without_any_error_are_refused() {
        let error =
            design([[&[0.1; 3], &[0.2; 3]], [&[0.3; 3], &[0.4; 3]]]).unwrap_err().to_string();
        assert!(error.contains("F is undefined"), "{error}");
        assert!(design([[&[0.1, 0.2], &[0.2; 2]], [&[0.3; 2], &[0.4; 2]]]).is_ok());
    }

    #[test]
    fn a_factor_with_one_level_is_refused() {
        let response = Response { field: "seconds".to_owned(), unit: String::new(), better: None };
        let (one, two) = (factor("x", &["only"]), factor("y", &["a", "b"]));
        let error = Design::of(one.clone(), two.clone(), response.clone(), &[], false);
        assert!(error.unwrap_err().to_string().contains("only one row (`only`)"));
        let error = Design::of(two, one, response, &[], true).unwrap_err().to_string();
        assert!(error.contains("only one x (`only`)") && error.contains("serial runs"), "{error}");
    }
}
