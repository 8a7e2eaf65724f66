import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { addressFromBytes, addressToBytes } from "../../../../core/domain/address.ts";
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
import { LedgerUnavailable } from "../../../../ports/ledger.ts";
import { rentSysvarData } from "../../../arbitraries/rent-sysvar-data.ts";
import {
  encodeMessage,
  encodeTransaction,
  type TransactionParts,
} from "../../../arbitraries/wire-transaction.ts";
import { PAYER } from "../support/ledger-double.ts";
import { MERCHANT, STRANGER } from "../support/parties.ts";
import { checkedClient, dataOf, jsonOf, makeService, problemOf } from "../support/service.ts";

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;

beforeAll(async () => {
  service = await makeService();
  client = await checkedClient(service);
});
beforeEach(() => service.ledger.reset());
afterAll(() => service.runtime.dispose());

/** A legacy transaction of one instruction without accounts, signed by its payer alone; `n` tells them apart. */
const transaction = (
  program = LOCAL_DEPLOYMENT.attestorProgram,
  n = 3,
  key = ed25519Key(new Uint8Array(32).fill(9)),
): Uint8Array => {
  const header = [1, 0, 1, 2];
  const call = [1, 1, 0, 1, 255];
  const message = Uint8Array.from([
    ...header,
    ...key.publicKey,
    ...addressToBytes(program),
    ...new Uint8Array(32).fill(n),
    ...call,
  ]);
  return Uint8Array.from([1, ...key.sign(message), ...message]);
};
const changed = (at: number): Uint8Array => {
  const bytes = transaction();
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
};
const relay = (bytes: Uint8Array | string, more: Record<string, unknown> = {}) =>
  client.postJson("/v1/relay", {
    signed_transaction: typeof bytes === "string" ? bytes : encodeBase64(bytes),
    ...more,
  });
