"""Users of the dashboard, and their rights over queues.

There are three rights. ``view`` shows a queue with its values. ``mend`` changes its items: cancel, reschedule, run now,
redrive, offer, release, pause, resume. ``purge`` deletes values: it purges and acknowledges. ``mend`` includes
``view``, and ``purge`` includes both.
"""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import hmac
import inspect
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Literal, Union, get_args

import anyio.to_thread
import attrs
from starlette.requests import HTTPConnection

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.web.lines import audit, in_one_line
from redisson_dq.web.logins import Attempts, Sessions
from redisson_dq.web.seeing import Seeing

__all__ = [
    "RIGHTS",
    "Access",
    "Right",
    "Authorize",
    "Basic",
    "AccessRefused",
    "Token",
    "User",
    "address_of",
    "cookie_name",
]

#: A right. Each includes the ones before it.
Right = Literal["view", "mend", "purge"]
RIGHTS: tuple[Right, ...] = get_args(Right)
#: ``authorize(request, action, queue)``: whether the user of a request may do it. ``queue`` is None for pages about all
#: queues. A returned text allows it, and is the user's name.
Authorize = Callable[
    [HTTPConnection, Right, Union[str, None]], Union[bool, str, Awaitable[Union[bool, str, None]], None]
]

_SHORTEST = 16


def cookie_name(request: HTTPConnection) -> str:
    """The name of the session's cookie. Browsers send the cookies of all ports and paths of a host to each of them."""
    port = (request.scope.get("server") or ("", ""))[1]
    return re.sub(r"\W+", "_", f"redisson_dq_dashboard_{port}{request.scope.get('root_path', '')}", flags=re.ASCII)


class AccessRefused(Exception):
    """A request is not allowed. ``status`` is 401 if nobody has logged in, otherwise 403; ``hint`` names the remedy."""

    def __init__(self, status: int, text: str, hint: str = "", *, retry_after: int = 0) -> None:
        super().__init__(text)
        self.status, self.hint, self.retry_after = status, hint, retry_after


def address_of(request: HTTPConnection) -> str:
    """The address of a client, as the server reports it. A trusted proxy may have passed it on."""
    return "?" if request.client is None else request.client.host


@attrs.frozen
class User:
    """The user of a request. ``name`` is written to the log of actions, and ``form_name`` determines the tokens of
    forms.

    A hook may return another name of the user for each queue. The tokens of forms use one name.
    """

    name: str
    form_name: str = attrs.field(default=attrs.Factory(lambda self: self.name, takes_self=True))


def _is_strength(instance: object, attribute: object, value: str) -> None:
    if not isinstance(value, str) or len(value) < _SHORTEST or not value.isascii():
        raise ArgumentError(f"a token has {_SHORTEST} ASCII characters or more: take secrets.token_urlsafe()")


def _is_action(instance: object, attribute: object, value: str) -> None:
    if value not in RIGHTS:
        raise ArgumentError(f"a right is view, mend or purge, not {shown(value)}")


@attrs.frozen
class Token:
    """One secret for all users. A browser user enters it once, and a program sends it as ``Authorization: Bearer``.

    ``right`` is the right of its users: ``view``, ``mend`` or ``purge``. Example::

        redisson_dq.web.app(client, auth=Token(os.environ["DASHBOARD_TOKEN"]), allow_writes=True)

    Raises ArgumentError for a token of less than 16 characters.
    """

    token: str = attrs.field(repr=False, validator=_is_strength)
    right: Right = attrs.field(default="purge", kw_only=True, validator=_is_action)


@attrs.frozen
class _Account:
    password: str = attrs.field(repr=False)
    right: Right = attrs.field(validator=_is_action)
    pattern: str


class Basic:
    """Users with passwords, which browsers ask for. Serve it over TLS.

    ``users`` maps a name to a password, or to a password, a right and a pattern of queues. Example::

        Basic({"ada": "secret-of-ada", "bob": ("secret-of-bob", "view", "orders*")})

    A name with only a password has every right to all queues. Raises ArgumentError.
    """

    def __init__(self, users: Mapping[str, str | tuple[str, Right, str]]) -> None:
        self.accounts: dict[str, _Account] = {}
        for name, given in users.items():
            password, right, pattern = (given, RIGHTS[-1], "*") if isinstance(given, str) else given
            if not name or ":" in name or not password:
                raise ArgumentError(f"user {name!r}: a name without a colon and a password are needed")
            self.accounts[name] = _Account(password, right, pattern)
        if not self.accounts:
            raise ArgumentError("Basic() has no user")

    def __repr__(self) -> str:
        return f"Basic({', '.join(self.accounts)})"


