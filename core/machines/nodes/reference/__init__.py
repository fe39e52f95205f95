"""The reference of nodes: its rules, their plan, and the shelves of `demt`."""
