"""The numbers of a workload table, by hand and against the metrics of the log's own schedule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedfarm.analysis.workloads import (
    CHARACTERISTICS,
    Value,
    characteristics,
    workload_latex,
    workload_text,
)
from schedfarm.core import Workload, simulate, summarise
from schedfarm.core.models import lublin


def test_numbers_by_hand() -> None:
    jobs = Workload.from_columns(
        submit=[0, 1_800, 3_600, 10_800], run=[100, 300, 100, 100], estimate=[200, 300, 400, 100],
        procs=[1, 2, 3, 4], user=[1, 1, 2, -1], processors=4, epoch=0, unasked=(1, 4),
    )  # fmt: skip
    found = characteristics(jobs)
    work = 100 + 600 + 300 + 400
    expected: dict[str, Value] = {
        "processors": 4, "jobs": 4, "users": 2, "first": "1970-01-01", "last": "1970-01-01",
        "days": 0.125, "offered_load": work / (4 * 10_800), "run_mean_s": 150.0,
        "run_median_s": 100.0, "run_cv": np.std([100, 300, 100, 100]) / 150, "procs_mean": 2.5,
        "procs_median": 2.5, "procs_max": 4, "serial_share": 0.25, "power_of_two_share": 0.75,
        "work_mean_processor_h": work / 4 / 3_600, "estimate_mean_s": 250.0,
        "accuracy_mean": (0.5 + 1 + 0.25 + 1) / 4, "accuracy_median": 0.75,
        "unasked_share": 0.25, "interarrival_mean_s": 3_600.0,
        "interarrival_cv": np.std([1_800, 1_800, 7_200]) / 3_600,
        "hourly_dispersion": np.var([2, 1, 0, 1]) / 1.0, "top_users_share": 0.7,
        "logged_utilisation": None, "logged_wait_mean_s": None, "logged_bounded_slowdown": None,
    }  # fmt: skip
    assert found.keys() == expected.keys() == CHARACTERISTICS.keys()
    assert found == {
        key: pytest.approx(value) if isinstance(value, float) else value
        for key, value in expected.items()
    }


def test_numbers_of_the_log_are_metrics_of_its_schedule() -> None:
    jobs = lublin(64, jobs=200, seed=4)
    jobs = jobs.take(slice(None), logged_wait=simulate(jobs, "fcfs+easy").wait)
    logged = simulate(jobs, "fcfs+logged")
    found, values = characteristics(jobs, logged), summarise(logged)
    assert found["logged_utilisation"] == values["utilisation"]
    assert found["logged_wait_mean_s"] == values["wait"]
    assert found["logged_bounded_slowdown"] == values["bounded_slowdown"]
    assert found["offered_load"] == values["offered_load"]


def test_a_single_job_has_no_gaps() -> None:
    """Nor an offered load; zero run times have no variation."""
    jobs = Workload.from_columns(submit=[9], run=[0], estimate=[5], procs=[1], processors=2)
    found = characteristics(jobs)
    assert [found[key] for key in ("interarrival_cv", "offered_load", "run_cv", "users")] == [
        None
    ] * 4


def test_a_log_without_requests_has_no_numbers_on_them() -> None:
    """Its estimates are its run times."""
    jobs = Workload.from_columns(
        submit=[0, 9], run=[9, 4], estimate=[9, 4], procs=[1, 1], processors=1, unasked=(2, 2)
    )
    found = characteristics(jobs)
    names = ("estimate_mean_s", "accuracy_mean", "accuracy_median", "unasked_share")
    assert [found[name] for name in names] == [None, None, None, 1.0]
    some = characteristics(replace(jobs, unasked=(1, 2)))
    assert [some[name] for name in names] == [6.5, 1.0, 1.0, 0.5]


def test_latex_leaves_rows_out_that_no_log_has() -> None:
    jobs = lublin(64, jobs=50, seed=4)
    found = characteristics(jobs)
    text, latex = (
        write([("a_b", found), ("c", found)]) for write in (workload_text, workload_latex)
    )
    assert text.splitlines()[0].split() == ["a_b", "c"]
    assert len(text.splitlines()) == 1 + len(CHARACTERISTICS)
    assert latex.startswith("\\begin{tabular}{lrr}\n\\toprule\n & a\\_b & c \\\\\n\\midrule\n")
    assert "powers of two (share)" in latex
    assert "first submission" not in latex
