"""``redisson-dq generate-classes``: the Python module that declares the classes of a jar. No JVM runs."""

from __future__ import annotations

from typing import Literal

import click

__all__ = ["command"]


@click.command(
    help="""Print a Python module that declares Java classes from a jar or a directory of .class files.

    PATH is a jar (a Spring Boot jar or a war, too), or a directory of .class files. CLASS is com.acme.Order; a nested
    class: com.acme.Outer.Inner; all of a package: 'com.acme.*'; with the packages below it: 'com.acme.**'. Superclasses
    and the classes of fields come with them. Without any CLASS, an error lists what there is.
    """
)
@click.argument("path", metavar="PATH")
@click.argument("classes", metavar="[CLASS]...", nargs=-1)
@click.option(
    "--classpath",
    multiple=True,
    metavar="PATH",
    help="Another jar or directory with the classes of fields; may be repeated.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the module to this file instead of printing it.")
@click.option(
    "--check",
    metavar="FILE",
    help="Compare this module with the jar instead; exit with 1 if it differs.",
)
@click.option(
    "--subclasses",
    is_flag=True,
    help="Include the classes in PATH that extend or implement a given class, or the type of a field.",
)
@click.option("--snake-case", is_flag=True, help="Name attributes customer_id where Java has customerId.")
@click.option("--dataclasses", is_flag=True, help="Write dataclasses instead of attrs classes.")
@click.option("--pydantic", is_flag=True, help="Write pydantic models instead of attrs classes.")
def command(
    path: str,
    classes: tuple[str, ...],
    classpath: tuple[str, ...],
    output: str | None,
    check: str | None,
    subclasses: bool,
    snake_case: bool,
    dataclasses: bool,
    pydantic: bool,
) -> int:
    """Carry out ``generate-classes``: 0 when the module was written, or equals that of ``--check``."""
    if dataclasses and pydantic:
        raise click.UsageError("--dataclasses and --pydantic exclude each other")
    if check is not None and output is not None:
        raise click.UsageError("--check writes no file: remove --output")
    from redisson_dq.cli.generate_classes._run import generate

    style: Literal["attrs", "dataclasses", "pydantic"] = (
        "dataclasses" if dataclasses else "pydantic" if pydantic else "attrs"
    )
    return generate(
        path,
        list(classes),
        classpath=list(classpath),
        output=output,
        check=check,
        subclasses=subclasses,
        snake_case=snake_case,
        style=style,
    )
