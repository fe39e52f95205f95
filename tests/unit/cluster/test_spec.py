"""What a user can say of where tasks run, and how it is refused."""

from __future__ import annotations

import pytest

from schedfarm.cluster import ClusterError, ClusterSpec, connect


@pytest.mark.parametrize(
    ("text", "workers", "expected"),
    [
        ("local", None, ClusterSpec("local")),
        ("local", 3, ClusterSpec("local", workers=3)),
        ("tcp://10.0.0.1:8786", None, ClusterSpec("address", "tcp://10.0.0.1:8786")),
        ("tls://host:8786", None, ClusterSpec("address", "tls://host:8786")),
        ("scheduler-file:a b.json", None, ClusterSpec("scheduler-file", "a b.json")),
    ],
)
def test_parse(text: str, workers: int | None, expected: ClusterSpec) -> None:
    """Each form of text is one kind of cluster."""
    assert ClusterSpec.parse(text, workers) == expected


@pytest.mark.parametrize("text", ["", "nonsense", "LOCAL", "10.0.0.1:8786", "scheduler-file:"])
def test_parse__unknown(text: str) -> None:
    """Another text is refused with the known forms."""
    with pytest.raises(
        ClusterError, match=r"known: local, tls://HOST:PORT, tcp://HOST:PORT, scheduler"
    ):
        ClusterSpec.parse(text)


@pytest.mark.parametrize("workers", [0, -1])
def test_workers__at_least_one(workers: int) -> None:
    """A cluster has a worker."""
    with pytest.raises(ClusterError, match=f"workers is {workers}; it must be at least 1"):
        ClusterSpec.parse("local", workers)


@pytest.mark.parametrize("text", ["tcp://10.0.0.1:8786", "scheduler-file:s.json"])
def test_workers__of_a_cluster_that_has_its_own(text: str) -> None:
    """The workers of a cluster that runs already are not ours to count."""
    with pytest.raises(ClusterError, match="workers is 2, but .* has its own workers"):
        ClusterSpec.parse(text, 2)


def test_connect__refuses_before_it_starts_anything() -> None:
    """A spec may be given as text; a wrong one is the same error."""
    with pytest.raises(ClusterError, match="'nowhere' is unknown"), connect("nowhere"):
        raise AssertionError


@pytest.mark.parametrize("walltime", ["abc", "2 hours", "1:", True])
@pytest.mark.parametrize("table", ["options", "coordinator"])
def test_walltime__must_be_a_length_of_time(walltime: object, table: str) -> None:
    """Of workers and of the coordinator, before a script has it."""
    with pytest.raises(ClusterError, match=r"walltime is .*; give a length of time such as 02:00"):
        ClusterSpec("slurm", **{table: {"walltime": walltime}})  # type: ignore[arg-type]
    given = {table: {"walltime": "1-00:30"}}
    assert getattr(ClusterSpec("slurm", **given), table) == given[table]  # type: ignore[arg-type]
