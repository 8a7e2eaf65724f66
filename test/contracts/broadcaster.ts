import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Effect, ManagedRuntime } from "effect";
import { addressFromBytes } from "../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import type { Blockspace } from "../../ports/ledger/blockspace.ts";
import { Broadcaster } from "../../ports/ledger/broadcaster.ts";
import { Ledger } from "../../ports/ledger/ledger.ts";
import type { LedgerWorld } from "./ledger-world.ts";

/** Enough for a new account to be rent-exempt. */
const AMOUNT = 2_000_000n;
/** More than the payer has. */
const TOO_MUCH = 2n ** 63n;
const UNKNOWN_BLOCKHASH: string = addressFromBytes(new Uint8Array(32).fill(3));
/** The error of a System transfer beyond the payer's balance: SystemError::ResultWithNegativeLamports. */
const CANNOT_PAY = {
  kind: "InstructionError",
  instructionIndex: 0,
  instructionError: "Custom",
  customCode: 1,
};

/** What every Broadcaster must do, tested on a real ledger. */
export const broadcasterContract = (name: string, open: () => LedgerWorld): void =>
  describe(`Broadcaster: ${name}`, () => {
    let world: LedgerWorld;
    let runtime: ManagedRuntime.ManagedRuntime<Ledger | Broadcaster | Blockspace, never>;
    beforeAll(() => {
      world = open();
      runtime = ManagedRuntime.make(world.layer);
    });
    afterAll(async () => {
      await runtime.dispose();
      await world.close();
    });
    const ask = <A, E>(
      use: (broadcaster: Broadcaster["Service"]) => Effect.Effect<A, E>,
    ): Promise<A> => runtime.runPromise(Broadcaster.use(use));
    const transfer = (lamports: bigint, blockhash = world.blockhash()) => {
      const to = world.unused();
      return { to, ...world.transfer({ to, lamports, blockhash }) };
    };

    test("tells whether a blockhash is valid for a transaction", async () => {
      const blockhash = world.blockhash();
      expect(await ask((broadcaster) => broadcaster.isBlockhashValid(blockhash))).toBe(true);
      expect(await ask((broadcaster) => broadcaster.isBlockhashValid(UNKNOWN_BLOCKHASH))).toBe(
        false,
      );
    });

    test("returns the fee of a message, null for an unknown blockhash", async () => {
      const { message } = transfer(AMOUNT);
      const { message: stale } = transfer(AMOUNT, UNKNOWN_BLOCKHASH);
      expect(await ask((broadcaster) => broadcaster.fee(message))).toBe(5000n);
      expect(await ask((broadcaster) => broadcaster.fee(stale))).toBeNull();
    });

    test("simulates without landing", async () => {
      const { transaction, signature, to } = transfer(AMOUNT);
      const simulation = await ask((broadcaster) => broadcaster.simulate(transaction));
      expect(simulation.error).toBeNull();
      expect(simulation.logs.join("\n")).toContain("success");
      expect(simulation.slot).toBeGreaterThan(0n);
      world.finalize();
      expect(await ask((broadcaster) => broadcaster.landed(signature))).toBeNull();
      const read = await runtime.runPromise(
        Ledger.use((ledger) => ledger.readAccounts([to], "confirmed")),
      );
      expect(read.value).toEqual([null]);
    });

    test("simulates a failure with the instruction's error and logs", async () => {
      const { transaction } = transfer(TOO_MUCH);
      const simulation = await ask((broadcaster) => broadcaster.simulate(transaction));
      expect(simulation.error).toEqual(CANNOT_PAY);
      expect(simulation.logs.join("\n")).toContain("failed");
    });

    test("simulates with the transaction's own blockhash and signatures", async () => {
      const { transaction: stale } = transfer(AMOUNT, UNKNOWN_BLOCKHASH);
      const forged = transfer(AMOUNT).transaction.slice();
      forged[1] = (forged[1] ?? 0) ^ 1;
      const outcomes = [
        await ask((broadcaster) => broadcaster.simulate(stale)),
        await ask((broadcaster) => broadcaster.simulate(forged)),
      ];
      expect(outcomes.map(({ error }) => error?.kind)).toEqual([
        "BlockhashNotFound",
        "SignatureFailure",
      ]);
    });

    test("simulates unreadable bytes as a failure of the transaction, not of the ledger", async () => {
      const { transaction } = transfer(AMOUNT);
      const cut = transaction.slice(0, -1);
      const { error } = await ask((broadcaster) => broadcaster.simulate(cut));
      expect(error?.kind).toBe("SanitizeFailure");
    });

    test("a transfer that is submitted lands, becomes final, and keeps its logs", async () => {
      const { transaction, signature, to } = transfer(AMOUNT);
      expect(await ask((broadcaster) => broadcaster.landed(signature))).toBeNull();
      await ask((broadcaster) => broadcaster.submit(transaction));
      const first = await ask((broadcaster) => broadcaster.landed(signature));
      world.finalize();
      const final = await ask((broadcaster) => broadcaster.landed(signature));
      expect(first).toMatchObject({ error: null });
      expect(final).toMatchObject({ commitment: "finalized", error: null });
      expect(final?.slot).toBe(first?.slot ?? -1n);
      const shown = await ask((broadcaster) => broadcaster.shown(signature));
      expect(shown).toMatchObject({ slot: first?.slot ?? -1n, error: null, program: null });
      expect(shown?.logs.join("\n")).toContain("success");
      const read = await runtime.runPromise(
        Ledger.use((ledger) => ledger.readAccounts([to], "finalized")),
      );
      expect(read.value[0]?.lamports).toBe(AMOUNT);
    });

    test("submitting the same bytes twice changes nothing", async () => {
      const { transaction, signature, to } = transfer(AMOUNT);
      for (let i = 0; i < 3; i++) await ask((broadcaster) => broadcaster.submit(transaction));
      world.finalize();
      await ask((broadcaster) => broadcaster.submit(transaction));
      world.finalize();
      expect(await ask((broadcaster) => broadcaster.landed(signature))).toMatchObject({
        error: null,
      });
      const read = await runtime.runPromise(
        Ledger.use((ledger) => ledger.readAccounts([to], "finalized")),
      );
      expect(read.value[0]?.lamports).toBe(AMOUNT);
    });

    test("a transfer that fails in its block lands with its error and logs", async () => {
      const { transaction, signature } = transfer(TOO_MUCH);
      await ask((broadcaster) => broadcaster.submit(transaction));
      world.finalize();
      const landed = await ask((broadcaster) => broadcaster.landed(signature));
      expect(landed).toMatchObject({ commitment: "finalized", error: CANNOT_PAY });
      const shown = await ask((broadcaster) => broadcaster.shown(signature));
      expect(shown).toMatchObject({ error: CANNOT_PAY, program: SYSTEM_PROGRAM });
      expect(shown?.logs.join("\n")).toContain("failed");
    });

    test("a transaction with an unknown blockhash never lands, whether or not it is refused", async () => {
      const { transaction, signature } = transfer(AMOUNT, UNKNOWN_BLOCKHASH);
      const refusal = await runtime.runPromise(
        Broadcaster.use((broadcaster) => broadcaster.submit(transaction)).pipe(
          Effect.catchTag("SubmissionRefused", ({ error }) => Effect.succeed(error)),
        ),
      );
      if (refusal !== undefined) expect(refusal?.kind).toBe("BlockhashNotFound");
      world.finalize();
      expect(await ask((broadcaster) => broadcaster.landed(signature))).toBeNull();
    });

    test("refuses to submit unreadable bytes", async () => {
      const { transaction } = transfer(AMOUNT);
      const refusal = await ask((broadcaster) =>
        Effect.flip(broadcaster.submit(transaction.slice(0, -1))),
      );
      expect(refusal).toMatchObject({
        _tag: "SubmissionRefused",
        error: { kind: "SanitizeFailure" },
      });
    });

    test("returns nothing for a transaction that was never sent", async () => {
      const signature = ledgerSignatureFromBytes(new Uint8Array(64).fill(9));
      expect(await ask((broadcaster) => broadcaster.landed(signature))).toBeNull();
      expect(await ask((broadcaster) => broadcaster.shown(signature))).toBeNull();
    });
  });
