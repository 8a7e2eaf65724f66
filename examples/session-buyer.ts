// Calls URL 100 times out of one session of 2.00, closes it and prints what it cost.
// AGENT_KEY: a key file; SERVICE; TRUST_FILE: its trust document.
import { readFileSync } from "node:fs";
import { payFetch } from "settlement-evidence";
import { fileSession, readKeyFile } from "settlement-evidence/node";

const { SERVICE: service = "", TRUST_FILE = "", AGENT_KEY = "", URL = "" } = process.env;
const trust = readFileSync(TRUST_FILE, "utf8");
const signer = await readKeyFile(AGENT_KEY);
const most = { maxPrice: "0.01", budget: "2.00", allowRent: true } as const;
const journal = (name: string) => fileSession(`sessions/${name}`);
const pay = payFetch({ service, trust, signer, journal, ...most });
for (let call = 1; call < 100; call++) await (await pay(URL)).arrayBuffer();
console.log(await (await pay(URL)).text());
for (const { ended, failure } of await pay.close()) console.log(failure?.message ?? ended);
