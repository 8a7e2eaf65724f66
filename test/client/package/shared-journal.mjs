// A process that shares a journal with others: it tries payments of 1 one after another, and prints each that the day's limit of 10 allows. What is
// allowed would be signed next, so the service here prepares nothing.
import { readFileSync } from "node:fs";
import process from "node:process";
import { connect } from "settlement-evidence";
import { fileJournal } from "settlement-evidence/node";

const [trustFile, journal, name, count] = process.argv.slice(2);
const address = "6ZXSTsdHAiLihyoVJZ5py3cscgSd2qbogwRhkxUN1Wky";
const signer = { address, signTransactions: () => Promise.resolve([]) };
const fetch = (url) =>
  Promise.resolve(
    url.endsWith("/prepare?transaction=true")
      ? Response.json({ data: {} })
      : Response.json({ code: "escrow_not_found" }, { status: 404 }),
  );
const client = connect("http://127.0.0.1:1", {
  trust: readFileSync(trustFile, "utf8"),
  spend: { maxPerDay: "10", journal: fileJournal(journal) },
  fetch,
});
console.log("ready");
await new Promise((go) => process.stdin.once("data", go));
for (let n = 0; n < Number(count); n++) {
  const nonce = `${name}-${n}`;
  const payment = { merchant: address, amount: "1", task: "t", ttl: 60, nonce, signer };
  const { code } = await client.pay(payment).catch((cause) => cause);
  console.log({ prepared_otherwise: "allowed", spend_refused: "refused" }[code] ?? code, nonce);
}
process.exit(0);
