import { Effect, Stream } from "effect";
import type { Address } from "../domain/address.ts";
import type { AccountFault, Decoded, LedgerAccount } from "../domain/ledger-account.ts";
import type { RejectedAccount, SyncCounts } from "../domain/sync-report.ts";
import type { IndexBatch, RowChanges, Sighted } from "../../ports/escrow-index.ts";
import { EscrowIndex } from "../../ports/escrow-index.ts";
import { Ledger, LedgerUnavailable } from "../../ports/ledger.ts";

/** What a snapshot of one program's accounts found and changed. */
export type ProgramSnapshot = {
  /** Null when the program owns no account at all. */
  readonly slot: bigint | null;
  readonly counts: SyncCounts;
  readonly eventsAdded: number;
  /** At most 100. */
  readonly rejected: ReadonlyArray<RejectedAccount>;
};

/**
 * First byte of the wallet that an escrow or a merchant belongs to, a public key and so evenly spread.
 * See docs/protocol.md, "Escrow account" and "Merchant account".
 */
const SPLIT_AT = 16;

const MAX_REJECTED_NAMED = 100;

/**
 * Reads every account of a program and applies it to the index, one store transaction a chunk. `decode`
 * gives null for an account of the program's that is rightly none of the indexed kind. An answer below
 * `notBefore`, the slot the index is complete to, is a node that lags: it is refused, never merged.
 */
export const snapshotProgram = Effect.fn("snapshotProgram")(function* <Row>(input: {
  readonly program: Address;
  readonly notBefore: bigint;
  readonly decode: (account: LedgerAccount) => Decoded<Row> | null;
  readonly toBatch: (rows: ReadonlyArray<Sighted<Row>>) => Omit<IndexBatch, "mark">;
  readonly changesOf: (result: {
    readonly escrows: RowChanges;
    readonly merchants: RowChanges;
  }) => RowChanges;
}) {
  const ledger = yield* Ledger;
  const index = yield* EscrowIndex;
  const total = { seen: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 };
  const rejected: Array<RejectedAccount> = [];
  let slot: bigint | null = null;
  let eventsAdded = 0;
  const reject = (address: Address, fault: AccountFault) => {
    total.rejected++;
    if (rejected.length < MAX_REJECTED_NAMED) rejected.push({ address, fault });
  };
  yield* Stream.runForEach(ledger.programAccounts(input.program, SPLIT_AT), (chunk) =>
    Effect.gen(function* () {
      if (chunk.slot < input.notBefore)
        return yield* new LedgerUnavailable({
          retryable: true,
          cause: `answer of slot ${chunk.slot} is older than the index, ${input.notBefore}`,
        });
      slot = chunk.slot;
      const rows: Array<Sighted<Row>> = [];
      for (const account of chunk.value) {
        const decoded = input.decode(account);
        if (decoded === null) continue;
        total.seen++;
        if ("fault" in decoded) reject(account.address, decoded.fault);
        else rows.push({ row: decoded.value, slot: chunk.slot });
      }
      const result = yield* index.apply({ ...input.toBatch(rows), mark: null });
      const changes = input.changesOf(result);
      total.created += changes.created;
      total.updated += changes.updated;
      total.unchanged += changes.unchanged;
      eventsAdded += result.eventsAdded;
    }),
  );
  const snapshot: ProgramSnapshot = { slot, counts: total, eventsAdded, rejected };
  return snapshot;
});
