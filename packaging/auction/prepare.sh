#!/bin/sh
# Makes a key and a bid for each of five parties, and the list of parties that all of them share.
# In earnest each party makes its own key and tells the others its fingerprint; here one person plays
# all of them.
set -eu
symbolon=${SYMBOLON:-symbolon}
cd "$(dirname "$0")"
mkdir -p keys
{
    echo 'circuit = "auction:5x32"'
    echo 'timeout = 60'
    for id in 0 1 2 3 4; do
        fingerprint=$("$symbolon" keygen --force --out "keys/$id.key")
        echo '[[party]]'
        echo "id = $id"
        echo "address = \"party$id:7000\""
        echo "fingerprint = \"$fingerprint\""
        test -f "keys/bid_$id.txt" || echo $((100 + (id * 37) % 101)) > "keys/bid_$id.txt"
    done
} > keys/auction.toml
# Containers run as the owner of the keys, who alone may read them.
echo "SYMBOLON_USER=$(id -u):$(id -g)" > .env
