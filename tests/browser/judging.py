"""The criteria for a page: accessibility, layout, sizes."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

__all__ = ["LARGEST", "accessible", "fits", "settled", "shifts", "sizes"]

#: The bytes of a page with all of its files.
LARGEST = 300_000

_AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def accessible(page: Page, *rules: str) -> None:
    """Fails with all findings of axe in a page, or those of these rules."""
    if not page.evaluate("() => typeof axe === 'object'"):
        page.evaluate(_AXE)
    found: list[dict[str, Any]] = page.evaluate(
        "rules => axe.run(rules.length ? {runOnly: rules} : {}).then(({violations}) => violations)", list(rules)
    )
    told = [f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in found for node in each["nodes"]]
    assert not told, "\n".join([page.url, *told])


def settled(page: Page) -> None:
    """Waits until the page and its font are there."""
    page.evaluate("() => document.fonts.ready.then(() => true)")


def shifts(page: Page) -> float:
    """The cumulative layout shift of the page since it was loaded."""
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


def fits(page: Page, width: int) -> None:
    """Fails if a page of that width has to be scrolled horizontally."""
    page.set_viewport_size({"width": width, "height": 900})
    # Two frames later all is laid out.
    wide = page.evaluate(
        """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
          () => done(document.documentElement.scrollWidth))))"""
    )
    assert wide <= width, page.url


def sizes(page: Page) -> dict[str, int]:
    """The bytes of the page and of each file that it loads."""
    return dict(
        page.evaluate(
            """() => performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource"))
                .map(each => [each.name, each.encodedBodySize])"""
        )
    )
