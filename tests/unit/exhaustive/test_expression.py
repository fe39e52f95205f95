"""Orders that are expressions, under rules whose kernels no other default test compiles."""

from __future__ import annotations

from tests.unit.core.test_expression import (
    test_a_key_that_is_not_a_number_at_a_pass_is_refused as refused,
)


def test_a_key_that_is_not_a_number_is_refused_where_all_jobs_are_reserved() -> None:
    refused("({})+conservative")
