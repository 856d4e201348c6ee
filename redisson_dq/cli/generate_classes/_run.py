"""``generate-classes`` from its arguments to the module: the classes asked for, the missing ones, the file."""

from __future__ import annotations

import ast
import difflib
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from redisson_dq.cli.generate_classes._check import compared
from redisson_dq.cli.generate_classes._closure import Closure
from redisson_dq.cli.generate_classes._module import Style, module_text
from redisson_dq.cli.generate_classes._names import printable
from redisson_dq.cli.generate_classes._sources import Library, title
from redisson_dq.cli.generate_classes._supertypes import Why
from redisson_dq.errors import ArgumentError, RedissonDQError

__all__ = ["generate", "write_module"]

_MOST_LISTED = 20
#: The loss if it is not declared. A missing superclass is reported separately.
_LOST = (Why.COLLECTION, Why.JDK_SUPERCLASS)
#: Classes that need no declaration.
_NEEDLESS = {
    Why.INTERFACE: "interfaces, whose values are of other classes",
    Why.THROWABLE: "exceptions, which come as java.Throwable",
    Why.CONSTANT: "classes of one constant of an enum",
}
_CLASSPATH = "--classpath adds its jar"


def generate(
    path: str,
    classes: Sequence[str],
    *,
    classpath: Sequence[str] = (),
    output: str | None = None,
    check: str | None = None,
    subclasses: bool = False,
    snake_case: bool = False,
    style: Style = "attrs",
) -> int:
    """Write the module, and warnings to standard error; 0. Raises ArgumentError when the module cannot be made,
    UnreadableError for a file that cannot be read, and RedissonDQError when the file cannot be written.
    """
    try:
        closure = _collected(path, classes, classpath, subclasses=subclasses)
    except ArgumentError as error:  # names that are in files may hold anything, line ends as well
        raise type(error)(printable(str(error))) from error
    options = {"--subclasses": subclasses, "--snake-case": snake_case, f"--{style}": style != "attrs"}
    heading = _heading(path, classes, classpath, [option for option, given in options.items() if given])
    heading += _dropped(closure)
    told = output or check
    texts = {} if told is None else _said_in(Path(told), "texts", str)
    json = {} if told is None else _said_in(Path(told), "json", (str, int))
    text = module_text(closure, heading, style=style, snake_case=snake_case, texts=texts, json=json)
    if check is not None:
        differences = compared(Path(check), text)
        for line in differences:
            print(printable(line))
        return 1 if differences else 0
    write_module(text, output)
    for warning in _warnings(closure):
        print(f"redisson-dq: warning: {printable(warning)}", file=sys.stderr)
    return 0


def _collected(path: str, classes: Sequence[str], classpath: Sequence[str], *, subclasses: bool) -> Closure:
    with Library([path, *classpath]) as library:
        if not classes:
            raise ArgumentError(f"name the classes to declare; {title(path)} has {_listed(library.names())}")
        closure = Closure(library)
        for asked in classes:
            if "*" in asked:
                _add_matching(closure, library, asked)
            else:
                _add_named(closure, library, asked, subclasses=subclasses)
        if subclasses:
            closure.add_subclasses()
    if not closure.declared:
        raise ArgumentError(f"{title(path)} has no class to declare for {', '.join(classes)}")
    return closure


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return (", ".join(names[:_MOST_LISTED]) + more) or "none"


