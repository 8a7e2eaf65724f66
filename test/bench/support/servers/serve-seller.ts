import { readFileSync } from "node:fs";
import { localKey } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import { fileSessions, keySigner } from "../../../../client/node/index.ts";
import { nativeEd25519, nativeEd25519Key } from "../../../../client/node/native-crypto.ts";
import { memorySessions, sessionSeller } from "../../../../client/sessions.ts";
import { VOUCHER_LENGTH } from "../../../../core/protocol/instructions/voucher.ts";

// Run as a process: the demo merchant sells every path at the price argv[4] but /free, the same answer unpaid, and
// /signatures, the same after one signature of a voucher's length was made and verified. It sells by the service argv[2] whose
// trust document is in the file argv[3], on the node argv[5], with its sessions in the folder argv[6] or in memory.
// Prints its address.
const [service = "", trustFile = "", price = "", rpc = "", folder] = process.argv.slice(2);
const store = folder === undefined ? memorySessions() : await fileSessions(folder);
const seller = sessionSeller({
  service,
  trust: readFileSync(trustFile, "utf8"),
  rpc,
  merchant: localKey("merchant/forecast").address,
  attestor: keySigner(localKey("attestor/forecast").seed),
  payer: keySigner(localKey("merchant/forecast").seed),
  store,
  onProblem: (problem) => process.stderr.write(`${problem.code}: ${problem.message}\n`),
});
const quote = () => Response.json({ symbol: "SOL", price: "1.50" });
const key = nativeEd25519Key(new Uint8Array(32));
const message = new Uint8Array(VOUCHER_LENGTH);
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => {
    if (request.url.endsWith("/free")) return quote();
    if (!request.url.endsWith("/signatures")) return seller.handle(request, price, quote);
    const isGood = nativeEd25519(key.sign(message), message, key.publicKey);
    return isGood ? quote() : new Response(null, { status: 500 });
  },
});
process.stdout.write(`${server.url.origin}\n`);
process.on("SIGTERM", () => {
  void server
    .stop(true)
    .then(seller.close)
    .finally(() => process.exit(0));
});
