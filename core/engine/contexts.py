"""Typing and target contexts for kernels: the types and the code of their operations.

By default numba first imports all of its modules and scipy.linalg. It tries a dozen templates for
the type of each call, and compiles functions that it implements in Python, such as min and max. It
passes tuples of arrays number by number: seven numbers per array, 182 for a machine and its queue,
though nearly all steps are finally inlined. These contexts avoid all this, and `fcfs+easy` is
compiled from some 14,000 instructions instead of 26,000.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir as llvm
from numba.core import (
    cgutils,
    codegen,
    config,
    cpu,
    datamodel,
    imputils,
    pythonapi,
    types,
    typing,
)
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import models
from numba.core.runtime import rtsys
from numba.core.types.misc import unliteral
from numba.core.typing import templates

from schedfarm.core.engine.bounds import CHECKED, from_the_front

_TYPES, _CODE = templates.Registry(), imputils.Registry("kernels")

_JITTED = (templates._OverloadFunctionTemplate, templates._OverloadAttributeTemplate)
"""Templates of functions that numba compiles from Python code, after importing all its modules."""


def target_features() -> str:
    """Return the features of the processor that kernels are compiled for, as LLVM writes them."""
    chosen = config.CPU_FEATURES
    return str(codegen.get_host_cpu_features() if chosen is None else chosen)


def lowered(
    function: Callable[..., object],
    typed: Callable[..., Any],
    write: Callable[[Any, Any, Any, Any], Any],
) -> None:
    """Let kernels call a function by generated code instead of code compiled from Python.

    If numba also implements the function, numba's code replaces the generated code after the
    compilation of the first kernel.

    Parameters
    ----------
    function : callable
        The function.
    typed : callable
        Function that returns the signature for the arguments' types; None for unsupported types.
    write : callable
        Function that generates the code and returns the value, given numba's context, LLVM's
        builder, the signature and the arguments' values.
    """

    class Template(templates.AbstractTemplate):  # type: ignore[misc]
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            return None if kws else typed(*args)

    _TYPES.register_global(function, types.Function(Template))
    _CODE.lower(function, types.VarArg(types.Any))(write)  # type: ignore[attr-defined]


NUMBERS = (types.boolean, types.int64, types.float64)
"""Types of numbers in kernels."""


def _of_one_kind(*kinds: Any) -> Any:
    """Return a signature of numbers of one type: float64 if one is a float, else int64."""
    given = {unliteral(kind) for kind in kinds}
    if not given or not given.issubset(NUMBERS):
        return None
    common = types.float64 if types.float64 in given else types.int64
    return common(*[common for _ in kinds])


def _of_a_number(kind: Any) -> Any:
    return types.int64(unliteral(kind)) if unliteral(kind) in NUMBERS else None


def _extreme(sign: str) -> Callable[[Any, Any, Any, Any], Any]:
    """Return the generator of min or max; of equal values the first is the result, as in Python."""

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        whole = signature.return_type == types.int64
        compare = builder.icmp_signed if whole else builder.fcmp_ordered
        found, *others = values
        for value in others:
            found = builder.select(compare(sign, value, found), value, found)
        return found

    return write


def _to_int(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return context.cast(builder, values[0], signature.args[0], types.int64)


lowered(min, _of_one_kind, _extreme("<"))
lowered(max, _of_one_kind, _extreme(">"))
lowered(int, _of_a_number, _to_int)


class _Elements:
    """Generate reads and writes of the elements of contiguous arrays.

    Numba's own code copies the array to the stack, and reads all its fields from there.
    """

    DATA = 4
    """The field of an array with the address of its data."""

    @classmethod
    def place(cls, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Return the address of an element; None if the case is left to numba."""
        array, kind = signature.args[:2]
        if CHECKED or array.ndim != 1 or array.layout != "C":
            return None
        if isinstance(kind, types.IntegerLiteral) and kind.literal_value >= 0:
            index = context.get_constant(types.int64, kind.literal_value)
        elif kind is types.uint64:
            index = values[1]
        else:
            return None
        return builder.gep(builder.extract_value(values[0], cls.DATA), [index])

    @classmethod
    def read(cls, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Read an element."""
        from numba.np.arrayobj import getitem_arraynd_intp, load_item

        place = cls.place(context, builder, signature, values)
        if place is None:
            return getitem_arraynd_intp(context, builder, signature, values)
        return load_item(context, builder, signature.args[0], place)

    @classmethod
    def write(cls, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Write an element."""
        from numba.np.arrayobj import setitem_array, store_item

        array, _, kind = signature.args
        number = isinstance(kind, types.Number | types.Boolean)
        place = cls.place(context, builder, signature, values) if number else None
        if place is None:
            return setitem_array(context, builder, signature, values)
        value = context.cast(builder, values[2], kind, array.dtype)
        return store_item(context, builder, array, value, place)


_CODE.lower(operator.getitem, types.Array, types.Integer)(_Elements.read)
_CODE.lower(operator.setitem, types.Array, types.Integer, types.Any)(_Elements.write)


class _Typing(typing.Context):  # type: ignore[misc]
    """Extend numba's typing context with a cache of the types of calls."""

    def init(self) -> None:
        self.found: dict[Any, Any] = {}

    def read(self) -> None:
        """Load the registries of numba's modules."""
        from numba.core.typing import mathdecl, npydecl

        self._load_builtins()
        self.install_registry(mathdecl.registry)
        self.install_registry(npydecl.registry)

    def install_registry(self, registry: Any) -> None:
        """Install the entries of a registry that are neither jitted nor lowered here."""
        super().install_registry(registry if registry is _TYPES else _usable(registry))

    def refresh(self) -> None:
        """Install new entries; numba calls this method for each step."""
        self.install_registry(_TYPES)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        # Steps and methods have their own types. Operations named by a string, such as
        # "static_getitem", take values as arguments.
        own = isinstance(func, types.Type) and not isinstance(func, types.Function)
        if own or isinstance(func, str) or kws:
            return super().resolve_function_type(func, args, kws)
        if (signature := self.found.get((func, args))) is None:
            signature = super().resolve_function_type(func, args, kws)
            if func is operator.getitem:
                signature = from_the_front(signature, *args)
            self.found[func, args] = signature
        return signature

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        return from_the_front(super().resolve_setitem(target, index, value), target, index)


def _usable(registry: Any) -> Any:
    """Return the entries of a typing registry that are neither jitted nor lowered here."""
    own, kept = {function for function, _ in _TYPES.globals}, templates.Registry()
    kept.functions = [one for one in registry.functions if not _is_jitted(one)]
    kept.attributes = [one for one in registry.attributes if not _is_jitted(one)]
    kept.globals = [
        (function, kind)
        for function, kind in registry.globals
        if function not in own
        and not (isinstance(kind, types.Function) and all(map(_is_jitted, kind.templates)))
    ]
    return kept


def _is_jitted(template: type) -> bool:
    # issubclass would call the metaclass for every pair, which takes 0.1 s in all.
    return not set(_JITTED).isdisjoint(template.__mro__)


class _Interface(pythonapi.PythonAPI):  # type: ignore[misc]
    """Generate the calls of Python's C interface in the wrapper of a kernel."""

    def to_native_value(self, typ: Any, obj: Any) -> Any:
        """Read an array by a separate function; a machine with its queue has 50 arrays."""
        if type(typ) is not types.Array:
            return super().to_native_value(typ, obj)
        place = cgutils.alloca_once(self.builder, self.context.get_value_type(typ))
        failed = self.builder.call(self._reader(typ, place.type), [obj, place])
        return pythonapi.NativeValue(self.builder.load(place), is_error=failed)

    def _reader(self, typ: Any, place: Any) -> Any:
        name = "read." + _digest(typ)
        if name not in self.module.globals:
            kind = llvm.FunctionType(llvm.IntType(1), [self.pyobj, place])
            reader = llvm.Function(self.module, kind, name)
            reader.linkage = "internal"
            reader.attributes.add("noinline")
            builder = llvm.IRBuilder(reader.append_basic_block())
            inside = pythonapi.PythonAPI(self.context, builder)
            found = inside.to_native_value(typ, reader.args[0])
            builder.store(found.value, reader.args[1])
            builder.ret(found.is_error)
        return self.module.globals[name]


def _digest(*kinds: Any) -> str:
    return hashlib.sha256("\n".join(map(str, kinds)).encode()).hexdigest()[:32]


class _Target(cpu.CPUContext):  # type: ignore[misc]
    """Extend numba's target context."""

    def init(self) -> None:
        super().init()
        self.known: dict[Any, Any] = {}

    def read(self) -> None:
        """Load the registries of numba's modules."""
        # Registries not named below extend the built-in ones on import.
        from numba.core import optional  # noqa: F401
        from numba.cpython import builtins, mathimpl, numbers, rangeobj, slicing, tupleobj  # noqa: F401
        from numba.np import arrayobj, npyimpl  # noqa: F401

        rtsys.initialize(self)
        for registry in (imputils.builtin_registry, mathimpl.registry, npyimpl.registry):
            self.install_registry(registry)

    def refresh(self) -> None:
        """Install new entries; numba calls this method for each step."""
        self.install_registry(_CODE)

    def mangler(self, name: str, kinds: Any, *, abi_tags: Any = (), uid: Any = None) -> str:
        """Return the linker's name of a step, with a digest of the types of its arguments.

        Numba would write out the types: up to some kilobytes for each call.
        """
        return str(super().mangler(name, (_digest(*kinds),), abi_tags=abi_tags, uid=uid))

    def get_python_api(self, builder: Any) -> _Interface:
        """Return the calls of Python's interface."""
        return _Interface(self, builder)

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """Return the cached code of an operation; numba would inspect its arguments each time."""
        if isinstance(fn, types.Type):
            return super().get_function(fn, sig, _firstcall)
        if (found := self.known.get((fn, sig))) is None:
            found = self.known[fn, sig] = super().get_function(fn, sig, _firstcall)
        return found

    def call_internal(self, builder: Any, fndesc: Any, sig: Any, args: Any) -> Any:
        """Call a step, and return if the step raises. The step itself records the location.

        Numba would compute eight values about the outcome of each call.
        """
        if isinstance(sig.return_type, types.Optional):  # type: ignore[attr-defined]
            return super().call_internal(builder, fndesc, sig, args)
        step = self.declare_function(builder.module, fndesc)
        with builder.goto_entry_block():
            place = builder.alloca(step.args[0].type.pointee)
        raised = builder.function.args[1]
        given = self.get_arg_packer(sig.args).as_arguments(builder, args)
        code = builder.call(step, [place, raised, *given])
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", code, code.type(0))):
            builder.ret(code)
        return self.get_returned_value(builder, sig.return_type, builder.load(place))


class _Whole:
    """Model data that a call passes unchanged."""

    get_value_type: Callable[[], Any]

    def get_argument_type(self) -> Any:
        return self.get_value_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        return value

    def from_argument(self, builder: Any, value: Any) -> Any:
        return value


class _WholeArray(_Whole, models.ArrayModel):  # type: ignore[misc]
    """Model an array."""


class _WholeTuple(_Whole, models.TupleModel):  # type: ignore[misc]
    """Model a tuple."""


class _WholeUniTuple(_Whole, models.UniTupleModel):  # type: ignore[misc]
    """Model a tuple with elements of one type."""


def _handed_over_whole() -> Any:
    """Return the data models with which calls do not unpack arrays and tuples."""
    manager = datamodel.default_manager.copy()
    manager.register(types.Array, _WholeArray)
    for kind in (types.Tuple, types.NamedTuple):  # type: ignore[attr-defined]
        manager.register(kind, _WholeTuple)
    for kind in (types.UniTuple, types.NamedUniTuple):  # type: ignore[attr-defined]
        manager.register(kind, _WholeUniTuple)
    return manager


@global_compiler_lock  # type: ignore[untyped-decorator]
@cache
def contexts(target: Any) -> tuple[Any, Any]:
    """Return the typing and target contexts, which share the code library of numba's context.

    Parameters
    ----------
    target : numba.core.cpu.CPUContext
        Numba's target context.
    """
    of_types = _Typing()
    of_code = _Target(of_types, "cpu")
    of_code._internal_codegen = target.codegen()
    of_code.data_model_manager = _handed_over_whole()
    of_code.read()
    of_types.read()
    return of_types, of_code
