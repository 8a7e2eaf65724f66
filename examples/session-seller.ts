// Sells GET /quotes for 0.01 USDC out of sessions. Prints its address.
// ATTESTOR_KEY, WALLET_KEY: key files; SERVICE; TRUST_FILE: its trust document; RPC: a node of yours.
import { readFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import { readKeyFile } from "settlement-evidence/node";
import { memorySessions, sessionSeller } from "settlement-evidence/sessions";

const { SERVICE: service = "", TRUST_FILE = "", RPC: rpc = "" } = process.env;
const { ATTESTOR_KEY = "", WALLET_KEY = "" } = process.env;
const trust = readFileSync(TRUST_FILE, "utf8");
const [attestor, payer] = [await readKeyFile(ATTESTOR_KEY), await readKeyFile(WALLET_KEY)];
const keys = { merchant: payer.address, attestor, payer };
const seller = sessionSeller({ service, trust, rpc, ...keys, store: memorySessions() });
const quote = () => Response.json({ symbol: "SOL", price: "1.50" });
const fetch = (request: Request) => seller.handle(request, "0.01", quote);
const told = ({ port }: { port: number }) => console.log(`http://127.0.0.1:${port}`);
const server = serve({ port: 0, hostname: "127.0.0.1", fetch }, told);
process.once("SIGTERM", () => server.close(() => void seller.close()));
