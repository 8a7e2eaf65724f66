// Sells GET /quotes for 0.01 USDC out of sessions. Prints its address.
// ATTESTOR_KEY, WALLET_KEY: key files; SERVICE; TRUST_FILE: its trust document; RPC: a node of yours.
import { readFileSync } from "node:fs";
import { readKeyFile } from "settlement-evidence/node";
import { memorySessions, sessionSeller } from "settlement-evidence/sessions";

const { SERVICE: service = "", TRUST_FILE = "", RPC: rpc = "" } = process.env;
const { ATTESTOR_KEY = "", WALLET_KEY = "" } = process.env;
const trust = readFileSync(TRUST_FILE, "utf8");
const [attestor, payer] = [await readKeyFile(ATTESTOR_KEY), await readKeyFile(WALLET_KEY)];
const keys = { merchant: payer.address, attestor, payer };
const seller = sessionSeller({ service, trust, rpc, ...keys, store: memorySessions() });
const quote = () => Response.json({ symbol: "SOL", price: "1.50" });
const server = Bun.serve({ port: 0, fetch: (request) => seller.handle(request, "0.01", quote) });
console.log(server.url.origin);
process.once("SIGTERM", () => server.stop().then(seller.close));
