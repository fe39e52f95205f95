"""Sizes of memory as text in logs."""

from __future__ import annotations

import re
from decimal import Decimal

from schedfarm.core.arrays import HORIZON
from schedfarm.core.errors import InputError
from schedfarm.core.logs.rows import SHOWN

_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)([KMGTP])?B?", re.ASCII | re.IGNORECASE)


def size_word(word: str, where: str) -> int:
    """Return a size of memory such as 4000M or 1.5G, in bytes; without a unit it is in MiB.

    Examples
    --------
    >>> size_word("2G", "log, line 1"), size_word("100", "log, line 1")
    (2147483648, 104857600)
    """
    found = _SIZE.fullmatch(word)
    if not found:
        raise InputError(f"{where}: {word[:SHOWN]!a} is not a size of memory such as 4000M or 1.5G")
    size = int(Decimal(found[1]) * 1024 ** ("KMGTP".index((found[2] or "M").upper()) + 1))
    if size > HORIZON:
        raise InputError(f"{where}: {word[:SHOWN]} of memory is more than 2^62 B; give less")
    return size
