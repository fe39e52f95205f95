"""Array indices: counted from the front only, and checked if the environment requests this.

For each index that is not a literal, numba generates a test for negative values, which count from
the end. No kernel has such an index; without the test EASY is 1.1 to 1.2 times as fast. But a wrong
negative index then silently reads memory before the array. NUMBA_BOUNDSCHECK=1 builds kernels that
raise IndexError for a negative index and for one beyond the end.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, config, types

CHECKED = bool(config.BOUNDSCHECK) and not config.DISABLE_JIT
"""Whether the kernels of this process check their indices."""


def from_the_front(signature: Any, array: Any, place: Any) -> Any:
    """Return a signature that counts indices of an array from its front.

    Parameters
    ----------
    signature : numba.core.typing.templates.Signature or None
        The signature of a read or a write, whose first arguments are the array and the index.
    array, place : numba.types.Type
        The types of the array and the index.
    """
    if signature is None or not isinstance(array, types.Array):
        return signature
    counted = _places(place) if CHECKED else _unsigned(place)
    if counted is place:
        return signature
    first, _, *rest = signature.args
    return signature.replace(args=(first, counted, *rest))


def _unsigned(place: Any) -> Any:
    return types.uint64 if place is types.int64 else place


def _places(place: Any) -> Any:
    """Return the type of an index with unsigned integers for all that are not literals.

    In tuples numba would count them from the end, which the unchecked build leaves unchanged.
    """
    if isinstance(place, types.BaseTuple):  # type: ignore[attr-defined]
        return types.Tuple([_places(one) for one in place])  # type: ignore[attr-defined]
    varies = isinstance(place, types.Integer) and not isinstance(place, types.IntegerLiteral)
    return types.uint64 if varies else place


def check(context: Any, builder: Any, array: Any, first: Any, count: int) -> None:
    """Generate code that raises IndexError unless a run of elements lies within an array.

    Parameters
    ----------
    context, builder
        Numba's target context and LLVM's builder.
    array
        Numba's structure of a one-dimensional array.
    first : llvmlite.ir.Value
        The first index of the run.
    count : int
        The length of the run.
    """
    (size,) = cgutils.unpack_tuple(builder, array.shape, count=1)
    for place in (first, builder.add(first, first.type(count - 1))):
        cgutils.do_boundscheck(context, builder, place, size)
