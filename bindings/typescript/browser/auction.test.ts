// The auction's page in a browser, against three nodes. `SYMBOLON` is the command, `CHROMIUM` the
// browser [default: /usr/bin/chromium].

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createSocket, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { chromium, type Browser, type Page } from "playwright-core";

const SYMBOLON = process.env["SYMBOLON"] ?? "symbolon";
const here = fileURLToPath(new URL(".", import.meta.url));
const source = join(here, "../..");
const program = join(source, "../../examples/auction/auction.sym");

const work = mkdtempSync(join(tmpdir(), "auction-"));
const nodes: ChildProcess[] = [];
let pages: Server;
let browser: Browser;
let urls: string[] = [];
let origin = "";

async function freePort(): Promise<number> {
    const socket = createSocket().listen(0, "127.0.0.1");
    await once(socket, "listening");
    const { port } = socket.address() as AddressInfo;
    socket.close();
    return port;
}

const symbolon = (...words: string[]) => execFileSync(SYMBOLON, words, { encoding: "utf8" });
const settings = (party: number) => join(work, `${party}.toml`);

/** Serves the page, with the nodes' addresses, and the module. */
function servePages(): Server {
    const kinds: Record<string, string> = { ".html": "text/html", ".js": "text/javascript" };
    return createServer((request, reply) => {
        const path = new URL(request.url ?? "/", "http://page").pathname;
        const file = path === "/" ? join(source, "page/auction.html") : join(here, "../page", path);
        const module = existsSync(file) ? file : join(here, "..", path);
        if (!existsSync(module)) {
            reply.writeHead(404).end();
            return;
        }
        const text = readFileSync(module, "utf8")
            .replace(/(<meta name="nodes" content=")[^"]*/, `$1${urls.join(" ")}`);
        reply.writeHead(200, {
            "content-type": kinds[extname(module)] ?? "text/plain",
            "content-security-policy": `default-src 'self'; style-src 'unsafe-inline'; connect-src ${urls.join(" ")}`,
        });
        reply.end(text);
    });
}

before(async () => {
    pages = servePages().listen(0, "127.0.0.1");
    await once(pages, "listening");
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    const keys = [0, 1, 2].map((party) => join(work, `${party}.key`));
    const parties: string[] = [];
    for (const [party, key] of keys.entries()) {
        symbolon("keygen", "--out", key);
        const print = symbolon("fingerprint", key).trim();
        const address = `127.0.0.1:${await freePort()}`;
        parties.push(`[[party]]\nid = ${party}\naddress = "${address}"\nfingerprint = "${print}"\n`);
    }
    const doors = await Promise.all([0, 1, 2].map(freePort));
    urls = doors.map((port) => `http://127.0.0.1:${port}`);
    for (const party of [0, 1, 2]) {
        const folder = join(work, `door${party}`);
        mkdirSync(folder);
        chmodSync(folder, 0o700);
        writeFileSync(settings(party), `me = ${party}
key = "${party}.key"
[door]
socket = "door${party}/socket"
[clients]
address = "127.0.0.1:${doors[party]}"
origins = ["${origin}"]
[functions.auction]
circuit = "${program}"
const = { N = 4 }
side_by_side = 1
ready = 1
wait = 60
${parties.join("")}`);
        nodes.push(spawn(SYMBOLON, ["serve", settings(party)], { stdio: "inherit" }));
    }
    for (const party of [0, 1, 2]) {
        while (!existsSync(join(work, `door${party}/socket`))) {
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
        symbolon("call", settings(party), "auction", "--id", "monday", "--open");
    }
    browser = await chromium.launch({
        executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
        args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
});

after(async () => {
    await browser?.close();
    pages?.close();
    for (const node of nodes) {
        const ended = once(node, "exit");
        node.kill("SIGKILL");
        await ended;
    }
    rmSync(work, { recursive: true });
});

async function bid(name: string, amount: number, said: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.on("pageerror", (error) => assert.fail(error));
    await page.goto(origin);
    await page.fill("#name", name);
    await page.fill("#bid", String(amount));
    await page.click("button");
    await page.locator("output", { hasText: said }).waitFor({ timeout: 30_000 });
    return page;
}

test("bidders in a browser learn whether they won", { timeout: 180_000 }, async () => {
    const ann = await bid("ann", 300, "Your bid is in.");
    const bob = await bid("bob", 4_000_000_000, "Your bid is in.");
    const again = await bid("bob", 5, "has given another submission");
    symbolon("submit", "auction", "--call", "monday", "--client", "carl", "--input", "bids=700",
        ...urls.flatMap((url) => ["--node", url]));
    const calls = [0, 1, 2].map((party) =>
        spawn(SYMBOLON, ["call", settings(party), "auction", "--id", "monday", "--wait", "120"]));
    let told = "";
    calls[0]?.stdout.on("data", (text: Buffer) => { told += text.toString(); });
    const codes = await Promise.all(calls.map((call) => once(call, "exit")));
    assert.deepEqual(codes.map(([code]) => code as number), [0, 0, 0]);
    assert.match(told, /^bidders = 3$/m);
    assert.match(told, /^price = 700$/m);
    await ann.locator("output", { hasText: "You did not win" }).waitFor({ timeout: 60_000 });
    await bob.locator("output", { hasText: "You won" }).waitFor({ timeout: 60_000 });
    const screenshot = process.env["SCREENSHOT"];
    if (screenshot !== undefined) await bob.screenshot({ path: screenshot });
    await again.close();
});

test("a page of another origin reads nothing from the nodes", { timeout: 60_000 }, async () => {
    const page = await browser.newPage();
    // The same server under another name is another origin.
    await page.goto(origin.replace("127.0.0.1", "localhost"));
    const reads = (url: string) => fetch(url).then(() => true, () => false);
    assert.equal(await page.evaluate(reads, `${urls[0]}/v1/submit/auction`), false);
    await page.goto(origin);
    assert.equal(await page.evaluate(reads, `${urls[0]}/v1/submit/auction`), true);
});
