"""The exception that stands for bad input, and the one that stands for work half done."""


class InputError(ValueError):
    """Say in one sentence what is wrong with an input, where, and what would be right.

    The command line prints the sentence and exits with status 2.
    """


class Left(BaseException):
    """Say that a simulation was left before its end, since somebody asked for that.

    No `Exception`: what turns those into data, or into another sentence, is not to take this one.
    """
