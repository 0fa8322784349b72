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

/** A node refused something, or cannot be reached. */
export class NodeError extends Error {
    constructor(
        readonly node: string,
        readonly code: string,
        message: string,
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

const pause = (milliseconds: number) =>
    new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The doors for clients of all parties' nodes, by number. */
export class Nodes {
    readonly #urls: string[];

    /** Takes the addresses, party 0's first. They must come from where the client trusts. */
    constructor(urls: string[]) {
        this.#urls = urls.map((url) => url.replace(/\/+$/, ""));
    }

    async #ask<T>(url: string, path: string, options: RequestInit = {}): Promise<T> {
        const settings: RequestInit = {
            credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", ...options,
        };
        const reply = await fetch(`${url}/v1/submit/${path}`, settings).catch(() => {
            throw new NodeError(url, "unreachable", "the node cannot be reached");
        });
        const json = await reply.json().catch(() => undefined);
        if (reply.ok && json !== undefined) return json as T;
        const { code = "status", message = `status ${reply.status}` } =
            (json ?? {}) as { code?: string; message?: string };
        throw new NodeError(url, code, message);
    }

    /** Asks all nodes what clients give to a function. All must say the same. */
    async layout(name: string): Promise<Layout> {
        const all = await Promise.all(
            this.#urls.map((url) => this.#ask<About>(url, encodeURIComponent(name))),
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
    async submit(call: Call, made: Submission): Promise<void> {
        const hashes = base64(made.hashes);
        const path = `${encodeURIComponent(call.function)}/${encodeURIComponent(call.call)}`;
        const headers: Record<string, string> = { "content-type": "application/json" };
        if (call.token !== undefined) headers["authorization"] = `Bearer ${call.token}`;
        await Promise.all(
            this.#urls.map((url, party) => {
                const share = base64(made.shares[party] as Uint8Array);
                const body = JSON.stringify({ client: call.client, share, hashes });
                return this.#ask(url, path, { method: "POST", headers, body });
            }),
        );
    }

    /**
     * Waits until the call has run, and returns what the client learns: an empty object if its
     * values counted and clients have no answers. Any node can pass an answer on, and none can
     * change it.
     */
    async answer(
        call: Call, layout: Layout, receipt: Uint8Array, signal?: AbortSignal,
    ): Promise<Answers> {
        const path = `${encodeURIComponent(call.function)}/${encodeURIComponent(call.call)}`
            + `/answer?client=${encodeURIComponent(call.client)}&wait=20`;
        for (;;) {
            signal?.throwIfAborted();
            const options = signal === undefined ? {} : { signal };
            const replies = await Promise.allSettled(
                this.#urls.map((url) => this.#ask<Answer>(url, path, options)),
            );
            const failures: unknown[] = [];
            for (const reply of replies) {
                try {
                    if (reply.status === "rejected") throw reply.reason;
                    const answers = read(reply.value, layout, receipt);
                    if (answers !== undefined) return answers;
                } catch (error) {
                    failures.push(error);
                }
            }
            // One node that lies or is away does not end the wait for the others.
            if (failures.length === this.#urls.length) {
                throw failures.find((error) => error instanceof Changed) ?? failures[0];
            }
            await pause(200);
        }
    }
}

function read(answer: Answer, layout: Layout, receipt: Uint8Array): Answers | undefined {
    if (answer.left_out !== null) {
        throw new LeftOut(`this client does not take part: ${answer.left_out}`);
    }
    if (answer.answer !== null) return layout.open(receipt, fromBase64(answer.answer));
    if (answer.counted === true) return {};
    if (answer.counted === false) throw new NotCounted("the values were not counted");
    if (answer.state === "over" && answer.error !== null) {
        throw new Error(`the run failed: ${answer.error}`);
    }
    return undefined;
}
