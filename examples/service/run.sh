#!/usr/bin/env bash
# Two nodes on this machine, each with its own key and door: party 0 holds the key of an HMAC,
# party 1 has messages to be authenticated. Usage: run.sh [SYMBOLON], where SYMBOLON is the command.
set -euo pipefail
symbolon=${1:-symbolon}
work=$(mktemp -d)
pids=()
stop() {
    # The first signal lets running calls end.
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap stop EXIT

for me in 0 1; do
    mkdir -p "$work/$me"
    mkdir -m 700 "$work/$me/door"
    "$symbolon" keygen --out "$work/$me/node.key" >/dev/null
    prints[me]=$("$symbolon" fingerprint "$work/$me/node.key")
done
port=$((20000 + RANDOM % 20000))
for me in 0 1; do
    cat >"$work/$me/node.toml" <<SETTINGS
me = $me
key = "node.key"
state = "state"

[door]
socket = "door/socket"

[[party]]
id = 0
address = "127.0.0.1:$port"
fingerprint = "${prints[0]}"

# Nobody dials this party: it may be behind NAT.
[[party]]
id = 1
fingerprint = "${prints[1]}"

[functions.encrypt]
circuit = "aes128"
outputs = { ciphertext = "1" }
side_by_side = 2
ready = 8

[functions.sum]
circuit = "add:32"
calls = 100
SETTINGS
    "$symbolon" serve "$work/$me/node.toml" 2>"$work/$me/log" &
    pids+=($!)
done

# Sends a request to a party's door.
door() { # PARTY PATH [BODY]
    curl --silent --show-error --unix-socket "$work/$1/door/socket" "http://door$2" \
        ${3:+--header 'content-type: application/json' --data "$3"}
}
healthy() { door "$1" /healthz 2>/dev/null | grep -q '"connected":true'; }
for _ in $(seq 100); do
    if healthy 0 && healthy 1; then break; fi
    sleep 0.1
done

echo "A sum, with curl at both doors:"
door 0 '/v1/functions/sum/calls/first?wait=20' '{"inputs": {"x": 40}}' &
door 1 '/v1/functions/sum/calls/first?wait=20' '{"inputs": {"y": 2}}' >/dev/null
wait $!
echo

echo "A block encrypted with a key of party 0, with the command; party 1 learns it:"
"$symbolon" call "$work/0/node.toml" encrypt --id block-1 \
    --input key=hex:2b7e151628aed2a6abf7158809cf4f3c &
"$symbolon" call "$work/1/node.toml" encrypt --id block-1 \
    --input message=hex:6bc1bee22e409f96e93d7e117393172a
wait $!

echo "What party 1 has prepared:"
door 1 /v1/stock
echo
