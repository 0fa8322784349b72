// The same bytes as Rust: `vectors.json` is written by crates/service/tests/service/vectors.rs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { multiply } from "../src/field.js";
import { Changed, Layout, NotCounted, type Answers, type LayoutJson } from "../src/index.js";

interface Vector {
    layout: LayoutJson;
    /** As JSON; integers beyond the safe ones as text. */
    values: Answers;
    /** The random bytes, in the order in which they are asked for. */
    random: string;
    shares: string[];
    hashes: string;
    receipt: string;
    /** None if there are no answers. */
    answer: string | null;
    answers: Answers | null;
}

const path = new URL("../../test/vectors.json", import.meta.url);
const vectors = JSON.parse(readFileSync(path, "utf8")) as Vector[];

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const fromHex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));

/** Integers as text become `bigint`. */
function integers(value: unknown): never {
    const read = (value: unknown): unknown => {
        if (typeof value === "string" && /^-?\d+$/.test(value)) return BigInt(value);
        if (Array.isArray(value)) return value.map(read);
        if (typeof value === "object" && value !== null) {
            return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, read(one)]));
        }
        return value;
    };
    return read(value) as never;
}

for (const [number, vector] of vectors.entries()) {
    test(`vector ${number} has the bytes of Rust`, async () => {
        const layout = new Layout(vector.layout);
        let random = fromHex(vector.random);
        const made = await layout.encode(integers(vector.values), (bytes) => {
            bytes.set(random.subarray(0, bytes.length));
            random = random.subarray(bytes.length);
        });
        assert.equal(random.length, 0, "all random bytes are used");
        assert.deepEqual(made.shares.map(hex), vector.shares);
        assert.equal(hex(made.hashes), vector.hashes);
        assert.equal(hex(made.receipt), vector.receipt);
        if (vector.answer === null) return;
        const answer = fromHex(vector.answer);
        assert.deepEqual(layout.open(made.receipt, answer), integers(vector.answers));
        for (let at = 0; at < answer.length; at += 1) {
            const changed = answer.slice();
            changed[at] = (changed[at] as number) ^ 1;
            assert.throws(() => layout.open(made.receipt, changed), Changed);
        }
        assert.throws(() => layout.open(made.receipt, new Uint8Array(answer.length)), NotCounted);
    });
}

test("vectors cover answers and none", () => {
    assert.ok(vectors.some((vector) => vector.answer === null));
    assert.ok(vectors.some((vector) => vector.answer !== null));
});

test("products are those of the field", () => {
    assert.equal(multiply(1n << 63n, 2n), 0b11011n);
    assert.equal(multiply(0x1234n, 1n), 0x1234n);
    let power = 2n;
    // Squaring 64 times gives every element back.
    for (let step = 0; step < 64; step += 1) power = multiply(power, power);
    assert.equal(power, 2n);
});

test("shares are random, and add up to the same codeword", async () => {
    const layout = new Layout({
        format: "symbolon-clients-1", clients: 4, parties: 3,
        values: [{ name: "bid", type: { uint: 64 } }], answers: [],
    });
    const [one, two] = [await layout.encode({ bid: 7 }), await layout.encode({ bid: 7n })];
    assert.notDeepEqual(one.shares[0], two.shares[0]);
    const value = (shares: Uint8Array[]) =>
        shares.reduce((sum, share) => sum ^ new DataView(share.buffer).getBigUint64(32, true), 0n);
    assert.equal(value(one.shares), 7n);
    assert.equal(value(two.shares), 7n);
});
