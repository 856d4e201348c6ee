"""``python -m tests.benchmarks``, from the root of the repository. ``docs/benchmarks.md`` describes it."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from redisson_dq.embedded import EmbeddedServer
from tests.benchmarks import codecs, lateness, offers, page, report
from tests.benchmarks.kept import Kept
from tests.benchmarks.machine import Machine, load
from tests.benchmarks.measures import ASYNCIO, DEFAULT, LONG_GROWTH, QUICK, SYNC, Run, Settings
from tests.benchmarks.peers import command as peers
from tests.benchmarks.subjects import JavaConsumers, PythonConsumer, Subject
from tests.peer import JavaPeer

__all__ = ["main"]

#: The defaults that ``--quick`` changes.
_QUICK = {
    "items": 50,
    "seconds": 1.0,
    "warm_up": 10,
    "repeat": 1,
    "offers": 20,
    "bulk": 1500,
    "redisson_offers": 200,
    "slice_ms": 1,
}


_KEPT = Path("build") / "benchmarks"


def main(argv: Sequence[str] | None = None) -> int:
    """Measures, prints, and returns the exit code: 0, whatever the figures are; 1 if a part failed; 130 after
    Ctrl-C."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.quick:
        parser.set_defaults(**_QUICK)
        arguments = parser.parse_args(argv)
    if "peers" in (arguments.only or ()):
        if len(arguments.only) > 1:
            parser.error("--only peers has a run and a file of its own")
        return peers.run(arguments, _say)
    sizes = QUICK if arguments.quick else DEFAULT
    if arguments.full:
        sizes = attrs.evolve(
            sizes,
            redisson_drains=max(sizes.drains),
            backlogs=(*sizes.backlogs, 10 * max(sizes.backlogs)),
            growth=LONG_GROWTH,
        )
    settings = Settings(
        items=arguments.items,
        seconds=arguments.seconds,
        warm_up=arguments.warm_up,
        repeat=arguments.repeat,
        offers=arguments.offers,
        bulk=arguments.bulk,
        redisson_offers=arguments.redisson_offers,
        slice_ms=arguments.slice_ms,
        java=arguments.java,
        sizes=sizes,
        against=arguments.against,
    )
    kept = Kept(
        arguments.kept / ("quick" if arguments.quick else "full" if arguments.full else "default"),
        resume=arguments.resume,
    )
    try:
        results = _run(settings, arguments.only, arguments.server, kept)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(report.to_json(results), indent=1) + "\n", "utf-8")
    if arguments.write:
        _write(results)
    if arguments.markdown:
        print(report.markdown(results, with_goals=arguments.check_goals), end="")
    else:
        report.show(results, with_goals=arguments.check_goals)
    return 1 if results.failed else 0


def _write(results: report.Results) -> None:
    """Replaces the figures and charts of the measured parts on the page."""
    text = page.PAGE.read_text("utf-8")
    for name, tables in report.tables_by_part(results).items():
        command = " ".join(word for word in sys.argv[1:] if word not in ("--write", "--resume"))
        text = page.replaced(text, name, page.section(command, results.machine, tables))
    page.PAGE.write_text(text, "utf-8")
    _say(f"wrote {page.PAGE}; {page.draw(report.to_json(results))}")


def _run(settings: Settings, only: Sequence[str] | None, program: str | None, kept: Kept) -> report.Results:
    with ExitStack() as stack:
        server = stack.enter_context(EmbeddedServer(program))
        # With a JVM's default flags: those of the tests start faster and run slower.
        peer = stack.enter_context(JavaPeer(flags=())) if settings.java else None
        machine = Machine.now(server, peer.about if peer else None)
        run = Run(server=server, peer=peer, settings=settings, say=_say, kept=kept)
        passes: list[lateness.Pass] = []
        rates: offers.Rates = {}
        codec_rates: codecs.CodecRates = {}
        if _wanted("lateness", only):
            passes = kept.of("lateness", lambda: _lateness(run))
        if _wanted("offers", only):
            rates = kept.of("offers", lambda: offers.measure(server.url, peer, settings, _say))
        if _wanted("codecs", only):
            codec_rates = kept.of("codecs", lambda: codecs.measure(peer, settings, _say))
        parts: dict[str, Sequence[Any]] = {}
        failed = {}
        for name, part in report.PARTS.items():
            if _wanted(name, only):
                try:
                    # These two save each point.
                    in_parts = name in ("growth", "many")
                    parts[name] = part.measure(run) if in_parts else kept.of(name, partial(part.measure, run))
                except RuntimeError as error:
                    # The figures of the other parts, which took many minutes, are worth keeping.
                    failed[name] = str(error)
                    _say(f"{name} failed: {error}")
        machine = attrs.evolve(machine, load_after=load())
        return report.Results(
            settings=settings,
            machine=machine,
            passes=passes,
            rates=rates,
            codecs=codec_rates,
            parts=parts,
            failed=failed,
        )


