#!/usr/bin/env bash
# A sealed-bid auction: three nodes on this machine, each with its own key and doors, and a hundred
# bidders who are no party. Usage: run.sh [SYMBOLON [BIDDERS]], where SYMBOLON is the command.
set -euo pipefail
symbolon=${1:-symbolon}
bidders=${2:-100}
program=$(cd "$(dirname "$0")" && pwd)/auction.sym
work=$(mktemp -d)
pids=()
stop() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap stop EXIT

for me in 0 1 2; do
    mkdir -p "$work/$me"
    mkdir -m 700 "$work/$me/door"
    "$symbolon" keygen --out "$work/$me/node.key" >/dev/null
    prints[me]=$("$symbolon" fingerprint "$work/$me/node.key")
done
port=$((20000 + RANDOM % 20000))
nodes=()
for me in 0 1 2; do
    nodes+=(--node "http://127.0.0.1:$((port + 10 + me))")
    cat >"$work/$me/node.toml" <<SETTINGS
me = $me
key = "node.key"

[door]
socket = "door/socket"

# Without a certificate it is for this machine alone.
[clients]
address = "127.0.0.1:$((port + 10 + me))"

[functions.auction]
circuit = "$program"
const = { N = $bidders }
side_by_side = 1
ready = 1
wait = 3600

# All bidders have the same address here.
[functions.auction.clients]
per_minute = 0
SETTINGS
    for party in 0 1 2; do
        cat >>"$work/$me/node.toml" <<SETTINGS

[[party]]
id = $party
address = "127.0.0.1:$((port + party))"
fingerprint = "${prints[party]}"
SETTINGS
    done
    "$symbolon" serve "$work/$me/node.toml" 2>"$work/$me/log" &
    pids+=($!)
done
for me in 0 1 2; do
    until [ -S "$work/$me/door/socket" ]; do sleep 0.1; done
    "$symbolon" call "$work/$me/node.toml" auction --id monday --open
done

echo "$bidders bidders give a share of a bid to each node."
bid() { # NUMBER
    "$symbolon" submit auction --call monday --client "bidder-$1" --input "bids=$((1 + $1 * 7919 % 1000))" \
        "${nodes[@]}" >/dev/null
}
for first in $(seq 0 8 $((bidders - 2))); do
    bids=()
    for number in $(seq "$first" $((first + 7 < bidders - 2 ? first + 7 : bidders - 2))); do
        bid "$number" &
        bids+=($!)
    done
    for pid in "${bids[@]}"; do wait "$pid"; done
done
# The last one bids most, and waits for its answer.
"$symbolon" submit auction --call monday --client "eager" --input bids=5000 --wait 3600 "${nodes[@]}" \
    >"$work/answer" &
eager=$!
until curl --silent --unix-socket "$work/2/door/socket" \
    'http://door/v1/functions/auction/calls/monday/clients' | grep -q "\"submissions\":$bidders,"; do
    sleep 0.1
done

echo "The parties end the auction; what all of them learn:"
for me in 1 2; do
    "$symbolon" call "$work/$me/node.toml" auction --id monday --wait 3600 >/dev/null &
    calls[me]=$!
done
"$symbolon" call "$work/0/node.toml" auction --id monday --wait 3600 | grep -E '^(bidders|price) '
wait "${calls[1]}" "${calls[2]}" "$eager"
echo "What the bidder who bid most learns, and nobody else:"
cat "$work/answer"
