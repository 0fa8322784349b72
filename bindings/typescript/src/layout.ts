// What clients of a function give and learn, and the bytes that they send. The first comment of
// crates/clients/src/lib.rs describes all of it; vectors.json in the tests has examples.

import { amdTag } from "./field.js";
import { bitsOf, numberOf } from "./text.js";
import { checkFields, decode, encode, width, type Field, type Value } from "./types.js";

const FORMAT = "symbolon-clients-1";
const BLINDING = 32;
const BLOCK = 64;
const FAILURE = "assert";
const MAX_BITS = 1 << 20;

/** What a node says of its function's clients. */
export interface LayoutJson {
    format: string;
    clients: number;
    parties: number;
    values: Field[];
    answers: Field[];
}

/** What a client makes of its values: a share for each party, and what it keeps. */
export interface Submission {
    shares: Uint8Array[];
    /** The hashes of all shares, one after the other. */
    hashes: Uint8Array;
    /** Secret: what opens the answers. Empty if there are none. */
    receipt: Uint8Array;
}

/** Fills bytes at random. */
export type Random = (bytes: Uint8Array) => void;

/** The answers to a client. */
export type Answers = { [name: string]: Value };

/** A client's values were not counted, or a party hides the answer. */
export class NotCounted extends Error {}

/** A party changed the answer. */
export class Changed extends Error {}

/** An assert of the program failed: there is no answer. */
export class AssertFailed extends Error {
    /** Takes the number of the assert, from 1 on. */
    constructor(readonly assert: number) {
        super(`assert ${assert} of the program failed`);
    }
}

function blocksOf(bits: number): number {
    return Math.ceil(bits / BLOCK);
}

function total(fields: Field[]): number {
    return fields.reduce((sum, field) => sum + width(field.type), 0);
}

function toBlocks(bytes: Uint8Array): bigint[] {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Array.from({ length: bytes.length / 8 }, (_, at) => view.getBigUint64(8 * at, true));
}

function toBytes(blocks: bigint[]): Uint8Array {
    const bytes = new Uint8Array(8 * blocks.length);
    const view = new DataView(bytes.buffer);
    blocks.forEach((block, at) => view.setBigUint64(8 * at, block, true));
    return bytes;
}

function packed(bits: boolean[]): bigint[] {
    return Array.from({ length: blocksOf(bits.length) }, (_, at) =>
        numberOf(bits.slice(BLOCK * at, BLOCK * (at + 1))),
    );
}

function secureRandom(bytes: Uint8Array): void {
    // One call gives at most 65536 bytes.
    for (let at = 0; at < bytes.length; at += 65536) {
        crypto.getRandomValues(bytes.subarray(at, at + 65536));
    }
}

async function hash(party: number, share: Uint8Array): Promise<Uint8Array> {
    const domain = new TextEncoder().encode("symbolon client share");
    const text = new Uint8Array(domain.length + 2 + share.length);
    text.set(domain);
    new DataView(text.buffer).setUint16(domain.length, party, true);
    text.set(share, domain.length + 2);
    return new Uint8Array(await crypto.subtle.digest("SHA-256", text));
}

/** The layout of clients' messages to one function. */
export class Layout {
    readonly json: LayoutJson;
    readonly #valueBits: number;
    readonly #answerBits: number;

    /** Takes what a node says; refuses what is no layout. */
    constructor(json: LayoutJson) {
        if (json.format !== FORMAT) throw new TypeError(`the layout's format is not ${FORMAT}`);
        for (const fields of [json.values, json.answers]) checkFields(fields);
        this.json = json;
        [this.#valueBits, this.#answerBits] = [total(json.values), total(json.answers)];
        const fits = this.#valueBits >= 1 && this.#valueBits <= MAX_BITS
            && this.#answerBits <= MAX_BITS && Number.isSafeInteger(json.parties)
            && json.parties >= 2 && json.clients >= 1;
        if (!fits) throw new TypeError("the layout is none of clients");
    }

    get #receiptLength(): number {
        return this.#answerBits === 0 ? 0 : 8 * (blocksOf(this.#answerBits) + 2);
    }

    /** Splits values, by name, into shares. `random` is for tests. */
    async encode(values: Answers, random: Random = secureRandom): Promise<Submission> {
        const { values: fields, parties } = this.json;
        const known = new Set(fields.map((field) => field.name));
        const unknown = Object.keys(values).find((name) => !known.has(name));
        if (unknown !== undefined) throw new TypeError(`clients give no value ${unknown}`);
        const bits: boolean[] = [];
        for (const { name, type } of fields) {
            const value = Object.hasOwn(values, name) ? values[name] : undefined;
            if (value === undefined) throw new TypeError(`there is no value for ${name}`);
            encode(type, value, bits);
        }
        const s = new Uint8Array(8);
        random(s);
        const receipt = new Uint8Array(this.#receiptLength);
        if (receipt.length > 0) random(receipt);
        clearBeyond(receipt, this.#answerBits);
        const [point] = toBlocks(s) as [bigint];
        const message = packed(bits);
        const rest = toBytes([...message, point, amdTag(message, point), ...toBlocks(receipt)]);
        const shares: Uint8Array[] = [];
        for (let party = 1; party < parties; party += 1) {
            const share = new Uint8Array(BLINDING + rest.length);
            random(share);
            for (let at = 0; at < rest.length; at += 1) {
                rest[at] = (rest[at] as number) ^ (share[BLINDING + at] as number);
            }
            shares.push(share);
        }
        const last = new Uint8Array(BLINDING + rest.length);
        random(last.subarray(0, BLINDING));
        last.set(rest, BLINDING);
        shares.push(last);
        const hashes = new Uint8Array(32 * parties);
        for (const [party, share] of shares.entries()) {
            hashes.set(await hash(party, share), 32 * party);
        }
        return { shares, hashes, receipt };
    }

    /** Opens what a party passes on; throws if it was changed, or says that nothing counted. */
    open(receipt: Uint8Array, answer: Uint8Array): Answers {
        const pads = blocksOf(this.#answerBits);
        if (pads === 0 || answer.length !== 8 * (pads + 1)) {
            throw new Changed("the answer has another length");
        }
        if (answer.every((byte) => byte === 0)) {
            throw new NotCounted("the values were not counted, or a party hides the answer");
        }
        const clear = toBlocks(answer);
        const tag = clear.pop();
        const keys = toBlocks(receipt);
        const [a, b] = keys.splice(pads) as [bigint, bigint];
        clear.forEach((block, at) => { clear[at] = block ^ (keys[at] as bigint); });
        if ((amdTag(clear, a) ^ b) !== tag) throw new Changed("the answer was changed");
        const bits = clear.flatMap((block) => bitsOf(block, BLOCK));
        const answers: [string, Value][] = [];
        let start = 0;
        for (const { name, type } of this.json.answers) {
            const part = bits.slice(start, start + width(type));
            start += part.length;
            if (name !== FAILURE) answers.push([name, decode(type, part)]);
            else if (part.includes(true)) throw new AssertFailed(Number(numberOf(part)));
        }
        return Object.fromEntries(answers);
    }
}

/** Clears the bits from `width` on in the last block that `width` bits fill. */
function clearBeyond(bytes: Uint8Array, width: number): void {
    for (let at = 0; at < 8 * blocksOf(width); at += 1) {
        const kept = Math.min(8, Math.max(0, width - 8 * at));
        bytes[at] = (bytes[at] as number) & (0xff >> (8 - kept));
    }
}
