// The page of a sealed-bid auction.

import { Nodes, type Call } from "../src/index.js";

const setting = (name: string) =>
    document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
const field = (id: string) => document.getElementById(id) as HTMLInputElement;
const form = document.querySelector("form") as HTMLFormElement;
const output = document.querySelector("output") as HTMLOutputElement;
const button = document.querySelector("button") as HTMLButtonElement;

function say(text: string, wrong = false): void {
    output.textContent = text;
    output.classList.toggle("wrong", wrong);
}

async function bid(): Promise<void> {
    const nodes = new Nodes(setting("nodes").split(/\s+/));
    const call: Call = {
        function: "auction", call: setting("call"), client: field("name").value,
    };
    const layout = await nodes.layout(call.function);
    const made = await layout.encode({ bids: BigInt(field("bid").value) });
    field("bid").value = "";
    await nodes.submit(call, made);
    say("Your bid is in. Keep this page open: it alone can read the answer.");
    const { won } = await nodes.answer(call, layout, made.receipt);
    say(won === true ? "You won the auction." : "You did not win the auction.");
}

form.addEventListener("submit", (event) => {
    event.preventDefault();
    button.disabled = true;
    say("Your bid is being split and sent.");
    bid().catch((error: unknown) => {
        say(error instanceof Error ? error.message : String(error), true);
        button.disabled = false;
    });
});
