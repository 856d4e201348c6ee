"""Spring's application.yml: the server, the login and the codec that a Spring service finds in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from redisson_dq._redisson_config import FileSettings, taken_from
from redisson_dq.codecs import JsonJacksonCodec
from redisson_dq.errors import ArgumentError


def taken(tmp_path: Path, text: str) -> FileSettings:
    path = tmp_path / "application.yml"
    path.write_text(text, "utf-8")
    return taken_from(path)


@pytest.mark.parametrize(
    ("text", "url", "options"),
    [
        ("spring:\n  data:\n    redis:\n      host: h\n      port: 1\n", "redis://h:1", {}),
        ("spring.data.redis.host: h\nserver.port: 80\n", "redis://h:6379", {}),
        ("spring:\n  data.redis: {port: 7, database: 2}\n", "redis://localhost:7", {"db": 2}),
        (
            "spring: {redis: {host: h, username: u, client-name: c}}",
            "redis://h:6379",
            {"username": "u", "client_name": "c"},
        ),
        ("spring: {redis: {host: old}, data: {redis: {host: new}}}\n", "redis://new:6379", {}),
        ("spring: {data: {redis: {host: h, ssl: {enabled: true}}}}\n", "rediss://h:6379", {"ssl_check_hostname": True}),
        ("spring: {redis: {host: h, ssl: true}}\n", "rediss://h:6379", {"ssl_check_hostname": True}),
        ("spring: {redis: {url: 'redis://u:p@h:1/3'}}\n", "redis://h:1", {"username": "u", "password": "p", "db": 3}),
        (
            "spring: {redis: {host: h, timeout: 3s, connectTimeout: 500ms, lettuce: {pool: {max-active: 8}}}}\n",
            "redis://h:6379",
            {"socket_timeout": 3.0, "socket_connect_timeout": 0.5},
        ),
        ("spring: {redis: {host: h, connect-timeout: PT2S}}\n", "redis://h:6379", {"socket_connect_timeout": 2.0}),
        (
            "spring: {redis: {database: 1, sentinel: {master: m, nodes: ['a:1', 'b:2'], password: s}}}\n",
            "redis+sentinel://a:1,b:2/m",
            {"db": 1, "sentinel_password": "s"},
        ),
        ("spring: {data: {redis: {cluster: {nodes: 'a:1, b:2', max-redirects: 3}}}}\n", "redis+cluster://a:1,b:2", {}),
        (
            "spring: {redis: {host: a}}\n---\nspring: {config.activate.on-profile: prod, redis: {host: b}}\n",
            "redis://a:6379",
            {},
        ),
    ],
)
def test_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, url: str, options: dict[str, Any]
) -> None:
    monkeypatch.delenv("SPRING_PROFILES_ACTIVE", raising=False)
    found = taken(tmp_path, text)
    assert (found.url, found.redis_options) == (url, options)


def test_the_document_of_a_profile_counts_where_that_is_active(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "spring: {redis: {host: a}}\n---\nspring: {config.activate.on-profile: prod, redis: {port: 2}}\n"
    monkeypatch.setenv("SPRING_PROFILES_ACTIVE", "eu, prod")
    assert taken(tmp_path, text).url == "redis://a:2"


@pytest.mark.parametrize("prefix", ["spring:\n  redis:\n", "spring:\n  data:\n   redis:\n"])
def test_the_settings_of_redisson_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str) -> None:
    monkeypatch.setenv("DQ_HOST", "h")
    monkeypatch.delenv("DQ_PASSWORD", raising=False)
    inside = (
        "    redisson:\n      config: |\n        singleServerConfig:\n          address: redis://${DQ_HOST:x}:1\n"
        "          password: ${DQ_PASSWORD:secret}\n        codec: !<org.redisson.codec.JsonJacksonCodec> {}\n"
    )
    found = taken(tmp_path, f"{prefix}    host: other\n{inside}")
    assert (found.url, found.redis_options) == ("redis://h:1", {"password": "secret"})
    assert type(found.codec) is JsonJacksonCodec


def test_the_file_of_redisson_beside_it(tmp_path: Path) -> None:
    (tmp_path / "redisson.yaml").write_text("singleServerConfig: {address: 'redis://h:1'}\n", "utf-8")
    for name in ("classpath:redisson.yaml", "classpath:/redisson.yaml", "redisson.yaml"):
        assert taken(tmp_path, f"spring: {{redis: {{redisson: {{file: '{name}'}}}}}}\n").url == "redis://h:1"
    with pytest.raises(ArgumentError, match=r"'none\.yaml', which cannot be read beside this file"):
        taken(tmp_path, "spring: {redis: {redisson: {file: 'classpath:none.yaml'}}}\n")


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("${DQ_NOPE:h}", "h"),
        ("${DQ_NOPE:${DQ_HOST:z}}", "own"),
        ("${dq.host}", "own"),
        ("${dq-host:z}", "z"),
        ("a.${DQ_NOPE:}b", "a.b"),
        ("${app.redis-host}", "of-file"),
        ("${app.redisHost}", "of-file"),
    ],
)
def test_a_variable_as_spring_means_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, found: str) -> None:
    monkeypatch.setenv("DQ_HOST", "own")
    monkeypatch.delenv("DQ_NOPE", raising=False)
    text = f"app: {{redis-host: of-file}}\nspring: {{redis: {{host: '{host}'}}}}\n"
    assert taken(tmp_path, text).url == f"redis://{found}:6379"


@pytest.mark.parametrize("host", ["${DQ_NOPE}", "${spring.redis.host}"])
def test_a_variable_without_a_value_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.delenv("DQ_NOPE", raising=False)
    with pytest.raises(ArgumentError, match=r"nothing has the value of \$\{DQ_NOPE\}|name each other in a circle"):
        taken(tmp_path, f"spring: {{redis: {{host: '{host}'}}}}\n")


def test_an_unknown_setting_is_as_in_a_file_of_redisson(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert taken(tmp_path, "spring: {redis: {host: h, jitter: 5}}\n").url == "redis://h:6379"
    assert "jitter is ignored: this library knows no such setting" in caplog.text
    with pytest.raises(ArgumentError, match=r"ssl\.bundle cannot be taken over"):
        taken(tmp_path, "spring: {redis: {host: h, ssl: {bundle: mine}}}\n")
    with pytest.raises(ArgumentError, match="address cannot be taken over: it must be an address"):
        taken(tmp_path, "spring: {application: {name: shop}}\n")


def test_a_file_of_redisson_has_other_variables(tmp_path: Path) -> None:
    path = tmp_path / "redisson.yaml"
    path.write_text("singleServerConfig: {address: 'redis://${DQ_NOPE:h}:1'}\n", "utf-8")
    with pytest.raises(ArgumentError, match=r"\$\{DQ_NOPE:\.\.\.\} is of Spring; in a file of Redisson write"):
        taken_from(path)
