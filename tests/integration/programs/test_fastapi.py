"""Generated classes as the body and the response of a FastAPI app, and on a real queue in between."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
from fastapi import Body, FastAPI

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.embedded import EmbeddedServer
from tests.peer import JAVAC

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Using `httpx` with")  # of later versions of starlette
    warnings.filterwarnings("ignore", "The anyio.abc.BlockingPortal alias")  # of starlette 1.3 beside anyio 4.10
    from fastapi.testclient import TestClient

SOURCE = """
package cafe.%s;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.*;

public class Order implements Serializable {
    public enum Status { NEW, PAID }
    public record Line(String sku, int count, BigDecimal price) implements Serializable { }
    public static class Tag<T> implements Serializable { T value; List<Tag<T>> more = new ArrayList<>(); }
    private Long id;
    private Status status = Status.NEW;
    private List<Line> lines = new ArrayList<>();
    private Set<String> labels = new TreeSet<>();
    private Map<String, Long> counts = new HashMap<>();
    private Optional<Short> floor;
    private LinkedList<Integer> path = new LinkedList<>();
    private Collection<String> notes;
    private int[] sizes;
    private Instant at;
    private Date created;
    private BigInteger huge;
    private Character grade = 'A';
    private float weight = 0.5f;
    private byte[] raw;
    private UUID key;
    private Tag<String> tag;
    private Object anything;
    private Order parent;
    private String currency = "EUR";
}
"""

BODY: dict[str, Any] = {
    "id": 42,
    "status": "PAID",
    "lines": [{"sku": "A-1", "count": 2, "price": "9.90"}],
    "labels": ["gift"],
    "counts": {"a": 5000000000},
    "floor": 3,
    "path": [1, 2],
    "notes": ["n"],
    "sizes": [1, 2, 3],
    "at": "2024-02-29T12:30:15.123456Z",
    "created": "2024-02-29T12:30:15.123000Z",
    "huge": 1,
    "grade": "B",
    "weight": 1.5,
    "raw": "abc",
    "key": "123e4567-e89b-42d3-a456-426614174000",
    "tag": {"value": "t", "more": [{"value": "u", "more": []}]},
    "anything": {"x": [1, "a", None]},
    "parent": {"id": 1, "currency": "USD"},
    "currency": "EUR",
}
#: What a new order of Java has.
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(BODY),
    "status": "NEW",
    "lines": [],
    "labels": [],
    "counts": {},
    "path": [],
    "grade": "A",
    "weight": 0.5,
    "currency": "EUR",
}
STYLES = {"attrs": [], "dataclasses": ["--dataclasses"], "pydantic": ["--pydantic"]}


@pytest.fixture(scope="module", params=STYLES)
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The generated module; each style has a Java package of its own, as a class is declared only once."""
    style: str = request.param
    place = tmp_path_factory.mktemp(style)
    source, made = place / "Order.java", place / f"cafe_{style}.py"
    source.write_text(SOURCE % style, "utf-8")
    subprocess.run([*JAVAC, "-encoding", "UTF-8", "-d", str(place / "classes"), str(source)], check=True)
    command = ["generate-classes", str(place / "classes"), f"cafe.{style}.*", *STYLES[style], "-o", str(made)]
    assert main(command) == 0
    spec = importlib.util.spec_from_file_location(made.stem, made)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[made.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def app_of(shop: Any, client: redisson_dq.Client, codec: Any) -> FastAPI:
    app = FastAPI()
    queue = client.blocking_queue("orders", codec)
    delayed = client.delayed_queue(queue)

    def offer(order: Any) -> str:
        assert type(order) is shop.Order
        return delayed.offer(order, 0).id

    def take() -> Any:
        return queue.take()

    # FastAPI takes what it does not know for a query parameter, so an attrs class is marked as a body.
    offer.__annotations__["order"] = Annotated[shop.Order, Body()]
    take.__annotations__["return"] = shop.Order
    app.post("/orders")(offer)
    app.get("/orders/next")(take)
    return app


@pytest.mark.parametrize("codec", [Kryo5Codec(), JsonJacksonCodec(java_time="numbers"), SerializationCodec()], ids=repr)
def test_a_body_goes_through_the_queue_and_comes_back(shop: Any, own_server: EmbeddedServer, codec: Any) -> None:
    with redisson_dq.connect(own_server.url) as client, TestClient(app_of(shop, client, codec)) as http:
        # Java's serialization has no bytes for an Optional.
        body = {**BODY, "floor": None} if isinstance(codec, SerializationCodec) else BODY
        answer = http.post("/orders", json=body)
        assert answer.status_code == 200, answer.text
        assert http.get("/orders/next").json() == {**body, "parent": {**DEFAULTS, "id": 1, "currency": "USD"}}
        assert http.post("/orders", json={}).status_code == 200
        assert http.get("/orders/next").json() == DEFAULTS


def test_what_is_no_order_is_refused(shop: Any, own_server: EmbeddedServer) -> None:
    with redisson_dq.connect(own_server.url) as client, TestClient(app_of(shop, client, Kryo5Codec())) as http:
        for wrong, place in (
            ({"id": "x"}, "id"),
            ({"lines": [{"sku": "A"}]}, "count"),
            ({"status": "LOST"}, "status"),
            ({"parent": {"id": []}}, "id"),
        ):
            answer = http.post("/orders", json=wrong)
            assert answer.status_code == 422
            assert place in answer.text
        assert client.blocking_queue("orders").size() == 0


def test_the_schema_names_the_fields(shop: Any, own_server: EmbeddedServer) -> None:
    with redisson_dq.connect(own_server.url) as client, TestClient(app_of(shop, client, Kryo5Codec())) as http:
        found = http.get("/openapi.json").json()
        schemas = found["components"]["schemas"]
        order = next(schema for name, schema in schemas.items() if name.startswith("Order"))
        assert set(order["properties"]) == set(BODY)


def test_pydantic_is_imported_by_nobody_else(tmp_path: Path) -> None:
    code = (
        "import sys, attrs, redisson_dq\n"
        "from redisson_dq.java import java_class\n"
        "java_class('a.B')(attrs.make_class('B', ['x']))\n"
        "assert not any(name.partition('.')[0] == 'pydantic' for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
