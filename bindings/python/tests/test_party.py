"""Parties with connections: TLS, several circuits, errors, signals."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import symbolon as sy

ADDER = sy.builtin("add:16")


def test_keys_are_private_files(tmp_path) -> None:
    path = tmp_path / "a.key"
    printed = sy.keygen(path)
    assert sy.fingerprint(path) == printed and len(printed) == 64
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(sy.StoreError, match="exists already"):
        sy.keygen(path)
    assert sy.keygen(path, overwrite=True) != printed


def test_several_circuits_over_one_connection(keys, pair, both) -> None:
    zero, one = pair(keys)
    richer = sy.builtin("millionaires:16")
    with zero, one:
        for x in (40, 41):
            results = both(lambda x=x: zero.run(ADDER, x=x), lambda: one.run(ADDER, y=2))
            assert [result.value for result in results] == [x + 2, x + 2]
        results = both(lambda: zero.run(richer, x=3), lambda: one.run(richer, y=2))
        assert [result.value for result in results] == [1, 1]
        assert results[0].report.bytes_sent > 0
    with pytest.raises(RuntimeError, match="closed"):
        zero.run(ADDER, x=1)


def test_three_parties(keys) -> None:
    auction = sy.builtin("auction:3x8")
    ports = [sy.Party(0, listen="127.0.0.1:0", insecure=True, peers={1: sy.Peer()}) for _ in "01"]
    addresses = [port.address for port in ports]
    for port in ports:
        port.close()
    peers = [
        sy.Peer(address, fingerprint)
        for address, (_, fingerprint) in zip([*addresses, None], keys, strict=True)
    ]

    def bid(party: int, value: int) -> object:
        others = {number: peer for number, peer in enumerate(peers) if number != party}
        listen = peers[party].address
        with sy.Party(party, key=keys[party][0], listen=listen, peers=others) as me:
            return me.run(auction, **{auction.inputs[party].name: value})["winner"]

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(bid, range(3), (12, 13, 9))) == [1, 1, 1]


def test_another_key_is_refused(keys, both) -> None:
    (alice, alice_print), (bob, _), (_, stranger) = keys
    zero = sy.Party(
        0, key=alice, listen="127.0.0.1:0", timeout=5, peers={1: sy.Peer(fingerprint=stranger)}
    )
    one = sy.Party(1, key=bob, timeout=5, peers={0: sy.Peer(zero.address, alice_print)})
    with zero, one:
        errors = both(lambda: zero.run(ADDER, x=1), lambda: one.run(ADDER, y=2))
    assert all(isinstance(error, sy.PeerUnreachable) for error in errors), errors


def test_differences_are_named(keys, pair, both) -> None:
    zero, one = pair(keys, timeout=10)
    other = sy.builtin("add:8")
    with zero, one:
        errors = both(lambda: zero.run(ADDER, x=1), lambda: one.run(other, y=2))
    for error in errors:
        assert isinstance(error, sy.PeerMismatch), error
        assert error.code == "parties-differ" and error.ours != error.theirs


def test_inputs_are_refused_before_anything_is_sent(keys, pair, both) -> None:
    zero, one = pair(keys)
    with zero, one:
        with pytest.raises(sy.InvalidInput, match="belongs to party 1"):
            zero.run(ADDER, y=1)
        # Nobody was troubled.
        results = both(lambda: zero.run(ADDER, x=1), lambda: one.run(ADDER, y=2))
        assert [result.value for result in results] == [3, 3]


def test_after_a_failure_the_parties_meet_again(keys, pair, both) -> None:
    zero, one = pair(keys, timeout=10)
    with zero, one:
        address = zero.address
        both(lambda: zero.run(ADDER, x=1), lambda: one.run(sy.builtin("add:8"), y=2))
        again = sy.Party(
            0, key=keys[0][0], listen=address, peers={1: sy.Peer(fingerprint=keys[1][1])}
        )
        results = both(lambda: again.run(ADDER, x=1), lambda: one.run(ADDER, y=2))
        assert [result.value for result in results] == [3, 3]
        again.close()


def test_parties_exchange_public_data(keys, pair, both) -> None:
    zero, one = pair(keys, timeout=10)
    with zero, one:
        ends = both(lambda: zero._session.exchange("x"), lambda: one._session.exchange("x"))
        swapped = both(lambda: ends[0].swap(b"zero", 9), lambda: ends[1].swap(b"one", 9))
        assert swapped == [b"one", b"zero"]
        # What is longer than was agreed is refused, and the exchange is over.
        errors = both(lambda: ends[0].swap(b"0123456789", 9), lambda: ends[1].swap(b"", 9))
        assert isinstance(errors[1], sy.CheatingDetected), errors
        with pytest.raises(RuntimeError, match="over"):
            ends[1].swap(b"", 9)
        for end in ends:
            end.close()
        errors = both(lambda: zero._session.exchange("x"), lambda: one._session.exchange("y"))
        assert [(error.ours, error.theirs) for error in errors] == [("x", "y"), ("y", "x")]


def test_many_rows_over_one_session(keys, pair, both) -> None:
    zero, one = pair(keys)
    with zero, one:
        assert not zero._session.batches
        for start in (0, 100):
            rows = [[("x", str(start + row))] for row in range(3)], [[("y", "5")]] * 3
            ran = both(
                lambda rows=rows: zero._session.run_each(ADDER, rows[0]),
                lambda rows=rows: one._session.run_each(ADDER, rows[1]),
            )
            sums = [[row.get("sum") for row in each["outputs"]] for each in ran]
            assert sums == [[start + 5, start + 6, start + 7]] * 2
        # Only the first call has set up a session.
        assert all(
            phase["bytes_sent"] == 0 for phase in ran[0]["report"] if phase["phase"] == "setup"
        )
    assert sy.Party(
        0, insecure=True, peers={1: sy.Peer("a:1")}, protocol="tinytable"
    )._session.batches


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "give `key`"),
        ({"key": "a.key", "insecure": True}, "exclude each other"),
        ({"insecure": True, "peers": {2: sy.Peer()}}, "numbered 0 to 1"),
        ({"insecure": True, "protocol": "wrkk"}, "wrk"),
        ({"insecure": True, "timeout": -1}, "seconds"),
        ({"insecure": True, "listen": "nowhere"}, "the port is missing"),
        ({"insecure": True, "peers": {1: sy.Peer(fingerprint="xyz")}}, "not a fingerprint"),
    ],
)
def test_wrong_settings(arguments: dict, why: str) -> None:
    with pytest.raises(sy.InvalidInput, match=why):
        sy.Party(0, **{"peers": {1: sy.Peer("127.0.0.1:1")}, **arguments})


def test_closing_ends_a_run_in_another_thread() -> None:
    waiting = sy.Party(0, listen="127.0.0.1:0", insecure=True, peers={1: sy.Peer()})
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(waiting.run, ADDER, x=1)
        time.sleep(0.3)
        with pytest.raises(RuntimeError, match="another call at the moment"):
            waiting.run(ADDER, x=1)
        waiting.close()
        with pytest.raises(KeyboardInterrupt):
            run.result(timeout=10)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_ctrl_c_ends_a_run_soon() -> None:
    # A process that a shell starts in the background ignores this signal until it says otherwise.
    script = (
        "import signal\n"
        "import symbolon as sy\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "me = sy.Party(0, listen='127.0.0.1:0', insecure=True, peers={1: sy.Peer()})\n"
        "print('waits', flush=True)\n"
        "try:\n"
        "    me.run(sy.builtin('add:16'), x=1)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "waits\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=20)
    assert said == "interrupted\n" and process.returncode == 0


def test_other_threads_go_on_while_one_waits() -> None:
    waiting = sy.Party(0, listen="127.0.0.1:0", insecure=True, peers={1: sy.Peer()})
    count = 0
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(waiting.run, ADDER, x=1)
        while count < 1000:
            count += 1
            time.sleep(0)
        waiting.close()
        assert isinstance(run.exception(timeout=10), KeyboardInterrupt)
    assert threading.active_count() >= 1
