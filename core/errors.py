"""The one exception that stands for bad input."""


class InputError(ValueError):
    """Say in one sentence what is wrong with an input, where, and what would be right.

    The command line prints the sentence and exits with status 2.
    """
