import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { parseLedgerSignature } from "../../../../core/domain/ledger/signature.ts";
import { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { makeRelayClient, signatureOf, transaction } from "./relay-client.ts";
import { checkedClient, dataOf, jsonOf, makeService } from "../support/service.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
let relayed: Awaited<ReturnType<typeof makeRelayClient>>;

beforeAll(async () => {
  relayed = await makeRelayClient();
});
beforeEach(() => relayed.reset());
afterAll(() => relayed.service.runtime.dispose());

const relay: (typeof relayed)["relay"] = (...request) => relayed.relay(...request);

const signature = signatureOf(transaction());

describe("a transaction that is sent", () => {
  test("is a 202 with its signature, and its bytes are sent unchanged", async () => {
    const response = await relay(transaction(), { encoding: "base64" });
    expect(response.status).toBe(202);
    expect(await dataOf(response)).toMatchObject({
      signature,
      status: "submitted",
      slot: null,
      explorer_url: `https://explorer.solana.com/tx/${signature}?cluster=custom&customUrl=http%3A%2F%2F127.0.0.1%3A8899`,
    });
    expect(relayed.service.ledger.submitted).toContain(encodeBase64(transaction()));
  });

  test("is confirmed when the caller asks for that and the confirmation comes in time", async () => {
    relayed.service.ledger.fate = { slot: 1001n, commitment: "confirmed", error: null };
    const first = transaction(undefined, 4);
    expect(await dataOf(await relay(first, { confirm: true }))).toMatchObject({
      status: "confirmed",
      slot: 1001,
    });
    relayed.service.ledger.fate = null;
    const second = transaction(undefined, 5);
    expect(await dataOf(await relay(second, { confirm: true }))).toMatchObject({
      status: "submitted",
    });
  });

  test("a hundred times concurrently is sent once and gets a hundred equal answers", async () => {
    const bytes = transaction(undefined, 6);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => JSON.stringify(await dataOf(await relay(bytes)))),
    );
    expect(new Set(answers).size).toBe(1);
    const sendings = relayed.service.ledger.submitted.filter(
      (sent) => sent === encodeBase64(bytes),
    );
    expect(sendings).toHaveLength(1);
  });

  test("that failed on the ledger is a problem that says whether signing again is safe", async () => {
    const error = {
      kind: "InstructionError",
      instructionIndex: 0,
      instructionError: "Custom",
      customCode: 6024,
    };
    const bytes = transaction(undefined, 7);
    await relay(bytes);
    relayed.service.ledger.fate = { slot: 1001n, commitment: "confirmed", error };
    expect(await jsonOf(await relay(bytes))).toMatchObject({
      code: "transaction_rejected",
      detail: "Instruction 0 fails with NotPending: The escrow is settled already.",
      safe_to_sign_again: false,
    });
    relayed.service.ledger.fate = { slot: 1001n, commitment: "finalized", error };
    // A status alone does not prove it.
    expect(await jsonOf(await relay(bytes))).toMatchObject({ safe_to_sign_again: false });
    const name = parseLedgerSignature(signatureOf(bytes));
    if (name === undefined) throw new Error("not a signature");
    await relayed.service.runtime.runPromise(
      OutcomeLog.use((log) => log.resolve(name, { status: "landed", slot: 1001n, error })),
    );
    expect(await jsonOf(await relay(bytes))).toMatchObject({
      commitment: "finalized",
      safe_to_sign_again: true,
    });
  });
});

describe("shares of the queue", () => {
  test("a client with a full share is refused with a time to retry, and other clients are served", async () => {
    const own = await makeService();
    const { postJson } = await checkedClient(own);
    const keys = Array.from({ length: 4 }, (_, i) => ed25519Key(new Uint8Array(32).fill(100 + i)));
    for (const { publicKey } of keys)
      own.ledger.put(walletAccount(addressFromBytes(publicKey), 1_000_000n));
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
      detail: "This client address already has its full share of the queue, at present 171.",
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

test("the policy states what the relay enforces", async () => {
  expect(await dataOf(await relayed.send("/v1/relay"))).toMatchObject({
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
