"""AES by prepared circuits: the night before, and then as often as it was prepared.

Party 0 has the key, party 1 the block. Both run in this process, each with a store of its own.
"""

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import symbolon as sy

KEY = "hex:000102030405060708090a0b0c0d0e0f"
MESSAGE = "hex:00112233445566778899aabbccddeeff"


def main() -> None:
    aes = sy.builtin("aes128")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        place = Path(folder)
        zero = sy.Party(
            0, listen="127.0.0.1:0", insecure=True, peers={1: sy.Peer()}, store=place / "zero"
        )
        one = sy.Party(1, insecure=True, peers={0: sy.Peer(zero.address)}, store=place / "one")

        def both(first: Callable[[], Any], second: Callable[[], Any]) -> list[Any]:
            calls = [pool.submit(first), pool.submit(second)]
            return [call.result() for call in calls]

        with zero, one:
            made, _ = both(lambda: zero.prepare(aes, 3), lambda: one.prepare(aes, 3))
            print("prepared:", len(made.items))
            result, _ = both(lambda: zero.run(aes, key=KEY), lambda: one.run(aes, message=MESSAGE))
            print(f"{result.value:032x}")
            print(result.report)
            print("left:", zero.material().runs(aes))


if __name__ == "__main__":
    main()
