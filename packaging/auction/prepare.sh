#!/bin/sh
# Makes a folder with a key and a bid for each of five parties, and in all of them the list of
# parties. In earnest each party makes its own key and tells the others its fingerprint; here one
# person plays all of them.
set -eu
umask 077
symbolon=${SYMBOLON:-symbolon}
cd "$(dirname "$0")"
for id in 0 1 2 3 4; do
    mkdir -p "keys/$id"
    test -f "keys/$id/bid.txt" || echo $((100 + (id * 37) % 101)) > "keys/$id/bid.txt"
done
{
    echo 'circuit = "auction:5x32"'
    echo 'timeout = 60'
    for id in 0 1 2 3 4; do
        fingerprint=$("$symbolon" keygen --force --out "keys/$id/party.key")
        echo '[[party]]'
        echo "id = $id"
        echo "address = \"party$id:7000\""
        echo "fingerprint = \"$fingerprint\""
    done
} > keys/auction.toml
for id in 0 1 2 3 4; do cp keys/auction.toml "keys/$id/"; done
{
    # Containers run as the owner of the keys, who alone may read them.
    echo "SYMBOLON_USER=$(id -u):$(id -g)"
    # For `symbolon --version`.
    echo "SYMBOLON_COMMIT=$(git rev-parse --short=12 HEAD 2> /dev/null || echo unknown)"
} > .env
