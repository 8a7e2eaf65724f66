import { expect } from "bun:test";
import { Duration } from "effect";
import { TestClock } from "effect/testing";
import { indexReaderOf } from "../../../../adapters/memory/index-queries.ts";
import { IndexRows } from "../../../../adapters/memory/index-rows.ts";
import { decodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { RelayEntry } from "../../../../core/domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { indexedEscrowOf } from "../../../../core/log/leaf/escrow-rows.ts";
import { decodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { readRelayOutcome } from "../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { JOBS } from "../../../chaos/relay/prepared-jobs.ts";
import { EARLIER, type RelayChain, relaying } from "./scripted-ledger.ts";
import { inBlock } from "../../../world/scripted-chain.ts";

const [attempt, other] = JOBS[0] ?? [];
if (attempt === undefined || other === undefined) throw new Error("no job");
const { escrow } = attempt;

const decoded = (base64: string) => {
  const found = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  if ("malformed" in found) throw new Error(found.malformed);
  return found.value;
};
const transaction = decoded(attempt.base64);

/** The signature of the creation that is relayed, and of another transaction that can create the same escrow. */
export const { signature, feePayer } = transaction;
export const rival = decoded(other.base64).signature;

/** The relayed creation, taken on at slot 1995. The first slot that can hold it is 1695. */
export const entry: RelayEntry = {
  signature,
  transaction: transaction.bytes,
  feePayer,
  lastValidBlockHeight: 1150n,
  openedAtSlot: 1995n,
  openedAtMs: 0,
  outcome: null,
};

/** Waits for one round of the relay. */
export const round = TestClock.adjust(Duration.millis(RELAY_POLICY.rebroadcastMs));

/**
 * What the relay says one round after the ledger was set up, and how many entries are under way then, beside an index.
 */
export const told = (
  setUp: (script: RelayChain) => void,
  height = 1000n,
  index?: ReturnType<typeof indexReaderOf>,
) =>
  relaying(
    function* (script) {
      const delivery = yield* RelayDelivery;
      yield* delivery.accept(entry, null);
      setUp(script);
      script.blockHeight = height;
      yield* round;
      const underWay = yield* delivery.underWay;
      const { recreatableEscrow, escrows, ...outcome } = yield* readRelayOutcome(signature);
      expect([recreatableEscrow, ...escrows]).toEqual([escrow.address, escrow.address]);
      return { ...outcome, underWay };
    },
    { index },
  );

/** The escrow exists, as the creation would have left it. */
export const paid = (script: RelayChain): void => script.put(escrow);

/** An index that proves the escrow. */
export const indexOfPaid = () => {
  const rows = new IndexRows();
  const read = decodeEscrowAccount(escrow, LOCAL_DEPLOYMENT);
  if ("fault" in read) throw new Error(read.fault);
  const row = indexedEscrowOf(read.value, escrow.data);
  rows.put({ escrows: [row], unseen: [], merchants: [] });
  rows.mark = {
    count: row.createdSeq,
    frontier: new Uint8Array(1280),
    slot: 1999n,
    ledgerTime: 0n,
    atMs: 0,
  };
  return indexReaderOf(rows);
};

/** The creation as the ledger's history shows it under a signature. */
export const shown = (of: typeof signature, failed: boolean) =>
  inBlock({ ...transaction, signature: of }, 1999n, failed ? ERROR : null);

/** The escrow was made by the rival. */
export const superseded = (script: RelayChain): void => {
  paid(script);
  script.record(shown(rival, false));
};

/** A list of an address that differs from `EARLIER` in these places. */
export const listing = (...entries: ReadonlyArray<Partial<typeof EARLIER>>) =>
  entries.map((each) => ({ ...EARLIER, ...each }));

/** What an outcome says that is not certain, and that of an expired transaction that nothing replaces. */
export const PENDING = { status: "pending", safeToSignAgain: false } as const;
export const EXPIRED = { status: "expired", safeToSignAgain: true, supersededBy: null } as const;

/** The error with which the creation fails. */
export const ERROR = {
  kind: "InstructionError",
  instructionIndex: 0,
  instructionError: "Custom",
  customCode: 6018,
} as const;
