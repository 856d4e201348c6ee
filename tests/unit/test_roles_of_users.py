"""The rights of roles: each command is one that the documentation names, and each pattern only matches its keys."""

from __future__ import annotations

import fnmatch

import attrs
import pytest

from redisson_dq.errors import ArgumentError
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from redisson_dq.wire.rights import ROLES, acl_words, commands_of
from tests.security.test_rights_of_a_user import documented_commands


def test_each_command_is_documented() -> None:
    documented = {name.replace(" ", "|") for name in documented_commands()}
    # The page names MEMORY as a whole, and the other two beside the table.
    documented |= {"memory|usage", "eval_ro", "evalsha_ro"}
    assert {name for role in ROLES for name in commands_of(role)} - documented == set()


def test_a_role_that_nobody_knows() -> None:
    with pytest.raises(ArgumentError, match="did you mean mover"):
        commands_of("movr")


@pytest.mark.parametrize("role", ["observer", "mover", "producer"])
def test_nobody_takes_without_being_a_consumer(role: str) -> None:
    assert {"blpop", "brpop", "blmove", "rpop"}.isdisjoint(commands_of(role))


def test_an_observer_writes_nothing() -> None:
    writes = {"rpush", "lpush", "zadd", "zrem", "hset", "hdel", "del", "set", "lrem", "ltrim", "lset", "publish"}
    assert writes.isdisjoint(commands_of("observer"))


@pytest.mark.parametrize("name", ["orders", "{shop}:orders", "a[b]?"])
def test_patterns_fit_all_keys_of_a_queue(name: str) -> None:
    patterns = [word[1:] for word in acl_words("worker", [name]) if word.startswith("~")]
    keys = [*attrs.astuple(QueueKeys.of(name)), *attrs.astuple(DeadKeys.belonging_to(name))]
    # fnmatch knows no backslash.
    shells = [pattern.replace("\\[", "[[]").replace("\\]", "]").replace("\\?", "[?]") for pattern in patterns]
    for key in keys:
        assert any(fnmatch.fnmatchcase(key, shell) for shell in shells), key
    others = [*attrs.astuple(QueueKeys.of("bills")), *attrs.astuple(QueueKeys.of(f"{name}s"))]
    assert [key for key in others if any(fnmatch.fnmatchcase(key, shell) for shell in shells)] == []


def test_an_old_server_is_told_no_newer_commands() -> None:
    assert "+client|setinfo" not in acl_words("worker", ["orders"], version=(7, 0))
    assert "+client|setinfo" in acl_words("worker", ["orders"], version=(7, 2))


@pytest.mark.parametrize("role", ROLES)
def test_all_queues_are_one_pattern(role: str) -> None:
    # Redis refuses a pattern after the one for all keys.
    assert [word for word in acl_words(role, ["orders", "*"]) if word.startswith("~")] == ["~*"]
