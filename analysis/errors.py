"""The errors that a caller of analysis is expected to catch."""

from __future__ import annotations

from schedfarm.core.errors import InputError


class StoreError(InputError):
    """Say in one sentence why a store cannot be read or cannot answer the question.

    Examples
    --------
    >>> raise StoreError("store 'out' has no store.json; name the folder that farm run wrote")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: store 'out' has no store.json; name the folder that farm
    run wrote
    """


class TooFewSamplesError(StoreError):
    """Say that there are not the samples for what was asked; single cells may be there.

    Examples
    --------
    >>> raise TooFewSamplesError("the store has no samples, only the log itself (resample 0)")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.TooFewSamplesError: the store has no samples, only the log itself
    (resample 0)
    """


class NoSamplesError(TooFewSamplesError):
    """Say that there is no sample at all, only the logs themselves.

    Examples
    --------
    >>> issubclass(NoSamplesError, TooFewSamplesError)
    True
    """
