"""The benchmark command: its arithmetic, and a run too small to mean anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import codecs, offers, page
from tests.benchmarks.__main__ import main
from tests.benchmarks.kept import Kept
from tests.benchmarks.measures import ASYNCIO, SYNC, Spread, percentile, ratios
from tests.benchmarks.report import PARTS
from tests.benchmarks.tables import Table


@pytest.mark.parametrize(("share", "figure"), [(50, 2.0), (51, 3.0), (75, 3.0), (99, 4.0), (100, 4.0), (0, 1.0)])
def test_percentile_is_the_nearest_rank(share: float, figure: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], share) == figure


def test_ratios_are_taken_round_by_round() -> None:
    # The machine was at half its speed in the last round; the ratio is not.
    assert ratios([6.0, 8.0, 3.0], [10.0, 10.0, 5.0]) == Spread(median=0.6, low=0.6, high=0.8)


def test_rounds_that_do_not_pair_are_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ratios([1.0, 2.0], [1.0])


def test_a_spread_names_its_extremes_unless_there_are_none() -> None:
    assert Spread.of([1234.0, 1000.0, 2000.0]).text(0) == "1,234 (1,000 to 2,000)"
    assert Spread.of([0.5]).text(2) == "0.50"


def test_what_was_measured_is_compared_without_its_first_round() -> None:
    found = offers.comparisons({offers.OFFER: [1.0, 65.0], offers.PING: [1.0, 100.0], offers.AIO_OFFER: [1.0]})
    assert [(one.name, one.beside, one.ratio.median) for one in found] == [(offers.OFFER, offers.PING, 0.65)]


@pytest.mark.nightly
def test_a_small_run_measures_everything_but_redisson(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    parts = ["--only", "lateness", "--only", "offers", "--only", "codecs"]
    assert main([*parts, "--quick", "--no-java", "--markdown", "--check-goals", "--json", str(file)]) == 0

    figures = json.loads(file.read_text("utf-8"))
    for one in figures["passes"]:
        assert len(one["lateness_us"]) == 50
        assert len(one["from_wish_us"]) == 12
        assert min(one["from_wish_us"]) >= 0
        assert one["limit_us"] > 0
        assert (one["early"], one["lost"], one["twice"]) == (0, 0, 0)
        assert one["calls"]["zadd"] >= 50  # more with the load beside it
        assert (one["background_reached"] > 0) == (one["background"] > 0)
        assert one["calls"]["evalsha"] > 0
    found = [(one["subject"], one["background"]) for one in figures["lateness"]]
    assert found == [(SYNC, 0), (ASYNCIO, 0), (SYNC, 500), (ASYNCIO, 500)]
    assert {len(rates) for rates in figures["rates"].values()} == {4}
    assert len(figures["offers"]) == 10
    ours = codecs.KRYO, f"{SYNC} JsonJacksonCodec", f"{SYNC} SerializationCodec"
    assert {(one["direction"], one["name"]) for one in figures["codecs"] if one["value"] == codecs.ORDER} == {
        (direction, name)
        for direction in (codecs.ENCODE, codecs.DECODE)
        for name in (
            *ours,
            *(f"{each}, without functions made for a class" for each in ours),
            "json",
            "orjson",
            "pickle",
        )
    }
    assert all(one["times_the_limit"]["median"] > 0 for one in figures["lateness"])
    verdicts = {goal["text"]: goal["verdict"] for goal in figures["goals"]}
    assert verdicts[f"{SYNC}: no item early, lost or twice"] == "met"
    assert verdicts[f"{ASYNCIO}: lateness p99 below Redisson's"] == "not measured"
    assert verdicts[f"{codecs.KRYO}, decode {codecs.ORDER}: at least 80,000 a second"] in ("met", "missed")

    printed = capsys.readouterr().out
    assert f"| {SYNC} | " in printed
    assert f"| {offers.AIO_OFFER_ALL} | " in printed
    assert printed.count("**Goals**") == 1


def test_each_part_has_a_section_on_the_page() -> None:
    text = page.PAGE.read_text("utf-8")
    for part in ("lateness", "offers", "codecs", "peers", *PARTS):
        assert "| 1 |" in page.replaced(text, part, "| 1 |")


def test_a_run_replaces_the_figures_of_its_parts_alone() -> None:
    drain = "a\n<!-- figures: drain -->\n\nold\n\n<!-- end of drain -->\n"
    text = f"{drain}b\n<!-- figures: idle -->\nold\n<!-- end of idle -->\n"
    made = page.replaced(text, "drain", r"new \1")
    assert made == text.replace("old\n\n<!-- end of drain", "new \\1\n\n<!-- end of drain")
    with pytest.raises(ValueError, match="no section <!-- figures: herd -->"):
        page.replaced(text, "herd", "new")


def test_the_page_shows_the_brief_rows_of_a_table() -> None:
    table = Table(title="t", header=("a",), rows=[("1",), ("2",)], brief=[("2",)])
    assert "| 1 |" in table.markdown()
    assert "| 1 |" not in table.markdown(brief=True)


def test_a_run_that_was_ended_goes_on(tmp_path: Path) -> None:
    found = iter([[1.5], [2.5], [3.5]])
    first, again = Kept(tmp_path, resume=False), Kept(tmp_path, resume=True)
    assert first.of("growth, 10 items", lambda: next(found)) == [1.5]
    assert again.of("growth, 10 items", lambda: next(found)) == [1.5]
    assert again.of("growth, 20 items", lambda: next(found)) == [2.5]
    assert first.of("growth, 10 items", lambda: next(found)) == [3.5]
    assert again.of("growth, 10 items", lambda: next(found)) == [3.5]
