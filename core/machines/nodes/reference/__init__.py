"""The reference of nodes: its rules, the plan that they make, and the shelves of `demt`."""