def _add_matching(closure: Closure, library: Library, pattern: str) -> None:
    expression = re.compile(re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", r"[^.]*"))
    names = library.names()
    found = [name for name in names if expression.fullmatch(name)]
    if not found:
        raise ArgumentError(f"no class matches {pattern}; there are {_listed(names)}")
    for name in found:
        why = closure.add(name)
        if why is not None:
            closure.dropped[name] = why


def _add_named(closure: Closure, library: Library, asked: str, *, subclasses: bool) -> None:
    name = _resolved(library, asked)
    why = closure.add(name)
    if why is Why.INTERFACE and subclasses:
        return
    if why is not None:
        advice = {
            Why.INTERFACE: "; --subclasses includes what implements it",
            Why.MISSING_SUPERCLASS: f"; {_CLASSPATH}",
        }
        raise ArgumentError(f"{name} cannot be declared: it {why.value}{advice.get(why, '')}")


def _resolved(library: Library, asked: str) -> str:
    """The Java name of the class; a dot may be where Java has a dollar sign."""
    parts = asked.split(".")
    for nested in range(len(parts)):
        outer = len(parts) - nested
        name = "$".join([".".join(parts[:outer]), *parts[outer:]])
        if library.find(name) is not None:
            return name
    names = library.names()
    simple = re.split(r"[.$]", asked)[-1].lower()
    close = [name for name in names if re.split(r"[.$]", name)[-1].lower() == simple]
    close = close or difflib.get_close_matches(asked, names)
    hint = f"; did you mean {' or '.join(close[:3])}?" if close else f"; there are {_listed(names)}"
    raise ArgumentError(f"there is no class {asked}{hint}")


def _warnings(closure: Closure) -> Iterator[str]:
    for missing, by in sorted(closure.missing.items()):
        yield f"{missing}, of which {by} has a field, is in none of the jars: typed as Any; {_CLASSPATH}"
    for missing, by in sorted(closure.missing_superclasses.items()):
        yield f"{missing}, which {by} extends, is in none of the jars: {by} is not declared; {_CLASSPATH}"
    for name, java in sorted(closure.declared.items()):
        if not java.json.may_be_named and (reason := java.json.refused or java.json3.refused):
            which = "Jackson's codecs" if java.json.refused else "the codecs of Jackson 3"
            yield f"{name} has {reason}, which no declaration can say: {which} refuse it, other codecs carry it"
    for name, why in sorted(closure.dropped.items()):
        if why in _LOST:
            yield f"{name} is not declared: it {why.value}"
    yield from closure.unreadable


def _heading(path: str, classes: Sequence[str], classpath: Sequence[str], options: Sequence[str]) -> str:
    """A comment with the command. Only the last part of paths is shown, so that the text is the same everywhere."""
    words = ["redisson-dq", "generate-classes", title(path), *classes]
    for extra in classpath:
        words += ["--classpath", title(extra)]
    command = printable(shlex.join([*words, *options]))
    lines = textwrap.wrap(command, 80, break_long_words=False, break_on_hyphens=False)
    return "# Made by this command; run it again when the Java classes have changed:\n#   " + " \\\n#     ".join(lines)


def _dropped(closure: Closure) -> str:
    """Comment lines on the classes that a pattern matches and that need no declaration."""
    found = {title: [name for name, why in closure.dropped.items() if why is kind] for kind, title in _NEEDLESS.items()}
    lines = [f"{title}: {_listed(sorted(names))}." for title, names in found.items() if names]
    if not lines:
        return ""
    wrapped = [textwrap.wrap(printable(line), 80, break_long_words=False, break_on_hyphens=False) for line in lines]
    return "".join("\n# " + "\n#   ".join(each) for each in [["Not declared, although they match:"], *wrapped])


def _said_in(earlier: Path, option: str, kinds: type | tuple[type, ...]) -> dict[str, dict[str, Any]]:
    """The ``texts=`` and ``json=`` that somebody wrote into the module that is made again, by Java name: no class file
    tells them.
    """
    try:
        module = ast.parse(earlier.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[str, dict[str, Any]] = {}
    for call in (each for each in ast.walk(module) if isinstance(each, ast.Call) and each.args):
        for keyword in call.keywords:
            if keyword.arg == option and isinstance(keyword.value, ast.Dict):
                try:
                    found[ast.literal_eval(call.args[0])] = ast.literal_eval(keyword.value)
                except (TypeError, ValueError):  # no plain texts
                    continue
    return {
        name: said
        for name, said in found.items()
        if all(isinstance(key, str) and isinstance(text, kinds) for key, text in said.items())
    }


def write_module(text: str, output: str | None) -> None:
    """Prints a module, or writes it to a file. A module that was there stays as it was when that fails."""
    data = text.encode()
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    path = Path(output).resolve()
    part = path.with_name(path.name + ".part")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        try:
            part.write_bytes(data)
            if path.exists():
                shutil.copymode(path, part)
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RedissonDQError(f"{output} cannot be written: {error.strerror}") from error
