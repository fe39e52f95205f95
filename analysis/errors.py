"""Errors of the analysis package."""

from __future__ import annotations

from schedfarm.core.errors import InputError


class StoreError(InputError):
    """Report in one sentence why a store cannot be read, or cannot answer a query.

    Examples
    --------
    >>> raise StoreError("store 'out' has no store.json; name the folder that farm run wrote")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: store 'out' has no store.json; name the folder that farm
    run wrote
    """


class TooFewSamplesError(StoreError):
    """Report too few samples for the query, although single cells may exist.

    Examples
    --------
    >>> raise TooFewSamplesError("the store has no samples, only the log itself (resample 0)")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.TooFewSamplesError: the store has no samples, only the log itself
    (resample 0)
    """


class NoSamplesError(TooFewSamplesError):
    """Report a store that has only the logs themselves, and no samples.

    Examples
    --------
    >>> issubclass(NoSamplesError, TooFewSamplesError)
    True
    """


class NoValuesError(StoreError):
    """Report a query for values that no finished cell, or no job of a log, has.

    Examples
    --------
    >>> raise NoValuesError("the store has no finished cell yet; run its campaign first")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.NoValuesError: the store has no finished cell yet; run its campaign
    first
    """
