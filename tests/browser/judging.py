"""What a page is judged by: accessibility, layout, sizes."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

__all__ = ["accessible", "settled", "shifts", "sizes"]

_AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def accessible(page: Page) -> None:
    """Fails with all that axe finds in a page."""
    page.evaluate(_AXE)
    found: list[dict[str, Any]] = page.evaluate("() => axe.run().then(({violations}) => violations)")
    told = [f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in found for node in each["nodes"]]
    assert not told, "\n".join([page.url, *told])


def settled(page: Page) -> None:
    """Waits until the page and its font are there."""
    page.evaluate("() => document.fonts.ready.then(() => true)")


def shifts(page: Page) -> float:
    """How much of the page has moved since it was loaded (cumulative layout shift)."""
    return float(
        page.evaluate(
            """() => new Promise(done => {
              let sum = 0;
              new PerformanceObserver(list => {
                for (const each of list.getEntries()) if (!each.hadRecentInput) sum += each.value;
              }).observe({type: "layout-shift", buffered: true});
              requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
            })"""
        )
    )


def sizes(page: Page) -> dict[str, int]:
    """The bytes of the page and of each file that it loads."""
    return dict(
        page.evaluate(
            """() => performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource"))
                .map(each => [each.name, each.encodedBodySize])"""
        )
    )
