"""Studies: many variants of a model in one table."""
import json
import os
import sys
from ctypes import byref, c_int, c_void_p, pointer

import numpy as np

from ._library import (bg_study_options, call, call_aside, lib, make_json, need_ending,
                       need_number, need_path, progress_function, take_text)


class Handles:
    """A study that was read, and its table, in the library."""

    def __init__(self, source, timing):
        self.study, self.table = c_void_p(), c_void_p()
        if isinstance(source, (str, os.PathLike)):
            call(lib.bg_study_read, os.fsencode(need_path(source)), bool(timing), byref(self.study))
        elif not isinstance(source, dict):
            raise TypeError(f"a study is a dict or the name of a file, not {source!r}")
        else:
            call(lib.bg_study_parse, make_json(source).encode(), b"study", bool(timing),
                 byref(self.study))

    def __del__(self):
        if self.table:
            lib.bg_table_destroy(self.table)
        if self.study:
            lib.bg_study_destroy(self.study)


def _make_column(values):
    """An array of numbers where all are numbers or missing, of texts where all are texts."""
    numbers = [v for v in values if v is not None]
    if all(isinstance(v, bool) for v in values):
        return np.array(values, bool)
    if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in numbers):
        whole = len(numbers) == len(values) and all(isinstance(v, int) for v in numbers)
        return np.array([np.nan if v is None else v for v in values], np.int64 if whole else float)
    if all(isinstance(v, str) for v in values):
        return np.array(values)
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _check_names(metrics, settings):
    """Columns of the table are found by their names: no two have the same."""
    for key in metrics:
        if key in ("name", "ok", "reason", *settings):
            raise ValueError(f"the metric '{key}' has the name of another column of the table; give it "
                             'a "key" of its own')


def _read(description):
    if isinstance(description, dict):
        return description
    with open(description, encoding="utf-8") as file:
        return json.load(file)


def _find_metrics(description):
    """The keys of metrics that are written down, before any case runs."""
    metrics = _read(description)["metrics"]
    return [m if isinstance(m, str) else m.get("key") for m in metrics]


def _find_settings(description):
    """The settings that variants change."""
    variants = _read(description).get("variants") or {}
    parts = {"list": variants} if isinstance(variants, (list, tuple)) else variants
    found = {key for case in parts.get("list") or () for key in case}
    draws = (parts.get("random") or {}).get("draws")
    return (found - {"comment", "reference"}).union(parts.get("grid") or (), draws or ())


