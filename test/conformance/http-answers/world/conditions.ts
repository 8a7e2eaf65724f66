import { Effect } from "effect";
import type { Address } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes, hash32ToBytes } from "../../../../core/domain/hash32.ts";
import { checkpointText } from "../../../../core/log/checkpoint/checkpoint.ts";
import { unseenEscrowOf } from "../../../../core/log/leaf/escrow-rows.ts";
import { decodeArchivedEscrowAccount } from "../../../../core/protocol/accounts/archived-escrow-account.ts";
import { printLogStanding } from "../../../../core/use-cases/log/log-standing.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import type { EscrowsAt } from "../../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
import type { World } from "./fixed-world.ts";

/** Changes the world before a request. */
export type Condition = (world: World) => void;

/** Replaces every effect of a service, and what every method returns. */
const replaceAll = (service: object, effect: Effect.Effect<never, unknown>): void => {
  for (const [name, member] of Object.entries(service))
    Object.assign(service, { [name]: typeof member === "function" ? () => effect : effect });
};

/** No node of the ledger gives a usable answer. */
export const ledgerDown: Condition = ({ ledger }) => {
  ledger.fault = new LedgerUnavailable({
    retryable: true,
    cause: new Error("https://node.example/?api-key=NEVER-SHOWN"),
  });
};

/** No node of the ledger answers in time. */
export const ledgerSlow: Condition = ({ ledger }) => {
  ledger.fault = new LedgerTimeout({ timeoutMs: 5000 });
};

/** The node accepts every request and never answers. */
export const ledgerHangs: Condition = ({ ledger }) => {
  ledger.fault = "hangs";
};

const down = Effect.fail(new StoreUnavailable({ retryable: true, cause: "disk" }));

/** The index and the relay's log fail. */
export const storeDown: Condition = ({ index, writer, relayLog, logStore }) => {
  replaceAll(index, down);
  replaceAll(writer, down);
  replaceAll(relayLog, down);
  replaceAll(logStore, down);
};

/** The index and the relay's log die by a bug. */
export const storeDefect: Condition = ({ index, writer, relayLog, logStore }) => {
  const defect = Effect.die(new TypeError("NEVER-SHOWN is not a function"));
  replaceAll(index, defect);
  replaceAll(writer, defect);
  replaceAll(relayLog, defect);
  replaceAll(logStore, defect);
};

/**
 * The ledger is final up to 32 slots ago, and had no account of the escrow then. Nor has the index, which is of
 * finalized slots.
 */
export const notFinalYet =
  (escrow: Escrow): Condition =>
  ({ ledger, index }) => {
    const { summary } = index;
    Object.assign(index, {
      escrowsAt: () => Effect.succeed({ escrows: [], unseen: [] }),
      summary: Effect.map(summary, (is) => ({
        ...is,
        mark: is.mark && { ...is.mark, count: escrow.createdSeq - 1n },
      })),
    });
    ledger.finality = 32n;
    ledger.confirm(escrow.address);
  };

/** Sets the ledger's clock, Unix seconds. */
export const clockAt =
  (time: bigint): Condition =>
  ({ ledger }) =>
    ledger.setClock(time);

/** Archives a settled escrow, of which the index knows at least numbers and digests. */
export const archivedNow =
  (escrow: Escrow): Condition =>
  ({ ledger, index }) => {
    const account = tombstoneAccount(escrow, LOCAL_DEPLOYMENT.custodyProgram);
    const archived = decodeArchivedEscrowAccount(account, LOCAL_DEPLOYMENT);
    if ("fault" in archived) throw new Error(archived.fault);
    const unseen = [unseenEscrowOf(escrow.address, archived.value)];
    ledger.put(account);
    const { escrowsAt } = index;
    const seen = (held: EscrowsAt): EscrowsAt =>
      held.escrows.length > 0 ? held : { ...held, unseen };
    Object.assign(index, {
      escrowsAt: (addresses: ReadonlyArray<Address>) => Effect.map(escrowsAt(addresses), seen),
    });
  };

/** All of these conditions together. */
export const all =
  (...conditions: ReadonlyArray<Condition>): Condition =>
  (world) => {
    for (const condition of conditions) condition(world);
  };

/** The settlement log has this many leaves, all alike, and a checkpoint of only `published` of them. */
export const logOf =
  (size: number, published: number): Condition =>
  ({ logStore }) => {
    const origin = "log.example/log/0011223344556677/0";
    const root = hash32FromBytes(new Uint8Array(32).fill(1));
    const note = `${checkpointText({ origin, size: published, root: hash32ToBytes(root) })}\n— ${origin} AAAAAAA=\n`;
    const standing = printLogStanding({
      signed: { origin, size, root },
      publicKey: root,
      nextKey: null,
      retiredKeys: [],
      published: note,
      ended: null,
      predecessors: [],
    });
    Object.assign(logStore, {
      standing: Effect.succeed(standing),
      leaves: (_: bigint, limit: number) =>
        Effect.succeed(Array.from({ length: limit }, () => new Uint8Array(66).fill(1))),
      tile: () => Effect.succeed(new Uint8Array(8192).fill(1)),
    });
  };
