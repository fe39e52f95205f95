"""The public names of the package, which shells complete and which load lazily."""

from __future__ import annotations

from schedfarm import farm


def test_the_public_names_are_listed() -> None:
    """`dir`, from which shells and notebooks complete, names all of them and nothing else."""
    assert dir(farm) == sorted(farm.__all__)
    assert {"Campaign", "run", "open", "job_table"} <= set(dir(farm))
    assert all(getattr(farm, name) is not None for name in dir(farm))
