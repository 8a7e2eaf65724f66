import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { addressToBytes } from "../../../../core/domain/address.ts";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import { createEscrowInstruction } from "../../../../core/protocol/instructions/custody-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { rentSysvarData } from "../../../arbitraries/rent-sysvar-data.ts";
import {
  encodeMessage,
  encodeTransaction,
  type TransactionParts,
} from "../../../arbitraries/wire-transaction.ts";
import { PAYER } from "../support/parties.ts";
import { MERCHANT, STRANGER } from "../support/parties.ts";
import { makeRelayClient, signatureOf, transaction } from "./relay-client.ts";
import { checkedClient, jsonOf, makeService, problemOf } from "../support/service.ts";
import { accountOf, rentAccount, walletAccount } from "../../../doubles/accounts.ts";
let relayed: Awaited<ReturnType<typeof makeRelayClient>>;

beforeAll(async () => {
  relayed = await makeRelayClient();
});
beforeEach(() => relayed.reset());
afterAll(() => relayed.service.runtime.dispose());

const relay: (typeof relayed)["relay"] = (...request) => relayed.relay(...request);

const changed = (at: number): Uint8Array => {
  const bytes = transaction();
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
};

const signature = signatureOf(transaction());

describe("a transaction that is not sent", () => {
  test.each<[string, Uint8Array | string, string]>([
    ["no base64", "***", "422 transaction_malformed"],
    [
      "base64 without padding",
      encodeBase64(transaction()).slice(0, -1),
      "422 transaction_malformed",
    ],
    ["a byte behind the end", Uint8Array.from([...transaction(), 0]), "422 transaction_malformed"],
    ["too large", new Uint8Array(1233), "422 transaction_too_large"],
    ["unsigned", transaction().fill(0, 1, 65), "422 signature_missing"],
    ["signed, then changed", changed(150), "422 signature_invalid"],
    ["for another program", transaction(STRANGER), "422 program_not_allowed"],
  ])("%s", async (_, bytes, problem) => {
    expect(await problemOf(await relay(bytes))).toBe(problem);
    expect(relayed.service.ledger.submitted).not.toContain(
      typeof bytes === "string" ? bytes : encodeBase64(bytes),
    );
  });

  test("a problem carries the signature when there is one", async () => {
    expect(await jsonOf(await relay(transaction(STRANGER)))).toMatchObject({ program: STRANGER });
    relayed.service.ledger.isBlockhashValid = () => false;
    expect(await jsonOf(await relay(transaction()))).toMatchObject({
      code: "blockhash_expired",
      signature,
    });
  });

  test("an expired blockhash does not send the client to a signature that nothing will ever know", async () => {
    relayed.service.ledger.isBlockhashValid = () => false;
    const refused = await jsonOf(await relay(transaction(undefined, 77)));
    expect(refused).toMatchObject({
      code: "blockhash_expired",
      detail: expect.stringMatching(/This request sent nothing\.$/),
      cure: expect.stringMatching(
        /^If nobody else was given these bytes .* prepare and sign again\./,
      ),
    });
    relayed.service.ledger.isBlockhashValid = () => true;
    const { signature: unknown } = refused as { readonly signature: string };
    expect(await jsonOf(await relayed.send(`/v1/relay/${unknown}`))).toMatchObject({
      code: "transaction_not_found",
      safe_to_sign_again: false,
      cure: expect.stringMatching(
        /^If nobody else was given the bytes .* prepare and sign again\./,
      ),
    });
  });

  test("a failed simulation is reported with its logs and the program's own error", async () => {
    relayed.service.ledger.simulationError = {
      kind: "InstructionError",
      instructionIndex: 0,
      instructionError: "Custom",
      customCode: 6025,
    };
    const response = await relay(transaction());
    expect(response.status).toBe(422);
    expect(await jsonOf(response)).toMatchObject({
      code: "transaction_rejected",
      signature,
      error: { kind: "InstructionError", custom_code: 6025 },
      program_error: { code: 6025, program: "custody", name: "Expired" },
      program: LOCAL_DEPLOYMENT.attestorProgram,
      logs: ["Program log: double"],
    });
    expect(relayed.service.ledger.submitted).not.toContain(encodeBase64(transaction()));
  });

  test("a rule that does not hold is named, and nothing is sent", async () => {
    const bytes = transaction(LOCAL_DEPLOYMENT.custodyProgram);
    const response = await relay(bytes, { skip_preflight: true });
    expect(response.status).toBe(422);
    expect(await jsonOf(response)).toMatchObject({
      code: "settlement_check_failed",
      rule: "unknown_instruction",
      instruction_index: 0,
      signature: encodeBase58(bytes.subarray(1, 65)),
    });
    expect(relayed.service.ledger.submitted).not.toContain(encodeBase64(bytes));
  });

  test("a payer that cannot pay is a problem that names the missing amount", async () => {
    relayed.service.ledger.vanish(PAYER);
    expect(await problemOf(await relay(transaction()))).toBe("422 fee_payer_cannot_pay");
  });

  test("a payer that would fall below the rent minimum is a problem that names the minimum", async () => {
    relayed.service.ledger.put(accountOf(RENT_SYSVAR, SYSTEM_PROGRAM, rentSysvarData(6960n, 1)));
    relayed.service.ledger.put(walletAccount(PAYER, 890_880n));
    const response = await relay(transaction(), { skip_preflight: true });
    expect(await jsonOf(response)).toMatchObject({
      code: "fee_payer_cannot_pay",
      detail:
        "The fee payer holds 890880 lamports; the fee is 5000, and what is left must be at least 890880, the rent minimum.",
    });
    relayed.service.ledger.put(rentAccount);
  });

  test("without preflight, a transaction that can never run is still refused, and one that a program refuses is sent", async () => {
    const failure = { instructionIndex: null, instructionError: null, customCode: null };
    const kind = "MaxLoadedAccountsDataSizeExceeded";
    relayed.service.ledger.simulationError = { kind, ...failure };
    const bytes = transaction(undefined, 20);
    const response = await relay(bytes, { skip_preflight: true });
    expect(response.status).toBe(422);
    expect(await jsonOf(response)).toMatchObject({ code: "transaction_rejected", error: { kind } });
    expect(relayed.service.ledger.submitted).toEqual([]);
    relayed.service.ledger.simulationError = {
      kind: "InstructionError",
      instructionIndex: 0,
      instructionError: "Custom",
      customCode: 6025,
    };
    expect((await relay(bytes, { skip_preflight: true })).status).toBe(202);
  });

  test("a Compute Budget instruction that no ledger accepts is named", async () => {
    const bytes = transaction(COMPUTE_BUDGET_PROGRAM);
    expect(await problemOf(await relay(bytes))).toBe("422 program_not_allowed");
    const parts: TransactionParts = {
      version: "legacy",
      signatures: [],
      header: [1, 0, 2],
      accounts: [PAYER, LOCAL_DEPLOYMENT.attestorProgram, COMPUTE_BUDGET_PROGRAM].map(
        addressToBytes,
      ),
      blockhash: new Uint8Array(32),
      instructions: [
        { program: 1, accounts: [], data: Uint8Array.of(1) },
        { program: 2, accounts: [], data: Uint8Array.of(4, 0, 0, 0, 0) },
      ],
      tables: [],
    };
    const signed = ed25519Key(new Uint8Array(32).fill(9)).sign(encodeMessage(parts));
    const response = await relay(encodeTransaction({ ...parts, signatures: [signed] }));
    expect(response.status).toBe(422);
    expect(await jsonOf(response)).toMatchObject({
      code: "compute_budget_invalid",
      detail: "The instruction limits loaded account data to 0 bytes.",
      instruction_index: 1,
    });
  });

  test("an escrow beyond the beta's limits is refused with the index of the instruction that creates it", async () => {
    const accounts = [PAYER, LOCAL_DEPLOYMENT.custodyProgram, COMPUTE_BUDGET_PROGRAM, STRANGER];
    const terms = { amount: 100_000_001n, ttlSeconds: 86_401, mint: STRANGER };
    const { data } = createEscrowInstruction(LOCAL_DEPLOYMENT, {
      ...terms,
      payer: PAYER,
      agentOwner: PAYER,
      merchant: MERCHANT,
      taskHash: taskHash("beyond the beta"),
    });
    const parts: TransactionParts = {
      version: "legacy",
      signatures: [],
      header: [1, 0, 3],
      accounts: accounts.map(addressToBytes),
      blockhash: new Uint8Array(32),
      instructions: [
        { program: 2, accounts: [], data: Uint8Array.of(2, 64, 13, 3, 0) },
        { program: 1, accounts: [0, 0, 0, 0, 3], data },
      ],
      tables: [],
    };
    const signed = ed25519Key(new Uint8Array(32).fill(9)).sign(encodeMessage(parts));
    const strict = await makeService({ enforceBetaLimits: true });
    const { postJson } = await checkedClient(strict);
    const response = await postJson("/v1/relay", {
      signed_transaction: encodeBase64(encodeTransaction({ ...parts, signatures: [signed] })),
    });
    expect(response.status).toBe(422);
    expect(await jsonOf(response)).toMatchObject({
      code: "beta_limit_exceeded",
      instruction_index: 1,
      errors: [
        "instruction 1: the beta takes at most 100.000000 USDC an escrow",
        "instruction 1: the beta takes at most 86400 seconds",
        "instruction 1: the beta takes the supported asset only",
      ].map((detail) => ({ pointer: "/signed_transaction", detail })),
    });
    expect(strict.ledger.submitted).toEqual([]);
    await strict.runtime.dispose();
  });

  test("a ledger that does not answer is not the caller's mistake", async () => {
    relayed.service.ledger.fault = new LedgerUnavailable({ retryable: true, cause: "down" });
    expect(await problemOf(await relay(transaction()))).toBe("502 ledger_unavailable");
  });

  test.each<[Record<string, unknown>, string]>([
    [{ encoding: "base58" }, "/encoding"],
    [{ confirm: "true" }, "/confirm"],
    [{ skip_preflight: 1 }, "/skip_preflight"],
    [{ private_key: "x" }, "/private_key"],
  ])("a body with %j is refused", async (more, pointer) => {
    const response = await relay(transaction(), more);
    expect(await jsonOf(response)).toMatchObject({
      code: "validation_failed",
      errors: [{ pointer }],
    });
  });
});
