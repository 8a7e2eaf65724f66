// Calls URL 10 times with @x402/fetch out of one session of 1.00, closes it and prints what it cost.
// AGENT_KEY: a key file; SERVICE; TRUST_FILE: its trust document.
import { readFileSync } from "node:fs";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { payFetch } from "settlement-evidence";
import { fileSession, readKeyFile } from "settlement-evidence/node";
import { networkOf, sessionBuyer } from "settlement-evidence/x402";

const { SERVICE: service = "", TRUST_FILE = "", AGENT_KEY = "", URL = "" } = process.env;
const trust = readFileSync(TRUST_FILE, "utf8");
const signer = await readKeyFile(AGENT_KEY);
const most = { maxPrice: "0.01", budget: "1.00", allowRent: true } as const;
const journal = (name: string) => fileSession(`sessions/${name}`);
const policy = { service, trust, signer, journal, ...most };
const buyer = sessionBuyer(trust, (fetch) => payFetch(policy, fetch));
const client = new x402Client().register(networkOf(trust), buyer.scheme);
const pay = wrapFetchWithPayment(buyer.fetch, client);
for (let call = 1; call < 10; call++) await (await pay(URL)).arrayBuffer();
console.log(await (await pay(URL)).text());
for (const { ended, failure } of await buyer.close()) console.log(failure?.message ?? ended);
