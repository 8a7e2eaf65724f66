import { fileSessions } from "../../../client/node/file-sessions.ts";
import { SettlementError } from "../../../client/settlement-error.ts";
import { NO_CALLS } from "../../../core/protocol/calls/session-tally.ts";
import { tallyOf } from "../../../core/protocol/calls/session-head.ts";
import { answerOf } from "../../doubles/kept-calls.ts";
import { honestCall, KEPT } from "../../doubles/session-sides.ts";

// Run as a process by the crash tests: makes calls of one session in the folder argv[2], and prints the number of each
// once it is kept. It ends when it is killed, or with the code of the failure on standard error.
const store = await fileSessions(process.argv[2] ?? "");
await store.open(KEPT);
try {
  for (;;) {
    const found = await store.find(KEPT.escrow);
    const newest = found?.newest ?? null;
    const made = honestCall(newest === null ? NO_CALLS : tallyOf(newest), { limit: 2n, price: 1n });
    const { voucher, receipt, intent } = made;
    await store.reserve(KEPT.escrow, voucher.count);
    await store.append({ voucher, receipt, intent, status: 200 }, answerOf(1));
    process.stdout.write(`${voucher.count}\n`);
  }
} catch (cause) {
  process.stderr.write(`${cause instanceof SettlementError ? cause.code : String(cause)}\n`);
  await store.drop(KEPT.escrow);
  await store.stop();
}
