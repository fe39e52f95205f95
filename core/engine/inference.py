"""Inference of the types in kernels and steps, without evaluating each statement twice.

Numba evaluates all statements repeatedly, at least twice, until no type changes. It also changes
the filters of warnings for each statement.
"""

from __future__ import annotations

from typing import Any

from numba.core import typed_passes as typed, typeinfer, types
from numba.core.compiler_machinery import register_pass
from numba.core.errors import TypingError


class _Inference(typeinfer.TypeInferer):  # type: ignore[misc]
    """Infer the types of the variables of a function.

    Invariant: a new evaluation of a statement changes no type if its variables still have the types
    of the last evaluation, since the result depends only on these types.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.variables: list[list[str]] = []
        """Names of the variables of each constraint."""

    def constrain_statement(self, inst: Any) -> None:
        """Add the constraints of a statement."""
        super().constrain_statement(inst)
        more = len(self.constraints.constraints) - len(self.variables)
        if more > 0:
            self.variables += [[one.name for one in inst.list_vars()]] * more

    def propagate(self, raise_errors: bool = True) -> Any:
        """Evaluate the constraints until no type changes."""
        todo = list(zip(self.constraints.constraints, self.variables, strict=True))
        settled: list[list[Any] | None] = [None] * len(todo)
        changed, failed = True, list[TypingError]()
        while changed:
            changed, failed = False, []
            for k, (constraint, names) in enumerate(todo):
                before = self._types(names)
                if before == settled[k]:
                    continue
                try:
                    constraint(self)
                except TypingError as error:
                    settled[k] = None
                    failed.append(TypingError(str(error), constraint.loc, highlighting=False))
                else:
                    settled[k] = self._types(names)
                changed |= self._types(names) != before
        if failed:
            raise failed[0]
        return failed

    def _types(self, names: list[str]) -> list[Any]:
        return [self.typevars[name].type for name in names]


@register_pass(mutates_CFG=True, analysis_only=False)
class InferTypes(typed.BaseTypeInference):  # type: ignore[misc]
    """Find the types of all variables and calls."""

    _name = "infer_types"

    def run_pass(self, state: Any) -> bool:
        """Find the types, or let numba refuse or allow a returned array or function."""
        context, function = state.typingctx, state.func_ir
        inference = _Inference(context, function, None)
        with context.callstack.register(
            state.targetctx.target, inference, function.func_id, state.args
        ):
            for k, (name, kind) in enumerate(zip(function.arg_names, state.args, strict=True)):
                inference.seed_argument(name, k, kind)
            if state.return_type is not None:
                inference.seed_return(state.return_type)
            inference.build_constraint()
            inference.propagate()
            state.typemap, result, state.calltypes = inference.unify()
        if isinstance(result, types.Array | types.Function | types.Phantom):  # type: ignore[attr-defined]
            return bool(super().run_pass(state))
        state.return_type, state.typing_errors = result, []
        return True
