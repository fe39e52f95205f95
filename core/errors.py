"""Exceptions for bad input and for cancelled work."""


class InputError(ValueError):
    """Report a wrong input in one sentence: its place, its value, and a correct form.

    The command line prints the sentence and exits with status 2.
    """


class SizeUnknown(InputError):
    """Report a log without the size of its machine.

    Parameters
    ----------
    fault : str
        Missing information, without a remedy.
    give : str
        Remedy if the size can be given separately.
    add : str
        Remedy if only the log can state it.

    Examples
    --------
    >>> error = SizeUnknown("a.swf: no size", "give it", "add MaxProcs to its header")
    >>> str(error), error.of_log
    ('a.swf: no size; give it', 'a.swf: no size; add MaxProcs to its header')
    """

    def __init__(self, fault: str, give: str, add: str) -> None:
        # Workers unpickle the error from `args`, which therefore has all three values.
        super().__init__(fault, give, add)

    def __str__(self) -> str:
        return "; ".join(self.args[:2])

    @property
    def of_log(self) -> str:
        """Message for cases in which the size cannot be given separately."""
        fault, _, add = self.args
        return f"{fault}; {add}"


class Left(BaseException):
    """Report that a simulation was cancelled before its end.

    This is no `Exception`, so that general handlers, which turn exceptions into data or messages,
    do not catch it.
    """
