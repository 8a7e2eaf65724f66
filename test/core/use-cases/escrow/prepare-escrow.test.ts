import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import fc from "fast-check";
import { MAX_U64 } from "../../../../core/domain/amount.ts";
import type { Hash32 } from "../../../../core/domain/hash32.ts";
import {
  associatedTokenAddress,
  escrowAddress,
  merchantAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import { createEscrowInstruction } from "../../../../core/protocol/instructions/custody-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  prepareEscrow,
  type PrepareEscrowRequest,
} from "../../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { Instance } from "../../../../ports/instance.ts";
import { anyPrepareRequest } from "../../../arbitraries/prepare-request.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { SUPPORTED_MINT, testInstance } from "../test-instance.ts";

const prepare = (request: PrepareEscrowRequest, enforceBetaLimits = false) =>
  Effect.runSync(
    Effect.result(prepareEscrow(request)).pipe(
      Effect.provideService(Instance, testInstance(enforceBetaLimits)),
    ),
  );

const prepared = (request: PrepareEscrowRequest, enforceBetaLimits = false) => {
  const result = prepare(request, enforceBetaLimits);
  if (result._tag === "Failure") throw new Error(`refused: ${JSON.stringify(result.failure)}`);
  return result.success;
};

/** The error's tag and the fields it names. */
const refusal = (
  request: PrepareEscrowRequest,
  enforceBetaLimits = false,
): ReadonlyArray<string> => {
  const result = prepare(request, enforceBetaLimits);
  if (result._tag === "Success") return [];
  const { failure } = result;
  return [failure._tag, ...("faults" in failure ? failure.faults.map((f) => f.field) : [])];
};

const request: PrepareEscrowRequest = {
  agentOwner: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
  merchant: "7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy",
  mint: SUPPORTED_MINT,
  amount: "2500000",
  ttlSeconds: 3600,
  taskIntent: "GET https://api.example.com/v1/quotes?symbol=SOL",
  nonce: "order-2026-0001",
};

