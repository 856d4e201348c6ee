"""Where classes are read from: directories, jars, and the jars inside jars. Nothing is unpacked."""

from __future__ import annotations

import contextlib
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from redisson_dq.cli.generate_classes._classfile import BadClass, ClassFile, read_class
from redisson_dq.cli.generate_classes._errors import UnreadableError
from redisson_dq.errors import ArgumentError

__all__ = ["Library", "title"]

_MAX_CLASS = 16 << 20
_MAX_INNER_JAR = 1 << 30
_SUFFIX = ".class"
#: Neither anonymous (Order$1) nor local (Order$1Line), nor a package-info.
_NAMED = re.compile(r"(?!.*\$\d)(?!\d)[\w$]+(\.(?!\d)[\w$]+)*")
#: Where Spring Boot's jars and wars keep the application's classes, and its libraries.
_CLASSES = ("BOOT-INF/classes/", "WEB-INF/classes/")
_LIBRARY = re.compile(r"(BOOT-INF|WEB-INF)/lib/[^/]+\.jar")
_VERSIONED = re.compile(r"META-INF/versions/(\d+)/(.+)")
_MULTI_RELEASE = re.compile(rb"^Multi-Release: *true\s*$", re.MULTILINE | re.IGNORECASE)
#: The errors that zipfile raises for a file that is broken, encrypted, or compressed in a way it does not know.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError)


class Library:
    """The classes of some jars and directories. Of several with one name the first counts, as on Java's class path.

    The classes of the first path are declared, the others only complete them. Raises UnreadableError for a path that
    is neither a jar nor a directory. A context manager.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._known: dict[str, ClassFile | None] = {}
        self._files = contextlib.ExitStack()
        with contextlib.ExitStack() as failed:
            failed.callback(self._files.close)
            self._paths = [_Path(path, self._files) for path in paths]
            failed.pop_all()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()

    def names(self) -> list[str]:
        """The first path's classes that have a name in Java source; those of jars inside it come last. Opens all."""
        names = dict.fromkeys(name for source in self._paths[0] for name in sorted(source.entries))
        return [name for name in names if _NAMED.fullmatch(name)]

    def find(self, name: str) -> ClassFile | None:
        """The class, or None if there is none. Raises UnreadableError if it cannot be read. Reads its file once."""
        if name not in self._known:
            holder = next((source for path in self._paths for source in path if name in source.entries), None)
            self._known[name] = None if holder is None else _load(holder, name)
        return self._known[name]


class _ClassPathEntry:
    """One directory or jar: the names of its classes, and where each one is."""

    def __init__(self, title: str, entries: dict[str, Any]) -> None:
        self.title, self.entries = title, entries

    def read(self, name: str) -> bytes:
        """Up to one byte more than a class file may have."""
        raise NotImplementedError

    def inner(self) -> Iterator[_ClassPathEntry]:
        """The jars inside, opened one by one."""
        return iter(())


class _Directory(_ClassPathEntry):
    def __init__(self, path: str) -> None:
        root = Path(path)
        files = (Path(folder, file) for folder, _, names in os.walk(root) for file in names if file.endswith(_SUFFIX))
        super().__init__(title(path), {_class_name(file.relative_to(root).as_posix()): file for file in files})

    def read(self, name: str) -> bytes:
        with open(self.entries[name], "rb") as file:
            return file.read(_MAX_CLASS + 1)


class _Jar(_ClassPathEntry):
    def __init__(self, title: str, file: str | IO[bytes], files: contextlib.ExitStack) -> None:
        with _reading(title):
            self._zip = files.enter_context(zipfile.ZipFile(file))
            super().__init__(title, self._classes())
        self._files = files

    def _classes(self) -> dict[str, zipfile.ZipInfo]:
        """By name; in a jar for several releases of Java, the latest release's."""
        found: dict[str, tuple[int, zipfile.ZipInfo]] = {}
        several = self._is_multi_release()
        for info in self._zip.infolist():
            path, release = info.filename, 0
            match = _VERSIONED.fullmatch(path)
            if match is not None and several:
                path, release = match[2], int(match[1])
            for prefix in _CLASSES:
                path = path.removeprefix(prefix)
            if path.endswith(_SUFFIX) and release >= found.get(_class_name(path), (0,))[0]:
                found[_class_name(path)] = release, info
        return {name: info for name, (_, info) in found.items()}

    def _is_multi_release(self) -> bool:
        try:
            with self._zip.open("META-INF/MANIFEST.MF") as manifest:
                return _MULTI_RELEASE.search(manifest.read(_MAX_CLASS)) is not None
        except KeyError:
            return False

    def read(self, name: str) -> bytes:
        with self._zip.open(self.entries[name]) as file:
            return file.read(_MAX_CLASS + 1)

    def inner(self) -> Iterator[_ClassPathEntry]:
        for info in self._zip.infolist():
            if _LIBRARY.fullmatch(info.filename):
                title = f"{self.title}!/{info.filename}"
                if info.file_size > _MAX_INNER_JAR:
                    raise UnreadableError(f"{title} is larger than {_MAX_INNER_JAR >> 20} MB")
                with _reading(title):
                    file = self._files.enter_context(self._zip.open(info))
                yield _Jar(title, file, self._files)


class _Path:
    """The sources of one argument: a directory or a jar, then the jars inside, which are opened when reached."""

    def __init__(self, path: str, files: contextlib.ExitStack) -> None:
        first = _Directory(path) if os.path.isdir(path) else _Jar(title(path), path, files)
        self._opened: list[_ClassPathEntry] = [first]
        self._closed = first.inner()

    def __iter__(self) -> Iterator[_ClassPathEntry]:
        yield from self._opened
        for source in self._closed:
            self._opened.append(source)
            yield source


@contextlib.contextmanager
def _reading(place: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise UnreadableError(f"{place} cannot be read: {reason}") from error


def _load(source: _ClassPathEntry, name: str) -> ClassFile:
    place = f"{name} in {source.title}"
    with _reading(place):
        data = source.read(name)
    if len(data) > _MAX_CLASS:
        raise UnreadableError(f"{place} is larger than {_MAX_CLASS >> 20} MB")
    try:
        java = read_class(data)
    except BadClass as error:
        raise UnreadableError(f"{place} is not a readable class file: {error}") from error
    if java.name != name:
        raise ArgumentError(f"{place} is the file of {java.name}; give the folder that the packages begin in")
    return java


def _class_name(path: str) -> str:
    return path[: -len(_SUFFIX)].replace("/", ".")


def title(path: str) -> str:
    """The path's last part, so that the output does not depend on the machine."""
    return os.path.basename(os.path.normpath(path))
