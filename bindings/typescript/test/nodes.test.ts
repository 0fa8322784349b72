// What a client asks of nodes, and what it makes of replies that are late, wrong or lies.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";

import { LeftOut, NodeError, Nodes, NotCounted, type LayoutJson } from "../src/index.js";

const CALL = { function: "poll", call: "monday", client: "ann" };
const layoutOf = (answers: LayoutJson["answers"]): LayoutJson => ({
    format: "symbolon-clients-1", clients: 3, parties: 2,
    values: [{ name: "note", type: { text: 5 } }], answers,
});
const known = {
    state: "over", place: 0, left_out: null, counted: true, answer: null, error: null,
};
const servers: Server[] = [];
after(() => servers.forEach((server) => server.closeAllConnections() ?? server.close()));

type Act = (party: number, path: string, body: string, reply: ServerResponse) => void;

/** Two nodes that do what a test says; the client has little patience. */
async function nodes(act: Act): Promise<Nodes> {
    const urls = await Promise.all([0, 1].map(async (party) => {
        const server = createServer((request, reply) => {
            let body = "";
            request.on("data", (part: Buffer) => { body += part.toString(); });
            request.on("end", () => act(party, request.url ?? "", body, reply));
        }).listen(0, "127.0.0.1");
        servers.push(server);
        await once(server, "listening");
        return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    }));
    return new Nodes(urls, { pause: 1, time: 5000 });
}

function say(reply: ServerResponse, value: unknown, status = 200): void {
    reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

test("a node that has too much to do or is not there is asked again", async () => {
    const asked = [0, 0];
    const all = await nodes((party, path, body, reply) => {
        asked[party] = (asked[party] as number) + 1;
        if (asked[party] === 1) return void reply.destroy();
        if (asked[party] === 2) return say(reply, { code: "busy", message: "busy" }, 429);
        if (path.endsWith("/poll")) return say(reply, { party, layout: layoutOf([]) });
        assert.equal(JSON.parse(body).client, "ann");
        say(reply, {});
    });
    const layout = await all.layout("poll");
    assert.deepEqual(asked, [3, 3]);
    await all.submit(CALL, await layout.encode({ note: "héy" }));
    assert.deepEqual(asked, [4, 4]);
});

test("what a node refuses is not asked again, and patience ends", async () => {
    let asked = 0;
    const refuses = await nodes((_party, _path, _body, reply) => {
        asked += 1;
        say(reply, { code: "no-function", message: "no such function" }, 404);
    });
    await assert.rejects(refuses.layout("poll"), { code: "no-function", status: 404 });
    assert.equal(asked, 2);
    const away = await nodes((_party, _path, _body, reply) => void reply.destroy());
    await assert.rejects(away.layout("poll"), { code: "unreachable" });
});

test("nodes that say other things of a function are refused", async () => {
    const other = layoutOf([{ name: "x", type: "bool" }]);
    const differ = await nodes((party, _path, _body, reply) =>
        say(reply, { party, layout: party === 0 ? layoutOf([]) : other }));
    await assert.rejects(differ.layout("poll"), /do not say the same/);
    const swapped = await nodes((party, _path, _body, reply) =>
        say(reply, { party: 1 - party, layout: other }));
    await assert.rejects(swapped.layout("poll"), { code: "party" });
});

test("a reply without end is not read to its end", async () => {
    const endless = await nodes((_party, _path, _body, reply) => {
        const part = Buffer.alloc(1 << 16, 32);
        const more = () => { while (!reply.destroyed && reply.write(part)); };
        reply.on("drain", more);
        more();
    });
    await assert.rejects(endless.layout("poll"), /too long/);
});

test("one node's word is not enough", async () => {
    // Without answers all must say that the values counted.
    const split = await nodes((party, _path, _body, reply) =>
        say(reply, { ...known, counted: party === 0 }));
    const { Layout } = await import("../src/index.js");
    const none = new Layout(layoutOf([]));
    await assert.rejects(split.answer(CALL, none, new Uint8Array()), NotCounted);
    const agree = await nodes((_party, _path, _body, reply) => say(reply, known));
    assert.deepEqual(await agree.answer(CALL, none, new Uint8Array()), {});
    // With answers, one that hides them does not pass for one that has none.
    const some = new Layout(layoutOf([{ name: "x", type: "bool" }]));
    await assert.rejects(agree.answer(CALL, some, new Uint8Array(24)), /hides the answer/);
    const left = await nodes((_party, _path, _body, reply) =>
        say(reply, { ...known, counted: null, left_out: "differs" }));
    await assert.rejects(left.answer(CALL, some, new Uint8Array(24)), LeftOut);
});

test("a wait ends when the caller wants", async () => {
    const silent = await nodes(() => {});
    const end = new AbortController();
    const waits = silent.layout("poll", end.signal);
    setTimeout(() => end.abort(new Error("enough")), 10);
    await assert.rejects(waits, /enough/);
});

test("shares go over no link that others can read", () => {
    for (const url of ["http://a.example", "ftp://localhost", "https://a.example/?x", "a.example"]) {
        assert.throws(() => new Nodes([url]), TypeError);
    }
    for (const url of ["https://a.example:1/x/", "http://localhost:1", "http://[::1]:1"]) {
        assert.ok(new Nodes([url]));
    }
    assert.ok(new NodeError("u", "c", "m") instanceof Error);
});
