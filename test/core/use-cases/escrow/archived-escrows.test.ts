import { describe, expect, test } from "bun:test";
import { Effect, Layer, ManagedRuntime, Result } from "effect";
import { TestClock } from "effect/testing";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import type { Address } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { HistoryEntry, LedgerTransaction } from "../../../../core/domain/ledger/history.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
  ledgerSignatureToBytes,
} from "../../../../core/domain/ledger/signature.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { SYSTEM_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { archiveEscrowInstruction } from "../../../../core/protocol/instructions/custody-instructions.ts";
import {
  ArchivedEscrows,
  makeArchivedEscrows,
  MOST_TRANSACTIONS,
  SEARCH_AGAIN_MS,
} from "../../../../core/use-cases/escrow/archived-escrows.ts";
import { readEscrow } from "../../../../core/use-cases/escrow/read-escrow.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { changesOf, indexedOf } from "../../../arbitraries/index-history.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { CREATED_AT, escrow, STRANGER } from "../../../adapters/http/support/parties.ts";
import { accountOf, clockAccount } from "../../../doubles/accounts.ts";
import { type Answer, ledgerPort } from "../../../world/ledger-port.ts";
import { tombstoneAccount, tombstoneOf } from "../../../doubles/tombstone.ts";
import { testInstance } from "../test-instance.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

const { custodyProgram } = LOCAL_DEPLOYMENT;
const gone = escrow("archived", "Fulfilled");
/** As many transactions as a page of a node has. */
const PAGE = 1000;

const signatureOf = (number: number): LedgerSignature => {
  const bytes = new Uint8Array(64);
  new DataView(bytes.buffer).setUint32(0, number + 1);
  return ledgerSignatureFromBytes(bytes);
};

type Step = Pick<LedgerTransaction, "instructions"> & { readonly failed?: boolean };

/** A transaction that holds `archive_escrow` with these bytes. */
const archive = (of: Escrow, lastBytes = encodeEscrowAccount(of)): Step => {
  const { programAddress, accounts, data } = archiveEscrowInstruction(LOCAL_DEPLOYMENT, {
    escrow: of.address,
    rentPayer: of.rentPayer,
    lastBytes,
  });
  return {
    instructions: [
      { program: programAddress, accounts: accounts.map(({ address }) => address), data },
    ],
  };
};
/** A lamport sent to the escrow's address. */
const lamport: Step = {
  instructions: [{ program: SYSTEM_PROGRAM, accounts: [STRANGER, gone.address], data: null }],
};
const lamports = (count: number): ReadonlyArray<Step> =>
  Array.from({ length: count }, () => lamport);

/** A ledger with the tombstone of `gone` and the given history, oldest first, and a process that reads it. */
const makeWorld = (
  steps: ReadonlyArray<Step>,
  tombstone = tombstoneOf(gone),
  mostAPage = PAGE,
  isReversed = false,
) => {
  const asked = { pages: 0, transactions: 0 };
  let fault: LedgerUnavailable | null = null;
  const answer: Answer = (value) =>
    Effect.suspend(() => (fault === null ? Effect.succeed(value()) : Effect.fail(fault)));
  const entries = steps
    .map(({ failed = false }, at): HistoryEntry => ({
      signature: signatureOf(at),
      slot: BigInt(at >> 1),
      failed,
    }))
    .toReversed();
  const accounts = new Map([
    [gone.address, accountOf(gone.address, custodyProgram, tombstone)],
    [clockAccount(0n).address, clockAccount(CREATED_AT)],
  ]);
  const confirmed = new Map(accounts);
  const double = ledgerPort({
    answer,
    slot: () => 900n,
    history: (address, before) => {
      asked.pages += 1;
      expect(address).toBe(gone.address);
      const from = entries.findIndex(({ signature }) => signature === before) + 1;
      const page = entries.slice(from, from + mostAPage);
      return { entries: isReversed ? page.toReversed() : page, keptFrom: 0n };
    },
    transaction: (signature) => {
      asked.transactions += 1;
      const at = Buffer.from(ledgerSignatureToBytes(signature)).readUInt32BE(0) - 1;
      const step = steps[at];
      if (step === undefined) return null;
      return {
        failed: false,
        ...step,
        signature,
        slot: BigInt(at >> 1),
        signers: new Set([STRANGER]),
        accounts: [STRANGER, gone.address],
        hasCalls: true,
      };
    },
  });
  const ledger = Ledger.of({
    ...double,
    readAccounts: (addresses: ReadonlyArray<Address>, commitment) =>
      answer(() => ({
        slot: commitment === "finalized" ? 890n : 900n,
        value: addresses.map(
          (address) => (commitment === "finalized" ? accounts : confirmed).get(address) ?? null,
        ),
      })),
  });
  const ports = Layer.mergeAll(
    Layer.succeed(Ledger, ledger),
    Layer.succeed(Instance, testInstance()),
    indexMemory(),
    patientClock(),
  );
  const runtime = ManagedRuntime.make(
    Layer.effect(ArchivedEscrows, makeArchivedEscrows).pipe(Layer.provideMerge(ports)),
  );
  return {
    asked,
    accounts,
    fail: (with_: LedgerUnavailable | null) => void (fault = with_),
    read: () => runtime.runPromise(Effect.result(readEscrow(gone.address))),
    pass: (ms: number) => runtime.runPromise(TestClock.adjust(ms)),
    index: (row: Escrow) =>
      runtime.runPromise(
        IndexWriter.use((index) => index.apply(changesOf({ escrows: [indexedOf(row)] }))),
      ),
  };
};

const read = async (world: ReturnType<typeof makeWorld>) => {
  const result = await world.read();
  return Result.isSuccess(result) ? result.success : result.failure._tag;
};

