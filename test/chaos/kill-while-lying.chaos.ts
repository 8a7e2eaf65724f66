import { expect, test } from "bun:test";
import { until, untilReady } from "../app/support/running-service.ts";
import { type ServiceProcess, startShortLivedService } from "../app/support/service-process.ts";
import { remoteBackend } from "../hostile-node/backends.ts";
import { hostileNode } from "../hostile-node/hostile-node.ts";
import { FAULTS } from "../hostile-node/no-false-no/faults.ts";
import { switching } from "../hostile-node/no-false-no/battery.ts";
import { startTrueLedger } from "../hostile-node/no-false-no/true-ledger.ts";
import {
  type Answer,
  ofEscrow,
  ofOutcome,
  type Verdict,
} from "../hostile-node/no-false-no/verdict.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { amountOf, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";
import { environmentOn } from "./support/service-environment.ts";

const KILLS = amountOf({ quick: 3, long: 200 });
const PAYMENTS = 3;
/** The latest moment of a kill after the first sending, or after the last answer, milliseconds. */
const WITHIN_MS = 1_500;
const LANDED_WITHIN = 120;

const LIES = new Set([
  "old-state",
  "hidden-escrows",
  "emptied-ledger",
  "false-errors-in-statuses",
  "forgotten-statuses",
  "forgotten-history",
  "swallowed-sendings",
]);

test(
  "a service that is killed before a lying node denies no payment, and loses none that it took on",
  async () => {
    const random = randomOf("kill while lying");
    const faults = FAULTS.filter(({ name }) => LIES.has(name));
    const ledger = await startTrueLedger();
    const directory = await temporaryDirectory();
    let now = 0;
    const backend = remoteBackend(ledger.rpcUrl, ledger.webSocketUrl);
    using node = hostileNode({ backend, scenario: switching(faults, () => now), seed: SEED });
    node.setHostile(false);
    const env = {
      ...environmentOn(node.url, directory.path),
      SOLANA_WS_URL: node.webSocketUrl,
      LOG_LEVEL: "info",
    };
    const counts: Partial<Record<Verdict, number>> = {};
    const wrong: Array<string> = [];
    const takenOn: Array<string> = [];
    let service: ServiceProcess | undefined;
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        node.setHostile(false);
        service = startShortLivedService(env);
        const url = await service.url;
        await untilReady(url);
        now = Math.floor(random() * faults.length);
        const name = faults[now]?.name ?? "";
        const confirmed: Array<{ readonly escrow: string; readonly signature: string }> = [];
        const pay = async (at: number): Promise<void> => {
          const { escrow, create } = ledger.payment(`${SEED}/${kill}/${at}`);
          const { base64, signature } = await create();
          const response = await fetch(`${url}/v1/relay`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ signed_transaction: base64, confirm: true }),
          });
          if (response.status !== 202) return;
          takenOn.push(signature);
          const { data } = (await response.json()) as {
            readonly data: { readonly status: string };
          };
          if (data.status !== "submitted") confirmed.push({ escrow, signature });
        };
        const paying = Promise.allSettled(Array.from({ length: PAYMENTS }, (_, at) => pay(at)));
        // Every second kill, from the first on, hits what was called confirmed and is not final, the others what is being sent.
        if (kill % 2 === 0) await paying;
        await Bun.sleep(random() * WITHIN_MS);
        service.kill("SIGKILL");
        await service.ended;
        await paying;
        node.setHostile(true);
        service = startShortLivedService(env);
        const again = await service.url;
        for (const { escrow, signature } of confirmed) {
          const judged = async (path: string, verdictOf: (answer: Answer) => Verdict) => {
            const response = await fetch(again + path);
            const answer = { status: response.status, body: await response.json() };
            const verdict = verdictOf(answer);
            counts[verdict] = (counts[verdict] ?? 0) + 1;
            if (verdict !== "right" && verdict !== "retryable")
              wrong.push(`kill ${kill}, ${name}: ${verdict}: ${path}: ${JSON.stringify(answer)}`);
          };
          await judged(`/v1/escrows/${escrow}`, (answer) => ofEscrow(answer, false));
          await judged(`/v1/relay/${signature}`, ofOutcome);
          await judged(`/v1/escrows/${escrow}`, (answer) => ofEscrow(answer, false));
        }
        service.kill("SIGKILL");
        await service.ended;
        if ((kill + 1) % 20 === 0) tell(`${kill + 1} kills, ${JSON.stringify(counts)}`);
      }
      node.setHostile(false);
      service = startShortLivedService(env);
      await service.url;
      await until(
        "every transaction that was taken on lands",
        () => ledger.landed(takenOn),
        (landed) => landed.every(Boolean),
        LANDED_WITHIN,
      );
      process.stdout.write(
        `${KILLS} kills, seed ${SEED}: ${takenOn.length} relays taken on, ${JSON.stringify(counts)}\n`,
      );
      // Otherwise nothing was there to be denied.
      expect(Object.keys(counts)).not.toBeEmpty();
      expect(wrong).toEqual([]);
    } finally {
      service?.kill("SIGKILL");
      await service?.ended;
      await ledger.stop();
      await directory.remove();
    }
  },
  // Each kill costs two starts: ten seconds on a busy machine.
  2 * LONG_MS,
);
