"""``redisson-dq generate-classes``: the Python module that declares the classes of a jar. No JVM runs."""

from __future__ import annotations

import argparse

__all__ = ["HELP", "add_arguments", "run"]

HELP = "Print a Python module that declares Java classes, read from a jar or a directory of .class files."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``generate-classes``."""
    parser.add_argument(
        "path", metavar="PATH", help="a jar (a Spring Boot jar or a war, too), or a directory of .class files"
    )
    parser.add_argument(
        "classes",
        nargs="*",
        default=[],
        metavar="CLASS",
        help="com.acme.Order; a nested class: com.acme.Outer.Inner; all of a package: 'com.acme.*'; with the packages "
        "below it: 'com.acme.**'. Superclasses and the classes of fields come with them. Without any CLASS, an error "
        "lists what there is",
    )
    parser.add_argument(
        "--classpath",
        action="append",
        default=[],
        metavar="PATH",
        help="another jar or directory to find the classes of fields in; may be repeated",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the module to this file instead of printing it")
    parser.add_argument(
        "--subclasses",
        action="store_true",
        help="include the classes in PATH that extend or implement a class asked for, or the type of a field",
    )
    parser.add_argument(
        "--snake-case", action="store_true", help="name attributes customer_id where Java has customerId"
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--dataclasses", action="store_true", help="write dataclasses instead of attrs classes")
    kind.add_argument("--pydantic", action="store_true", help="write pydantic models instead of attrs classes")


def run(arguments: argparse.Namespace) -> int:
    """Carry out ``generate-classes``: 0 when the module was written."""
    from redisson_dq.cli.generate_classes._run import generate

    return generate(
        arguments.path,
        arguments.classes,
        classpath=arguments.classpath,
        output=arguments.output,
        subclasses=arguments.subclasses,
        snake_case=arguments.snake_case,
        style="dataclasses" if arguments.dataclasses else "pydantic" if arguments.pydantic else "attrs",
    )
