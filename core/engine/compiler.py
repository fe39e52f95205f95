"""Compilation of kernels to machine code, and of their steps to LLVM IR only.

By default numba optimises each function, wraps it for Python and C, and generates its machine code,
even if the function is inlined afterwards. Steps need none of this, because only kernels call them.
EASY has 40 steps; with numba's defaults its compilation took 17 s of CPU instead of 4 (numba 0.68,
one machine, one day).
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite.binding import Linkage
from numba.core import codegen, compiler, config, typed_passes as typed, untyped_passes as untyped
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.types.misc import unliteral

from schedfarm.core.engine.contexts import contexts
from schedfarm.core.engine.inference import InferTypes
from schedfarm.core.engine.lowering import Lower


class _StepLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Hold the lowered code of a step; callers link this code and that of its callees."""

    def add_linking_library(self, library: Any) -> None:
        if library is not rtsys.library:
            super().add_linking_library(library)

    def add_ir_module(self, ir_module: Any) -> None:
        # Numba's own method checks the code and copies it twice.
        for function in ir_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"
        self._final_module = codegen.ll.parse_assembly(str(ir_module))

    def finalize(self) -> None:
        self._finalized = True


class _KernelLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Hold the machine code of a kernel, including all its steps."""

    _linking_libraries: list[Any]

    unrolled = True
    """Whether LLVM unrolls loops."""

    def finalize(self) -> None:
        # Callers are linked before callees, because LLVM omits functions without a reference.
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

    def _optimize_functions(self, ll_module: Any) -> None:
        # Passes over the module follow. Numba's passes over single functions are left out: they
        # also unroll loops, and `fcfs+conservative` took 4.1 s of CPU to compile instead of 2.8.
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        # Internal steps then receive only the fields of an array that they use, usually one of
        # seven: fair starts are 1.06 times as fast.
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = Linkage.internal
        # This replaces a cheaper first set of passes, in which numba combines reference counts.
        tuning = codegen.ll.create_pipeline_tuning_options(speed_level=config.OPT)
        tuning.loop_vectorization = config.LOOP_VECTORIZE
        tuning.slp_vectorization = config.SLP_VECTORIZE
        tuning.loop_unrolling = self.unrolled
        builder = codegen.ll.create_pass_builder(self._codegen._tm, tuning)
        builder.getModulePassManager().run(self._final_module, builder)


class _Lowering(typed.NativeLowering):  # type: ignore[misc]
    @property
    def lowering_class(self) -> type:
        return Lower


@register_pass(mutates_CFG=False, analysis_only=False)
class _StepLowering(_Lowering):
    _name = "step_lowering"

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        state.library = _StepLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        super().run_pass(state)
        # A step has no callable function; callers look up its code by this placeholder.
        state.cr = state.cr._replace(cfunc=object())
        state.targetctx.insert_user_function(state.cr.cfunc, state.cr.fndesc, [state.library])
        return True


class _RolledLibrary(_KernelLibrary):
    unrolled = False


@register_pass(mutates_CFG=False, analysis_only=False)
class _KernelLowering(_Lowering):
    _name = "kernel_lowering"
    library: type[_KernelLibrary] = _KernelLibrary

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=False, analysis_only=False)
class _RolledLowering(_KernelLowering):
    _name = "rolled_kernel_lowering"
    library = _RolledLibrary


at_work: list[str] = []
"""Kernels that this process is compiling."""


class _Compiler(compiler.CompilerBase):  # type: ignore[misc]
    """Run only the passes of numba for functions without closures and array expressions."""

    lowering: type

    def __init__(
        self, known: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, local: Any
    ) -> None:
        super().__init__(*contexts(target), library, args, result, flags, local)

    def define_pipelines(self) -> list[PassManager]:
        manager = PassManager(type(self).__name__)
        for step in (
            untyped.TranslateByteCode,
            untyped.FixupArgs,
            untyped.GenericRewrites,
            untyped.ReconstructSSA,
            InferTypes,
            typed.PreLowerStripPhis,
            self.lowering,
            typed.NoPythonBackend,
        ):
            manager.add_pass(step)
        manager.finalize()
        return [manager]


class StepCompiler(_Compiler):
    """Compile a step."""

    lowering = _StepLowering


class KernelCompiler(_Compiler):
    """Compile a kernel, without garbage collection, which would take a tenth longer."""

    lowering = _KernelLowering

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


class RolledKernelCompiler(KernelCompiler):
    """Compile a kernel without unrolling its loops."""

    lowering = _RolledLowering


class Step(CPUDispatcher):  # type: ignore[misc]
    """Dispatch a step in compiled code; a call from Python compiles the step as a kernel."""

    def __init__(self, function: Callable[..., object], **options: Any) -> None:
        without = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
        options = {"nopython": True, "boundscheck": None, "debug": False, **without, **options}
        super().__init__(function, targetoptions=options, pipeline_class=StepCompiler)
        self._alone: Any = None

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile a step for types of numbers only, and not again for literal values.

        With literal values, 17 of the 35 steps of EASY were compiled twice.
        """
        given = {name: unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(unliteral, args)), given)

    def add_overload(self, compiled: Any) -> None:
        """Store the code for one combination of types."""
        self.overloads[tuple(compiled.signature.args)] = compiled

    def __call__(self, *args: Any) -> Any:
        """Compile the function as a kernel, and call it."""
        if self._alone is None:
            options = {"nopython": True, "boundscheck": None, "debug": False}
            options |= {"nogil": True, "_nrt": False}
            self._alone = CPUDispatcher(
                self.py_func, targetoptions=options, pipeline_class=KernelCompiler
            )
        return self._alone(*args)


class GenericStep(Step):
    """Dispatch a step to an implementation by the type of its first argument, a named tuple.

    Numba looks up the template and the code by the types of a call. Both belong to the chosen
    implementation, so that neither a kernel nor its cache entry contains another implementation.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        self.declared = Path(function.__code__.co_filename)
        self.variants: dict[type, Step] = {}
        self.default: Step | None = None

    def _variant(self, kinds: Any) -> Step:
        return self._of(kinds[0].instance_class)

    def _of(self, kind: type) -> Step:
        found = self.variants.get(kind, self.default)
        if found is None:
            raise KeyError(f"step {self.__name__!r} has no implementation for {kind.__name__}")
        return found

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Type a call by the implementation for its first argument."""
        return self._variant(args).get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return the code of the implementation for a call's first argument."""
        return self._variant(sig).get_overload(sig)

    def __call__(self, *args: Any) -> Any:
        """Call the implementation for the first argument from Python."""
        return self._of(type(args[0]))(*args)
