"""How numba compiles kernels and their steps: a step to LLVM's language, a kernel to the machine's.

As numba has it, each function is optimised, wrapped for Python and for C, and made machine code,
before another takes it in. Of a step that kernels alone call nothing of this is of use: EASY has 40
of them, and took 17 s of CPU to compile where it now takes 4 (numba 0.68, one machine, one day).
"""

from __future__ import annotations

import copy
import gc
import operator
from collections.abc import Callable
from typing import Any

from llvmlite.binding import Linkage
from numba.core import codegen, compiler, cpu, types, typing
from numba.core import typed_passes as typed
from numba.core import untyped_passes as untyped
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.types.misc import unliteral


class _StepLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a step as it was lowered; whoever calls the step links it and what it calls."""

    def add_linking_library(self, library: Any) -> None:
        if library is not rtsys.library:
            super().add_linking_library(library)

    def finalize(self) -> None:
        self._finalized = True

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout


class _KernelLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The machine code of a kernel, with all of its steps inside."""

    _linking_libraries: list[Any]

    def finalize(self) -> None:
        # Callers before what they call: LLVM leaves out what nothing links to yet.
        found: dict[Any, None] = {}
        ahead = self._linking_libraries[::-1]
        while ahead:
            library = ahead.pop()
            if library not in found:
                found[library] = None
                if isinstance(library, _StepLibrary):
                    ahead += library._linking_libraries[::-1]
        self._linking_libraries = list(found)
        super().finalize()

    def _optimize_final_module(self) -> None:
        # Numba runs a cheaper set of passes first, to bring counts of references together.
        # Steps that nobody else may call need not be handed all seven numbers of an array, of which
        # they use one: fair starts are 1.06 times as fast.
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = Linkage.internal
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


@register_pass(mutates_CFG=True, analysis_only=False)
class _StepLowering(typed.NativeLowering):  # type: ignore[misc]
    _name = "step_lowering"

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        state.library = _StepLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        super().run_pass(state)
        # There is no function to call; its callers look the code up by whatever stands for it.
        state.cr = state.cr._replace(cfunc=object())
        state.targetctx.insert_user_function(state.cr.cfunc, state.cr.fndesc, [state.library])
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(typed.NativeLowering):  # type: ignore[misc]
    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


def _from_the_front(signature: Any, array: Any, place: Any) -> Any:
    """Return a signature that takes an array's place to be none of those counted from its end.

    Numba asks at each place that is not written down as a number: is it negative? No kernel has
    one that is; without that question EASY is 1.1 to 1.2 times as fast.
    """
    if signature is None or place is not types.int64 or not isinstance(array, types.Array):
        return signature
    first, _, *rest = signature.args
    return signature.replace(args=(first, types.uint64, *rest))


class _Typing(typing.Context):  # type: ignore[misc]
    """What numba knows of types, and of which calls it has found the types before.

    EASY calls 105 functions of numba in 2600 places, and each asks a dozen templates.
    """

    found: dict[Any, Any]

    def refresh(self) -> None:
        """Do nothing: each kernel refreshes the context that this one shares all with."""

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        # Steps and methods know their own types; by its name "static_getitem" takes values.
        own = isinstance(func, types.Type) and not isinstance(func, types.Function)
        if own or isinstance(func, str) or kws:
            return super().resolve_function_type(func, args, kws)
        if (signature := self.found.get((func, args))) is None:
            signature = super().resolve_function_type(func, args, kws)
            if func is operator.getitem:
                signature = _from_the_front(signature, *args)
            self.found[func, args] = signature
        return signature

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        return _from_the_front(super().resolve_setitem(target, index, value), target, index)


class _Target(cpu.CPUContext):  # type: ignore[misc]
    """What numba knows of lowering, which it reads again from all its modules now and then."""

    def refresh(self) -> None:
        """Read what intrinsics have said since; a kernel refreshes all that this one shares."""
        for registry in list(self._registries):
            self.install_registry(registry)


at_work: list[str] = []
"""The kernels that this process compiles at the moment."""

_contexts: dict[Any, Any] = {}


def _sharing(context: Any, kind: type, flags: str = "") -> Any:
    """Return a context of this kind which shares with another whatever that knows."""
    made = _contexts.get((context, flags))
    if made is None:
        made = _contexts[context, flags] = copy.copy(context)
        made.__class__ = kind
        made.found = {}
    return made


class _Compiler(compiler.CompilerBase):  # type: ignore[misc]
    """Numba's passes that our functions need, which have no closures and no array expressions."""

    lowering: type

    def __init__(
        self, known: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, local: Any
    ) -> None:
        known, target = _sharing(known, _Typing, flags.summary()), _sharing(target, _Target)
        super().__init__(known, target, library, args, result, flags, local)

    def define_pipelines(self) -> list[PassManager]:
        manager = PassManager(type(self).__name__)
        for step in (
            untyped.TranslateByteCode,
            untyped.FixupArgs,
            untyped.IRProcessing,
            untyped.RewriteSemanticConstants,
            untyped.DeadBranchPrune,
            untyped.GenericRewrites,
            untyped.ReconstructSSA,
            typed.NopythonTypeInference,
            typed.PreLowerStripPhis,
            typed.IRLegalization,
            self.lowering,
            typed.NoPythonBackend,
        ):
            manager.add_pass(step)
        manager.finalize()
        return [manager]


class StepCompiler(_Compiler):
    """The compiler of a step."""

    lowering = _StepLowering


class KernelCompiler(_Compiler):
    """The compiler of a kernel; without garbage collection, which takes a tenth longer."""

    lowering = _KernelLowering

    def __init__(self, known: Any, target: Any, *given: Any) -> None:
        # Modules that have come since may have brought functions of their own.
        known.refresh()
        target.refresh()
        super().__init__(known, target, *given)

    def compile_extra(self, func: Callable[..., object]) -> Any:
        """Compile a function, and the steps that it calls."""
        collects, name = gc.isenabled(), func.__qualname__
        gc.disable()
        at_work.append(name)
        try:
            return super().compile_extra(func)
        finally:
            at_work.remove(name)
            if collects:
                gc.enable()


class Step(CPUDispatcher):  # type: ignore[misc]
    """A function that compiled ones call. Called from Python, it is compiled as a kernel."""

    def __init__(self, function: Callable[..., object], **options: Any) -> None:
        without = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
        options = {"nopython": True, "boundscheck": None, **without, **options}
        super().__init__(function, targetoptions=options, pipeline_class=StepCompiler)
        self._alone: Any = None

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for numbers, not for one of them as well, such as that a variable begins with.

        EASY had 17 of its 35 steps compiled twice.
        """
        given = {name: unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(unliteral, args)), given)

    def add_overload(self, compiled: Any) -> None:
        """Keep what was compiled for one combination of types."""
        self.overloads[tuple(compiled.signature.args)] = compiled

    def __call__(self, *args: Any) -> Any:
        """Compile the function as a kernel, and call it."""
        if self._alone is None:
            options = {"nopython": True, "boundscheck": None, "nogil": True, "_nrt": False}
            self._alone = CPUDispatcher(
                self.py_func, targetoptions=options, pipeline_class=KernelCompiler
            )
        return self._alone(*args)
