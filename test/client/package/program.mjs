// A program of another project: it runs in each runtime, beside the installed package, and prints what it found.
import { readFileSync } from "node:fs";
import { connect, SettlementError } from "settlement-evidence";
import { attestationFiles, fileJournal, readKeyFile } from "settlement-evidence/node";
import { parseTrustPolicy, verifyEvidence } from "settlement-evidence/verify";

const [vectors, keyFile, journalFile] = process.argv.slice(2);
const read = (name) => readFileSync(`${vectors}/${name}`, "utf8");
const codeOf = async (act) => {
  try {
    await act();
    return null;
  } catch (cause) {
    return cause instanceof SettlementError ? cause.code : String(cause);
  }
};

const trust = read("trust.json");
const signer = await readKeyFile(keyFile);
const payment = {
  merchant: signer.address,
  amount: "1.50",
  task: "t",
  ttl: 60,
  nonce: "1",
  signer,
};
const clientWith = (answer, spend) =>
  connect("http://127.0.0.1:1", { trust, spend, fetch: () => Promise.resolve(answer()) });
const absent = () => new Response(JSON.stringify({ code: "not_found" }), { status: 404 });
/** First there is no escrow, then the service prepares an empty answer. */
const preparing = () => {
  const answers = [absent, () => Response.json({ data: {} })];
  return () => answers.shift()();
};
const journal = fileJournal(journalFile);
const entry = { escrow: "E", mint: "M", amount: "5", at: "2026-11-22T00:00:00Z" };
await journal.add(entry);
const claims = attestationFiles(`${journalFile}-claims`);
const claim = (hash) => ({
  version: 3,
  network: "n",
  escrow: "E",
  terms: "T",
  proof_hash: hash,
  total: "5",
});
const kept = await Promise.all([claims.keep(claim("a")), claims.keep(claim("b"))]);

console.log(
  JSON.stringify({
    verdict: verifyEvidence(read("fulfilled.json"), parseTrustPolicy(trust).value).verdict,
    url: await codeOf(() => connect("no address", { trust })),
    trust: await codeOf(() => connect("http://127.0.0.1:1", { trust: "{}" })),
    amount: await codeOf(() => clientWith(absent).pay({ ...payment, amount: "1,5" })),
    limit: await codeOf(() => clientWith(absent, { maxPerDay: "1", journal }).pay(payment)),
    kept: (await journal.entries()).length,
    // Of two proofs of one escrow one stands.
    proofs: new Set(kept.map(({ proof_hash: hash }) => hash)).size,
    // The service prepares nothing that can be signed.
    prepared: await codeOf(() => clientWith(preparing()).pay(payment)),
    signature: (await signer.signMessage(new Uint8Array(3))).length,
  }),
);