class Access:
    """Finds the user of a request, and the rights of the user."""

    def __init__(
        self,
        auth: Token | Basic | Authorize | None,
        *,
        allow_writes: bool,
        reached: Callable[[str], Sequence[str | None]] = lambda name: (name,),
        now: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """``reached`` returns the names of the queues that share keys with a queue. A user needs a right to all of
        them.

        Raises ArgumentError for writes without ``auth``.
        """
        if allow_writes and auth is None:
            raise ArgumentError("allow_writes=True needs auth=: a Token, Basic, or a function authorize()")
        if auth is not None and not isinstance(auth, (Token, Basic)) and not callable(auth):
            raise ArgumentError(f"auth= must be a Token, Basic, or a function, not {shown(auth)}")
        self.auth = auth
        self.allow_writes = allow_writes
        self._reached = reached
        self.sessions, self.attempts = Sessions(now), Attempts(now)
        self._secret = secrets.token_bytes(32)

    # -- users -------------------------------------------------------------------------------------------------------

    def user_of(self, request: HTTPConnection) -> User:
        """The user of a request. Raises AccessRefused."""
        if self.auth is None:
            return User("local")
        if isinstance(self.auth, Token):
            if not self._has_token(request, self.auth):
                raise AccessRefused(401, "log in with the token")
            return User("token")
        if isinstance(self.auth, Basic):
            return self._basic_user(request, self.auth)
        user = request.scope.get("user")
        return User(str(getattr(user, "display_name", "") or getattr(user, "username", "") or ""))

    def _has_token(self, request: HTTPConnection, auth: Token) -> bool:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.is_token(request, given.strip())
        return self.sessions.has(request.cookies.get(cookie_name(request), ""), auth.token)

    def is_token(self, request: HTTPConnection, given: str) -> bool:
        """Whether this is the token, in constant time. Raises AccessRefused after wrong ones."""
        assert isinstance(self.auth, Token)
        is_right = hmac.compare_digest(given.encode(errors="replace"), self.auth.token.encode())
        return self._judged(request, "token", is_right)

    def _judged(self, request: HTTPConnection, user: str, is_right: bool) -> bool:
        """Counts a right or wrong password of a user and an address. Raises AccessRefused after wrong ones."""
        address = address_of(request)
        pause = self.attempts.pause(address, user)
        if pause:
            raise AccessRefused(429, "too many wrong passwords", f"Try again in {pause} seconds.", retry_after=pause)
        if is_right:
            self.attempts.succeeded(address, user)
            return True
        count = self.attempts.failed(address, user)
        # An unknown name may be a password entered in the wrong field.
        known = user == "token" or (isinstance(self.auth, Basic) and user in self.auth.accounts)
        audit.warning(
            "login refused: a wrong password of %s, from %s, %d in a row",
            in_one_line(repr(user)) if known else "an unknown user", in_one_line(address), count,
        )  # fmt: skip
        return False

    def _basic_user(self, request: HTTPConnection, auth: Basic) -> User:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if not given:
            raise AccessRefused(401, "log in with a name and a password")
        try:
            name, _, password = base64.b64decode(given if scheme.lower() == "basic" else "").decode().partition(":")
        except ValueError:
            name = password = ""
        account = auth.accounts.get(name)
        # This takes the same time for known and unknown names.
        is_right = hmac.compare_digest(
            password.encode(), (account.password if account else secrets.token_hex()).encode()
        )
        if account is None or not is_right:
            self._judged(request, name, False)
            raise AccessRefused(401, "log in with a name and a password")
        self._judged(request, name, True)
        return User(name)

    # -- rights ------------------------------------------------------------------------------------------------------

    async def may(self, request: HTTPConnection, user: User, action: Right, queues: Sequence[str | None]) -> list[bool]:
        """Whether the user may do it, for each queue. None stands for pages about all queues."""
        return [found is not None for found in await self._found(request, user, action, queues)]

    async def _found(
        self, request: HTTPConnection, user: User, action: Right, queues: Sequence[str | None]
    ) -> list[User | None]:
        """The user for each queue, with the name that a hook returned; None if the user may not do it."""
        if action != "view" and not self.allow_writes:
            return [None] * len(queues)
        keyed = [(None,) if each is None else tuple(self._reached(each)) for each in queues]
        asked = list(dict.fromkeys(name for names in keyed for name in names))
        told = dict(zip(asked, await self._told(request, user, action, asked), strict=True))
        found: list[User | None] = []
        for queue, names in zip(queues, keyed, strict=True):
            # A queue that has no name here belongs to nobody.
            may = (queue is None or None not in names) and all(told[name] for name in names)
            name = told[names[0]]
            found.append(None if not may else attrs.evolve(user, name=name) if isinstance(name, str) else user)
        return found

    async def _told(
        self, request: HTTPConnection, user: User, action: Right, queues: Sequence[str | None]
    ) -> list[Any]:
        auth = self.auth
        if auth is None:
            return [True] * len(queues)
        if isinstance(auth, Token):
            return [_covers(auth.right, action)] * len(queues)
        if isinstance(auth, Basic):
            account = auth.accounts[user.name]
            covers = _covers(account.right, action)
            return [covers and (each is None or fnmatch.fnmatchcase(each, account.pattern)) for each in queues]
        return await self._asked(auth, request, action, queues)

    def sees_all(self, user: User) -> bool:
        """Whether a user may see all queues, including unknown ones. A function is asked for each queue."""
        auth = self.auth
        if isinstance(auth, Basic):
            return auth.accounts[user.name].pattern == "*"
        return auth is None or isinstance(auth, Token)

    def seeing(self, user: User, known: Collection[str], allowed: Collection[str]) -> Seeing:
        """The view filter of a user who may see the ``allowed`` queues of those that are ``known``."""
        is_asked = self.auth is not None and not isinstance(self.auth, (Token, Basic))
        sees_all = self.sees_all(user) or (is_asked and 0 < len(known) == len(allowed))
        return Seeing(None if sees_all else frozenset(allowed))

    async def rights(self, request: HTTPConnection, user: User, queue: str | None) -> frozenset[Right]:
        """All rights of a user over a queue, or over all queues."""
        return frozenset([each for each in RIGHTS if (await self.may(request, user, each, [queue]))[0]])

    async def check(self, request: HTTPConnection, user: User, action: Right, queue: str | None) -> User:
        """The user, with the name that a hook returned. Raises AccessRefused."""
        if action != "view" and not self.allow_writes:
            raise AccessRefused(
                403, "this dashboard shows queues and changes nothing: it was started without --allow-writes"
            )
        [found] = await self._found(request, user, action, [queue])
        if found is not None:
            return found
        where = "all queues" if queue is None else f"queue {queue!r}"
        hint = "Whoever runs this dashboard can give you the right."
        raise AccessRefused(403, f"user {user.name!r} has no right to {action} {where}", hint)

    @staticmethod
    async def _asked(
        authorize: Callable[..., Any], request: HTTPConnection, action: Right, queues: Sequence[str | None]
    ) -> list[Any]:
        if inspect.iscoroutinefunction(inspect.unwrap(authorize)):
            return [await authorize(request, action, each) for each in queues]
        # A hook may query a database. All calls of it go to one thread.
        found: list[Any] = await anyio.to_thread.run_sync(lambda: [authorize(request, action, each) for each in queues])
        return [await each if inspect.isawaitable(each) else each for each in found]

    # -- forms -------------------------------------------------------------------------------------------------------

    def form_token(self, user: User) -> str:
        """The token in each form. Another site cannot know it."""
        return self._signed(f"form {user.form_name}")

    def is_form_token(self, user: User, given: str) -> bool:
        """Whether a form was made by this process for this user."""
        return hmac.compare_digest(given.encode(errors="replace"), self.form_token(user).encode())

    def _signed(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(errors="replace"), hashlib.sha256).hexdigest()


def _covers(right: Right, action: Right) -> bool:
    return RIGHTS.index(action) <= RIGHTS.index(right)
