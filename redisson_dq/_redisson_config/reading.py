"""Reads a file of Redisson's settings. Scalars stay texts, as Redisson reads ``password: 0123``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Union

import attrs

from redisson_dq._redisson_config.spring import is_spring, redisson_content
from redisson_dq.errors import ArgumentError

__all__ = ["NamedObject", "RedissonConfig", "read"]

#: A YAML or JSON file, or its content as a mapping.
RedissonConfig = Union[str, "os.PathLike[str]", Mapping[str, Any]]

# The syntax of Redisson's variables. A default must not be empty.
_VARIABLE = re.compile(r"\$\{([\w.]+(?::-.+?)?)\}", re.ASCII)
# Redisson does not resolve it.
_OF_SPRING = re.compile(r"\$\{[\w.]+:(?!-)[^}]*\}", re.ASCII)
_NOTHING = ("", "~", "null", "Null", "NULL")
# A text that holds one of these is the content of a file, or a URL, and may hold a password.
_NO_PATH = re.compile(r"[\n{}@]|: |://")
# The words of PyYAML show an alias or a tag, which a password without quotes may look like.
_QUOTED = re.compile(r" '(?!<)\w[^']+'| '![^']+'")
_YAMLS = "tag:yaml.org,2002:"
_NO_TAGS = frozenset(f"{_YAMLS}{kind}" for kind in ("str", "int", "float", "bool", "null", "map", "seq", "set", "omap"))


@attrs.frozen
class NamedObject:
    """The name of a Java class, and the properties of its object. No object is created."""

    name: str
    properties: Any


def read(source: RedissonConfig) -> tuple[Mapping[str, Any], str]:
    """The settings, and the name of the source for errors. Raises ArgumentError."""
    try:
        return _read(source)
    except RecursionError:
        name = "redisson_config=" if isinstance(source, Mapping) else str(source)
    raise ArgumentError(f"{name}: these settings are nested too deeply")


def _read(source: RedissonConfig) -> tuple[Mapping[str, Any], str]:
    if isinstance(source, Mapping):
        return {str(name): _plain(value) for name, value in source.items()}, "redisson_config="
    if not isinstance(source, (str, os.PathLike)):
        kind = type(source).__name__
        raise ArgumentError(f"redisson_config= is the path of a YAML or JSON file, or a mapping, and not a {kind}")
    path, text, reason = Path(source), None, ""
    try:
        # Java skips a byte order mark, too.
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = str(error.strerror) if isinstance(error, OSError) else type(error).__name__
    if text is None:
        is_path = _NO_PATH.search(str(source)) is None
        name = f"the file {str(path)!r}" if is_path else "a text where the path of a file is wanted"
        # Neither this error nor its context has the text, which may hold a password.
        raise ArgumentError(f"redisson_config=: {name} cannot be read: {reason}")
    if path.suffix != ".json" and is_spring(text):
        inner, content = redisson_content(_documents(text, str(path)), str(path), path)
        if inner is None:
            return content, str(path)
        text = inner
    text = _resolved(text, str(path))
    found = _json(text, str(path)) if path.suffix == ".json" else _yaml(text, str(path))
    if not isinstance(found, Mapping):
        raise ArgumentError(
            f"{path}: these are not settings of Redisson, which begin with a key such as singleServerConfig:"
        )
    return found, str(path)


def _resolved(text: str, where: str) -> str:
    """Replaces variables by their values in the environment."""
    resolved = text
    for found in _VARIABLE.finditer(text):
        name, *default = found[1].split(":-")
        value = os.environ.get(name, default[0] if len(default) == 1 else None)
        if value is None:
            raise ArgumentError(f"{where}: the environment has no variable {name}, and ${{{name}}} has no default")
        resolved = resolved.replace(found[0], value)
    of_spring = _OF_SPRING.search(resolved)
    if of_spring:
        name = of_spring[0].partition(":")[0].removeprefix("${")
        raise ArgumentError(f"{where}: ${{{name}:...}} is of Spring; in a file of Redisson write ${{{name}:-...}}")
    return resolved


def _json(text: str, where: str) -> Any:
    try:
        return _plain(json.loads(text, parse_int=str, parse_float=str))
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, column {error.colno}: {error.msg}"
    # Neither this error nor its context has the text, which may hold a password.
    raise ArgumentError(f"{where}: {problem}")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        made = {str(name): _plain(each) for name, each in value.items()}
        return NamedObject(str(made.pop("class")), made) if "class" in made else made
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, bool):
        return str(value).lower()
    # The text of any other object, such as bytes, would differ from the intended value.
    return str(value) if isinstance(value, (int, float, os.PathLike)) else value


def _yaml(text: str, where: str) -> Any:
    # Composing makes a tree of texts. No constructor runs, so no tag makes anything.
    return _composed(lambda yaml: _tree(yaml.compose(text, Loader=yaml.BaseLoader), {}), where)


def _documents(text: str, where: str) -> list[Any]:
    return list(_composed(lambda yaml: [_tree(e, {}) for e in yaml.compose_all(text, Loader=yaml.BaseLoader)], where))


def _composed(compose: Callable[[Any], Any], where: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise ArgumentError(f"{where}: YAML needs PyYAML: pip install 'pyyaml>=6'") from error
    try:
        return compose(yaml)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = f"{place}{_QUOTED.sub('', getattr(error, 'problem', None) or 'it is not YAML')}"
    # The same limit as for JSON.
    raise ArgumentError(f"{where}: {problem}")


def _tree(node: Any, seen: dict[int, Any]) -> Any:
    # YAML represents an alias by the node it refers to. Each node is read once, however many aliases refer to it.
    if node is None:
        return None
    if id(node) not in seen:
        seen[id(node)] = None
        seen[id(node)] = _tagged(node, _content(node, seen))
    return seen[id(node)]


def _content(node: Any, seen: dict[int, Any]) -> Any:
    if node.id == "mapping":
        # The text of a mapping that is a key doubles with each alias in it, up to gigabytes.
        for name, _ in node.value:
            if name.id != "scalar":
                from yaml import MarkedYAMLError

                problem = "a list or a mapping is not the name of a setting"
                raise MarkedYAMLError(problem=problem, problem_mark=name.start_mark)
        return {str(_tree(name, seen)): _tree(value, seen) for name, value in node.value}
    if node.id == "sequence":
        return [_tree(each, seen) for each in node.value]
    return None if node.style is None and node.value in _NOTHING else node.value


def _tagged(node: Any, content: Any) -> Any:
    if node.tag in _NO_TAGS or node.tag == "!":
        is_of_class = isinstance(content, dict) and isinstance(content.get("class"), str)
        return NamedObject(content.pop("class"), content) if is_of_class else content
    # SnakeYAML treats !!x.Y and !<x.Y> alike.
    return NamedObject(node.tag.removeprefix(_YAMLS).lstrip("!"), content)
