#!/usr/bin/env python3
"""Makes `two-way.jsonl` and `two-way.expected.json`.

The first has random runs of a two-factor design with replications. The second has what statsmodels
and scipy say about them: the figures that `evenkeel-bench analyse` is compared with.

    pip install numpy pandas scipy statsmodels && python3 two_way.py

The versions that made the stored figures are under `made_with` in the expected file.
"""

import json
import pathlib

import numpy
import pandas
import scipy
import statsmodels
import statsmodels.formula.api as formula
from scipy import stats
from statsmodels.stats.anova import anova_lm

HERE = pathlib.Path(__file__).parent
ROWS = ["fib", "nqueens", "matmul", "heat", "cilksort", "uts", "skynet"]
COLUMNS = ["evenkeel", "rayon", "chili", "forte", "onetbb"]
REPLICATIONS = 6
CONFIDENCE = 0.90


def runs():
    """Times whose factors multiply, with some interaction; the logarithm's errors are normal."""
    random = numpy.random.default_rng(20260901)
    rows = random.normal(-1.5, 0.4, len(ROWS))
    columns = random.normal(0.0, 0.15, len(COLUMNS))
    cells = random.normal(0.0, 0.05, (len(ROWS), len(COLUMNS)))
    for i, bench in enumerate(ROWS):
        for j, runtime in enumerate(COLUMNS):
            errors = random.normal(0.0, 0.03, REPLICATIONS)
            yield bench, runtime, [float(10 ** (rows[i] + columns[j] + cells[i, j] + e)) for e in errors]


def expected(table):
    """One model: analysis of variance, effects with intervals, contrasts, the residuals' plot."""
    a, b, r = len(ROWS), len(COLUMNS), REPLICATIONS
    fit = formula.ols("y ~ C(bench, Sum) * C(runtime, Sum)", data=table).fit()
    variance = anova_lm(fit, typ=1)
    names = ["C(bench, Sum)", "C(runtime, Sum)", "C(bench, Sum):C(runtime, Sum)", "Residual"]
    components = []
    for name in names:
        line = variance.loc[name]
        component = {"ss": line["sum_sq"], "df": line["df"], "ms": line["sum_sq"] / line["df"]}
        if name != "Residual":
            component["f"] = line["F"]
            component["p"] = line["PR(>F)"]
            component["f_table"] = stats.f.ppf(CONFIDENCE, line["df"], fit.df_resid)
        components.append(component)

    # Effects as combinations of the parameters: the last level of each factor is minus the sum of
    # the others.
    def code(index, levels):
        vector = numpy.zeros(levels - 1)
        if index is None:
            return vector
        if index == levels - 1:
            return vector - 1.0
        vector[index] = 1.0
        return vector

    def design(row, column):
        """The parameters' weights for an effect: of a row, of a column, or of both together."""
        rows, columns = code(row, a), code(column, b)
        if row is not None and column is not None:
            crossed = [rows[i] * columns[j] for j in range(b - 1) for i in range(a - 1)]
            return numpy.concatenate([[0.0], numpy.zeros(a - 1), numpy.zeros(b - 1), crossed])
        both = numpy.zeros((a - 1) * (b - 1))
        return numpy.concatenate([[1.0 if row is None and column is None else 0.0], rows, columns, both])

    order = [f"C(bench, Sum)[S.{name}]" for name in sorted(ROWS)[:-1]]
    assert list(fit.params.index[1:a]) == order, fit.params.index

    def interval(weights):
        test = fit.t_test(weights)
        low, high = test.conf_int(alpha=1.0 - CONFIDENCE)[0]
        return {"value": float(test.effect[0]), "low": float(low), "high": float(high)}

    rows, columns = sorted(ROWS), sorted(COLUMNS)
    effects = {
        "mean": interval(design(None, None)),
        "rows": {name: interval(design(i, None)) for i, name in enumerate(rows)},
        "columns": {name: interval(design(None, j)) for j, name in enumerate(columns)},
        "interactions": {
            row: {column: interval(design(i, j)) for j, column in enumerate(columns)} for i, row in enumerate(rows)
        },
    }
    first = columns.index("evenkeel")
    contrasts = {}
    for column in columns:
        if column == "evenkeel":
            continue
        other = columns.index(column)
        overall = design(None, first) - design(None, other)
        contrasts[column] = {
            "overall": interval(overall),
            "rows": {
                row: interval(overall + design(i, first) - design(i, other)) for i, row in enumerate(rows)
            },
        }
    residuals = fit.resid.to_numpy()
    ranks = numpy.arange(1, len(residuals) + 1)
    scores = stats.norm.ppf((ranks - 0.375) / (len(residuals) + 0.25))
    return {
        "variance": components,
        "ss_y": float((table["y"] ** 2).sum()),
        "ss_mean": float(len(table) * table["y"].mean() ** 2),
        "effects": effects,
        "contrasts": contrasts,
        "normal": float(numpy.corrcoef(numpy.sort(residuals), scores)[0, 1]),
        "spread": float(stats.spearmanr(fit.fittedvalues.round(12), numpy.abs(residuals))[0]),
    }


def main():
    lines, rows = [], []
    for bench, runtime, seconds in runs():
        lines.append(json.dumps({"runtime": runtime, "bench": bench, "n": 10, "workers": 2, "seconds": seconds}))
        rows += [{"bench": bench, "runtime": runtime, "seconds": s} for s in seconds]
    (HERE / "two-way.jsonl").write_text("\n".join(lines) + "\n")
    table = pandas.DataFrame(rows)
    models = {
        "additive": expected(table.assign(y=table["seconds"])),
        "multiplicative": expected(table.assign(y=numpy.log10(table["seconds"]))),
        "made_with": {
            package.__name__: package.__version__ for package in (numpy, pandas, scipy, statsmodels)
        },
    }
    (HERE / "two-way.expected.json").write_text(json.dumps(models, indent=1) + "\n")


main()
