"""Many machines: the drivers' ledger, and two clusters of Ray with kills."""

import json
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import symbolon as sy

pytest.importorskip("ray", reason="Ray is not installed: pip install 'symbolon[ray]'")

import pandas  # noqa: E402
import pyarrow  # noqa: E402

from symbolon.ray._journal import Journal, digest_of  # noqa: E402
from symbolon.ray._ledger import DEPTH, GIVEN_UP, Event, Ledger, is_within, pack, unpack  # noqa: E402
from symbolon.ray._local import LocalCluster, free_port  # noqa: E402
from symbolon.ray._rows import columns_of, rows_of  # noqa: E402
from symbolon.ray._work import networks_of  # noqa: E402
from symbolon.ray.simulation import simulate, table  # noqa: E402

KEY = "ab" * 32
BIG = sy.source(
    "fn main(x: u16 from 0, y: u16 from 1) -> (sum: u16 to all, own: u16 to 0) { (x + y, x - y) }"
)


def test_ray_is_imported_when_it_is_used() -> None:
    script = (
        "import sys\n"
        "import symbolon as sy\n"
        "assert 'ray' not in sys.modules and 'symbolon.ray' not in sys.modules\n"
        "sys.modules['ray'] = None\n"
        "try:\n"
        "    sy.ray\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stdout == "`symbolon.ray` needs Ray: pip install 'symbolon[ray]'\n", ended.stderr


def linked(ledger, shard=0):
    """Events by which a shard is ready at both and listens; returns what is done then."""
    generation = ledger.shards[shard].generation
    ready = Event("ready", shard, generation, text=KEY)
    told = [Event("told")]
    ledger.apply([ready, *told], [ready, *told])
    return ledger.apply([Event("listens", shard, generation, text="10.0.0.1:700")], [])


def works(actions):
    return [
        (action.shard, action.chunk, action.attempt) for action in actions if action.kind == "work"
    ]


def test_a_chunk_is_finished_when_both_have_its_outputs() -> None:
    ledger = Ledger([5, 5, 5], 1, attempts=3, listener=0)
    assert works(linked(ledger)) == [(0, 0, 1), (0, 1, 1)] and DEPTH == 2
    assert works(ledger.apply([Event("done", 0, 0, 0)], [])) == []
    assert works(ledger.apply([], [Event("done", 0, 0, 0)])) == [(0, 2, 1)]
    done = [Event("done", 0, 0, 1), Event("done", 0, 0, 2)]
    ledger.apply(done, done)
    assert ledger.ended and ledger.left == 0 and ledger.failure is None


def test_what_a_lost_generation_had_is_done_again() -> None:
    ledger = Ledger([5, 5], 2, attempts=3, listener=0)
    linked(ledger)
    ledger.apply([Event("done", 0, 0, 0)], [Event("done", 0, 0, 0)])
    actions = ledger.apply([], [Event("lost", 0, 0, text="ActorDiedError")])
    assert [(action.kind, action.generation) for action in actions] == [("void", 0), ("begin", 1)]
    # The other party says the same a round later, which is old by then.
    assert ledger.apply([Event("lost", 0, 0, text="peer")], []) == []
    assert works(linked(ledger, 1)) == [(1, 1, 2)]


def test_attempts_are_bounded() -> None:
    """Cheat: party 1 | rows of many machines | loses each session after it has its outputs, to try
    other rows | the bound on attempts | 1
    """
    ledger = Ledger([5], 1, attempts=2, listener=0)
    assert works(linked(ledger)) == [(0, 0, 1)]
    for attempt in (2, None):
        generation = ledger.shards[0].generation
        ledger.apply([], [Event("lost", 0, generation, text="gone")])
        found = works(linked(ledger))
        assert found == ([(0, 0, attempt)] if attempt else [])
    assert ledger.ended and "after 2 attempts: gone" in ledger.exhausted


def test_a_store_that_one_party_alone_calls_empty_is_an_attempt() -> None:
    """Cheat: party 1 | rows of many machines | says that the stores have nothing, after it has its
    outputs, to try other rows | the bound on attempts | 1
    """
    ledger = Ledger([5], 2, attempts=1, listener=0)
    linked(ledger)
    dry = Event("dry", 0, 0, 0)
    ledger.apply([], [dry])
    assert works(linked(ledger, 1)) == [] and "after 1 attempts" in ledger.exhausted
    # If both say so, nothing was used.
    ledger = Ledger([5], 2, attempts=1, listener=0)
    linked(ledger)
    ledger.apply([dry], [])
    ledger.apply([], [dry])
    assert works(linked(ledger, 1)) == [(1, 0, 1)]
    ledger.apply([Event("dry", 1, 0, 0)], [Event("dry", 1, 0, 0)])
    assert ledger.exhausted == "dry"


def test_a_shard_that_never_works_is_given_up() -> None:
    ledger = Ledger([5], 2, attempts=3, listener=0)
    ledger.apply([Event("told")], [Event("told")])
    for generation in range(GIVEN_UP):
        lost = [Event("lost", shard, generation, text="out of ports") for shard in (0, 1)]
        assert not ledger.ended
        ledger.apply(lost, [])
    assert ledger.exhausted == "no shard works: out of ports"


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"\xff", "cannot be read"),
        (b"{}", "cannot be read"),
        (b"[[1, 2, 3, 4, 5, 6, 7]]", "cannot be read"),
        (b'[["done", "0", 0, 0, ""]]', "another type"),
        (b'[["done", true, 0, 0, ""]]', "another type"),
        (b'[["gone", 0, 0, 0, ""]]', "no known kind"),
        (b'[["lost", 0, 0, 0, "a\\nb"]]', "not printable"),
        (b'[["lost", 0, 0, 0, "' + b"a" * 300 + b'"]]', "too long"),
        (b'[["done", 7, 0, 0, ""]]', "that there is not"),
        (b'[["done", -1, 0, 0, ""]]', "that there is not"),
        (b'[["done", 0, 0, 3, ""]]', "that there is not"),
        (b'[["ready", 0, 1, 0, "' + KEY.encode() + b'"]]', "not begun"),
        (b'[["ready", 0, 0, 0, "abc"]]', "no fingerprint"),
        (b'[["listens", 0, 0, 0, "10.0.0.1:7"]]', "of the party that dials"),
        (b'[["done", 0, 0, 1, ""]]', "never had"),
        (b'[["tried", 0, 4, 0, ""]]', "more attempts"),
        (b"[" * 100_000, "cannot be read"),
    ],
)
def test_a_message_that_no_honest_driver_sends(message: bytes, why: str) -> None:
    """Cheat: party 1 | messages of drivers | sends what does not fit the state of the work |
    `messages of drivers` | 1
    """
    ledger = Ledger([5, 5], 2, attempts=3, listener=0)
    with pytest.raises(sy.CheatingDetected, match=why) as raised:
        unpack(message, ledger, 1)
    assert raised.value.party == 1 and raised.value.check == "messages of drivers"