const signature = encodeBase58(transaction().subarray(1, 65));

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
    expect(service.ledger.submitted).not.toContain(
      typeof bytes === "string" ? bytes : encodeBase64(bytes),
    );
  });

  test("a problem carries the signature where there is one", async () => {
    expect(await jsonOf(await relay(transaction(STRANGER)))).toMatchObject({ program: STRANGER });
    service.ledger.blockhashValid = false;
    expect(await jsonOf(await relay(transaction()))).toMatchObject({
      code: "blockhash_expired",
      signature,
      detail: expect.stringContaining(
        `GET /v1/relay/${signature} tells whether signing again is safe.`,
      ),
    });
  });

  test("a simulation that fails is told with its logs and the program's own words", async () => {
    service.ledger.simulationError = {
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
    expect(service.ledger.submitted).not.toContain(encodeBase64(transaction()));
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
    expect(service.ledger.submitted).not.toContain(encodeBase64(bytes));
  });

  test("a payer who cannot pay is told what is missing", async () => {
    service.ledger.accounts.clear();
    expect(await problemOf(await relay(transaction()))).toBe("422 fee_payer_cannot_pay");
  });

  test("a payer whom the fee would leave too little rent is told how much there must be", async () => {
    service.ledger.put({
      address: RENT_SYSVAR,
      owner: SYSTEM_PROGRAM,
      data: rentSysvarData(6960n, 1),
    });
    service.ledger.accounts.set(PAYER, {
      address: PAYER,
      owner: SYSTEM_PROGRAM,
      lamports: 890_880n,
      executable: false,
      data: new Uint8Array(),
    });
    const response = await relay(transaction(), { skip_preflight: true });
    expect(await jsonOf(response)).toMatchObject({
      code: "fee_payer_cannot_pay",
      detail:
        "The fee payer holds 890880 lamports; the fee is 5000, and what is left must be at least 890880, the rent minimum.",
    });
    service.ledger.accounts.delete(RENT_SYSVAR);
  });

  test("what can never run is refused without preflight too, and what a program finds is not", async () => {
    const failure = { instructionIndex: null, instructionError: null, customCode: null };
    const kind = "MaxLoadedAccountsDataSizeExceeded";
    service.ledger.simulationError = { kind, ...failure };
    const bytes = transaction(undefined, 20);
    const response = await relay(bytes, { skip_preflight: true });
    expect(response.status).toBe(422);
    expect(await jsonOf(response)).toMatchObject({ code: "transaction_rejected", error: { kind } });
    expect(service.ledger.submitted).toEqual([]);
    service.ledger.simulationError = {
      kind: "InstructionError",
      instructionIndex: 0,
      instructionError: "Custom",
      customCode: 6025,
    };
    expect((await relay(bytes, { skip_preflight: true })).status).toBe(202);
  });

  test("a Compute Budget instruction that no ledger takes is named", async () => {
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

  test("an escrow beyond the beta's limits is found by the instruction that creates it", async () => {
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
    strict.ledger.reset();
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
    service.ledger.fault = new LedgerUnavailable({ retryable: true, cause: "down" });
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

describe("a transaction that is sent", () => {
  test("is a 202 with its signature, and is sent as it came", async () => {
    const response = await relay(transaction(), { encoding: "base64" });
    expect(response.status).toBe(202);
    expect(await dataOf(response)).toMatchObject({
      signature,
      status: "submitted",
      slot: null,
      explorer_url: `https://explorer.solana.com/tx/${signature}?cluster=custom&customUrl=http%3A%2F%2F127.0.0.1%3A8899`,
    });
    expect(service.ledger.submitted).toContain(encodeBase64(transaction()));
  });

  test("is confirmed where that is asked for and comes in time", async () => {
    service.ledger.landed = { slot: 1001n, commitment: "confirmed", error: null };
    const first = transaction(undefined, 4);
    expect(await dataOf(await relay(first, { confirm: true }))).toMatchObject({
      status: "confirmed",
      slot: 1001,
    });
    service.ledger.landed = null;
    const second = transaction(undefined, 5);
    expect(await dataOf(await relay(second, { confirm: true }))).toMatchObject({
      status: "submitted",
    });
  });

  test("a hundred times at once is sent once, and a hundred equal answers", async () => {
    const bytes = transaction(undefined, 6);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => JSON.stringify(await dataOf(await relay(bytes)))),
    );
    expect(new Set(answers).size).toBe(1);
    const sendings = service.ledger.submitted.filter((sent) => sent === encodeBase64(bytes));
    expect(sendings).toHaveLength(1);
  });

  test("that failed on the ledger is a problem which says whether to sign again", async () => {
    const error = {
      kind: "InstructionError",
      instructionIndex: 0,
      instructionError: "Custom",
      customCode: 6024,
    };
    const bytes = transaction(undefined, 7);
    await relay(bytes);
    service.ledger.landed = { slot: 1001n, commitment: "confirmed", error };
    expect(await jsonOf(await relay(bytes))).toMatchObject({
      code: "transaction_rejected",
      detail: "Instruction 0 fails with NotPending: The escrow is settled already.",
      safe_to_sign_again: false,
    });
    service.ledger.landed = { slot: 1001n, commitment: "finalized", error };
    expect(await jsonOf(await relay(bytes))).toMatchObject({ safe_to_sign_again: true });
  });
});

describe("shares of the queue", () => {
  test("a client that has its share is told so, when to come back, and that others may", async () => {
    const own = await makeService();
    const { postJson } = await checkedClient(own);
    const keys = Array.from({ length: 4 }, (_, i) => ed25519Key(new Uint8Array(32).fill(100 + i)));
    for (const { publicKey } of keys)
      own.ledger.put({
        address: addressFromBytes(publicKey),
        owner: SYSTEM_PROGRAM,
        data: new Uint8Array(),
      });
    // The double gives one lamport to whom it is told of: the fee is not what this is about.
    for (const [address, account] of own.ledger.accounts)
      own.ledger.accounts.set(address, { ...account, lamports: 1_000_000n });
    const body = (n: number) => ({
      signed_transaction: encodeBase64(transaction(undefined, n, keys[n % 4])),
    });
    let n = 0;
    let response = await postJson("/v1/relay", body(n));
    while (response.status === 202) response = await postJson("/v1/relay", body(++n));
    expect([n, response.status]).toEqual([171, 429]);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await jsonOf(response)).toMatchObject({
      code: "relay_share_full",
      detail: "This client address has its share of the queue already, at present 171.",
      holder: "client",
      share: 171,
    });
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body(n)),
    };
    const request = new Request("http://localhost/v1/relay", init);
    const other = { address: "192.0.2.9", allowSeconds: () => undefined };
    expect((await own.app.handle(request, other)).status).toBe(202);
    await own.runtime.dispose();
  });
});

