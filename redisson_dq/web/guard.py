"""Checks each request before any page sees it, and sends the headers that tell browsers what the pages may do."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redisson_dq._operations.hosts import host_in, is_loopback
from redisson_dq.web.lines import audit, in_one_line

__all__ = ["HEADERS", "REFUSED", "WebGuard"]

#: The key in the scope under which a request's refusal is explained.
REFUSED = "redisson_dq.refused"
_READS = ("GET", "HEAD", "OPTIONS")

#: Nothing is loaded from another site, and no inline code runs. Our forms send their origin, so it can be checked.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
# Proxies add these to a request.
_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


class WebGuard:
    """Middleware around the application.

    - A host name that is not allowed is refused. So a page of another site cannot reach a dashboard on this machine by
      pointing a name at it (DNS rebinding).
    - Without ``auth=``, a client on another machine is refused, and so is a host name that is not this machine's own.
      A request that a proxy has passed on is refused too: behind a proxy, every client has this machine's address.
    - A POST from a page of another origin is refused.
    - Each refused POST, here or by a page, is logged in the log of actions.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], is_open: bool) -> None:
        """``is_open``: there is no ``auth=``. Otherwise, if ``hosts`` is empty, any host is allowed."""
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        is_file = scope["path"].removeprefix(scope.get("root_path", "")).startswith("/static/")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                # Browsers cache files and revalidate them by their tags, so an upgrade shows at once.
                headers.setdefault("cache-control", "no-cache" if is_file else "no-store")
                if scope["method"] not in _READS and message["status"] >= 400:
                    _tell_refused(scope, message["status"])
            await send(message)

        wrong = self._wrong(scope, Headers(scope=scope))
        if wrong is None:
            await self._app(scope, receive, with_headers)
        else:
            scope[REFUSED] = wrong
            await PlainTextResponse(wrong, 403)(scope, receive, with_headers)

    def _wrong(self, scope: Scope, headers: Headers) -> str | None:
        named = headers.getlist("host")
        # If there are two of them, a proxy may have checked the other one.
        host = named[0] if len(named) == 1 else ""
        name = host_in(host)
        if self._is_open and name and not is_loopback(name):
            return f"for the host {name!r} the dashboard needs a login: give app() auth=, or the command --auth"
        if self._is_open and any(each in headers for each in _FORWARDED):
            return "behind a proxy the dashboard needs a login: give app() auth=, or the command --auth"
        if not self._is_known(name):
            return (
                f"the host {name!r} is not allowed: start the dashboard with --allow-host NAME, or give app() "
                "hosts=[NAME]"
            )
        client = scope.get("client")
        if self._is_open and client is not None and not is_loopback(client[0]):
            return "without auth= the dashboard answers only this machine: give app() auth=, or the command --auth"
        if scope["method"] not in _READS:
            return _foreign(headers, host)
        return None

    def _is_known(self, name: str) -> bool:
        if "*" in self._hosts or name in self._hosts:
            return True
        if self._is_open or self._hosts:
            return is_loopback(name)
        return True


def _tell_refused(scope: Scope, status: int) -> None:
    address = str((scope.get("client") or ("?",))[0])
    why = str(scope.get(REFUSED) or f"HTTP status {status}")
    audit.warning(
        "refused from %s: %s %s: %s",
        in_one_line(address), in_one_line(scope["method"]), in_one_line(scope["path"]), in_one_line(why),
    )  # fmt: skip


def _foreign(headers: Headers, host: str) -> str | None:
    """Why a POST does not come from one of our pages. Programs other than browsers send none of these headers."""
    foreign = "the form comes from another site"
    sites = headers.getlist("sec-fetch-site")
    if sites:
        return None if sites == ["same-origin"] else foreign
    for origin in headers.getlist("origin"):
        try:
            place = urlsplit(origin).netloc.lower()
        except ValueError:
            return foreign
        if place != host.lower():
            return f"{foreign}: from {origin[:200]!r} to {host[:200]!r}. A proxy has to pass the header Host on"
    return None
