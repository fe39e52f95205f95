"""Array indices without negative values, and checks of indices if the environment requests them.

Numba generates a test for negative values of each index that is not a literal, because negative
indices count from the end. Kernels have no negative indices, so the test is left out, which makes
EASY 1.1 to 1.2 times as fast. But a kernel with a wrong negative index then silently reads memory
before the array. NUMBA_BOUNDSCHECK=1 compiles kernels that raise IndexError for an index that is
negative or beyond the end.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, config, types

CHECKED = bool(config.BOUNDSCHECK) and not config.DISABLE_JIT
"""Whether the kernels of this process check their indices."""


def from_the_front(signature: Any, array: Any, place: Any) -> Any:
    """Return a signature in which indices count from the front of the array.

    Parameters
    ----------
    signature : numba.core.typing.templates.Signature or None
        The signature of a read or a write. Its first arguments are the array and the index.
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
    """Return the type of an index, with unsigned types for all integers except literals.

    In a build without checks, numba still counts negative integers in tuples from the end.
    """
    if isinstance(place, types.BaseTuple):  # type: ignore[attr-defined]
        return types.Tuple([_places(one) for one in place])  # type: ignore[attr-defined]
    varies = isinstance(place, types.Integer) and not isinstance(place, types.IntegerLiteral)
    return types.uint64 if varies else place


def check(context: Any, builder: Any, array: Any, first: Any, count: int) -> None:
    """Generate code that raises IndexError unless several consecutive elements lie in an array.

    Parameters
    ----------
    context, builder
        Numba's target context and LLVM's builder.
    array
        Numba's structure of a one-dimensional array.
    first : llvmlite.ir.Value
        The first index of the elements.
    count : int
        The number of elements.
    """
    (size,) = cgutils.unpack_tuple(builder, array.shape, count=1)
    for place in (first, builder.add(first, first.type(count - 1))):
        cgutils.do_boundscheck(context, builder, place, size)
