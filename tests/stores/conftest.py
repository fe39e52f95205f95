"""Fixtures of the tests of stores."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from schedfarm.farm.store.store import Store
from schedfarm.farm.store.template import template_of

_TEMPLATES: dict[bytes, Mapping[str, bytes]] = {}


@pytest.fixture(autouse=True)
def _skeletons_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the template that a description asks for once in a session.

    It follows from the description alone, and takes a third of the time of a small run and half
    of that of a verification.
    """

    def built_once(store: Store) -> Mapping[str, bytes]:
        described = store.to_bytes()
        if described not in _TEMPLATES:
            _TEMPLATES[described] = template_of(store)
        return _TEMPLATES[described]

    monkeypatch.setattr("schedfarm.farm.store.template.template_of", built_once)
    monkeypatch.setattr("schedfarm.farm.verify.template_of", built_once)
