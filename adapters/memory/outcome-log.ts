import { Effect, Layer } from "effect";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type { RelayEntry } from "../../core/domain/relay/relay-entry.ts";
import { type KeyClaim, type KeyUse, OutcomeLog } from "../../ports/outcome-log.ts";

type KeyRow = {
  readonly fingerprint: string;
  readonly atMs: number;
  readonly answer: string | null;
};

const claimOf = (row: KeyRow | undefined, use: KeyUse): KeyClaim => {
  if (row === undefined || row.atMs < use.forgottenBeforeMs) return { status: "claimed" };
  if (row.fingerprint !== use.fingerprint) return { status: "reused" };
  if (row.answer !== null) return { status: "answered", answer: row.answer };
  return { status: "in_flight" };
};

const name = ({ client, key }: Pick<KeyUse, "client" | "key">) => JSON.stringify([client, key]);

/** The OutcomeLog port in this process's memory, for tests and demonstrations. Nothing survives a restart. */
export const outcomeLogMemory: Layer.Layer<OutcomeLog> = Layer.sync(OutcomeLog, () => {
  const entries = new Map<LedgerSignature, RelayEntry>();
  const keys = new Map<string, KeyRow>();
  return OutcomeLog.of({
    open: (entry) =>
      Effect.sync(() => {
        if (entries.has(entry.signature)) return false;
        entries.set(entry.signature, entry);
        return true;
      }),
    tryOpen: () => Effect.void,
    resolve: (signature, outcome) =>
      Effect.sync(() => {
        const entry = entries.get(signature);
        if (entry !== undefined && entry.outcome === null)
          entries.set(signature, { ...entry, outcome });
      }),
    find: (signature) => Effect.sync(() => entries.get(signature) ?? null),
    unresolved: (limit) =>
      Effect.sync(() =>
        [...entries.values()]
          .filter(({ outcome }) => outcome === null)
          .sort((a, b) => a.openedAtMs - b.openedAtMs)
          .slice(0, limit),
      ),
    claimKey: (use) =>
      Effect.sync(() => {
        const claim = claimOf(keys.get(name(use)), use);
        if (claim.status === "claimed")
          keys.set(name(use), { fingerprint: use.fingerprint, atMs: use.nowMs, answer: null });
        return claim;
      }),
    answerKey: (use, answer) =>
      Effect.sync(() => {
        const row = keys.get(name(use));
        if (answer === null) keys.delete(name(use));
        else if (row !== undefined) keys.set(name(use), { ...row, answer });
      }),
  });
});