def _wanted(part: str, only: Sequence[str] | None) -> bool:
    return only is None or part in only


def _lateness(run: Run) -> list[lateness.Pass]:
    with ExitStack() as consumers:
        subjects: list[Subject] = [JavaConsumers(run.peer)] if run.peer else []
        subjects += [PythonConsumer(SYNC, "sync"), PythonConsumer(ASYNCIO, "asyncio")]
        for subject in subjects:
            consumers.callback(subject.close)
        loaded = run.settings.sizes.background
        return lateness.measure(run, subjects) + lateness.measure(run, subjects, background=loaded)


def _say(line: str) -> None:
    # Standard output is only for the figures.
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="This library and Redisson side by side, on a server of its own.",
    )
    count, seconds = _positive(int), _positive(float)
    parser.add_argument("--items", type=count, default=2000, help="items of a lateness pass (%(default)s)")
    parser.add_argument("--seconds", type=seconds, default=8.0, help="the time they fall due within (%(default)s)")
    parser.add_argument("--warm-up", type=count, default=200, help="items before that do not count (%(default)s)")
    parser.add_argument("--repeat", type=count, default=3, help="passes; rates are measured 3 times as often")
    parser.add_argument("--offers", type=count, default=2000, help="single offers of a slice (%(default)s)")
    parser.add_argument("--bulk", type=count, default=100_000, help="bulk offers of a slice (%(default)s)")
    parser.add_argument("--redisson-offers", type=count, default=20_000, help="Redisson's of a slice (%(default)s)")
    parser.add_argument("--slice-ms", type=count, default=50, help="of one codec and value, each round (%(default)s)")
    parser.add_argument("--no-java", dest="java", action="store_false", help="leave Redisson out")
    parts = ("lateness", "offers", "codecs", *report.PARTS, "peers")
    parser.add_argument("--only", choices=parts, action="append", help="measure this part; may be given more than once")
    parser.add_argument("--quick", action="store_true", help="everything, too small to mean anything: does it run?")
    parser.add_argument(
        "--full",
        action="store_true",
        help="also the largest drain of Redisson, the largest backlog, and the far ends of growth",
    )
    peers.add_options(parser)
    parser.add_argument("--server", help="the server program, a path or a name (default: redis-server on PATH first)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to FILE")
    parser.add_argument("--write", action="store_true", help="put figures and charts into tests/benchmarks/figures.md")
    parser.add_argument("--resume", action="store_true", help="measure only what an earlier run has not kept")
    parser.add_argument(
        "--kept", type=Path, default=_KEPT, metavar="DIR", help="where figures are kept as they are found (%(default)s)"
    )
    parser.add_argument("--against", metavar="DIR", help="another checkout, for --only many: both in turns")
    parser.add_argument("--markdown", action="store_true", help="print the section of tests/benchmarks/figures.md")
    parser.add_argument("--check-goals", action="store_true", help="print each goal with met or missed")
    return parser


def _positive(kind: type[int] | type[float]) -> type[int] | type[float]:
    def number(text: str) -> int | float:
        value = kind(text)
        if not value > 0:
            raise ValueError(text)
        return value

    number.__name__ = f"positive {kind.__name__}"
    return number  # type: ignore[return-value]


if __name__ == "__main__":
    sys.exit(main())
