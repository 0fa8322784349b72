// What a client asks the nodes of all parties.

import { Changed, Layout, NotCounted, type Answers, type LayoutJson, type Submission } from "./layout.js";

/** A call of a function. */
export interface Call {
    function: string;
    call: string;
    /** The client's name, which all parties see. */
    client: string;
    /** The token that belongs to the name, if the nodes want one. */
    token?: string;
}

/** How long is waited for nodes, and how often they are asked. */
export interface Patience {
    /** How often a node that is not there, or has too much to do, is asked: 5 times. */
    tries: number;
    /** The milliseconds in between: 1000. */
    pause: number;
    /** The milliseconds that a reply may take beside the time that it waits: 30 000. */
    time: number;
}

/** The most bytes of a reply. */
const MAX_REPLY = 1 << 20;

/** How many seconds one request waits for an answer. */
const ONE_WAIT = 20;

/** A node refused something, or cannot be reached. */
export class NodeError extends Error {
    constructor(
        readonly node: string,
        readonly code: string,
        message: string,
        /** The HTTP status, if there was a reply. */
        readonly status?: number,
    ) {
        super(`${node}: ${message}`);
    }
}

/** The client does not take part: the parties hold different submissions of it, or one has none. */
export class LeftOut extends Error {}

interface About {
    party: number;
    layout: LayoutJson;
}

interface Answer {
    state: "open" | "closed" | "over";
    left_out: string | null;
    counted: boolean | null;
    answer: string | null;
    error: string | null;
}

function base64(bytes: Uint8Array): string {
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text);
}

function fromBase64(text: string): Uint8Array {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** Waits; throws the signal's reason if that ends it. */
function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const ended = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener("abort", ended);
            resolve();
        }, milliseconds);
        signal?.addEventListener("abort", ended, { once: true });
    });
}

/** Returns an address without what can come after its path; refuses those that others can read. */
function checked(url: string): string {
    const { protocol, hostname, search, hash } = new URL(url);
    const local = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
    if (!(protocol === "https:" || (protocol === "http:" && local)) || search !== "" || hash !== "") {
        throw new TypeError(
            `${url}: it takes https://HOST:PORT; without https, everybody on the way could read the share`,
        );
    }
    return url.replace(/\/+$/, "");
}

/** Reads the body of a reply, unless it is too long. */
async function bodyOf(reply: Response): Promise<string> {
    const reader = reply.body?.getReader();
    const decoder = new TextDecoder();
    let [text, length] = ["", 0];
    for (;;) {
        const part = await reader?.read();
        if (part === undefined || part.done) return text + decoder.decode();
        length += part.value.length;
        if (length > MAX_REPLY) {
            await reader?.cancel();
            throw new RangeError("the reply is too long");
        }
        text += decoder.decode(part.value, { stream: true });
    }
}

/** The doors for clients of all parties' nodes, by number. */
export class Nodes {
    readonly #urls: string[];
    readonly #patience: Patience;

    /** Takes the addresses, party 0's first. They must come from where the client trusts. */
    constructor(urls: string[], patience: Partial<Patience> = {}) {
        this.#urls = urls.map(checked);
        this.#patience = { tries: 5, pause: 1000, time: 30_000, ...patience };
    }

    async #askOnce<T>(url: string, path: string, options: RequestInit, wait: number): Promise<T> {
        const { signal, ...rest } = options;
        const limit = AbortSignal.timeout(this.#patience.time + 1000 * wait);
        const settings: RequestInit = {
            credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", ...rest,
            signal: AbortSignal.any(signal ? [signal, limit] : [limit]),
        };
        let [reply, text]: [Response | undefined, string] = [undefined, ""];
        try {
            reply = await fetch(`${url}/v1/submit/${path}`, settings);
            text = await bodyOf(reply);
        } catch (error) {
            signal?.throwIfAborted();
            if (error instanceof RangeError) throw new NodeError(url, "reply", error.message, 200);
            const why = limit.aborted ? "does not reply in time" : "cannot be reached";
            throw new NodeError(url, "unreachable", `the node ${why}`);
        }
        const json = parsed(text);
        if (reply.ok && json !== undefined) return json as T;
        const { code = "status", message = `status ${reply.status}` } =
            (json ?? {}) as { code?: string; message?: string };
        throw new NodeError(url, code, message, reply.status);
    }

