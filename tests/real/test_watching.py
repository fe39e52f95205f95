"""Dask's dashboard and report: there when asked for, refused with a sentence when not possible."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from schedfarm.cluster import ClusterError, ClusterSpec, Opening, connect
from schedfarm.cluster.watching import check_bokeh
from tests.support.harness import farm as farm_process

CAMPAIGN = """
name = "seen"
resamples = 100
policies = ["fcfs+easy", "lxf+easy"]
block_seconds = 1

[[traces]]
name = "m"
model = "lublin"
processors = 64
jobs = 30_000
"""
"""Some seconds of work: the profile that a report holds is gathered once a second."""


def test_without_bokeh__one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra that brings it is named."""
    monkeypatch.setattr("schedfarm.cluster.watching.find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r"need bokeh; .*schedfarm\[dashboard\]"):
        check_bokeh(ClusterSpec("local"), None, dashboard=True)


@pytest.mark.parametrize("report", [None, Path("r.html")], ids=["alone", "with a report"])
def test_dashboard_of_another_cluster__is_refused(report: Path | None) -> None:
    """A cluster that runs already has a dashboard of its own, or none."""
    pytest.importorskip("bokeh")
    with pytest.raises(ClusterError, match="tcp://10.0.0.1:8786 has its own"):
        check_bokeh(ClusterSpec.parse("tcp://10.0.0.1:8786"), report, dashboard=True)


def test_report_in_no_folder__is_refused(tmp_path: Path) -> None:
    """A report that could not be written after hours is refused before."""
    pytest.importorskip("bokeh")
    with pytest.raises(ClusterError, match="none does not exist"):
        check_bokeh(ClusterSpec("local"), tmp_path / "none" / "r.html", dashboard=False)


def samples(dask_worker: Any) -> bool:
    """Return whether a worker's profiler runs."""
    return "profile" in dask_worker.periodic_callbacks


@pytest.mark.parametrize("watched", [True, False])
def test_profiler_runs_only_where_someone_looks(watched: bool) -> None:
    """A hundred looks a second at every worker are for Dask's dashboard and report alone."""
    with connect(ClusterSpec.parse("local", 1), Opening(watched=watched)) as client:
        assert list(client.run(samples).values()) == [watched]


def test_both(tmp_path: Path) -> None:
    """The link is on the loopback interface, and the report is a page with a profile."""
    pytest.importorskip("bokeh")
    (tmp_path / "seen.toml").write_text(CAMPAIGN)
    ended = farm_process(
        tmp_path, "run", "seen.toml", "--workers", "1", "--dashboard",
        "--performance-report", "r.html",
    )  # fmt: skip
    assert ended.returncode == 0, ended
    link = r"^dashboard: http://127\.0\.0\.1:(\d+)/status; .*: ssh -N -L \1:127\.0\.0\.1:\1 \S+$"
    assert re.search(link, ended.stderr, re.MULTILINE)
    page = (tmp_path / "r.html").read_text()
    assert "<html" in page
    assert "farm/execution/worker.py" in page