describe("prepare escrow", () => {
  test("addresses, hash and instruction follow from the request", () => {
    fc.assert(
      fc.property(anyPrepareRequest, (request) => {
        const { taskHash, taskIntent = "", nonce } = request;
        const isDerived = taskHash === undefined;
        const preimage = nonce === undefined ? taskIntent : `${taskIntent}\0${nonce}`;
        const derived = createHash("sha256").update(preimage, "utf8").digest("hex") as Hash32;
        const hash = taskHash ?? derived;
        const { agentOwner, merchant, mint, ttlSeconds } = request;
        const escrow = escrowAddress(LOCAL_DEPLOYMENT, agentOwner, hash);
        const merchantAccount = merchantAddress(LOCAL_DEPLOYMENT, merchant);
        const amount = BigInt(request.amount);
        const terms = { agentOwner, merchant, mint, amount, ttlSeconds, taskHash: hash };
        expect(prepared(request)).toEqual({
          ...terms,
          escrow: escrow.address,
          vaultTokenAccount: associatedTokenAddress(escrow.address, mint),
          agentTokenAccount: associatedTokenAddress(agentOwner, mint),
          merchantAccount: merchantAccount.address,
          bumps: { escrow: escrow.bump, merchant: merchantAccount.bump },
          taskHashDerived: isDerived,
          taskIntent: request.taskIntent ?? null,
          taskIntentMatches: isDerived || taskIntent === "" ? null : false,
          nonce: nonce ?? null,
          nonceApplied: isDerived && nonce !== undefined,
          attestor: null,
          payer: null,
          expiresAt: null,
          sessionKey: null,
          instruction: createEscrowInstruction(LOCAL_DEPLOYMENT, { ...terms, payer: agentOwner }),
        });
        expect(prepared(request)).toEqual(prepared({ ...request }));
      }),
      runs(60),
    );
  });

  test("a task hash is accepted in either case, and alone", () => {
    const { nonce, taskIntent, ...bare } = request;
    const taskHash = "ABCDEF0123456789".repeat(4);
    const given = prepared({ ...bare, nonce, taskHash });
    expect(given.taskHash as string).toBe(taskHash.toLowerCase());
    expect(given).toMatchObject({ taskHashDerived: false, nonceApplied: false });
    expect(prepared({ ...bare, taskHash }).escrow).toBe(given.escrow);
    expect(prepared({ ...bare, taskIntent }).nonceApplied).toBe(false);
    expect(prepared({ ...request }).escrow).not.toBe(prepared({ ...bare, taskIntent }).escrow);
    expect(nonce).toBeDefined();
  });

  test("a task hash beside the intent stands, whether or not it is that of intent and nonce", () => {
    const derived = prepared(request);
    const taskHash = derived.taskHash.toUpperCase();
    const isSupplied = { taskHashDerived: false };
    expect(derived.taskIntentMatches).toBeNull();
    expect(prepared({ ...request, taskHash })).toEqual({
      ...derived,
      ...isSupplied,
      taskIntentMatches: true,
    });
    const isOther = { ...isSupplied, taskIntentMatches: false, nonceApplied: false };
    expect(prepared({ ...request, nonce: undefined, taskHash })).toEqual({
      ...derived,
      ...isOther,
      nonce: null,
    });
    const other = prepared({ ...request, taskIntent: undefined, taskHash: "ab".repeat(32) });
    expect(other.taskIntentMatches).toBeNull();
    expect(prepared({ ...request, taskHash: "ab".repeat(32) })).toEqual({
      ...other,
      ...isOther,
      taskIntent: derived.taskIntent,
    });
  });

  const bad: ReadonlyArray<
    readonly [string, Partial<PrepareEscrowRequest>, ReadonlyArray<string>]
  > = [
    ["an amount of zero", { amount: "0" }, ["ValidationFailed", "amount"]],
    ["an amount beyond u64", { amount: String(MAX_U64 + 1n) }, ["ValidationFailed", "amount"]],
    ["no time to live", { ttlSeconds: 0 }, ["ValidationFailed", "ttlSeconds"]],
    ["too long a time to live", { ttlSeconds: 604_801 }, ["ValidationFailed", "ttlSeconds"]],
    ["a broken second", { ttlSeconds: 1.5 }, ["ValidationFailed", "ttlSeconds"]],
    ["a time that is no number", { ttlSeconds: Number.NaN }, ["ValidationFailed", "ttlSeconds"]],
    ["a short task hash", { taskHash: "ab" }, ["ValidationFailed", "taskHash"]],
    ["an empty intent", { taskIntent: "" }, ["ValidationFailed", "taskIntent"]],
    ["a long intent", { taskIntent: "x".repeat(4097) }, ["ValidationFailed", "taskIntent"]],
    ["U+0000 in the intent", { taskIntent: "a\0b" }, ["ValidationFailed", "taskIntent"]],
    ["a lone surrogate", { taskIntent: "\ud83c" }, ["ValidationFailed", "taskIntent"]],
    ["a long nonce", { nonce: "x".repeat(129) }, ["ValidationFailed", "nonce"]],
    ["a bad agent", { agentOwner: "me" }, ["InvalidAddress", "agentOwner"]],
    ["a bad merchant", { merchant: `1${request.merchant}` }, ["InvalidAddress", "merchant"]],
    ["a bad mint", { mint: "" }, ["InvalidAddress", "mint"]],
    [
      "a bad address beside a bad value",
      { mint: "", amount: "-1" },
      ["ValidationFailed", "mint", "amount"],
    ],
    [
      "addresses that nobody signs for beside bad ones and a bad value",
      { agentOwner: "1".repeat(32), mint: "", payer: "1".repeat(32), amount: "-1" },
      ["ValidationFailed", "mint", "amount", "agentOwner", "payer"],
    ],
    ["neither hash nor intent", { taskIntent: undefined }, ["TaskRequired"]],
    ["no intent, bad nonce", { taskIntent: undefined, nonce: "" }, ["ValidationFailed", "nonce"]],
    [
      "a good hash beside a bad nonce",
      { taskHash: "0".repeat(64), nonce: "" },
      ["ValidationFailed", "nonce"],
    ],
  ];

  test.each(bad)("%s is refused, and the field is named", (_, change, expected) => {
    expect(refusal({ ...request, ...change })).toEqual([...expected]);
  });

  test("the ends of each range are inside it", () => {
    const ends: ReadonlyArray<Partial<PrepareEscrowRequest>> = [
      { ttlSeconds: 1 },
      { ttlSeconds: 604_800 },
      { amount: "1" },
      { amount: String(MAX_U64) },
      { taskIntent: "x".repeat(4096), nonce: "x".repeat(128) },
    ];
    for (const end of ends) expect(refusal({ ...request, ...end })).toEqual([]);
  });

  test("a refusal repeats nothing of the request", () => {
    const secret = "5JuE1Wc8hEwGqU9YgVbWcP4sBv2qf3";
    const exit = Effect.runSyncExit(
      prepareEscrow({
        ...request,
        merchant: secret,
        amount: secret,
        taskHash: secret,
        nonce: `${secret}\0`,
      }).pipe(Effect.provideService(Instance, testInstance())),
    );
    expect(Exit.isFailure(exit)).toBe(true);
    expect(JSON.stringify(exit)).not.toContain(secret);
  });

  test("the beta's limits are checked when they are enforced, each under its name", () => {
    const limits = { ...request, amount: "100000001", ttlSeconds: 86_401, mint: request.merchant };
    expect(refusal(limits)).toEqual([]);
    const named = ["BetaLimitExceeded", "amount", "ttlSeconds", "mint"];
    expect(refusal(limits, true)).toEqual(named);
    expect(refusal({ ...request, amount: "100000000", ttlSeconds: 86_400 }, true)).toEqual([]);
    const one = refusal({ ...request, mint: request.merchant }, true);
    expect(one).toEqual(["BetaLimitExceeded", "mint"]);
  });

  test("the beta takes USDC, and not another mint that the instance lists", () => {
    const supportedMints = [{ address: SUPPORTED_MINT, decimals: 9, symbol: "SOME" }];
    const result = Effect.runSync(
      Effect.result(prepareEscrow(request)).pipe(
        Effect.provideService(Instance, { ...testInstance(true), supportedMints }),
      ),
    );
    expect(result).toMatchObject({ _tag: "Failure", failure: { faults: [{ field: "mint" }] } });
  });
});
