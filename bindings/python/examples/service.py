"""An application beside its party's node: many calls at a time, by `await`.

    python service.py DOOR [TOKEN]      # DOOR is the node's Unix socket, or ADDRESS:PORT

The nodes of both parties know the function `add`; each application gives its own input. See
`examples/service/run.sh` for how nodes are started.
"""

import asyncio
import sys

import symbolon as sy


async def main(door: str, token: str | None) -> None:
    node = sy.Node(door, token=token)
    party = node.stock()["party"]
    own = ("x", "y")[party]
    calls = [node.call_async("add", f"example-{n}", {own: n}) for n in range(5)]
    print("sums:", [int(result.value) for result in await asyncio.gather(*calls)])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
