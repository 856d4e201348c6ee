"""The interceptors of operations: in which order they are called, and that their errors end there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from redisson_dq.errors import ClosedError, RedisConnectionError
from redisson_dq.observing import Observers
from redisson_dq.observing.operations import Ended, Interceptor, Operation, OperationKind, Operations


@pytest.fixture
def operations() -> Operations:
    return Observers().operations


def noting(heard: list[str], name: str) -> Interceptor:
    def interceptor(operation: Operation) -> Ended:
        heard.append(f"{name} begins {operation.name}")
        return lambda error: heard.append(f"{name} ends {error!r}")

    return interceptor


def test_without_an_interceptor_no_operation_is_made(operations: Operations) -> None:
    with operations.around(OperationKind.SEND, "offer", "orders") as sending:
        assert sending is None
    assert operations.receiving("take", "orders") is operations.receiving("poll", "invoices")


def test_they_are_called_in_order_and_end_in_reverse(operations: Operations) -> None:
    heard: list[str] = []
    operations += [noting(heard, "first"), noting(heard, "second")]
    with operations.around(OperationKind.SEND, "offer", "orders"):
        heard.append("offered")
    assert heard == [
        "first begins offer",
        "second begins offer",
        "offered",
        "second ends None",
        "first ends None",
    ]


def test_an_error_of_the_operation_is_told_and_comes_out(operations: Operations) -> None:
    heard: list[str] = []
    operations.append(noting(heard, "it"))
    with pytest.raises(ValueError, match="no"):
        with operations.around(OperationKind.SEND, "offer", "orders"):
            raise ValueError("no")
    assert heard == ["it begins offer", "it ends ValueError('no')"]


def test_a_receipt_without_values_has_no_end(operations: Operations) -> None:
    heard: list[str] = []
    operations.append(noting(heard, "it"))
    with operations.receiving("take", "orders", count=0) as receipt:
        receipt.took(0)
    assert heard == ["it begins take"]


def test_a_receipt_ends_with_its_values(operations: Operations) -> None:
    heard: list[Operation] = []
    operations.append(lambda operation: lambda error: heard.append(operation))
    with operations.receiving("take", "orders", count=0) as receipt:
        receipt.took(3, queue="invoices")
        (ended,) = heard
        assert (ended.count, ended.queue) == (3, "invoices")
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RedisConnectionError("away"), ["it ends RedisConnectionError('away')"]),
        (ClosedError("closed"), []),
        (KeyboardInterrupt(), []),
    ],
    ids=["failed", "closed", "interrupted"],
)
def test_a_receipt_ends_with_an_error_of_ours(error: BaseException, told: list[str], operations: Operations) -> None:
    """The end of the queue is no failure, and an interruption is the program's."""
    heard: list[str] = []
    operations.append(noting(heard, "it"))
    with pytest.raises(type(error)):
        with operations.receiving("take", "orders"):
            raise error
    assert heard[1:] == told


def failing_at_the_end(operation: Operation) -> Ended:
    def end(error: BaseException | None) -> None:
        raise ValueError("at the end")

    return end


def failing_at_the_beginning(operation: Operation) -> Ended:
    raise ValueError("at the beginning")


@pytest.mark.parametrize("failing", [failing_at_the_beginning, failing_at_the_end])
def test_the_first_error_of_an_interceptor_is_logged(
    failing: Interceptor, operations: Operations, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []
    operations += [failing, noting(heard, "other")]
    for _ in range(3):
        with operations.around(OperationKind.SEND, "offer", "orders"):
            pass
    assert heard == ["other begins offer", "other ends None"] * 3
    (record,) = caplog.records
    assert record.exc_info
    assert isinstance(record.exc_info[1], ValueError)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_an_interruption_comes_out(raised: type[BaseException], operations: Operations) -> None:
    """A signal may strike while an interceptor runs."""

    def interrupted(operation: Operation) -> Callable[[BaseException | None], None]:
        raise raised

    operations.append(interrupted)
    with pytest.raises(raised):
        operations.begin(OperationKind.SEND, "offer", "orders")
