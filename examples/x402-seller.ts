// Sells GET /quotes for 0.01 USDC through hono, with x402's own packages. Prints its address.
// ATTESTOR_KEY, WALLET_KEY: key files; SERVICE; TRUST_FILE: its trust document.
import { readFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { paymentMiddleware } from "@x402/hono";
import { Hono } from "hono";
import { readKeyFile } from "settlement-evidence/node";
import { networkOf, sellerScheme, withHead } from "settlement-evidence/x402";

const { SERVICE = "", TRUST_FILE = "", ATTESTOR_KEY = "", WALLET_KEY = "" } = process.env;
try {
  const trust = readFileSync(TRUST_FILE, "utf8");
  const [attestor, wallet] = [await readKeyFile(ATTESTOR_KEY), await readKeyFile(WALLET_KEY)];
  const network = networkOf(trust);
  const scheme = sellerScheme(SERVICE, { trust, attestor, payer: wallet, wallet });
  const facilitator = new HTTPFacilitatorClient({ url: `${SERVICE}/x402` });
  const resources = new x402ResourceServer(facilitator).register(network, scheme);
  const price = { scheme: "auth-capture", network, payTo: wallet.address, price: "$0.01" };
  await resources.initialize();

  const app = new Hono();
  app.use(paymentMiddleware(withHead({ "GET /quotes": { accepts: price } }), resources));
  app.get("/quotes", (c) => c.json({ symbol: c.req.query("symbol"), price: "1.50" }));
  serve({ port: 0, fetch: app.fetch }, ({ port }) => console.log(`http://127.0.0.1:${port}`));
} catch ({ message, cure = "See SERVICE, TRUST_FILE, ATTESTOR_KEY, WALLET_KEY." }) {
  console.error(message, cure);
  process.exitCode = 1;
}
