"""The exception that stands for bad input, and the one that stands for work half done."""


class InputError(ValueError):
    """Say in one sentence what is wrong with an input, where, and what would be right.

    The command line prints the sentence and exits with status 2.
    """


class SizeUnknown(InputError):
    """Say that a log does not tell the size of its machine, and nobody gave it.

    Parameters
    ----------
    fault : str
        What the log does not say, without what would be right.
    give : str
        What would be right where the size can be given beside the log.
    add : str
        The same where only the log can say it.

    Examples
    --------
    >>> error = SizeUnknown("a.swf: no size", "give it", "add MaxProcs to its header")
    >>> str(error), error.of_log
    ('a.swf: no size; give it', 'a.swf: no size; add MaxProcs to its header')
    """

    def __init__(self, fault: str, give: str, add: str) -> None:
        # All three in `args`: workers send it by them.
        super().__init__(fault, give, add)

    def __str__(self) -> str:
        return "; ".join(self.args[:2])

    @property
    def of_log(self) -> str:
        """The sentence where the size cannot be given beside the log."""
        fault, _, add = self.args
        return f"{fault}; {add}"


class Left(BaseException):
    """Say that a simulation was left before its end, since somebody asked for that.

    No `Exception`: what turns those into data, or into another sentence, is not to take this one.
    """
