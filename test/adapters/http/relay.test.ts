import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import { addressToBytes } from "../../../core/domain/address.ts";
import { encodeBase58 } from "../../../core/domain/base58.ts";
import { encodeBase64 } from "../../../core/domain/base64.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/local-deployment.ts";
import { LedgerUnavailable } from "../../../ports/ledger.ts";
import { STRANGER } from "./support/parties.ts";
import { checkedClient, dataOf, jsonOf, makeService, problemOf } from "./support/service.ts";

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;

beforeAll(async () => {
  service = await makeService();
  client = await checkedClient(service);
});
beforeEach(() => service.ledger.reset());
afterAll(() => service.runtime.dispose());

const secret = new Uint8Array(32).fill(9);
const payer = ed25519.getPublicKey(secret);

/** A legacy transaction of one instruction without accounts, signed by its payer alone. */
const transaction = (program = LOCAL_DEPLOYMENT.custodyProgram): Uint8Array => {
  const header = [1, 0, 1, 2];
  const call = [1, 1, 0, 1, 255];
  const message = Uint8Array.from([
    ...header,
    ...payer,
    ...addressToBytes(program),
    ...new Uint8Array(32).fill(3),
    ...call,
  ]);
  return Uint8Array.from([1, ...ed25519.sign(message, secret), ...message]);
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
    expect(service.ledger.submitted).toEqual([]);
  });

  test("a problem carries the signature where there is one", async () => {
    expect(await jsonOf(await relay(transaction(STRANGER)))).toMatchObject({ program: STRANGER });
    service.ledger.blockhashValid = false;
    expect(await jsonOf(await relay(transaction()))).toMatchObject({
      code: "blockhash_expired",
      signature,
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
      program: LOCAL_DEPLOYMENT.custodyProgram,
      logs: ["Program log: double"],
    });
    expect(service.ledger.submitted).toEqual([]);
  });

  test("a payer who cannot pay is told what is missing", async () => {
    service.ledger.accounts.clear();
    expect(await problemOf(await relay(transaction()))).toBe("422 fee_payer_cannot_pay");
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
    expect(service.ledger.submitted).toEqual([encodeBase64(transaction())]);
  });

  test("is confirmed where that is asked for and comes in time", async () => {
    service.ledger.landed = { slot: 1001n, commitment: "confirmed", error: null };
    expect(await dataOf(await relay(transaction(), { confirm: true }))).toMatchObject({
      status: "confirmed",
      slot: 1001,
    });
    service.ledger.landed = null;
    expect(await dataOf(await relay(transaction(), { confirm: true }))).toMatchObject({
      status: "submitted",
    });
  });
});

test("the policy states what the relay enforces", async () => {
  expect(await dataOf(await client.send("/v1/relay"))).toMatchObject({
    encodings: ["base64"],
    max_transaction_bytes: 1232,
    required_programs: [LOCAL_DEPLOYMENT.custodyProgram, LOCAL_DEPLOYMENT.attestorProgram],
    durable_nonces: false,
    private_keys: "never accepted",
  });
});
