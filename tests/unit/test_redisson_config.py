"""Files of Redisson's settings: what is taken over, what is refused by name, and that a password shows nowhere."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from redisson_dq import codecs
from redisson_dq._redisson_config import FileSettings, taken_from
from redisson_dq._redisson_config.known import MEANINGLESS, REFUSED, TAKEN
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec
from redisson_dq.errors import ArgumentError

SINGLE = "singleServerConfig:\n  address: redis://h:1\n"


def taken(tmp_path: Path, text: str, name: str = "redisson.yaml", given: tuple[str, ...] = ()) -> FileSettings:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return taken_from(path, given)


def of(tmp_path: Path, text: str, given: tuple[str, ...] = ()) -> tuple[str, dict[str, Any]]:
    found = taken(tmp_path, text, given=given)
    return found.url, found.redis_options


# -- servers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "url", "options"),
    [
        ("singleServerConfig: {address: 'redis://h:1', database: 3}", "redis://h:1", {"db": 3}),
        ("singleServerConfig: {address: 'valkeys://h:1'}", "rediss://h:1", {"ssl_check_hostname": True}),
        (
            "singleServerConfig: {address: 'redis://u:p%40@[::1]:1'}",
            "redis://[::1]:1",
            {"username": "u", "password": "p@"},
        ),
        (
            "masterSlaveServersConfig: {masterAddress: 'redis://h:1', slaveAddresses: ['redis://g:1'], database: 2}",
            "redis://h:1",
            {"db": 2},
        ),
        (
            "sentinelServersConfig: {sentinelAddresses: ['redis://h:1', 'redis://g:2'], masterName: the main/one, "
            "database: 4, sentinelUsername: s, sentinelPassword: own, username: u, password: p}",
            "redis+sentinel://h:1,g:2/the%20main%2Fone",
            {"db": 4, "sentinel_username": "s", "sentinel_password": "own", "username": "u", "password": "p"},
        ),
        (
            "clusterServersConfig: {nodeAddresses: ['rediss://h:1', 'rediss://g:2'], checkSlotsCoverage: false}",
            "rediss+cluster://h:1,g:2",
            {"require_full_coverage": False, "ssl_check_hostname": True},
        ),
        ("replicatedServersConfig: {nodeAddresses: ['redis://h:1']}", "redis://h:1", {}),
    ],
)
def test_the_server(tmp_path: Path, text: str, url: str, options: dict[str, Any]) -> None:
    assert of(tmp_path, text) == (url, options)


def test_the_addresses_that_a_cluster_tells_are_mapped(tmp_path: Path) -> None:
    text = "clusterServersConfig: {nodeAddresses: ['redis://h:1'], natMap: {'10.0.0.1:6379': 'outside:1'}}"
    remap = of(tmp_path, text)[1]["address_remap"]
    assert (remap(("10.0.0.1", 6379)), remap(("other", 6379))) == (("outside", 1), ("other", 6379))


# -- options ---------------------------------------------------------------------------------------------------------


def test_scalars_are_the_texts_that_they_are(tmp_path: Path) -> None:
    text = SINGLE + "  password: 0123\n  username: yes\n  clientName: 1e5\n  timeout: 2500\n  connectTimeout: 500\n"
    assert of(tmp_path, text)[1] == {
        "username": "yes",
        "password": "0123",
        "client_name": "1e5",
        "socket_timeout": 2.5,
        "socket_connect_timeout": 0.5,
    }


def test_nothing_is_no_text(tmp_path: Path) -> None:
    assert of(tmp_path, SINGLE + "  password: null\n  username: ~\n  clientName:\n")[1] == {}
    assert of(tmp_path, SINGLE + "  password: 'null'\n")[1] == {"password": "null"}


def test_the_settings_of_redisson_4_stand_beside_the_server(tmp_path: Path) -> None:
    assert of(tmp_path, "password: p\nusername: u\n" + SINGLE)[1] == {"username": "u", "password": "p"}
    with pytest.raises(ArgumentError, match="password cannot be taken over: it is in singleServerConfig with ano"):
        of(tmp_path, "password: p\n" + SINGLE + "  password: q\n")


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ("sslVerificationMode: STRICT", {"ssl_check_hostname": True}),
        ("sslVerificationMode: CA_ONLY", {"ssl_check_hostname": False}),
        ("sslVerificationMode: NONE", {"ssl_check_hostname": False, "ssl_cert_reqs": "none"}),
        ("sslEnableEndpointIdentification: false", {"ssl_check_hostname": False, "ssl_cert_reqs": "none"}),
        ("sslProtocols: [TLSv1.3]", {"ssl_check_hostname": True, "ssl_min_version": 0x0304}),
        ("sslProtocols: [TLSv1.3, TLSv1.2, TLSv1.1]", {"ssl_check_hostname": True, "ssl_min_version": 0x0303}),
        ("sslTruststore: 'file:///etc/ca.pem'", {"ssl_check_hostname": True, "ssl_ca_certs": "/etc/ca.pem"}),
        (
            "sslKeystore: 'file:/etc/me.pem', sslKeystorePassword: k",
            {"ssl_check_hostname": True, "ssl_certfile": "/etc/me.pem", "ssl_password": "k"},
        ),
    ],
)
def test_tls(tmp_path: Path, settings: str, options: dict[str, Any]) -> None:
    text = f"singleServerConfig: {{address: 'rediss://h:1', {settings}}}"
    assert of(tmp_path, text)[1] == options
    # Without TLS none of that matters.
    assert of(tmp_path, text.replace("rediss:", "redis:"))[1] == {}


def test_settings_without_a_meaning_here_are_listed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    of(tmp_path, "nettyThreads: 0\nthreads: 4\n" + SINGLE + "  retryAttempts: 3\n")
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.endswith("redisson.yaml: these settings change nothing here: nettyThreads, retryAttempts, threads")


# -- refusals --------------------------------------------------------------------------------------------------------

TLS = "singleServerConfig:\n  address: rediss://h:1\n"


@pytest.mark.parametrize(
    ("text", "setting", "instead"),
    [
        (SINGLE + "  nameMapper: !<com.acme.Prefix> {}\n", "nameMapper", "name_mapper"),
        (SINGLE + "  credentialsResolver: !<com.acme.Vault> {}\n", "credentialsResolver", "credential_provider"),
        (SINGLE + "commandMapper: !<com.acme.Renamed> {}\n", "commandMapper", None),
        (SINGLE + "codec: !<com.acme.Codec> {}\n", "codec", "codec"),
        (SINGLE + "codec: !<org.redisson.codec.CompositeCodec> {}\n", "codec", "codec"),
        (SINGLE + "codec: !<org.redisson.codec.TypedJsonJacksonCodec> {}\n", "codec", "codec"),
        (SINGLE + "codec: !<org.redisson.codec.KryoCodec> {}\n", "codec", "codec"),
        (SINGLE + "codec: !<org.redisson.codec.Codec> {}\n", "codec", "codec"),
        (TLS + "  sslTruststore: file:/x.p12\n", "sslTruststore", "ssl_ca_certs"),
        (TLS + "  sslKeystore: file:/x.jks\n", "sslKeystore", "ssl_certfile"),
        (TLS + "  sslCiphers: [TLS_AES_128_GCM_SHA256]\n", "sslCiphers", "ssl_ciphers"),
        (
            "clusterServersConfig:\n  nodeAddresses: ['redis://h:1']\n  natMapper: !<com.acme.Nat> {}\n",
            "natMapper",
            "address_remap",
        ),
        (TLS + "  sslVerificationMode: MAYBE\n", "sslVerificationMode", None),
        (TLS + "  sslProtocols: [SSLv3]\n", "sslProtocols", None),
        (SINGLE + "  timeout: soon\n", "timeout", None),
        (SINGLE + "  database: -1\n", "database", None),
        (SINGLE + "  password: [a]\n", "password", None),
        ("clusterServersConfig: {nodeAddresses: ['redis://h:1'], checkSlotsCoverage: 5}", "checkSlotsCoverage", None),
        ("replicatedServersConfig: {nodeAddresses: ['redis://h:1', 'redis://g:1']}", "nodeAddresses", None),
        ("clusterServersConfig: {nodeAddresses: ['redis://h:1', 'rediss://g:1']}", "nodeAddresses", None),
        ("clusterServersConfig: {nodeAddresses: []}", "nodeAddresses", None),
        ("clusterServersConfig: {nodeAddresses: ['redis://h:1'], natMap: {a: b}}", "natMap", None),
        ("singleServerConfig: {address: 'h:1'}", "address", None),
        ("singleServerConfig: {address: 'redis://h:x'}", "address", None),
        ("singleServerConfig: {address: 'redis://h:1/3'}", "address", None),
        ("singleServerConfig: {}", "address", None),
        ("singleServerConfig: 5", "singleServerConfig", None),
        ("sentinelServersConfig: {sentinelAddresses: ['redis://h:1']}", "masterName", None),
        (
            "sentinelServersConfig: {sentinelAddresses: ['redis://h:1'], masterName: m, natMap: {'a:1': 'b:1'}}",
            "natMap",
            None,
        ),
    ],
)
def test_a_setting_that_cannot_be_taken_over_is_named(
    tmp_path: Path, text: str, setting: str, instead: str | None
) -> None:
    with pytest.raises(ArgumentError, match=rf"redisson\.yaml: {setting} cannot be taken over: "):
        of(tmp_path, text)
    if instead is not None:
        of(tmp_path, text, given=(instead,))


@pytest.mark.parametrize("name", ["nameMapper", "natMapper", "credentialsResolver", "commandMapper"])
@pytest.mark.parametrize("package", ["org.redisson.api", "org.redisson.config", "org.redisson.client"])
def test_the_classes_that_redisson_has_by_itself_are_no_hindrance(tmp_path: Path, name: str, package: str) -> None:
    default = f"Default{name[0].upper()}{name[1:]}"
    of(tmp_path, SINGLE + f"  {name}: !<{package}.{default}> {{}}\n")


@pytest.mark.parametrize("name", ["conectTimeout", "newestSettingOfAll", "retryJitter"])
def test_an_unknown_setting_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str) -> None:
    for text in (f"{SINGLE}  {name}: 5\n", f"{name}: 5\n{SINGLE}"):
        caplog.clear()
        assert of(tmp_path, text) == ("redis://h:1", {})
        (line,) = [record for record in caplog.records if record.levelno == logging.WARNING]
        assert f"redisson.yaml: {name} is ignored: this library knows no such setting" in line.getMessage()
        assert ("did you mean connectTimeout?" in line.getMessage()) is (name == "conectTimeout")


@pytest.mark.parametrize(
    "name", ["adress", "addresses", "passwrd", "pasword", "dataBase", "valueCodec", "sslMode", "socksProxy", "userName"]
)
def test_an_unknown_setting_that_decides_the_place_or_the_values_is_refused(tmp_path: Path, name: str) -> None:
    for text in (f"{SINGLE}  {name}: 5\n", f"{name}: 5\n{SINGLE}"):
        with pytest.raises(ArgumentError, match=f"{name} cannot be taken over: this library knows no such setting"):
            of(tmp_path, text)


@pytest.mark.parametrize(
    ("address", "url", "options"),
    [
        ("redis://h:1/0", "redis://h:1", {}),
        ("redis://secret@h:1", "redis://h:1", {"password": "secret"}),
        ("redis://:se%2Bcret@h:1/", "redis://h:1", {"password": "se+cret"}),
        ("redis://u:a+b@h:1", "redis://h:1", {"username": "u", "password": "a b"}),
        ("redis+uds:///run/a b.sock", "unix:///run/a%20b.sock", {}),
        ("valkey+uds:///run/redis.sock", "unix:///run/redis.sock", {}),
    ],
)
def test_an_address_means_what_it_means_to_redisson(
    tmp_path: Path, address: str, url: str, options: dict[str, Any]
) -> None:
    assert of(tmp_path, f"singleServerConfig: {{address: '{address}'}}") == (url, options)


def test_a_socket_has_the_settings_of_a_server(tmp_path: Path) -> None:
    text = "singleServerConfig: {address: 'redis+uds:///r.sock', database: 3, password: p, timeout: 900}"
    assert of(tmp_path, text) == ("unix:///r.sock", {"password": "p", "socket_timeout": 0.9, "db": 3})
    for refused in (text.replace("///", "//"), "clusterServersConfig: {nodeAddresses: ['redis+uds:///r.sock']}"):
        with pytest.raises(ArgumentError, match="cannot be taken over"):
            of(tmp_path, refused)


@pytest.mark.parametrize(("number", "database"), [("0", None), ("07", 7), ("00", None), ("10", 10)])
def test_a_database(tmp_path: Path, number: str, database: int | None) -> None:
    expected = {} if database is None else {"db": database}
    assert of(tmp_path, SINGLE + f"  database: {number}\n")[1] == expected


@pytest.mark.parametrize("number", ["010", "08", "0017"])
def test_a_database_that_not_all_redissons_read_alike_is_refused(tmp_path: Path, number: str) -> None:
    with pytest.raises(ArgumentError, match=f"database cannot be taken over: {number} is octal for Redisson"):
        of(tmp_path, SINGLE + f"  database: {number}\n")


def test_the_values_of_redisson_pro_are_named(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"password cannot be taken over: \{aes\} is a value that Redisson PRO"):
        of(tmp_path, SINGLE + "  password: '{aes}c2VjcmV0'\n")
    with pytest.raises(ArgumentError, match="secretKey cannot be taken over: Redisson PRO decrypts values by it"):
        of(tmp_path, "secretKey: file:///key\n" + SINGLE)
    text = "secretKey: file:///key\n" + SINGLE + "  password: '{aes}c2VjcmV0'\n"
    assert of(tmp_path, text, ("password",))[0] == "redis://h:1"


def test_kryo5_has_its_properties(tmp_path: Path) -> None:
    text = "codec: !<org.redisson.codec.Kryo5Codec>\n  useReferences: true\n  allowedClasses:\n  - a.B\n"
    assert repr(taken(tmp_path, SINGLE + text).codec) == "Kryo5Codec(allowed_classes=['a.B'], references=True)"
    written = "codec: !!org.redisson.codec.Kryo5Codec {useReferences: false, allowedClasses: []}\n"
    assert repr(taken(tmp_path, SINGLE + written).codec) == "Kryo5Codec()"
    for wrong in ("useReferences: maybe", "allowedClasses: a.B", "allowedClasses: [[a.B]]", "classLoader: x"):
        with pytest.raises(ArgumentError, match="codec cannot be taken over"):
            taken(tmp_path, SINGLE + f"codec: !!org.redisson.codec.Kryo5Codec {{{wrong}}}\n")


def test_a_file_without_an_address_has_the_rest_beside_a_url(tmp_path: Path) -> None:
    path = tmp_path / "redisson.yaml"
    codec = "codec: !!org.redisson.codec.JsonJacksonCodec {}\n"
    for text in (codec, "singleServerConfig: {password: p, timeout: 900}\n" + codec):
        path.write_text(text, "utf-8")
        client = redisson_dq.aio.connect("redis://h:5/2", redisson_config=path)
        assert type(client.runtime.options.codec) is JsonJacksonCodec
        made: Any = client.runtime.connections.own
        own = made.connection_pool.connection_kwargs
        assert (own["host"], own["port"], own["db"]) == ("h", 5, 2)
        assert own.get("password") == ("p" if "password" in text else None)
    with pytest.raises(ArgumentError, match="one of singleServerConfig"):
        taken(tmp_path, codec)


def test_each_setting_has_one_place() -> None:
    assert not TAKEN & MEANINGLESS
    assert not (TAKEN | MEANINGLESS) & REFUSED.keys()


# -- reading ---------------------------------------------------------------------------------------------------------


def test_variables_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DQ_HOST", "h")
    monkeypatch.delenv("DQ_NOPE", raising=False)
    text = "singleServerConfig:\n  address: redis://${DQ_HOST}:${DQ_NOPE:-7}\n  password: ${DQ_HOST:-x}${DQ_NOPE:-y}\n"
    assert of(tmp_path, text) == ("redis://h:7", {"password": "hy"})
    for missing in ("${DQ_NOPE}", "${DQ_NOPE:-a:-b}"):
        with pytest.raises(ArgumentError, match="the environment has no variable DQ_NOPE"):
            of(tmp_path, SINGLE + f"  password: {missing}\n")


def test_json_and_a_mapping(tmp_path: Path) -> None:
    text = """{"singleServerConfig": {"address": "redis://h:1", "password": 123, "database": 2, "keepAlive": true},
               "codec": {"class": "org.redisson.codec.JsonJacksonCodec"}}"""
    content = {
        "singleServerConfig": {"address": "redis://h:1", "password": 123, "database": 2, "keepAlive": True},
        "codec": {"class": "org.redisson.codec.JsonJacksonCodec"},
    }
    for found in (taken(tmp_path, text, "redisson.json"), taken(tmp_path, text), taken_from(content)):
        assert (found.url, found.redis_options) == ("redis://h:1", {"password": "123", "db": 2})
        assert type(found.codec) is JsonJacksonCodec


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "singleServerConfig:\n  password: secret\n bad: [\n"),
        ("a.yaml", "singleServerConfig: {password: secret\n"),
        ("a.json", '{"singleServerConfig": {"password": "secret", }'),
        ("a.yaml", "- secret\n"),
        ("a.yaml", ""),
        ("a.yaml", "password: secret\n"),
        ("a.yaml", SINGLE + "clusterServersConfig: {password: secret}\n"),
        ("a.yaml", SINGLE + "  password: secret\n  codecs: secret\n"),
        ("a.yaml", "singleServerConfig: {address: 'redis://h/secret@h:1'}"),
        ("a.yaml", "singleServerConfig: {address: 'http://:secret@h:1'}"),
        ("a.yaml", "singleServerConfig: {address: 'redis://:secret@h:1', password: secret, timeout: x}"),
        # Passwords that want quotes: YAML takes them for an alias, a tag and an anchor.
        ("a.yaml", SINGLE + "  password: *secret\n"),
        ("a.yaml", SINGLE + "  password: !secret!x\n"),
        ("a.yaml", SINGLE + "  username: &secret a\n  password: &secret b\n"),
    ],
)
def test_no_error_shows_a_password(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        taken(tmp_path, text, name)
    error: BaseException | None = refused.value
    while error is not None:
        assert "secret" not in str(error)
        error = None if error.__suppress_context__ else error.__context__


def test_a_text_in_place_of_a_path_shows_no_password() -> None:
    texts = ['{"password": "secret"}', "password: secret", "redis://:secret@h:1", "secret@h"]
    for source in (SINGLE + "  password: secret\n", *texts, "x" * 5000, "/no/such/file", 5, {"secret"}, b"secret"):
        with pytest.raises(ArgumentError, match="redisson_config=") as refused:
            taken_from(source)  # type: ignore[arg-type]
        assert "secret" not in str(refused.value) + str(refused.value.__context__)


def test_settings_without_an_end_are_refused(tmp_path: Path) -> None:
    own: dict[str, Any] = {}
    own["singleServerConfig"] = own
    with pytest.raises(ArgumentError, match="nested too deeply"):
        taken_from(own)
    for name in ("a.yaml", "a.json"):
        with pytest.raises(ArgumentError, match=f"{name}: these settings are nested too deeply"):
            taken(tmp_path, "[" * 20_000, name)


@pytest.mark.parametrize("number", ["-1", "1.0", "\u0661", "2147483648", "9" * 400, "9" * 5000])
def test_a_number_is_one_that_java_can_have(tmp_path: Path, number: str) -> None:
    with pytest.raises(ArgumentError, match="timeout cannot be taken over: it must be a whole number"):
        taken(tmp_path, SINGLE + f"  timeout: {number}\n")


def test_a_password_in_bytes_is_refused_and_a_path_is_taken() -> None:
    with pytest.raises(ArgumentError, match="password cannot be taken over: it must be a text"):
        taken_from({"singleServerConfig": {"address": "redis://h:1", "password": b"secret"}})
    found = taken_from({"singleServerConfig": {"address": "rediss://h:1", "sslTruststore": Path("/ca.pem")}})
    assert found.redis_options["ssl_ca_certs"] == "/ca.pem"


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    for name in ("a.yaml", "a.json"):
        assert taken(tmp_path, '\ufeff{"singleServerConfig": {"address": "redis://h:1"}}', name).url == "redis://h:1"


def test_neither_a_repr_shows_a_password(tmp_path: Path) -> None:
    assert "secret" not in repr(taken(tmp_path, SINGLE + "  password: secret\n"))


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.abort []", "!<tag:yaml.org,2002:python/name:os.abort> ''", "!ruby/object:X {}"]
)
def test_no_tag_makes_anything(tmp_path: Path, tag: str) -> None:
    with pytest.raises(ArgumentError, match="codec cannot be taken over"):
        of(tmp_path, SINGLE + f"codec: {tag}\n")


def test_aliases_make_no_large_tree(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]" for i in range(1, 40)]
    assert of(tmp_path, "\n".join(lines) + "\n" + SINGLE) == ("redis://h:1", {})
    with pytest.raises(ArgumentError, match="password cannot be taken over: it must be a text"):
        of(tmp_path, "\n".join(lines) + "\n" + SINGLE + "  password: *a39\n")


@pytest.mark.parametrize(
    "key", ["? *a15\n: x", "? [*a15]\n: x", "? {a: b}\n: x", "*a15 : x", "? &k [x]\n: x", "{[*a15]: x}"]
)
@pytest.mark.parametrize("head", ["", "spring:\n  x: y\n"])
def test_a_list_or_a_mapping_is_no_name(tmp_path: Path, head: str, key: str) -> None:
    """Its text would double with each alias in it. These take a megabyte, so a test that fails takes no more."""
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 16)]
    with pytest.raises(ArgumentError, match=r"yaml: line \d+, column \d+: a list or a mapping is not the name"):
        of(tmp_path, f"{head}" + "\n".join(lines) + f"\n{SINGLE}" + (key if key[0] != "{" else f"x: {key}") + "\n")


def test_aliases_make_few_properties_of_spring(tmp_path: Path) -> None:
    lines = ["a0: &a0 {a: x, b: y}"] + [f"a{i}: &a{i} {{a: *a{i - 1}, b: *a{i - 1}}}" for i in range(1, 40)]
    with pytest.raises(ArgumentError, match="yaml: a file of Spring with 20,000 properties"):
        of(tmp_path, "spring:\n  x: y\n" + "\n".join(lines) + "\n" + SINGLE)


# -- the codec -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("Kryo5Codec", "JsonJacksonCodec", "JsonJackson3Codec", "CborJacksonCodec", "CborJackson3Codec"),
        *("SmileJacksonCodec", "SmileJackson3Codec", "IonJacksonCodec", "MsgPackJacksonCodec", "SerializationCodec"),
        *("StringCodec", "LongCodec", "IntegerCodec", "DoubleCodec", "ByteArrayCodec"),
        *("LZ4Codec", "LZ4CodecV2", "SnappyCodec", "SnappyCodecV2", "ZStdCodec", "MarshallingCodec"),
    ],
)
def test_a_codec_without_arguments(tmp_path: Path, name: str) -> None:
    for package in ("codec", "client.codec"):
        found = taken(tmp_path, SINGLE + f"codec: !<org.redisson.{package}.{name}> {{}}\n").codec
        assert type(found) is getattr(codecs, name)


@pytest.mark.parametrize(
    "name",
    [
        *("AvroJacksonCodec", "TypedJsonJacksonCodec", "TypedJsonJackson3Codec", "ProtobufCodec", "CompositeCodec"),
        *("ForyCodec", "FuryCodec", "FstCodec", "KryoCodec", "BitSetCodec"),
    ],
)
def test_another_codec_is_refused_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArgumentError, match=f"codec cannot be taken over: .*{name}"):
        taken(tmp_path, SINGLE + f"codec: !<org.redisson.codec.{name}> {{}}\n")


# -- the page --------------------------------------------------------------------------------------------------------


def test_the_page_shows_a_file_that_is_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_PASSWORD", raising=False)
    page = Path(__file__).resolve().parents[2] / "docs/settings.md"
    section = page.read_text("utf-8").partition("## The file of a Redisson")[2]
    shown = re.search(r"```yaml\n(.*?)```", section, re.DOTALL)
    assert shown
    found = taken(tmp_path, shown[1])
    assert found.url == "redis+sentinel://sentinel-1:26379,sentinel-2:26379/orders"
    assert found.redis_options == {"db": 1, "username": "shop", "password": "secret", "socket_timeout": 3.0}
    assert type(found.codec) is JsonJacksonCodec


def test_the_page_names_each_setting_that_is_taken_over_or_refused() -> None:
    page = Path(__file__).resolve().parents[2] / "docs/settings.md"
    text = page.read_text("utf-8").partition("## The file of a Redisson")[2]
    places = {"address", "masterAddress", "nodeAddresses", "sentinelAddresses", "masterName", "sslKeystorePassword"}
    assert [name for name in sorted((TAKEN | REFUSED.keys()) - places) if f"`{name}`" not in text] == []


# -- connect() -------------------------------------------------------------------------------------------------------


def test_connect_takes_a_file_and_options_win(tmp_path: Path) -> None:
    path = tmp_path / "redisson.yaml"
    text = "sentinelServersConfig: {sentinelAddresses: ['redis://h:1'], masterName: m, password: p, timeout: 900}\n"
    path.write_text(text + "codec: !<org.redisson.codec.JsonJacksonCodec> {}\n", "utf-8")
    client = redisson_dq.aio.connect(redisson_config=path)
    assert type(client.runtime.options.codec) is JsonJacksonCodec
    made: Any = client.runtime.connections.own
    own = made.connection_pool.connection_kwargs
    assert (own["password"], own["socket_timeout"]) == ("p", 0.9)
    client = redisson_dq.aio.connect(redisson_config=path, codec=Kryo5Codec(), password="q")
    assert type(client.runtime.options.codec) is Kryo5Codec
    made = client.runtime.connections.own
    assert made.connection_pool.connection_kwargs["password"] == "q"


def test_a_url_and_a_file_with_a_server_are_one_too_many() -> None:
    for flavour in (redisson_dq, redisson_dq.aio):
        with pytest.raises(ArgumentError, match="address cannot be taken over: connect"):
            flavour.connect("redis://h", redisson_config={"singleServerConfig": {"address": "redis://g:1"}})
