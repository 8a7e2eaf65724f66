import { describe, expect, test } from "bun:test";
import { Duration, Effect, Exit, Fiber } from "effect";
import { TestClock } from "effect/testing";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import type { TransactionError } from "../../../../core/domain/relay/relay-entry.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { NEVER_RUNS } from "../../../../core/protocol/transaction/never-runs.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { relayTransaction } from "../../../../core/use-cases/relay/relay-transaction.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { RateLimiter } from "../../../../ports/rate-limiter.ts";
import { rentSysvarData } from "../../../arbitraries/rent-sysvar-data.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { type RelayChain, relaying } from "./scripted-ledger.ts";
import { signedBase64 } from "./signed.ts";

const payer = wallet("payer");
const unitPrice: Instruction = {
  programAddress: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0, 0),
};
/** Instruction 0 is the Compute Budget one, instruction 1 the registration. */
const signedTransaction = signedBase64(
  [
    unitPrice,
    registerMerchantInstruction(LOCAL_DEPLOYMENT, {
      payer: payer.address,
      merchant: payer.address,
      attestor: wallet("attestor").address,
      name: "Weather Data Ltd",
    }),
  ],
  [payer],
);
const request = { signedTransaction, confirm: false, skipPreflight: true, client: "192.0.2.1" };

const plain = (kind: string): TransactionError => ({
  kind,
  instructionIndex: null,
  instructionError: null,
  customCode: null,
});
const ofInstruction = (instructionIndex: number, name: string): TransactionError => ({
  kind: "InstructionError",
  instructionIndex,
  instructionError: name,
  customCode: name === "Custom" ? 6112 : null,
});

/** Written out, so that every change of the list is noticed. docs/relay.md has it too. */
const REFUSED = [
  "AccountLoadedTwice",
  "DuplicateInstruction",
  "InsufficientFundsForFee",
  "InvalidAccountForFee",
  "InvalidAccountIndex",
  "InvalidLoadedAccountsDataSizeLimit",
  "InvalidProgramForExecution",
  "InvalidWritableAccount",
  "MaxLoadedAccountsDataSizeExceeded",
  "MissingSignatureForFee",
  "ProgramAccountNotFound",
  "SanitizeFailure",
  "SignatureFailure",
  "TooManyAccountLocks",
  "UnsupportedVersion",
];

/** The result of a relay without preflight, and what was sent. */
const relayed = (set: (script: RelayChain) => void) =>
  relaying(
    function* (script) {
      set(script);

      const exit = yield* Effect.exit(relayTransaction(request));
      const { remaining } = yield* RateLimiter.use((limiter) =>
        limiter.take("relay", "192.0.2.1", 1),
      );
      const failure = Exit.findErrorOption(exit);
      return {
        failure: failure._tag === "Some" ? failure.value : undefined,
        sent: script.sent.length,
        charged: 99 - remaining,
      };
    },
    { limit: 100 },
  );
const simulating = (error: TransactionError, logs: ReadonlyArray<string>) =>
  relayed((script) => Object.assign(script, { simulationError: error, simulationLogs: logs }));

