import { afterAll, expect, test } from "bun:test";
import { Context, Effect } from "effect";
import { printVerifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { parseLogPolicy } from "../../../../core/log/policy/parse-log-policy.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import { IndexSync } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { LogPublisher } from "../../../../core/use-cases/log/log-publisher.ts";
import { SettlementLog } from "../../../../core/use-cases/log/serving/published-log.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { testKey } from "../../../core/log/support/test-signer.ts";
import { escrow } from "../support/parties.ts";
import { checkedClient, dataOf, jsonOf, makeService } from "../support/service.ts";

const witness = (name: string, seed: number): string =>
  `witness ${name} ${printVerifierKey(testKey(`${name}.example`, "cosignature", seed).key)}\n`;

const policyOf = (text: string) => {
  const parsed = parseLogPolicy(text);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return parsed.value;
};

// Nobody has a URL, so nobody is asked, and the log is published at once.
const ON_LEDGER = `${witness("a", 2)}${witness("b", 3)}group q 2 a b\nquorum none\n`;
const APPEND_ONLY = `${witness("x", 4)}quorum none\n`;

const service = await makeService({
  logSigner: new Uint8Array(32).fill(21),
  logPolicy: policyOf(ON_LEDGER),
  appendOnlyPolicy: policyOf(APPEND_ONLY),
});
const client = await checkedClient(service);
afterAll(() => service.runtime.dispose());

type Document = {
  readonly log_on_ledger: string | null;
  readonly log_append_only: string | null;
};
const trust = async () => jsonOf<Document>(await client.send("/.well-known/evidence-trust.json"));

test("the trust document names the log's witnesses by what they state, once the log has signed", async () => {
  expect(await trust()).toMatchObject({ log_on_ledger: null, log_append_only: null });
  const { run } = Context.get(service.context, LogPublisher);
  service.runtime.runFork(run);
  service.seed({ escrows: [escrow("released", "Fulfilled")] });
  await service.runtime.runPromise(
    Effect.gen(function* () {
      yield* (yield* IndexSync).request;
      const { mark } = yield* (yield* IndexReader).summary;
      if (mark === null) throw new Error("the index has no mark");
      yield* (yield* LogPublisher).grown(mark);
      const { published } = yield* SettlementLog;
      while ((yield* published) === null) yield* Effect.yieldNow;
    }),
  );
  const { log } = await dataOf<{ log: { vkey: string } }>(await client.send("/v1/status"));
  const document = await trust();
  expect(document).toMatchObject({
    log_on_ledger: `log ${log.vkey}\n${ON_LEDGER}`,
    log_append_only: `log ${log.vkey}\n${APPEND_ONLY}`,
  });
  expect(parseTrustPolicy(JSON.stringify(document))).toMatchObject({
    value: { logOnLedger: document.log_on_ledger, logAppendOnly: document.log_append_only },
  });
});
