import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { Address } from "../../../../core/domain/address.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import type { EscrowRecord } from "../../../../adapters/http/escrow/escrow-contract.ts";
import {
  associatedTokenAddress,
  escrowAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import { fieldWriter } from "../../../../core/protocol/accounts/byte-fields.ts";
import { createEscrowInstruction } from "../../../../core/protocol/instructions/custody-instructions.ts";
import { custodyConfigAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import {
  AGENT,
  CREATED_AT,
  escrow,
  EXPIRES_AT,
  MERCHANT,
  merchant,
  MINT,
  prepareBody,
  STRANGER,
} from "../support/parties.ts";
import {
  checkedClient,
  dataOf,
  errorsOf,
  jsonOf,
  makeService,
  problemOf,
} from "../support/service.ts";
import { accountOf } from "../../../doubles/accounts.ts";

const PREPARE = "/v1/escrows/prepare";

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;

beforeAll(async () => {
  service = await makeService();
  client = await checkedClient(service);
  service.seed({ merchants: [merchant()] });
});
afterAll(() => service.runtime.dispose());

describe("prepare", () => {
  test("gives every address, every input and the instruction", async () => {
    const response = await client.postJson(PREPARE, prepareBody());
    expect(response.status).toBe(200);
    const hash = taskHash("GET https://api.example.com/v1/quotes", "1");
    const pda = escrowAddress(LOCAL_DEPLOYMENT, AGENT, hash);
    const instruction = createEscrowInstruction(LOCAL_DEPLOYMENT, {
      payer: AGENT,
      agentOwner: AGENT,
      merchant: MERCHANT,
      mint: MINT,
      taskHash: hash,
      amount: 1_500_000n,
      ttlSeconds: 3600,
    });
    expect(await dataOf(response)).toMatchObject({
      escrow_pda: pda.address,
      merchant_pda: merchant().address,
      bumps: { escrow: pda.bump, merchant: merchant().bump },
      inputs: {
        ...prepareBody(),
        amount_usdc: "1.500000",
        task_hash: hash,
        task_hash_derived: true,
        nonce_applied: true,
      },
      instruction: {
        program_address: LOCAL_DEPLOYMENT.custodyProgram,
        data_base64: encodeBase64(instruction.data),
      },
      sdk_call: {
        package: "settlement-evidence",
        method: "pay",
        install: "/client/settlement-evidence.tgz",
        signer: "agent_owner",
      },
    });
  });

  test("names each account's role in words", async () => {
    const { instruction } = await dataOf<{
      readonly instruction: { readonly accounts: ReadonlyArray<{ readonly role: string }> };
    }>(await client.postJson(PREPARE, prepareBody()));
    expect(instruction.accounts.slice(0, 3).map(({ role }) => role)).toEqual([
      "writable_signer",
      "readonly_signer",
      "readonly",
    ]);
  });

  test("the same request gives the same bytes, and asks nothing of the ledger", async () => {
    service.ledger.fault = new LedgerUnavailable({ retryable: true, cause: "down" });
    const texts = await Promise.all(
      Array.from({ length: 5 }, async () => (await client.postJson(PREPARE, prepareBody())).text()),
    );
    service.ledger.fault = null;
    expect(new Set(texts).size).toBe(1);
  });

  test("a task hash is taken in upper or lower case, in place of an intent", async () => {
    const task_hash = "AB".repeat(32);
    const response = await client.postJson(PREPARE, {
      ...prepareBody(),
      task_intent: null,
      task_hash,
    });
    expect(await dataOf(response)).toMatchObject({
      inputs: {
        task_hash: task_hash.toLowerCase(),
        task_hash_derived: false,
        nonce: "1",
        nonce_applied: false,
      },
    });
  });

  test("a task hash stands beside an intent, and the answer says whether it is the intent's", async () => {
    const inputsOf = async (change: object) => {
      const response = await client.postJson(PREPARE, { ...prepareBody(), ...change });
      return (await dataOf<{ readonly inputs: object }>(response)).inputs;
    };
    const { task_intent, nonce } = prepareBody();
    const task_hash = "ab".repeat(32);
    expect(await inputsOf({ task_hash })).toMatchObject({
      task_hash,
      task_hash_derived: false,
      task_intent,
      task_intent_matches: false,
      nonce,
      nonce_applied: false,
    });
    expect(await inputsOf({ task_hash: taskHash(task_intent, nonce) })).toMatchObject({
      task_hash_derived: false,
      task_intent_matches: true,
      nonce_applied: true,
    });
    expect(await inputsOf({})).toMatchObject({ task_intent_matches: null });
    expect(await inputsOf({ task_hash, task_intent: null })).toMatchObject({
      task_intent_matches: null,
    });
  });

  test.each([
    [{ task_intent: undefined }, "422 task_required"],
    [{ merchant: "O0Il" }, "422 invalid_address"],
    [{ merchant: "O0Il", amount_stroops: "0" }, "422 validation_failed"],
    [{ amount_stroops: "18446744073709551616" }, "422 validation_failed"],
    [{ amount_stroops: "01" }, "422 validation_failed"],
    [{ ttl_seconds: 604_801 }, "422 validation_failed"],
    [{ ttl_seconds: 0 }, "422 validation_failed"],
    [{ task_hash: "00" }, "422 validation_failed"],
    [{ task_intent: "" }, "422 validation_failed"],
    [{ task_intent: "a\0b" }, "422 validation_failed"],
    [{ nonce: "\ud800" }, "422 validation_failed"],
    [{ nonce: "é".repeat(65) }, "422 validation_failed"],
  ])("%j is a %s", async (change, problem) => {
    const response = await client.postJson(PREPARE, { ...prepareBody(), ...change });
    expect(await problemOf(response)).toBe(problem);
  });

  test("null counts as absent for the optional members nonce, task_hash and task_intent", async () => {
    const prepared = async (change: object) =>
      dataOf(await client.postJson(PREPARE, { ...prepareBody(), ...change }));
    const task_hash = "ab".repeat(32);
    expect(await prepared({ nonce: null, task_hash: null })).toEqual(
      await prepared({ nonce: undefined, task_hash: undefined }),
    );
    expect(await prepared({ task_hash, task_intent: null })).toEqual(
      await prepared({ task_hash, task_intent: undefined }),
    );
    const nothing = { ...prepareBody(), task_hash: null, task_intent: null };
    expect(await problemOf(await client.postJson(PREPARE, nothing))).toBe("422 task_required");
  });

  test.each(["amount_stroops", "ttl_seconds", "agent_owner", "merchant", "mint"])(
    "null for %s is a 422 that names it",
    async (name) => {
      // What JSON.stringify makes of NaN must never become an amount.
      const response = await client.postJson(PREPARE, { ...prepareBody(), [name]: Number.NaN });
      expect(await errorsOf(response)).toMatchObject([{ pointer: `/${name}` }]);
    },
  );

  test("a task hash that is not a string is a fault that says so", async () => {
    const response = await client.postJson(PREPARE, { ...prepareBody(), task_hash: 1 });
    expect(await errorsOf(response)).toEqual([
      { pointer: "/task_hash", detail: "must be a string or null" },
    ]);
  });

  test("each range includes its ends", async () => {
    for (const change of [
      { amount_stroops: "1" },
      { amount_stroops: "18446744073709551615" },
      { ttl_seconds: 1 },
      { ttl_seconds: 604_800 },
      { task_intent: "x".repeat(4096) },
      { nonce: "é".repeat(64) },
    ]) {
      const response = await client.postJson(PREPARE, { ...prepareBody(), ...change });
      expect(response.status, JSON.stringify(change)).toBe(200);
    }
  });

  test("preflight adds the ledger's state and the merchant's present attestor", async () => {
    const { attestor } = merchant();
    const plain = await dataOf(await client.postJson(PREPARE, prepareBody()));
    const asked = await dataOf(await client.postJson(PREPARE, { ...prepareBody(), attestor }));
    // The ledger has a config by itself. Here custody was never set up.
    const { address } = custodyConfigAddress(LOCAL_DEPLOYMENT);
    service.ledger.put(accountOf(address, SYSTEM_PROGRAM, new Uint8Array()));
    const response = await client.postJson(`${PREPARE}?preflight=true`, prepareBody());
    service.ledger.vanish(address);
    const { preflight, ...rest } = await dataOf<Record<string, unknown>>(response);
    expect(rest).toEqual(asked as Record<string, unknown>);
    expect(rest).not.toEqual(plain as Record<string, unknown>);
    expect(rest).toMatchObject({ inputs: { attestor } });
    const { blockers, cost, ...shown } = preflight as {
      readonly blockers: ReadonlyArray<{ readonly rule: string }>;
      readonly cost: Record<string, unknown>;
    };
    expect(blockers.map(({ rule }) => rule)).toEqual([
      "deployment_not_initialized",
      "mint_unusable",
      "payer_cannot_pay",
    ]);
    expect(cost).toMatchObject({
      fee: "5000",
      returned_at_settlement: "2039280",
      returned_at_archiving: "1893120",
      kept: "1559040",
    });
    expect(shown).toEqual({
      ready: false,
      merchant_status: "Active",
      mint_supported: true,
      agent_balance_stroops: null,
      balance_sufficient: false,
      escrow_address_free: true,
      slot: 1000,
    });
    const without = await client.postJson(`${PREPARE}?preflight=false`, prepareBody());
    expect(await dataOf(without)).toEqual(plain);
  });

  test("the beta's limits are a problem when the instance enforces them", async () => {
    const strict = await makeService({ enforceBetaLimits: true });
    const { postJson } = await checkedClient(strict);
    const beyond = { ...prepareBody(), amount_stroops: "100000001", ttl_seconds: 86_401 };
    const response = await postJson(PREPARE, beyond);
    expect(response.status).toBe(422);
    expect((await errorsOf(response)).map(({ pointer }) => pointer)).toEqual([
      "/amount_stroops",
      "/ttl_seconds",
    ]);
    await strict.runtime.dispose();
  });
});

describe("one escrow", () => {
  const pending = escrow("one escrow");
  const path = `/v1/escrows/${pending.address}`;

  test("is read with the slot it was read at", async () => {
    service.seed({ escrows: [pending] });
    const body = await jsonOf(await client.send(path));
    expect(body).toMatchObject({
      data: {
        escrow_pda: pending.address,
        state: "Pending",
        merchant_pda: merchant().address,
        rent_payer: pending.rentPayer,
        amount_stroops: "1500000",
        amount_usdc: "1.500000",
        released_stroops: "0",
        proof_hash: null,
        attestor: pending.attestor,
        attested_at: null,
        settled_at: null,
        created_at: "2026-03-01T12:00:00Z",
        expires_at: "2026-03-01T13:00:00Z",
        refundable: false,
        next_actions: [
          {
            action: "release_escrow",
            awaiting: "attestation",
            instructions: [],
            prepare: {
              method: "POST",
              path: `${path}/release/prepare`,
              body: { proof_hash: null, timestamp: null, attestation_signature: null },
            },
          },
          {
            action: "cancel_escrow",
            by: "merchant_wallet",
            prepare: { path: `${path}/cancel/prepare`, body: {} },
          },
        ],
      },
      context: { slot: 1000, commitment: "confirmed", ledger_time: "2026-03-01T12:01:00Z" },
    });
  });

  test("can be refunded from the very second of its expiry", async () => {
    service.ledger.setClock(EXPIRES_AT - 1n);
    expect(await dataOf(await client.send(path))).toMatchObject({ refundable: false });
    service.ledger.setClock(EXPIRES_AT);
    const expired = await dataOf(await client.send(path));
    expect(expired).toMatchObject({
      refundable: true,
      next_actions: [{ action: "claim_refund", by: "anyone", until: null }],
    });
    expect(JSON.stringify(expired)).toContain('"address":null,"role":"writable_signer"');
    service.ledger.setClock(CREATED_AT + 60n);
  });

  test("a refund is offered with instructions only if the agent's associated account can receive tokens", async () => {
    service.ledger.setClock(EXPIRES_AT);
    const address = associatedTokenAddress(AGENT, MINT);
    const offered = async (owner: Address, state: number) => {
      const data = fieldWriter(165).address(MINT).address(owner).skip(44).u8(state).skip(56).done();
      service.ledger.put(accountOf(address, TOKEN_PROGRAM, data));
      const { next_actions } = await dataOf<EscrowRecord>(await client.send(path));
      return next_actions.map(
        ({ action, by, awaiting, instructions }) =>
          `${action} by ${by} awaiting ${awaiting}, ${instructions.length} instructions`,
      );
    };
    // The account exists, so no instruction makes it.
    const ready = ["claim_refund by anyone awaiting null, 1 instructions"];
    const awaited = ["claim_refund by anyone awaiting payout_account, 0 instructions"];
    const [initialised, frozen] = [1, 2];
    expect(await offered(AGENT, initialised)).toEqual(ready);
    expect(await offered(STRANGER, initialised)).toEqual(awaited);
    expect(await offered(AGENT, frozen)).toEqual(awaited);
    service.ledger.put(accountOf(address, SYSTEM_PROGRAM, new Uint8Array()));
    expect(await dataOf(await client.send(path))).toMatchObject({
      next_actions: [{ awaiting: null }],
    });
    service.ledger.vanish(address);
    service.ledger.setClock(CREATED_AT + 60n);
  });

  test("each settled state is shown with the amounts that moved", async () => {
    const released = escrow("released", "Fulfilled");
    const partial = escrow("partial", "PartiallyFulfilled");
    const refunded = escrow("refunded", "Refunded");
    service.seed({ escrows: [released, partial, refunded] });
    const shown = async ({ address }: { readonly address: string }) =>
      dataOf(await client.send(`/v1/escrows/${address}`));
    expect(await shown(released)).toMatchObject({
      state: "Fulfilled",
      released_stroops: "1500000",
      refunded_stroops: "0",
      attested_at: "2026-03-01T12:00:07Z",
      settled_at: "2026-03-01T12:00:09Z",
      next_actions: [],
    });
    expect(await shown(partial)).toMatchObject({
      released_stroops: "1",
      refunded_stroops: "1499999",
    });
    expect(await shown(refunded)).toMatchObject({
      released_stroops: "0",
      refunded_stroops: "1500000",
      proof_hash: null,
      refundable: false,
    });
  });

  test("a missing account and an account of another kind have their own problems", async () => {
    expect(await problemOf(await client.send(`/v1/escrows/${STRANGER}`))).toBe(
      "404 escrow_not_found",
    );
    // Lamports that someone sent to the address beforehand do not make an escrow.
    service.ledger.put(accountOf(STRANGER, SYSTEM_PROGRAM, new Uint8Array()));
    expect(await problemOf(await client.send(`/v1/escrows/${STRANGER}`))).toBe(
      "404 escrow_not_found",
    );
    service.ledger.put(accountOf(STRANGER, TOKEN_PROGRAM, new Uint8Array(165)));
    const response = await client.send(`/v1/escrows/${STRANGER}`);
    expect(await jsonOf(response)).toMatchObject({ code: "not_an_escrow", reason: "wrong_owner" });
    service.ledger.vanish(STRANGER);
  });

  test("a ledger that fails is not the caller's mistake, and the answer does not show the cause", async () => {
    const secret = "https://node.example/?api-key=SECRET";
    service.ledger.fault = new LedgerUnavailable({ retryable: true, cause: new Error(secret) });
    const unavailable = await client.send(path);
    expect(unavailable.headers.get("retry-after")).toBe("1");
    const text = await unavailable.text();
    expect([unavailable.status, text.includes("SECRET")]).toEqual([502, false]);
    service.ledger.fault = new LedgerTimeout({ timeoutMs: 5000 });
    expect(await problemOf(await client.send(path))).toBe("504 ledger_timeout");
    service.ledger.fault = null;
    expect(JSON.stringify(service.lines)).not.toContain("SECRET");
  });
});