    /** Asks again where the node is not there. That is safe: a submission counts once. */
    async #ask<T>(url: string, path: string, options: RequestInit = {}, wait = 0): Promise<T> {
        for (let tries = 1; ; tries += 1) {
            try {
                return await this.#askOnce<T>(url, path, options, wait);
            } catch (error) {
                const again = error instanceof NodeError
                    && (error.status === undefined || error.status === 429 || error.status >= 502);
                if (!again || tries >= this.#patience.tries) throw error;
            }
            await pause(this.#patience.pause, options.signal ?? undefined);
        }
    }

    /** Asks all nodes what clients give to a function. All must say the same. */
    async layout(name: string, signal?: AbortSignal): Promise<Layout> {
        const options = signal === undefined ? {} : { signal };
        const all = await Promise.all(
            this.#urls.map((url) => this.#ask<About>(url, encodeURIComponent(name), options)),
        );
        const texts = new Set(all.map((about) => JSON.stringify(about.layout)));
        const [first] = all;
        if (first === undefined || texts.size !== 1) {
            throw new Error("the nodes do not say the same of what clients give");
        }
        all.forEach((about, place) => {
            if (about.party !== place) {
                throw new NodeError(this.#urls[place] as string, "party", "another party's node");
            }
        });
        const layout = new Layout(first.layout);
        if (layout.json.parties !== this.#urls.length) {
            throw new Error(`the function has ${layout.json.parties} parties`);
        }
        return layout;
    }

    /**
     * Gives each party its share. The same submission may be given again, as after an error of the
     * network: it counts once.
     */
    async submit(call: Call, made: Submission, signal?: AbortSignal): Promise<void> {
        if (made.shares.length !== this.#urls.length) {
            throw new Error(`the submission is for ${made.shares.length} parties`);
        }
        const hashes = base64(made.hashes);
        const path = `${encodeURIComponent(call.function)}/${encodeURIComponent(call.call)}`;
        const headers: Record<string, string> = { "content-type": "application/json" };
        if (call.token !== undefined) headers["authorization"] = `Bearer ${call.token}`;
        await Promise.all(
            this.#urls.map((url, party) => {
                const share = base64(made.shares[party] as Uint8Array);
                const body = JSON.stringify({ client: call.client, share, hashes });
                const options: RequestInit = { method: "POST", headers, body };
                if (signal !== undefined) options.signal = signal;
                return this.#ask(url, path, options);
            }),
        );
    }

    /**
     * Waits until the call has run, and returns what the client learns. Any node can pass an answer
     * on, and none can change it. Where clients have no answers this is an empty object, when all
     * nodes say that the values counted.
     */
    async answer(
        call: Call, layout: Layout, receipt: Uint8Array, signal?: AbortSignal,
    ): Promise<Answers> {
        const path = `${encodeURIComponent(call.function)}/${encodeURIComponent(call.call)}`
            + `/answer?client=${encodeURIComponent(call.client)}&wait=${ONE_WAIT}`;
        for (;;) {
            signal?.throwIfAborted();
            const options = signal === undefined ? {} : { signal };
            const replies = await Promise.allSettled(
                this.#urls.map((url) => this.#ask<Answer>(url, path, options, ONE_WAIT)),
            );
            let counted = 0;
            const failures: unknown[] = [];
            for (const reply of replies) {
                try {
                    if (reply.status === "rejected") throw reply.reason;
                    const answers = read(reply.value, layout, receipt);
                    if (answers === "counted") counted += 1;
                    else if (answers !== undefined) return answers;
                } catch (error) {
                    failures.push(error);
                }
            }
            if (counted === this.#urls.length) return {};
            // One node that lies or is away does not end the wait for the others.
            if (counted + failures.length === this.#urls.length) {
                throw failures.find((error) => error instanceof Changed) ?? failures[0];
            }
            signal?.throwIfAborted();
            await pause(Math.min(200, this.#patience.pause), signal);
        }
    }
}

function parsed(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

/** What the nodes say of a client that does not take part. */
const LEFT_OUT: Record<string, string> = {
    differs: "the parties hold different submissions of this client",
    none: "no party has a submission of this client",
};

/** Returns what a node says; `undefined` if it does not know yet. */
function read(
    answer: Answer, layout: Layout, receipt: Uint8Array,
): Answers | "counted" | undefined {
    if (answer.left_out !== null) {
        const why = LEFT_OUT[answer.left_out];
        throw new LeftOut(why ?? `the submission of this client is ${answer.left_out}`);
    }
    if (answer.answer !== null) {
        let bytes: Uint8Array;
        try {
            bytes = fromBase64(answer.answer);
        } catch {
            throw new Changed("the answer is no base64");
        }
        return layout.open(receipt, bytes);
    }
    if (answer.counted === true) {
        if (layout.json.answers.length > 0) throw new Error("a node hides the answer");
        return "counted";
    }
    if (answer.counted === false) throw new NotCounted("the values were not counted");
    if (answer.state === "over" && answer.error !== null) {
        throw new Error(`the run failed: ${answer.error}`);
    }
    return undefined;
}
