"""Run with the path of a module that ``generate-classes`` made: prints what it declares, as java/Reflect.java does."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import attrs

from redisson_dq.java.declaration import Declaration
from redisson_dq.java.registry import declaration_for
from redisson_dq.java.signatures import OBJECT, Signature


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def declarations(module: ModuleType) -> list[Declaration]:
    found = [declaration_for(value) for value in vars(module).values() if isinstance(value, type)]
    return [declaration for declaration in found if declaration is not None]


def line(java: Declaration) -> str:
    superclass = java.superclass_type
    if superclass is None and java.extends:
        superclass = Signature(java.extends, java.elements)
    fields = "; ".join(f"{field.name}: {text(field.type)}" for field in java.fields)
    return " | ".join(
        (
            java.name,
            java.kind,
            "final" if java.final else "open",
            "-" if superclass is None else text(superclass),
            "-" if java.serial_version_uid is None else str(java.serial_version_uid),
            fields,
            " ".join(java.constants),
        )
    )


def text(signature: Signature) -> str:
    if signature.wildcard:
        word = signature.wildcard == "super" or signature.arguments
        return (f"? {signature.wildcard} " if word else "") + text(attrs.evolve(signature, wildcard=""))
    if signature.variable is not None:
        return f"{signature.name} {signature.variable.partition('_')[0]}"
    if all(argument == OBJECT for argument in signature.arguments):
        return signature.name
    return f"{signature.name}<{', '.join(map(text, signature.arguments))}>"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    for declaration in declarations(load(sys.argv[1])):
        print(line(declaration))
