import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { until, runService } from "../../app/support/running-service.ts";
import { environmentOn } from "../../chaos/support/service-environment.ts";
import { tmpdir } from "../../temporary-root.ts";
import { remoteBackend } from "../backends.ts";
import { hostileNode } from "../hostile-node.ts";
import type { Scenario } from "../scenario.ts";
import { HONEST } from "../scenarios.ts";
import type { Fault } from "./faults.ts";
import { MERCHANT, type Payment, type Signed, type TrueLedger } from "./true-ledger.ts";
import {
  type Answer,
  ofEscrow,
  ofEvidence,
  ofMerchant,
  ofOutcome,
  ofRelay,
  type Verdict,
} from "./verdict.ts";

/** How often a relay is asked again while its answer is retryable. */
const TRIES = 3;
/** Seconds within which everything that was taken on lands once the node is honest. */
const HEALED_WITHIN = 120;

/** What a fault came to: the number of each verdict, for reads and for relays, and the answers that are wrong. */
export type Played = {
  readonly fault: string;
  readonly reads: Record<Verdict, number>;
  readonly relays: Record<Verdict, number>;
  readonly wrong: Array<string>;
  /** The answers of the hostile node while it was hostile. */
  readonly lies: number;
};

const none = (): Record<Verdict, number> => ({
  right: 0,
  retryable: 0,
  not_sent: 0,
  false_no: 0,
  old_state: 0,
  false_safe: 0,
});

/** A scenario that plays one fault of several at a time. */
export const switching = (faults: ReadonlyArray<Fault>, now: () => number): Scenario => ({
  ...HONEST,
  play: (stage) => {
    const plays = faults.map(({ play }) => play(stage));
    return (call) => (plays[now()] ?? stage.backend.answer)(call);
  },
  notify: (stage) => {
    const notifies = faults.map(({ notify }) => notify?.(stage));
    return (notification) => notifies[now()]?.(notification) ?? [notification];
  },
});

/**
 * A service whose first node plays faults before a true ledger, one after the other; with `nodes` 2 a second one is
 * honest.
 */
export const startBattery = async (
  ledger: TrueLedger,
  faults: ReadonlyArray<Fault>,
  { nodes, seed }: { readonly nodes: 1 | 2; readonly seed: number },
) => {
  let now = 0;
  const backend = remoteBackend(ledger.rpcUrl, ledger.webSocketUrl);
  const first = hostileNode({ backend, scenario: switching(faults, () => now), seed });
  first.setHostile(false);
  const folder = await mkdtemp(join(tmpdir(), "no-false-no-"));
  const urls = nodes === 1 ? first.url : `${first.url},${ledger.rpcUrl}`;
  const service = await runService({
    ...environmentOn(urls, folder),
    SOLANA_WS_URL: first.webSocketUrl,
  });
  const ask = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(service.url + path, init);
    return { status: response.status, body: await response.json() };
  };
  const ready = () =>
    until(
      "the service is ready",
      () => fetch(`${service.url}/ready`).then(({ status }) => status),
      (status) => status === 200,
      HEALED_WITHIN,
    );
  await ready();

  /**
   * Plays one fault over some payments, of which every second one was made before it, then heals the node and waits
   * until all that was taken on has landed.
   */
  const play = async (fault: Fault, payments: ReadonlyArray<Payment>): Promise<Played> => {
    const played = { fault: fault.name, reads: none(), relays: none(), wrong: [] as Array<string> };
    const takenOn: Array<string> = [];
    const judge = (kind: "reads" | "relays", verdict: Verdict, what: string, answer: Answer) => {
      played[kind][verdict] += 1;
      if (verdict !== "right" && verdict !== "retryable")
        played.wrong.push(`${fault.name}: ${verdict}: ${what}: ${JSON.stringify(answer)}`);
      return verdict;
    };
    /** Whether the relay called a transaction confirmed. */
    const relay = async (signed: Signed): Promise<boolean> => {
      const body = JSON.stringify({ signed_transaction: signed.base64, confirm: true });
      const headers = { "content-type": "application/json" };
      for (let tries = 0; tries < TRIES; tries++) {
        const answer = await ask("/v1/relay", { method: "POST", headers, body });
        const verdict = judge("relays", ofRelay(answer), "relay", answer);
        if (verdict === "retryable") continue;
        if (verdict !== "right") return false;
        takenOn.push(signed.signature);
        const { data } = answer.body as { readonly data: { readonly status: string } };
        return data.status !== "submitted";
      }
      return false;
    };
    const read = async (path: string, verdictOf: (answer: Answer) => Verdict): Promise<void> => {
      const answer = await ask(path);
      judge("reads", verdictOf(answer), path, answer);
    };
    const readAll = async ({ escrow }: Payment, signature: string, isCancelled: boolean) => {
      for (let times = 0; times < 3; times++)
        await read(`/v1/escrows/${escrow}`, (answer) => ofEscrow(answer, isCancelled));
      await read(`/v1/evidence/${escrow}`, ofEvidence);
      await read(`/v1/relay/${signature}`, ofOutcome);
      // The index proves escrows, and no merchants: what one node alone says of them counts.
      if (nodes === 2) await read(`/v1/merchants/${MERCHANT.address}`, ofMerchant);
    };
    const make = async (payment: Payment) => {
      const create = await payment.create();
      return (await relay(create)) ? create : null;
    };
    const live = async (payment: Payment, made: Signed | null): Promise<void> => {
      const create = made ?? (await make(payment));
      if (create === null) return;
      await readAll(payment, create.signature, false);
      const cancel = await payment.cancel();
      const isCancelled = await relay(cancel);
      if (isCancelled) await readAll(payment, cancel.signature, true);
      else await readAll(payment, create.signature, false);
    };
    now = faults.indexOf(fault);
    const made = await Promise.all(
      payments.map(async (one, at) => (at % 2 === 0 ? await make(one) : null)),
    );
    const before = first.requests();
    first.setHostile(true);
    await Promise.all(payments.map((payment, at) => live(payment, made[at] ?? null)));
    first.setHostile(false);
    const lies = first.requests() - before;
    await until(
      `after ${fault.name}, every transaction that was taken on lands`,
      () => ledger.landed(takenOn),
      (landed) => landed.every(Boolean),
      HEALED_WITHIN,
    );
    await ready();
    return { ...played, lies };
  };

  return {
    play,
    stop: async (): Promise<void> => {
      await service.stop();
      first[Symbol.dispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