class Study:
    """The table of a study: s["error"] is a column, s.table all of them as a numpy structured array, a
    row for each case: name, the settings that change, the metrics, ok, reason."""

    def __init__(self, handles):
        self._handles = handles
        self.data = json.loads(take_text(lib.bg_table_create_json(handles.table)))
        self.title, rows = self.data["title"], self.data["rows"]
        self.units = {c["key"]: c["unit"] for c in self.data["columns"]}
        keys = dict.fromkeys(k for r in rows for k in r["settings"])
        self.settings = [k for k in keys
                         if any(r["settings"].get(k) != rows[0]["settings"].get(k) for r in rows)]
        self.metrics = [c["key"] for c in self.data["columns"]]
        _check_names(self.metrics, self.settings)
        columns = {"name": [r["name"] for r in rows]}
        columns.update({k: [r["settings"].get(k) for r in rows] for k in self.settings})
        columns.update({k: [r["values"][i] for r in rows] for i, k in enumerate(self.metrics)})
        columns["ok"] = [r["status"] == "ok" for r in rows]
        columns["reason"] = [r["reason"] or "" for r in rows]
        arrays = {k: _make_column(v) for k, v in columns.items()}
        self.table = np.zeros(len(rows), [(k, a.dtype) for k, a in arrays.items()])
        for key, array in arrays.items():
            self.table[key] = array

    def __getitem__(self, key):
        if isinstance(key, str) and key not in self.table.dtype.names:
            raise KeyError(f"the table has no column '{key}', but "
                           + ", ".join(self.table.dtype.names))
        return self.table[key]

    def __len__(self):
        return len(self.table)

    def to_pandas(self):
        """The table as a DataFrame (needs pandas)."""
        import pandas
        return pandas.DataFrame({k: self.table[k] for k in self.table.dtype.names})

    def save(self, path):
        """The table with all digits, FILE.csv, or FILE.json for `bogie report`."""
        call(lib.bg_table_save, self._handles.table, os.fsencode(need_path(path)))
        return path

    def to_csv(self, path):
        return self.save(need_ending(path, ".csv"))

    def to_json(self, path):
        return self.save(need_ending(path, ".json"))

    def report(self, page, title=None):
        """Writes the page of `bogie report`."""
        from .page import report
        return report(page, self, title=title)

    def plot(self, x, y, by=None, axes=None):
        """Plots a column over another, a line for each value of the column `by` (needs matplotlib);
        returns the axes."""
        if axes is None:
            import matplotlib.pyplot as plt
            axes = plt.figure().add_subplot()
        for value in dict.fromkeys(self[by]) if by else (None,):
            rows = self.table[self[by] == value] if by else self.table
            rows = rows[np.argsort(rows[x], kind="stable")]
            axes.plot(rows[x], rows[y], "o-", label=None if value is None else f"{by} {value}")
        for name, label in ((x, axes.set_xlabel), (y, axes.set_ylabel)):
            unit = self.units.get(name, "")
            label(f"{name} [{unit}]" if unit else name)
        if by:
            axes.legend()
        return axes

    def _repr_html_(self):
        from html import escape
        names = self.table.dtype.names
        head = "".join(f"<th>{escape(n)}</th>" for n in names)
        body = "".join("<tr>" + "".join(
            f"<td>{escape(format(v, '.5g') if isinstance(v, float) else str(v))}</td>"
            for v in row.tolist()) + "</tr>" for row in self.table)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self):
        return take_text(lib.bg_table_create_text(self._handles.table)).rstrip()


def study(description, *, journal=None, jobs=None, timing=True, time_limit=None, progress=False):
    """Runs a study, a dict as docs/study.md has it or the name of a study file, and returns a Study.

    Cases run in `jobs` processes (one per processor). journal names a file in which finished cases are
    kept until the end: a study that was interrupted goes on with the same call. timing=False leaves
    out columns of CPU times. progress=True draws a line on stderr, a function gets (done, total).
    """
    if jobs is not None and (not isinstance(jobs, (int, np.integer)) or not 1 <= jobs <= 4096):
        raise ValueError(f"jobs must be a whole number of processes from 1 to 4096, not {jobs!r}")
    if time_limit is not None and not need_number("time_limit", time_limit) > 0:
        raise ValueError(f"time_limit must be a number of seconds above 0, not {time_limit!r}")
    handles, stop = Handles(description, timing), c_int(0)
    _check_names(_find_metrics(description), _find_settings(description))
    o = bg_study_options()
    o.workers, o.time_limit = int(jobs or 0), float(time_limit or 0)
    o.journal = os.fsencode(need_path(journal)) if journal is not None else b""
    o.stop = pointer(stop)
    caught = []

    @progress_function
    def tell(_, done, total):
        try:
            if callable(progress):
                progress(done, total)
            elif progress:
                print(f"\r{done} of {total} cases", end="\n" if done == total else "",
                      file=sys.stderr, flush=True)
        except BaseException as error:  # nothing may pass through the library
            caught.append(error)
            stop.value = 1

    o.progress = tell
    try:
        call_aside(stop, lib.bg_study_run, handles.study, byref(o), byref(handles.table))
    except Exception:
        if not caught:
            raise
    if caught:
        raise caught[0]
    table = Study(handles)
    lib.bg_study_forget(handles.study, byref(o))
    return table
