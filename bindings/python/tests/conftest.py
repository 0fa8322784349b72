"""What tests of parties share."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import symbolon as sy


@pytest.fixture
def keys(tmp_path):
    """Three key files, each with its fingerprint."""
    paths = [tmp_path / f"{party}.key" for party in range(3)]
    return [(path, sy.keygen(path)) for path in paths]


@pytest.fixture
def pair():
    """Makes two parties; ``stores`` are their folders."""

    def make(keys, stores=(None, None), **options):
        (alice, alice_print), (bob, bob_print) = keys[:2]
        zero = sy.Party(
            0,
            key=alice,
            listen="127.0.0.1:0",
            peers={1: sy.Peer(fingerprint=bob_print)},
            store=stores[0],
            **options,
        )
        peers = {0: sy.Peer(zero.address, alice_print)}
        return zero, sy.Party(1, key=bob, peers=peers, store=stores[1], **options)

    return make


@pytest.fixture
def both():
    """Makes two calls at the same time; returns what each returned or raised."""

    def call(first, second):
        with ThreadPoolExecutor(2) as pool:
            calls = [pool.submit(first), pool.submit(second)]
            return [call.exception() or call.result() for call in calls]

    return call
