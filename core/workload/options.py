"""Options for the treatment of a log: fields with checks, and plain values in a campaign."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices

Check = Callable[[str, Any], object]
"""Function from an option's name in messages and its value to the stored value."""


def option(default: Any, check: Check) -> Any:
    """Declare an option as a field of an `Options` dataclass."""
    return field(default=default, metadata={Check: check})


def whole_from(least: int, most: int | None = None) -> Check:
    """Return the check of a whole number within bounds."""
    return lambda what, value: whole(what, value, least, most)


def one_of(known: Mapping[str, str]) -> Check:
    """Return the check of a name from a short table."""

    def check(what: str, value: object) -> object:
        # A list has no hash, so a look-up in the mapping itself would raise an error.
        if value not in list(known):
            listed = " or ".join(map(repr, known))
            raise InputError(f"{what} is {value!r}; it must be {listed}")
        return value

    return check


def flag(what: str, value: object) -> bool:
    """Return an option; refuse all values except true and false."""
    if isinstance(value, bool):
        return value
    raise InputError(f"{what} is {value!r}; it must be true or false")


@dataclass(frozen=True)
class Options:
    """Check every option in the order of the fields, then their combination."""

    within: ClassVar[str]
    """Name of the options' table in messages."""

    def __post_init__(self) -> None:
        for row in fields(self):
            what = f"{self.within}: {row.name}"
            object.__setattr__(self, row.name, row.metadata[Check](what, getattr(self, row.name)))
        self._check_together()

    def _check_together(self) -> None:
        """Refuse options that contradict each other."""

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Return the options for plain values; missing options have their defaults."""
        known = [row.name for row in fields(cls)]
        for key in plain:
            if key not in known:
                raise InputError(f"{cls.within}: unknown key {key!r}; {choices(str(key), known)}")
        return cls(**plain)

    def to_dict(self) -> dict[str, Any]:
        """Return every option as a plain value, from which `from_dict` makes equal options."""
        values = {row.name: getattr(self, row.name) for row in fields(self)}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