const restored = {
  escrow: gone,
  account: { data: encodeEscrowAccount(gone), owner: custodyProgram },
  archived: { state: "Fulfilled", createdSeq: gone.createdSeq },
  slot: 890n,
  commitment: "finalized",
};

describe("an archived escrow", () => {
  test("is read back from the transaction that archived it, once", async () => {
    const world = makeWorld([lamport, archive(gone)]);
    expect(await read(world)).toMatchObject(restored);
    // A short page need not be the last one. The next page shows that nothing is older.
    expect(world.asked).toEqual({ pages: 2, transactions: 2 });
    expect(await read(world)).toMatchObject(restored);
    expect(world.asked).toEqual({ pages: 2, transactions: 2 });
  });

  test("is read back even when many lamports were sent to its tombstone afterwards", async () => {
    const world = makeWorld([lamport, archive(gone), ...lamports(2 * PAGE + 7)]);
    expect(await read(world)).toMatchObject(restored);
    expect(world.asked.pages).toBe(4);
    expect(world.asked.transactions).toBeLessThanOrEqual(8);
  });

  test("is read back in one request from a node that lists the oldest transactions first", async () => {
    const steps = [archive(gone), ...lamports(2 * MOST_TRANSACTIONS)];
    const world = makeWorld(steps, tombstoneOf(gone), PAGE, true);
    expect(await read(world)).toMatchObject(restored);
  });

  test("is read back behind a provider that lists at most a hundred transactions a page", async () => {
    const steps = [lamport, archive(gone), ...lamports(7_000)];
    const world = makeWorld(steps, tombstoneOf(gone), 100);
    expect(await read(world)).toMatchObject(restored);
  });

  test("is read back in several requests when lamports came before", async () => {
    const world = makeWorld([...lamports(2 * MOST_TRANSACTIONS), archive(gone), ...lamports(PAGE)]);
    expect(await read(world)).toBe("EscrowArchived");
    expect(world.asked.transactions).toBe(MOST_TRANSACTIONS);
    expect(await read(world)).toBe("EscrowArchived");
    expect(await read(world)).toMatchObject(restored);
    expect(world.asked.transactions).toBe(2 * MOST_TRANSACTIONS + 8);
  });

  test("is read back from the index without a read of its history", async () => {
    const world = makeWorld([]);
    await world.index(gone);
    expect(await read(world)).toMatchObject(restored);
    expect(world.asked).toEqual({ pages: 0, transactions: 0 });
  });

  test("is not read from an instruction or failed transaction without the digest", async () => {
    const forged: Escrow = { ...gone, rentPayer: STRANGER };
    const world = makeWorld([
      archive(gone, encodeEscrowAccount(gone).with(200, 9)),
      archive(forged),
      { ...archive(gone), failed: true },
      archive(escrow("another", "Fulfilled")),
    ]);
    const result = await world.read();
    expect(Result.isFailure(result) && result.failure).toMatchObject({
      _tag: "EscrowArchived",
      address: gone.address,
      tombstone: { state: "Fulfilled", createdSeq: gone.createdSeq },
    });
  });

  test("is neither read from an index row without the digest, nor shown against it", async () => {
    const world = makeWorld([archive(gone)]);
    await world.index({ ...gone, rentPayer: STRANGER });
    expect(await read(world)).toBe("LedgerUnavailable");
  });

  test.each([
    ["state", tombstoneOf(gone).with(24, 3)],
    ["settled number", tombstoneOf(gone).with(17, 1)],
    ["digest of the Pending bytes", tombstoneOf(gone).with(32, 1)],
  ])("is not shown with another %s than its last bytes say", async (_, tombstone) => {
    expect(await read(makeWorld([archive(gone)], tombstone))).toBe("LedgerUnavailable");
  });

  test("whose bytes nobody kept is searched again only after a while", async () => {
    const steps: Array<Step> = [lamport];
    const world = makeWorld(steps);
    expect(await read(world)).toBe("EscrowArchived");
    expect(await read(world)).toBe("EscrowArchived");
    expect(world.asked.pages).toBe(2);
    await world.pass(SEARCH_AGAIN_MS);
    expect(await read(world)).toBe("EscrowArchived");
    expect(world.asked.pages).toBe(4);
  });

  test("is an open question while the node does not answer", async () => {
    const world = makeWorld([archive(gone)]);
    world.fail(new LedgerUnavailable({ retryable: true, cause: "test" }));
    expect(await read(world)).toBe("LedgerUnavailable");
    world.fail(null);
    expect(await read(world)).toMatchObject(restored);
  });

  test("counts as archived at finalized only; before that the whole account counts", async () => {
    const world = makeWorld([]);
    world.accounts.set(
      gone.address,
      accountOf(gone.address, custodyProgram, encodeEscrowAccount(gone)),
    );
    expect(await read(world)).toMatchObject({ ...restored, archived: null });
    expect(world.asked.pages).toBe(0);
  });

  test("is not read from a tombstone of another owner or version", async () => {
    const forged = makeWorld([archive(gone)]);
    const { data } = tombstoneAccount(gone, custodyProgram);
    forged.accounts.set(gone.address, accountOf(gone.address, SYSTEM_PROGRAM, data));
    expect(await read(forged)).toBe("NotAnEscrow");
    const newer = makeWorld([archive(gone)], tombstoneOf(gone).with(25, 4));
    expect(await read(newer)).toBe("NotAnEscrow");
  });
});

test("two concurrent requests share one search", async () => {
  const world = makeWorld([archive(gone)]);
  const both = await Promise.all([world.read(), world.read()]);
  expect(both.map(Result.isSuccess)).toEqual([true, true]);
  expect(world.asked.pages).toBe(2);
});
