// Pays for URL with @x402/fetch, at most 0.05 USDC, then prints the answer and where its evidence is.
// AGENT_KEY: a key file; SERVICE; TRUST_FILE: its trust document.
import { readFileSync } from "node:fs";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { readKeyFile } from "settlement-evidence/node";
import { buyerScheme, networkOf, wholeAnswers } from "settlement-evidence/x402";

const { SERVICE = "", TRUST_FILE = "", AGENT_KEY = "", URL = "" } = process.env;
try {
  const trust = readFileSync(TRUST_FILE, "utf8");
  const signer = await readKeyFile(AGENT_KEY);
  const scheme = buyerScheme(SERVICE, { trust, signer, spend: { maxPerEscrow: "0.05" } });
  const client = new x402Client().register(networkOf(trust), scheme);
  const pay = wrapFetchWithPayment(wholeAnswers(), client);

  const answer = await pay(URL);
  const header = answer.headers.get("payment-response");
  console.log(answer.status, await answer.text());
  if (header === null) throw new Error("Nothing was paid: the seller asked for nothing.");
  const settled = decodePaymentResponseHeader(header);
  console.log(settled.errorReason ?? settled.extra?.packet, settled.extra?.digest_sha256);
} catch ({ message, cure = "See SERVICE, TRUST_FILE, AGENT_KEY and URL." }) {
  console.error(message, cure);
  process.exitCode = 1;
}
