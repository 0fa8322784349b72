"""Who is richer? Two parties compare numbers, and learn nothing else.

Both run in this process, over TLS on loopback, as they would on two machines.
"""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import symbolon as sy


@sy.function
def richer(alice: sy.u32, bob: sy.u32) -> sy.bool_:
    return alice > bob


def main() -> None:
    print(richer.cost())
    with tempfile.TemporaryDirectory() as folder:
        keys = [Path(folder) / name for name in ("alice.key", "bob.key")]
        prints = [sy.keygen(key) for key in keys]
        alice = sy.Party(
            0, key=keys[0], listen="127.0.0.1:0", peers={1: sy.Peer(fingerprint=prints[1])}
        )
        bob = sy.Party(1, key=keys[1], peers={0: sy.Peer(alice.address, prints[0])})
        with alice, bob, ThreadPoolExecutor(2) as pool:
            first = pool.submit(alice.run, richer, alice=5_000_000)
            second = pool.submit(bob.run, richer, bob=4_999_999)
            print("Alice is richer:", first.result().value)
            print(second.result().report)


if __name__ == "__main__":
    main()
