"""Exceptions for bad input and for cancelled work."""


class InputError(ValueError):
    """Report in one sentence a wrong input: its place, its value, and a correct form.

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
        # All three in `args`, from which workers unpickle it.
        super().__init__(fault, give, add)

    def __str__(self) -> str:
        return "; ".join(self.args[:2])

    @property
    def of_log(self) -> str:
        """The sentence if the size cannot be given separately."""
        fault, _, add = self.args
        return f"{fault}; {add}"


class Left(BaseException):
    """Report that a simulation was cancelled before its end.

    Not an `Exception`, so that handlers which turn exceptions into data or messages do not catch
    it.
    """
