"""Typed array code that Numba compiles; the same source runs with the JIT off and agrees."""