describe("Idempotency-Key", () => {
  const keyed = (bytes: Uint8Array, key: string, more: Record<string, unknown> = {}) =>
    client.postJson(
      "/v1/relay",
      { signed_transaction: encodeBase64(bytes), ...more },
      { "idempotency-key": key },
    );

  test("the same body again gets the first answer, though more is known by then", async () => {
    const bytes = transaction(undefined, 8);
    const first = await dataOf(await keyed(bytes, "order-8"));
    service.ledger.landed = { slot: 1002n, commitment: "finalized", error: null };
    const again = await keyed(bytes, "order-8");
    expect(again.status).toBe(202);
    expect(await dataOf(again)).toEqual(first);
    expect(await dataOf(await relay(bytes))).toMatchObject({ status: "finalized" });
  });

  test("another body is a 422", async () => {
    await keyed(transaction(undefined, 9), "order-9");
    const other = await keyed(transaction(undefined, 10), "order-9");
    expect(await problemOf(other)).toBe("422 idempotency_key_reused");
    const flag = await keyed(transaction(undefined, 9), "order-9", { confirm: true });
    expect(await problemOf(flag)).toBe("422 idempotency_key_reused");
  });

  test("a repetition while the first runs is a 409", async () => {
    const bytes = transaction(undefined, 11);
    const answers = await Promise.all([keyed(bytes, "order-11"), keyed(bytes, "order-11")]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([202, 409]);
  });

  test("a refused request gives its key free", async () => {
    service.ledger.blockhashValid = false;
    const bytes = transaction(undefined, 12);
    expect(await problemOf(await keyed(bytes, "order-12"))).toBe("422 blockhash_expired");
    service.ledger.blockhashValid = true;
    expect((await keyed(bytes, "order-12")).status).toBe(202);
  });

  test.each(["a b", "\u00e4", "x".repeat(256)])("%j is no key", async (key) => {
    const response = await keyed(transaction(undefined, 13), key);
    expect(await jsonOf(response)).toMatchObject({ errors: [{ pointer: "Idempotency-Key" }] });
  });
});

describe("the outcome of a signature", () => {
  const outcome = (bytes: Uint8Array) =>
    client.send(`/v1/relay/${encodeBase58(bytes.subarray(1, 65))}`);

  test("nobody knows it: a 404 that does not invite to sign again", async () => {
    const response = await outcome(transaction(undefined, 14));
    expect(response.status).toBe(404);
    expect(await jsonOf(response)).toMatchObject({
      code: "transaction_not_found",
      safe_to_sign_again: false,
    });
  });

  test("it is pending once relayed, and landed once it is in a block", async () => {
    const bytes = transaction(undefined, 15);
    await relay(bytes);
    expect(await dataOf(await outcome(bytes))).toMatchObject({
      status: "pending",
      slot: null,
      last_valid_block_height: 1150,
      safe_to_sign_again: false,
    });
    service.ledger.landed = { slot: 1003n, commitment: "finalized", error: null };
    expect(await dataOf(await outcome(bytes))).toMatchObject({
      status: "landed",
      commitment: "finalized",
      slot: 1003,
      safe_to_sign_again: false,
    });
  });

  test("a text that is no signature is named", async () => {
    const response = await client.send("/v1/relay/abc");
    expect(await jsonOf(response)).toMatchObject({ errors: [{ pointer: "/signature" }] });
  });
});

test("the policy states what the relay enforces", async () => {
  expect(await dataOf(await client.send("/v1/relay"))).toMatchObject({
    encodings: ["base64"],
    max_transaction_bytes: 1232,
    required_programs: [LOCAL_DEPLOYMENT.custodyProgram, LOCAL_DEPLOYMENT.attestorProgram],
    durable_nonces: false,
    preflight: "unless_skipped",
    never_skipped: expect.arrayContaining(["DuplicateInstruction", "InvalidAccountForFee"]),
    queue: { capacity: 1000, share_of_client: 250, share_of_fee_payer: 50 },
    rate_limit: { failed_preflight_cost: 5, expired_cost: 5, max_owed_windows: 5 },
    private_keys: "never accepted",
  });
});
