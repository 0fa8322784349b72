"""Two parties, each with a cluster of Ray, compare 10 000 bids and asks while a process is killed.

    python many_machines.py [--rows 10000] [--shards 2] [--no-kill]

Both clusters are on this machine. What a party runs on its own machines is `party` of
`symbolon.ray.demo`.
"""

from symbolon.ray.demo import main

if __name__ == "__main__":
    main()
