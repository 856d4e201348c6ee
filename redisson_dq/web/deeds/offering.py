"""Values that a form offers."""

from __future__ import annotations

import json
from typing import Any

from redisson_dq import Client
from redisson_dq.admin import Admin
from redisson_dq.browsing.values import make_codec
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import ArgumentError
from redisson_dq.mending.making import codec_of, envelope_of, made_value
from redisson_dq.web.deeds.kinds import WebDeed
from redisson_dq.web.times import span_ms

__all__ = ["CODECS", "check_codec", "check_form", "offer"]


#: The codecs that a form may name. Codecs that wrap another one are left out: no queue has their bytes.
CODECS = (
    *("Kryo5Codec", "JsonJacksonCodec", "SerializationCodec", "StringCodec", "LongCodec", "DoubleCodec"),
    *("MsgPackJacksonCodec", "CborJacksonCodec", "SmileJacksonCodec", "IonJacksonCodec"),
)


def check_form(deed: WebDeed) -> None:
    """Raises ArgumentError for a form with no value, a wrong delay, or an unknown codec. It does not access Redis."""
    _made(deed)
    if deed.codec and deed.codec not in CODECS:
        raise ArgumentError(f"there is no codec {deed.codec[:100]!r} here: {', '.join(CODECS)}")


def check_codec(client: Client, deed: WebDeed) -> None:
    """Raises ArgumentError if the form names no codec and the existing items do not determine it."""
    _codec(client, deed)


def offer(client: Client, deed: WebDeed) -> None:
    """Offers the value in the named codec, or in that of the existing items. Raises ArgumentError."""
    value, delay = _made(deed)
    written = envelope_of(client, deed.queue, deed.partitions)
    if written == "legacy" and not Admin(client).writes_legacy:
        raise ArgumentError("the items are in the legacy envelope: offer by redisson-dq offer --envelope legacy")
    options: dict[str, Any] = {} if deed.partitions is None else {"partitions": deed.partitions}
    codec = _codec(client, deed)
    with client.delayed_queue(deed.queue, codec=codec, transfer=False, **options) as queue:
        queue.offer(value, delay, **({"id": deed.item_id} if deed.item_id else {}))
    # A large value is not kept for the list of actions.
    deed.done, deed.value = 1, ""


def _made(deed: WebDeed) -> tuple[Any, float]:
    """The value and the delay in seconds."""
    try:
        made = made_value(json.loads(deed.value), deed.java_class or None)
    except ArgumentError:
        raise
    except ValueError as error:
        raise ArgumentError(f"the value is not JSON: {error}; text needs quotes") from None
    except RecursionError:
        raise ArgumentError("the value is nested too deep") from None
    delay = span_ms(deed.delay) / 1000 if deed.delay else 0.0
    if delay < 0:
        raise ArgumentError("a delay is not negative")
    return made, delay


def _codec(client: Client, deed: WebDeed) -> Codec:
    return make_codec(deed.codec or codec_of(client, deed.queue, deed.partitions, help="choose a codec in the form"))
