"""Prints scripts as Redis gets them, for their authors.

python -m redisson_dq.scripts            the names, their sizes in bytes, and their includes
python -m redisson_dq.scripts NAME ...   the assembled texts
"""

from __future__ import annotations

import argparse

from redisson_dq.scripts.script import load, names


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m redisson_dq.scripts", description="Prints Lua scripts as Redis gets them."
    )
    parser.add_argument("name", nargs="*", help="a script; without any, the sizes of all of them")
    chosen = parser.parse_args().name
    unknown = sorted(set(chosen).difference(names()))
    if unknown:
        parser.error(f"there is no script {', '.join(unknown)}; there are {', '.join(names())}")
    for name in chosen:
        print(load(name).source, end="")
    if not chosen:
        for script in map(load, names()):
            print(f"{script.name:18}{len(script.source.encode()):7}  {', '.join(script.includes)}")


if __name__ == "__main__":
    main()
