"""The one error that a caller of analysis is expected to catch."""

from __future__ import annotations

from core.errors import InputError


class StoreError(InputError):
    """Say in one sentence why a store cannot be read or cannot answer the question.

    Examples
    --------
    >>> raise StoreError("store 'out' has no store.json; name the folder that farm run wrote")
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: store 'out' has no store.json; name the folder that farm run wrote
    """
