"""The mutations are up to date: their lines and their tests are there. ``python -m tests.mutations`` runs them."""

from __future__ import annotations

import ast

import pytest

from tests.mutations import MUTATIONS, ROOT, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_line_and_test_are_there(mutation: Mutation) -> None:
    assert (ROOT / mutation.path).read_text("utf-8").count(mutation.line) == 1
    path, _, test = mutation.test.partition("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
