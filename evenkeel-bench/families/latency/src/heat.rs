//! How often each delay occurred when: columns are parts of the run, rows powers of two.

use serde_json::{Value, json};

use crate::delays::Sent;
use suite::picture;

/// Columns of a run.
pub(crate) const COLUMNS: u32 = 40;

/// The row of tasks that never ran.
pub(crate) const NEVER: u32 = 63;

/// Column, row and number of tasks. Row `r` has delays of 2^r to 2^(r+1) nanoseconds.
pub(crate) type Cell = (u32, u32, u32);

/// The end of the name of a record's field with its cells.
pub(crate) const HEAT: &str = "_heat";

/// Returns cells as a record holds them.
pub(crate) fn list(cells: &[Cell]) -> Value {
    cells.iter().map(|(column, row, count)| json!([column, row, count])).collect()
}

/// Returns the cells of records together, as a picture has them.
pub(crate) fn together<'a>(lists: impl Iterator<Item = &'a Value>) -> Vec<picture::Cell> {
    let mut sums = std::collections::BTreeMap::new();
    for cell in lists.filter_map(Value::as_array).flatten() {
        let part = |place: usize| cell.get(place).and_then(Value::as_u64);
        if let (Some(column), Some(row), Some(count)) = (part(0), part(1), part(2)) {
            *sums.entry((column as u32, row as u32)).or_insert(0) += count;
        }
    }
    let cell = |((column, row), count)| {
        let power = (row != NEVER).then_some(row);
        picture::Cell { column, power, count }
    };
    sums.into_iter().map(cell).collect()
}

/// The numbers of tasks, by column and row.
pub(crate) struct Heat(Vec<[u32; NEVER as usize + 1]>);

impl Heat {
    /// Counts the tasks of a run that took `time` nanoseconds.
    pub(crate) fn of(sent: &[Sent], time: u64) -> Self {
        let mut cells = vec![[0; NEVER as usize + 1]; COLUMNS as usize];
        for (at, delay) in sent {
            let column = (u128::from(*at) * u128::from(COLUMNS) / u128::from(time.max(1))) as u32;
            let row = delay.map_or(NEVER, |delay| delay.max(1).ilog2().min(NEVER - 1));
            cells[column.min(COLUMNS - 1) as usize][row as usize] += 1;
        }
        Self(cells)
    }

    /// Returns the cells with tasks.
    pub(crate) fn cells(&self) -> Vec<Cell> {
        let cells = self.0.iter().enumerate().flat_map(|(column, rows)| {
            let rows = rows.iter().enumerate();
            rows.map(move |(row, &count)| (column as u32, row as u32, count))
        });
        cells.filter(|(.., count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_by_the_time_of_their_send_and_the_power_of_two_of_their_delay() {
        let sent = [(0, Some(1)), (0, Some(1_023)), (0, Some(1_024)), (399, None), (900, Some(0))];
        let cells = Heat::of(&sent, 400).cells();
        assert_eq!(cells, [(0, 0, 1), (0, 9, 1), (0, 10, 1), (39, 0, 1), (39, NEVER, 1)]);
    }

    #[test]
    fn the_cells_of_records_are_added_up() {
        let lists = [list(&[(0, 9, 1), (3, NEVER, 2)]), list(&[(0, 9, 4)])];
        let cell = |column, power, count| picture::Cell { column, power, count };
        assert_eq!(together(lists.iter()), [cell(0, Some(9), 5), cell(3, None, 2)]);
    }
}
