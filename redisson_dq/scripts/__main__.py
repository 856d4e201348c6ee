"""Prints scripts, for their authors.

python -m redisson_dq.scripts            what each does and costs, by name
python -m redisson_dq.scripts NAME ...   their headers, and the texts that Redis gets
"""

from __future__ import annotations

import argparse
import re

from redisson_dq.scripts.script import load, names


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m redisson_dq.scripts", description="Prints Lua scripts.")
    parser.add_argument("name", nargs="*", help="a script; without any, what each of them does and costs")
    chosen = parser.parse_args().name
    unknown = sorted(set(chosen).difference(names()))
    if unknown:
        parser.error(f"there is no script {', '.join(unknown)}; there are {', '.join(names())}")
    for name in chosen:
        script = load(name)
        print(f"-- {script.summary}", *(f"-- {field}: {text}" for field, text in script.header.items()), sep="\n")
        print(script.source, end="")
    if not chosen:
        for script in map(load, names()):
            does = script.summary.partition(". ")[0].removesuffix(".")
            print(f"{script.name:18}{len(script.source.encode()):7}  {does}; {_order_of(script.header['COST'])}")


def _order_of(cost: str) -> str:
    """``O(n log m)`` of ``O(n log m), n leases, m waiting``: the script's own header explains the letters."""
    found = re.match(r"O\((?:[^()]|\([^()]*\))*\)", cost)
    return found[0] if found else cost


if __name__ == "__main__":
    main()