describe("without preflight, a simulation's error", () => {
  test("refuses if it is one of a fixed list", () => {
    expect(NEVER_RUNS).toEqual(REFUSED);
  });

  test.each([
    ...REFUSED.map((kind) => [kind, plain(kind), []] as const),
    ["of the Compute Budget program", ofInstruction(0, "InvalidInstructionData"), []] as const,
    ["of the payer's rent", plain("InsufficientFundsForRent"), []] as const,
  ])("%s refuses: nothing could run", async (_, error, logs) => {
    const { failure, sent, charged } = await simulating(error, logs);
    expect(failure).toMatchObject({ _tag: "TransactionRejected", error, landed: null });
    expect(sent).toBe(0);
    expect(charged).toBe(RELAY_POLICY.failedPreflightCost - 1);
  });

  test.each<readonly [string, TransactionError, ReadonlyArray<string>]>([
    ["of a program's own", ofInstruction(1, "Custom"), ["a log line"]],
    ["of too few units", ofInstruction(0, "ComputationalBudgetExceeded"), ["a log line"]],
    ["that the Compute Budget program has too", ofInstruction(1, "InvalidInstructionData"), []],
    ["that is of no instruction there is", ofInstruction(9, "InvalidInstructionData"), []],
    ["of an account's rent afterwards", plain("InsufficientFundsForRent"), ["a log line"]],
    ...[
      // The node may be behind, or the missing account may be created soon.
      "BlockhashNotFound",
      "AccountNotFound",
      "AddressLookupTableNotFound",
      "InvalidAddressLookupTableIndex",
      // This very transaction may have landed.
      "AlreadyProcessed",
      // The next block may differ.
      "AccountInUse",
      "WouldExceedMaxBlockCostLimit",
      "WouldExceedMaxAccountCostLimit",
      "ProgramExecutionTemporarilyRestricted",
      "ResanitizationNeeded",
      "AnErrorOfTomorrow",
    ].map((kind) => [kind, plain(kind), []] as const),
  ])("%s is skipped", async (_, error, logs) => {
    expect(await simulating(error, logs)).toEqual({ failure: undefined, sent: 1, charged: 0 });
  });

  test.each([
    new LedgerUnavailable({ retryable: true, cause: "no such method" }),
    new LedgerTimeout({ timeoutMs: 4000 }),
  ])("that no node returns is skipped: %p", async (fault) => {
    const answer = await relayed((script) => void (script.simulationFault = fault));
    expect(answer).toEqual({ failure: undefined, sent: 1, charged: 0 });
  });

  test("that does not arrive is awaited for the policy's time only", () =>
    relaying(function* (script) {
      script.simulationFault = "hangs";

      const waiting = yield* Effect.forkChild(relayTransaction(request));
      yield* TestClock.adjust(Duration.millis(RELAY_POLICY.simulationPatienceMs - 1));
      expect(waiting.pollUnsafe()).toBeUndefined();
      yield* TestClock.adjust(Duration.millis(1));
      expect(yield* Fiber.join(waiting)).toMatchObject({ status: "submitted" });
      expect(script.sent).toHaveLength(1);
    }));
});

describe("a fee payer, with or without preflight", () => {
  const account = (
    owner: typeof SYSTEM_PROGRAM,
    lamports: bigint,
    data: Uint8Array = new Uint8Array(),
  ) => ({
    address: payer.address,
    owner,
    lamports,
    executable: false,
    data,
  });
  const holding = (lamports: bigint, silent = false) =>
    relayed((script) => {
      const rent = {
        ...account(SYSTEM_PROGRAM, 1n, rentSysvarData(6960n, 1)),
        address: RENT_SYSVAR,
      };
      script.put(rent);
      script.put(account(SYSTEM_PROGRAM, lamports));
      if (silent)
        script.simulationFault = new LedgerUnavailable({
          retryable: true,
          cause: "no such method",
        });
    });

  test("that would be left with less than the rent minimum is refused without a simulation", async () => {
    for (const lamports of [890_880n, 895_879n]) {
      const { failure, sent } = await holding(lamports, true);
      expect(failure).toMatchObject({
        _tag: "FeePayerCannotPay",
        balanceLamports: lamports,
        feeLamports: 5000n,
        rentMinimumLamports: 890_880n,
      });
      expect(sent).toBe(0);
    }
  });

  test("that would be left with just enough, or with nothing, is accepted", async () => {
    for (const lamports of [895_880n, 5000n])
      expect(await holding(lamports)).toMatchObject({ failure: undefined, sent: 1 });
  });

  test("that another program owns is refused without a simulation", async () => {
    const { failure, sent } = await relayed((script) => {
      const owned = account(LOCAL_DEPLOYMENT.attestorProgram, 10n ** 9n);
      script.put(owned);
      script.simulationFault = new LedgerUnavailable({ retryable: true, cause: "no such method" });
    });
    expect(failure).toMatchObject({
      _tag: "TransactionRejected",
      error: plain("InvalidAccountForFee"),
    });
    expect(sent).toBe(0);
  });
});
