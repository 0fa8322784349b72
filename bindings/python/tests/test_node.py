"""The node's door, and clients who are no party. `tests/python.rs` runs the nodes."""

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import symbolon as sy

SERVICE = os.environ.get("SYMBOLON_TEST_SERVICE", "").split()
needs_nodes = pytest.mark.skipif(not SERVICE, reason="no nodes run here")


@pytest.fixture
def nodes():
    socket, address, token, *_ = SERVICE
    return sy.Node(socket), sy.Node(address, token=token)


@needs_nodes
def test_functions_and_stock(nodes) -> None:
    functions = nodes[0].functions()
    assert set(functions) == {"add", "larger", "auction"} and functions["add"].protocol == "wrk"
    assert [port.type for port in functions["larger"].inputs] == ["[u32; 4]", "Pair"]
    assert nodes[1].stock()["party"] == 1


@needs_nodes
def test_a_call(nodes, both) -> None:
    zero, one = nodes
    results = both(lambda: zero.call("add", "a", x=40), lambda: one.call("add", "a", y=2))
    assert [result.value for result in results] == [42, 42]
    # The same call again has the same answer; with other inputs it is refused.
    assert zero.call("add", "a", {"x": 40}).value == 42
    with pytest.raises(sy.InvalidInput):
        zero.call("add", "a", x=41)
    # Values are texts of the command, too.
    results = both(lambda: zero.call("add", "b", x="hex:0028"), lambda: one.call("add", "b", y=2))
    assert results[0]["sum"] == 42


@needs_nodes
def test_arrays_and_structures(nodes, both) -> None:
    zero, one = nodes
    x = np.array([1, 2, 3, 4], dtype=np.uint32)
    program = sy.source(
        "struct Pair { low: u8, high: u16 }\n"
        "fn main(x: [u32; 4] from 0, by: Pair from 1)"
        " -> (y: [u32; 4] to all, pair: Pair to 0) { (x, by) }"
    )
    first, second = both(
        lambda: zero.call("larger", "a", circuit=program, x=x),
        lambda: one.call("larger", "a", circuit=program, by={"low": 1, "high": 10}),
    )
    assert list(first["y"]) == [14, 13, 12, 11] and first["y"].dtype == np.uint32
    assert first["pair"] == {"low": 1, "high": 10} and "pair" not in second
    # Without the circuit, the numbers of a structure come as the door tells them: as texts.
    first, second = both(
        lambda: zero.call("larger", "b", x=x),
        lambda: one.call("larger", "b", by={"low": 1, "high": 10}),
    )
    assert not isinstance(second, Exception), second
    assert list(second["y"]) == [14, 13, 12, 11] and first["pair"] == {"low": "1", "high": "10"}


@needs_nodes
def test_a_call_waits_for_the_others(nodes) -> None:
    zero, one = nodes
    begun = time.monotonic()
    with pytest.raises(sy.PeerUnreachable, match="no answer yet") as raised:
        zero.call("add", "late", timeout=0.3, x=1)
    assert raised.value.code == "no-answer" and time.monotonic() - begun < 5
    deadline = time.monotonic() + 10
    while "late" not in one.announced("add"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert one.call("add", "late", y=5).value == 6
    assert zero.call("add", "late", x=1).value == 6


@needs_nodes
def test_wrong_calls(nodes) -> None:
    zero, _ = nodes
    with pytest.raises(sy.InvalidInput, match="no function `sub`"):
        zero.call("sub", "a", x=1)
    with pytest.raises(sy.InvalidInput, match="no input `z`"):
        zero.call("add", "wrong", z=1)
    with pytest.raises(sy.InvalidInput):
        zero.call("add", "wrong", x=70_000)
    with pytest.raises(sy.InvalidInput, match="name"):
        zero.call("add", "not a name", x=1)


@needs_nodes
def test_awaited_calls(nodes) -> None:
    zero, one = nodes

    async def many() -> list[int]:
        calls = []
        for number in range(3):
            calls.append(zero.call_async("add", f"many-{number}", x=number))
            calls.append(one.call_async("add", f"many-{number}", y=10))
        return [result.value for result in await asyncio.gather(*calls)]

    assert asyncio.run(many()) == [10, 10, 11, 11, 12, 12]

    async def cancelled() -> float:
        begun = time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(zero.call_async("add", "nobody", x=1), 0.2)
        return time.monotonic() - begun

    assert asyncio.run(cancelled()) < 5


@needs_nodes
def test_clients(nodes) -> None:
    urls = SERVICE[3:]
    for node in nodes:
        node.open_clients("auction", "monday")
    bids = {"ann": 30, "bob": 70, "eve": 20}
    given = {
        client: sy.submit(urls, "auction", "monday", client, bids=bid)
        for client, bid in bids.items()
    }
    with pytest.raises(sy.PeerUnreachable, match="no answer yet"):
        given["ann"].answer(timeout=0)
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(node.call, "auction", "monday") for node in nodes]
        assert [call.result()["best"] for call in calls] == [70, 70]
    answers = {client: one.answer(30) for client, one in given.items()}
    assert answers == {"ann": {"sold": False}, "bob": {"sold": True}, "eve": {"sold": False}}
    clients = nodes[0].clients("auction", "monday")
    assert {"ann", "bob", "eve"} <= set(str(clients).replace("'", " ").split())
    with pytest.raises(sy.InvalidInput, match="clients give no value `bid`"):
        sy.submit(urls, "auction", "tuesday", "ann", bid=3)


def test_doors_that_are_not_there(tmp_path) -> None:
    with pytest.raises(sy.PeerUnreachable):
        sy.Node(tmp_path / "door").functions()
    with pytest.raises(sy.InvalidInput, match="ADDRESS:PORT"):
        sy.Node(tmp_path / "door", token="a-token-of-this-test")
    with pytest.raises(sy.InvalidInput, match="https"):
        sy.submit(["http://example.com"], "auction", "a", "b")


def test_errors_of_a_node_name_party_and_check() -> None:
    error = sy._node._error(
        {"class": "misbehaved", "code": "check-failed", "message": "no", "party": 1, "check": "x"}
    )
    assert isinstance(error, sy.CheatingDetected)
    assert (error.code, error.party, error.check) == ("check-failed", 1, "x")
    error = sy._node._error({"class": "peer", "code": "busy", "message": "no"})
    assert isinstance(error, sy.PeerUnreachable) and error.party is None
