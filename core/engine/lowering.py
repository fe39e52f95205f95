"""Lowering of kernels and steps to LLVM IR, without numba's code for other functions.

Numba keeps each variable that several blocks use, even a whole machine, on the stack, and reads it
for each use. It also clears dead variables, and reads an array through a copy on the stack. LLVM
would remove all this, field by field: a machine with its queue has 350 fields.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from numba.core import ir, lowering
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs


class Lower(lowering.Lower):  # type: ignore[misc]
    """Lower a function whose variables need no reference counts."""

    blocks: dict[int, Any]

    # With debug information numba would read the stack places of variables, which are missing here.
    _disable_sroa_like_opt = False

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables with one assignment before all uses, which need no stack place.

        Every path to a use passes the assignment if the block of the assignment dominates the block
        of the use. Blocks are lowered in the order of their numbers.
        """
        uses = compute_use_defs(self.blocks)
        dominators = compute_cfg_from_blocks(self.blocks).dominators()
        assigned: Counter[str] = Counter()
        home: dict[str, int] = {}
        for number, block in self.blocks.items():
            for one in block.find_insts(ir.Assign):
                assigned[one.target.name] += 1
                home[one.target.name] = number
        stacked = {name for name, count in assigned.items() if count > 1}
        for number, names in uses.usemap.items():
            before = dominators[number]
            for name in names:
                at = home.get(name, number)
                if at >= number or at not in before:
                    stacked.add(name)
        self._singly_assigned_vars = set(assigned) - stacked
        self._blk_local_varmap: dict[str, Any] = {}

    def pre_block(self, block: Any) -> None:
        """Prepare nothing: variables get their places at the first use."""

    def post_block(self, block: Any) -> None:
        """Clean nothing up."""

    def lower_inst(self, inst: Any) -> None:
        """Lower an instruction."""
        if isinstance(inst, ir.Assign):
            name = inst.target.name
            self.storevar(self.lower_assign(self.typeof(name), inst), name)
        elif not isinstance(inst, ir.Del):
            super().lower_inst(inst)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Assign a value to a variable."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))