def test_what_was_before_is_told_before_the_work() -> None:
    ledger = Ledger([5, 5], 2, attempts=3, listener=0)
    ledger.apply([], [Event("told")])
    with pytest.raises(sy.CheatingDetected, match="after it began"):
        unpack(b'[["has", 0, 0, 1, ""]]', ledger, 1)


def test_messages_have_a_limit_and_lose_nothing() -> None:
    events = [Event("lost", shard, 0, text="x" * 50) for shard in range(20)]
    ledger = Ledger([1] * 20, 20, attempts=3, listener=0)
    received = []
    while events:
        message, number = pack(events, 400)
        assert len(message) <= 400 and number > 0
        received += unpack(message, ledger, 0)
        events = events[number:]
    assert [event.shard for event in received] == list(range(20))


def test_where_shards_may_be() -> None:
    me = sy.Party(1, insecure=True, peers={0: sy.Peer("127.0.0.1:7000")})
    own = networks_of(me, sy.ray.Cluster())
    assert is_within("127.0.0.1:80", own) and not is_within("127.0.0.2:80", own)
    wide = networks_of(me, sy.ray.Cluster(networks=["10.0.0.0/8", "fd00::/8"]))
    assert is_within("10.3.4.5:7000", wide) and is_within("[fd00::1]:7000", wide)
    for address in ("11.0.0.1:80", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:99999", "host:80", ""):
        assert not is_within(address, wide), address
    with pytest.raises(sy.InvalidInput, match="`networks`"):
        networks_of(me, sy.ray.Cluster(networks=["here"]))


def test_both_drivers_decide_alike_whatever_is_lost() -> None:
    figures = simulate(6, seed=random.randrange(1 << 30))
    assert figures.chunks == 120 and "| 6 | 120 |" in table([figures])
    assert simulate(3, losses=False).again == 0


def test_rows_of_all_kinds() -> None:
    values = list(range(10))
    for rows in (
        pandas.DataFrame({"x": values}),
        pyarrow.table({"x": values}),
        {"x": values},
    ):
        found = rows_of(rows, None, BIG, 0)
        assert found.count == 10
        assert columns_of(*found.part(3, 7)) == {"x": [3, 4, 5, 6]}
    assert columns_of(*rows_of(None, 4, sy.builtin("add:8"), 5).part(0, 4)) == {}


@pytest.mark.parametrize(
    ("rows", "count", "why"),
    [
        ({"z": [1]}, None, "no input `z`"),
        ({}, None, "no column `x`"),
        ({"x": []}, None, "one row or more"),
        ({"x": [1]}, 2, "`count` is 2"),
        (None, 5, "no column `x`"),
        (7, None, "`rows` is a data frame"),
    ],
)
def test_wrong_rows(rows, count, why) -> None:
    with pytest.raises(sy.InvalidInput, match=why):
        rows_of(rows, count, BIG, 0)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"shards": 0}, "`shards`"),
        ({"shards": 2, "attempts": 0}, "`attempts`"),
        ({"shards": 2, "cluster": sy.ray.Cluster(cpus=0)}, "`cpus`"),
        ({"shards": 2, "cluster": sy.ray.Cluster(ports=(9, 3))}, "`ports`"),
    ],
)
def test_wrong_arguments(arguments, why) -> None:
    me = sy.Party(0, insecure=True, peers={1: sy.Peer("127.0.0.1:7000")})
    with pytest.raises(sy.InvalidInput, match=why):
        sy.ray.map(BIG, {"x": [1]}, me, **arguments)


