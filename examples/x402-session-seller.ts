// Sells GET /quotes for 0.01 USDC out of sessions through hono, with x402's own packages. Prints its address.
// ATTESTOR_KEY, WALLET_KEY: key files; SERVICE; TRUST_FILE: its trust document; RPC: a node of yours.
import { readFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { paymentMiddleware } from "@x402/hono";
import { Hono } from "hono";
import { readKeyFile } from "settlement-evidence/node";
import { memorySessions, sessionSeller } from "settlement-evidence/sessions";
import { networkOf, sessionScheme, withHead } from "settlement-evidence/x402";

const { SERVICE: service = "", TRUST_FILE = "", RPC: rpc = "" } = process.env;
const { ATTESTOR_KEY = "", WALLET_KEY = "" } = process.env;
const trust = readFileSync(TRUST_FILE, "utf8");
const [attestor, payer] = [await readKeyFile(ATTESTOR_KEY), await readKeyFile(WALLET_KEY)];
const keys = { merchant: payer.address, attestor, payer };
const seller = sessionSeller({ service, trust, rpc, ...keys, store: memorySessions() });
const facilitator = new HTTPFacilitatorClient({ url: `${service}/x402` });
const network = networkOf(trust);
const resources = new x402ResourceServer(facilitator).register(network, sessionScheme(seller));
const price = { scheme: "delivery-session", network, payTo: payer.address, price: "$0.01" };
const app = new Hono();
app.use(paymentMiddleware(withHead({ "GET /quotes": { accepts: price } }), resources));
app.get("/quotes", (c) => c.json({ symbol: c.req.query("symbol"), price: "1.50" }));
serve({ port: 0, fetch: app.fetch }, ({ port }) => console.log(`http://127.0.0.1:${port}`));
