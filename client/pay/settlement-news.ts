import { dataOrNull } from "../service/operation.ts";
import type { Requests } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import { type SettlementNews, settlementEvents } from "./settlement-events.ts";

/** How far the ledger is with a settlement. A confirmed one may still be retracted by a fork. */
export type Finality = SettlementNews["finality"] | "final";

/** The pause between two reads while the stream is silent. */
const LOOK_MS = 10_000;

/** What a packet decides once a settlement is final. */
const FINAL: ReadonlySet<unknown> = new Set(["released", "refunded"]);

/** Whether the service has the evidence of a settlement, which it makes of final ones only. */
const isFinal = async (
  requests: Requests,
  escrow: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const packet: { readonly settlement_decision?: { readonly status?: unknown } | null } | null =
    await dataOrNull(
      requests,
      "GET /v1/evidence/{pda}",
      { pda: escrow },
      { headers: { accept: "application/json" }, signal },
    ).catch((cause: unknown) => {
      if (cause instanceof SettlementError && cause.code === "not_final_yet") return null;
      throw cause;
    });
  return FINAL.has(packet?.settlement_decision?.status);
};

/**
 * Waits until the settlement of an escrow is `confirmed`, or until it is `final`, by the service's event stream, and says
 * how far it is. `retracted` ends each wait. Null when nothing was confirmed within `withinMs`. Nothing is proved by it.
 * @throws SettlementError, and what the signal was aborted with
 */
export const settlementNews = async (
  requests: Requests,
  escrow: string,
  {
    until,
    withinMs,
    signal,
  }: {
    readonly until: "confirmed" | "final";
    readonly withinMs: number;
    readonly signal: AbortSignal;
  },
): Promise<Finality | null> => {
  const { clock } = requests;
  const began = clock.nowMs();
  const told: { latest: Finality | null; wake: () => void } = {
    latest: null,
    wake: () => undefined,
  };
  const events = settlementEvents(requests, escrow, signal, ({ finality }) => {
    told.latest = finality;
    told.wake();
  });
  try {
    for (;;) {
      const heard = new Promise<void>((resolve) => {
        told.wake = resolve;
      });
      if (await isFinal(requests, escrow, signal)) return "final";
      const { latest } = told;
      if (latest === "retracted" || latest === until) return latest;
      const leftMs = withinMs - (clock.nowMs() - began);
      if (leftMs <= 0) return latest;
      const over = new AbortController();
      const ending = AbortSignal.any([signal, over.signal]);
      try {
        await Promise.race([events.next(), heard, clock.pause(Math.min(LOOK_MS, leftMs), ending)]);
      } finally {
        over.abort();
      }
    }
  } finally {
    events.stop();
  }
};