def test_parties_whose_work_cannot_be_spread() -> None:
    three = sy.Party(0, insecure=True, listen="127.0.0.1:0", peers={1: sy.Peer(), 2: sy.Peer()})
    dealt = sy.Party(
        0, insecure=True, peers={1: sy.Peer("127.0.0.1:7000")}, dealer=sy.Peer("127.0.0.1:1")
    )
    for me, why in ((three, "two parties"), (dealt, "dealer")):
        with pytest.raises(sy.InvalidInput, match=why):
            sy.ray.map(BIG, {"x": [1]}, me, shards=1)
    me = sy.Party(0, insecure=True, peers={1: sy.Peer("127.0.0.1:7000")})
    with pytest.raises(sy.InvalidInput, match="`store`"):
        sy.ray.Preprocessing(me, shards=1, store="here")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What both drivers saw in all scenarios."""
    folder = tmp_path_factory.mktemp("ray")
    for party in (0, 1):
        sy.keygen(folder / f"{party}.key")
    # Party 0 has two nodes, party 1 one: only the shards are as many.
    with LocalCluster(2, cpus=1) as zero, LocalCluster(1, cpus=4) as one:
        place = f"127.0.0.1:{free_port()}"
        script = Path(__file__).parent / "ray_party.py"

        def driver(party, *scenarios):
            cluster = (zero, one)[party]
            command = [sys.executable, script, str(party), cluster.address, place, folder]
            with (folder / f"{party}.log").open("a") as log:
                process = subprocess.Popen(
                    [*command, *scenarios], stdout=subprocess.PIPE, stderr=log, text=True
                )
            started.append(process)
            for line in process.stdout:
                print(f"[{party}] {line}", end="")
                if line == "node\n":
                    zero.kill_node(1)
            return process.wait()

        def follow(party):
            if driver(party) == 9:
                # It killed itself.
                driver(party, "without_a_driver", "with_stores")

        started = []
        threads = [threading.Thread(target=follow, args=(party,)) for party in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=280)
        for process in started:
            process.kill()
    return [json.loads((folder / f"{party}.json").read_text()) for party in (0, 1)]


def expected(count=600):
    x, y = [3 * row for row in range(count)], [5 * row for row in range(count)]
    sums = [(a + b) % 65536 for a, b in zip(x, y, strict=True)]
    return sums, [(a - b) % 65536 for a, b in zip(x, y, strict=True)]


def test_rows_of_tables(seen) -> None:
    sums, own = expected()
    zero, one = (saw["on_tables"] for saw in seen)
    assert zero["columns"] == {"sum": sums, "own": own} and one["columns"] == {"sum": sums}
    assert zero["starts"] == one["starts"] == list(range(0, 600, 20))
    assert zero["sent"] > 0 and zero["arrow"] == 600 and one["frame"] == ["sum"]
    assert "<progress max='600' value='600'>" in one["html"] and "600 of 600 rows" in one["text"]


def test_actors_that_are_killed_change_nothing(seen) -> None:
    sums, own = expected()
    zero, one = (saw["with_kills"] for saw in seen)
    assert zero["columns"] == {"sum": sums, "own": own} and one["columns"] == {"sum": sums}
    assert zero["starts"] == one["starts"] == list(range(0, 600, 20))
    assert zero["lost"] == one["lost"] >= 1 and zero["again"] == one["again"]


def test_nothing_in_stores_is_used_twice(seen) -> None:
    zero, one = (saw["with_stores"] for saw in seen)
    sums, _ = expected(200)
    assert list(zero["columns"].values()) == list(one["columns"].values()) == [sums]
    assert zero["lost"] >= 1 and zero["made"] == one["made"]
    assert sum(map(len, zero["made"].values())) == 8
    for party in (zero, one):
        # No actor's material was used by two calls, and what was used is marked.
        assert len(set(party["used"])) == len(party["used"]) > 0
        marked = {
            item
            for shard in party["after"].values()
            for item in shard
            if shard[item] != "available"
        }
        assert set(party["used"]) <= marked
    for shard in zero["before"]:
        # What was prepared is in both stores: a killed actor left nothing that only one could use.
        for made in zero["made"][shard]:
            assert zero["before"][shard][made] == one["before"][shard][made] == "available"
        # What one of them has used, the other one has used, or lost while it was killed.
        for item in set(zero["used"]) & zero["after"][shard].keys():
            assert one["after"][shard][item] != "available"
    assert zero["dry"]["type"] == one["dry"]["type"] == "OutOfMaterial"
    assert zero["keys"] == ["key", "store"]


def test_a_node_that_is_lost(seen) -> None:
    sums, own = expected()
    zero, one = (saw["on_a_lost_node"] for saw in seen)
    assert zero["columns"] == {"sum": sums, "own": own} and one["columns"] == {"sum": sums}
    assert zero["nodes"] == 2 and zero["lost"] == one["lost"] >= 1


def test_terms_that_differ_are_named(seen) -> None:
    zero, one = (saw["with_other_terms"] for saw in seen)
    assert zero["type"] == one["type"] == "PeerMismatch"
    assert (zero["what"], zero["ours"], zero["theirs"]) == ("chunk", "20", "21")
    assert (one["what"], one["ours"], one["theirs"]) == ("chunk", "21", "20")


def test_shards_outside_the_networks_are_not_dialled(seen) -> None:
    """Cheat: party 0 | addresses of shards | tells an address inside the other party's network |
    `networks` | 1
    """
    zero, one = (saw["from_other_networks"] for saw in seen)
    assert one["type"] == "PeerMismatch" and one["code"] == "networks"
    assert one["ours"] == "10.9.0.0/16" and one["theirs"].startswith("127.0.0.1:")
    assert zero["type"] == "PeerUnreachable" and zero["code"] == "ended-by-peer"


def test_rows_that_change_between_attempts(seen) -> None:
    """Cheat: party 1 | rows of many machines | loses a chunk after it has the outputs, and gives
    other rows the second time | `chunk evaluated again` | 1
    """
    zero, _ = (saw["with_changed_rows"] for saw in seen)
    assert zero["type"] == "CheatingDetected" and zero["check"] == "chunk evaluated again"
    assert zero["party"] == 1


def test_wrong_rows_of_one_party_end_the_work_of_both(seen) -> None:
    zero, one = (saw["with_wrong_rows"] for saw in seen)
    assert one["type"] == "InvalidInput"
    assert zero["type"] == "PeerUnreachable" and zero["code"] == "ended-by-peer"


def test_work_that_is_cancelled(seen) -> None:
    zero, one = (saw["cancelled"] for saw in seen)
    assert one == {"type": "KeyboardInterrupt"}
    assert zero == {"type": "PeerUnreachable", "code": "ended-by-peer"}


def test_a_driver_that_is_lost(seen) -> None:
    sums, own = expected()
    zero, one = (saw["without_a_driver"] for saw in seen)
    assert zero["columns"] == {"sum": sums, "own": own} and one["columns"] == {"sum": sums}
    assert zero["errors"] and one["errors"] == []
    for party in (zero, one):
        # What both had finished was not evaluated again.
        assert 0 < party["resumed"] and party["resumed"] + party["done"] == 600
        assert party["mode"] == 0o600
        assert party["other"]["type"] == "InvalidInput" and "other work" in party["other"]["text"]


def test_a_journal_counts_attempts_and_knows_its_rows(tmp_path) -> None:
    journal = Journal(tmp_path / "journal", {"rows": 3})
    for chunk in (0, 1, 1):
        journal.begins(chunk)
    journal.keep(0, {"y": [1]}, digest_of({"x": [3]}))
    journal.close()
    with (tmp_path / "journal" / "attempts").open("a") as attempts:
        attempts.write("12")
    again = Journal(tmp_path / "journal", {"rows": 3})
    assert again.tried == {0: 1, 1: 2} and again.parts[0][0] == {"y": [1]}
    again.check_rows(lambda chunk: digest_of({"x": [3]}))
    with pytest.raises(sy.InvalidInput, match="other rows"):
        again.check_rows(lambda chunk: digest_of({"x": [4]}))
    (tmp_path / "journal" / "part-0").write_bytes(b"\x80")
    with pytest.raises(sy.StoreError, match="cannot be used"):
        Journal(tmp_path / "journal", {"rows": 3})


def test_attempts_are_bounded_over_all_drivers() -> None:
    ledger = Ledger([5, 5], 1, attempts=2, listener=0)
    before = [Event("tried", chunk=0, generation=2), Event("has", chunk=1), Event("told")]
    ledger.apply(before, [Event("has", chunk=1)])
    assert ledger.left == 1 and not ledger.ended
    ledger.apply([], [Event("told")])
    assert works(linked(ledger)) == [] and "after 2 attempts" in ledger.exhausted
