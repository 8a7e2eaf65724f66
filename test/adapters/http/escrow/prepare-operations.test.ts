import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { addressFromBytes, type Address } from "../../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { PROOF_TEMPLATES } from "../../../../core/domain/evidence/proof-template-catalogue.ts";
import { fieldWriter } from "../../../../core/protocol/accounts/byte-fields.ts";
import {
  associatedTokenAddress,
  merchantAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  ED25519_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { CUSTODY_ACCOUNTS } from "../../../../core/protocol/generated/custody.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
import {
  AGENT,
  ATTESTOR_KEY,
  CREATED_AT,
  escrow,
  EXPIRES_AT,
  merchant,
  MERCHANT,
  MINT,
  STRANGER,
} from "../support/parties.ts";
import { checkedClient, GENESIS, makeService } from "../support/service.ts";

type Call = {
  readonly operation: string;
  readonly instructions: ReadonlyArray<{
    readonly program_address: string;
    readonly accounts: ReadonlyArray<{ readonly address: string | null }>;
  }>;
  readonly signers: ReadonlyArray<string>;
  readonly payouts: ReadonlyArray<unknown>;
  readonly warnings: ReadonlyArray<string>;
  readonly cost: {
    readonly fee: string;
    readonly deposits: ReadonlyArray<{ readonly lamports: string }>;
  };
  readonly transaction?: { readonly base64: string; readonly signers: ReadonlyArray<string> };
};

type Preflight = {
  readonly ready: boolean;
  readonly blockers: ReadonlyArray<{ readonly rule: string; readonly detail: string }>;
};

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;
const pending = escrow("prepare operations");
const path = `/v1/escrows/${pending.address}`;

const tokens = (
  owner: Address,
  change: {
    readonly holder?: Address;
    readonly state?: number;
    readonly at?: Address;
    readonly delegate?: Address;
  } = {},
) => {
  const { holder = owner, state = 1, at = associatedTokenAddress(owner, MINT), delegate } = change;
  const head = fieldWriter(165).address(MINT).address(holder).u64(0n);
  const data = (delegate === undefined ? head.skip(36) : head.u32(1).address(delegate))
    .u8(state)
    .skip(56)
    .done();
  service.ledger.put({ address: at, owner: TOKEN_PROGRAM, data });
  return at;
};

const post = async (to: string, body: object = {}) => {
  const response = await client.postJson(to, body);
  const answer = (await response.json()) as {
    readonly data: Call;
    readonly context: unknown;
    readonly code?: string;
    readonly rule?: string;
    readonly errors?: ReadonlyArray<{ readonly pointer: string }>;
  };
  return { status: response.status, ...answer };
};

/** An attestation of the escrow's attestor as the service itself prepares it. */
const attested = async (change: object = {}) => {
  const { data } = await post(`${path}/attestation/prepare`, {
    proof_hash: "ab".repeat(32),
    ...change,
  });
  const prepared = data as unknown as {
    readonly message_base64: string;
    readonly proof_hash: string;
    readonly timestamp: string;
  };
  const message = decodeBase64(prepared.message_base64) ?? new Uint8Array();
  const { proof_hash, timestamp } = prepared;
  return {
    proof_hash,
    timestamp,
    attestation_signature: encodeBase64(ATTESTOR_KEY.sign(message)),
    ...change,
  };
};

beforeAll(async () => {
  service = await makeService();
  client = await checkedClient(service);
  service.seed({ escrows: [pending], merchants: [merchant()] });
  for (const wallet of [AGENT, MERCHANT, STRANGER])
    service.ledger.accounts.set(wallet, walletAccount(wallet, 1_000_000_000n));
  tokens(pending.address);
  tokens(AGENT);
  tokens(MERCHANT);
});
afterAll(() => service.runtime.dispose());

describe("a release", () => {
  test("gets from a payload to instructions with the service's answers alone", async () => {
    const body = await attested();
    const { status, data, context } = await post(`${path}/release/prepare`, body);
    expect(status).toBe(200);
    expect(context).toEqual({
      slot: 1000,
      commitment: "confirmed",
      ledger_time: "2026-03-01T12:01:00Z",
    });
    expect(data.instructions.map((each) => each.program_address)).toEqual([
      ED25519_PROGRAM,
      LOCAL_DEPLOYMENT.custodyProgram,
    ]);
    expect(data.cost).toMatchObject({ fee: "10000", deposits: [] });
    expect(data).not.toHaveProperty("transaction");
  });

  test("a partial release pays both sides, and a null amount is not a full release", async () => {
    const body = await attested({ amount_stroops: "500000" });
    const { data } = await post(`${path}/release/prepare`, body);
    expect(data.operation).toBe("release_partial");
    expect(data.payouts).toHaveLength(2);
    const wrong = { ...(await attested()), amount_stroops: null };
    const refused = await post(`${path}/release/prepare`, wrong);
    expect([refused.status, refused.code, refused.errors?.[0]?.pointer]).toEqual([
      422,
      "validation_failed",
      "/amount_stroops",
    ]);
  });

  test("a signature by another key, or over another claim, is refused with its pointer", async () => {
    const body = await attested();
    const other = ed25519Key(new Uint8Array(32).fill(3)).sign(new Uint8Array(72));
    for (const change of [
      { attestation_signature: encodeBase64(other) },
      { proof_hash: "cd".repeat(32) },
    ]) {
      const { status, errors } = await post(`${path}/release/prepare`, { ...body, ...change });
      expect([status, errors?.[0]?.pointer]).toEqual([422, "/attestation_signature"]);
    }
  });

  test("a stale attestation is refused, and the cure is a new one", async () => {
    const body = await attested();
    service.ledger.setClock(CREATED_AT + 60n + 301n);
    const { status, ...problem } = await post(`${path}/release/prepare`, body);
    expect([status, problem]).toMatchObject([
      409,
      {
        code: "wrong_state",
        rule: "attestation_stale",
        state: "Pending",
        cure: expect.stringContaining("again"),
      },
    ]);
    service.ledger.setClock(CREATED_AT + 60n);
  });

  test("a missing account is made, and an account with a delegate is a warning", async () => {
    const account = associatedTokenAddress(MERCHANT, MINT);
    service.ledger.accounts.delete(account);
    const made = await post(`${path}/release/prepare`, await attested());
    expect(made.data.instructions).toHaveLength(3);
    expect(made.data.instructions[0]?.accounts[0]?.address).toBeNull();
    expect(made.data.cost.deposits).toEqual([{ account, lamports: "2039280" }] as never);
    tokens(MERCHANT, { delegate: STRANGER });
    const warned = await post(`${path}/release/prepare`, await attested());
    expect(warned.data.warnings).toEqual(["merchant_account_has_delegate"]);
    tokens(MERCHANT);
  });

  test("a frozen account is refused until the caller names a fallback account", async () => {
    tokens(MERCHANT, { state: 2 });
    const refused = await post(`${path}/release/prepare`, await attested());
    expect(refused).toMatchObject({
      status: 409,
      rule: "payout_account_unusable",
      awaiting: "payout_account",
    });
    const merchant_fallback_account = tokens(MERCHANT, {
      at: addressFromBytes(new Uint8Array(32).fill(8)),
    });
    const named = await post(`${path}/release/prepare`, {
      ...(await attested()),
      merchant_fallback_account,
    });
    expect(named.data.payouts).toMatchObject([
      { account: merchant_fallback_account, is_fallback: true },
    ]);
    tokens(MERCHANT);
  });
});

describe("a payload that names its ledger", () => {
  const [template] = PROOF_TEMPLATES;
  const payloadFor = (network: string) => ({
    ...template?.example,
    task_hash: pending.taskHash,
    network,
  });

  test("is attested on that ledger alone, by its genesis hash", async () => {
    const to = `${path}/attestation/prepare`;
    expect(await post(to, { payload: payloadFor(GENESIS) })).toMatchObject({
      status: 200,
      data: { template_id: template?.id },
    });
    const { status, errors } = await post(to, { payload: payloadFor(STRANGER) });
    expect([status, errors?.map(({ pointer }) => pointer)]).toEqual([422, ["/payload/network"]]);
  });

  test("is said to be bound to its ledger, or not, when it is verified", async () => {
    const bound = async (payload: object) => {
      const { data } = await post(`/v1/evidence/${pending.address}/verify`, { payload });
      return (data as unknown as { readonly network_bound: boolean | null }).network_bound;
    };
    expect(await bound(payloadFor(GENESIS))).toBe(true);
    expect(await bound(payloadFor(STRANGER))).toBe(false);
    expect(await bound({ ...template?.example })).toBeNull();
  });
});

describe("going back", () => {
  test("a refund before expiry is a conflict that names what can be done; from that second on it is given", async () => {
    const early = await post(`${path}/refund/prepare`);
    expect(early).toMatchObject({
      status: 409,
      rule: "not_expired",
      next_actions: [{ action: "release_escrow" }, { action: "cancel_escrow" }],
    });
    service.ledger.setClock(EXPIRES_AT);
    const { data } = await post(`${path}/refund/prepare?transaction=true`, { payer: STRANGER });
    const bytes = decodeBase64(data.transaction?.base64 ?? "") ?? new Uint8Array();
    expect(bytes.length).toBeLessThanOrEqual(1132);
    const decoded = decodeWireTransaction(bytes);
    expect(decoded).toMatchObject({ value: { version: 0, feePayer: STRANGER, signerCount: 1 } });
    const late = await post(`${path}/cancel/prepare`);
    expect(late).toMatchObject({ status: 409, rule: "expired" });
    service.ledger.setClock(CREATED_AT + 60n);
  });

  test("the merchant's wallet signs a cancellation and pays for it unless another is named", async () => {
    const { data } = await post(`${path}/cancel/prepare?transaction=true`);
    expect(data.transaction?.signers).toEqual([MERCHANT]);
    const sponsored = await post(`${path}/cancel/prepare?transaction=true`, { payer: STRANGER });
    expect(sponsored.data.transaction?.signers).toEqual([STRANGER, MERCHANT]);
  });

  test("a transaction that anyone may send needs a payer, and one that can pay", async () => {
    service.ledger.setClock(EXPIRES_AT);
    const open = await post(`${path}/refund/prepare?transaction=true`);
    expect([open.status, open.errors?.[0]?.pointer]).toEqual([422, "/payer"]);
    const poor = await post(`${path}/refund/prepare`, { payer: pending.mint });
    expect(poor).toMatchObject({ status: 409, rule: "payer_cannot_pay" });
    // Nobody signs for an address that a program derives, whatever it holds.
    const derived = associatedTokenAddress(MERCHANT, pending.agentOwner);
    service.ledger.accounts.set(derived, walletAccount(derived, 1_000_000_000n));
    const funded = await post(`${path}/refund/prepare?transaction=true`, { payer: derived });
    expect(funded).toMatchObject({ status: 409, rule: "payer_cannot_pay" });
    service.ledger.setClock(CREATED_AT + 60n);
  });
});

describe("an escrow whose attestor was revoked", () => {
  const open = { ...escrow("revoked"), merchant: MINT };
  const at = `/v1/escrows/${open.address}`;
  const offered = async () => {
    const { data } = (await (await client.send(at)).json()) as {
      readonly data: { readonly next_actions: ReadonlyArray<{ readonly action: string }> };
    };
    return data.next_actions.map(({ action }) => action);
  };

  test("offers what the ledger takes: cancelling before it expires, a refund from then on", async () => {
    const theirs = merchant(MINT);
    service.seed({ escrows: [open] });
    const account = service.ledger.accounts.get(open.address);
    const number = Buffer.from(account?.data ?? []).readBigUInt64LE(
      CUSTODY_ACCOUNTS.Escrow.at.createdSeq,
    );
    service.seed({ escrows: [], merchants: [{ ...theirs, revokedSeq: number - 1n }] });
    expect(await offered()).toEqual(["release_escrow", "cancel_escrow"]);
    service.seed({ escrows: [], merchants: [{ ...theirs, revokedSeq: number }] });
    expect(await offered()).toEqual(["cancel_escrow"]);
    const early = await post(`${at}/refund/prepare`);
    expect(early).toMatchObject({ status: 409, next_actions: [{ action: "cancel_escrow" }] });
    service.ledger.setClock(EXPIRES_AT);
    expect(await offered()).toEqual(["claim_refund"]);
    service.ledger.setClock(CREATED_AT + 60n);
  });
});

describe("archiving", () => {
  const settled = escrow("archived later", "Fulfilled");
  const to = `/v1/escrows/${settled.address}/archive/prepare`;

  test("is prepared a week after settlement, and the address then answers 410 with the tombstone", async () => {
    service.seed({ escrows: [settled] });
    expect(await post(to)).toMatchObject({ status: 409, rule: "not_archivable", next_actions: [] });
    service.ledger.setClock((settled.settledAt ?? 0n) + 604_800n);
    expect((await post(to)).data.instructions[0]?.accounts).toHaveLength(2);
    expect(await (await client.send(`/v1/escrows/${settled.address}`)).json()).toMatchObject({
      data: { next_actions: [{ action: "archive_escrow", by: "anyone" }] },
    });
    const { discriminator, length } = CUSTODY_ACCOUNTS.ArchivedEscrow;
    const data = fieldWriter(length)
      .bytes(Uint8Array.from(discriminator))
      .u64(41n)
      .u64(42n)
      .u8(1)
      .u8(2)
      .skip(6);
    service.ledger.put({
      address: settled.address,
      owner: LOCAL_DEPLOYMENT.custodyProgram,
      data: data.bytes(new Uint8Array(32).fill(1)).bytes(new Uint8Array(32).fill(2)).done(),
    });
    const gone = await client.send(`/v1/escrows/${settled.address}`);
    expect([gone.status, await gone.json()]).toMatchObject([
      410,
      {
        code: "archived_unseen",
        archived: {
          state: "Fulfilled",
          created_seq: "41",
          settled_seq: "42",
          digest: "02".repeat(32),
          pending_digest: "01".repeat(32),
        },
      },
    ]);
    expect(await post(to)).toMatchObject({
      code: "wrong_state",
      rule: "escrow_archived",
      state: "Fulfilled",
      next_actions: [],
    });
    service.ledger.setClock(CREATED_AT + 60n);
  });
});

describe("an address that must sign", () => {
  /** Derived by a program: only that program signs for it, in a call of its own. */
  const derived = associatedTokenAddress(STRANGER, MINT);
  /** No program derives these, and no signature verifies under them: y = 0, y = 1. */
  const nobodys = [SYSTEM_PROGRAM, addressFromBytes(Uint8Array.of(1, ...new Uint8Array(31)))];
  const terms = {
    agent_owner: AGENT,
    merchant: MERCHANT,
    mint: MINT,
    amount_stroops: "1000000",
    ttl_seconds: 3600,
    task_intent: "sign for it",
    nonce: "1",
  };
  const PREPARE = "/v1/escrows/prepare";
  const refused = async (to: string, body: object) => {
    const { status, errors } = await post(to, body);
    return [status, errors?.map(({ pointer }) => pointer)];
  };

  test("is no address for which nobody can sign", async () => {
    for (const nobody of nobodys) {
      expect(await refused(PREPARE, { ...terms, agent_owner: nobody })).toEqual([
        422,
        ["/agent_owner"],
      ]);
      expect(await refused(PREPARE, { ...terms, merchant: nobody })).toEqual([422, ["/merchant"]]);
      expect(await refused(PREPARE, { ...terms, payer: nobody })).toEqual([422, ["/payer"]]);
      const registration = { merchant: nobody, attestor: AGENT, name: "New" };
      expect(await refused("/v1/merchants/prepare", registration)).toEqual([422, ["/merchant"]]);
      expect(
        await refused(`/v1/merchants/${nobody}/attestor/prepare`, { attestor: AGENT }),
      ).toEqual([422, ["/pubkey"]]);
    }
  });

  test("may be one that a program derives, which signs for it in a call of its own and in no transaction", async () => {
    const body = { ...terms, agent_owner: derived };
    expect((await post(PREPARE, body)).status).toBe(200);
    expect(await refused(`${PREPARE}?transaction=true`, body)).toEqual([422, ["/agent_owner"]]);
    const { data } = await post(`${PREPARE}?preflight=true`, { ...body, payer: STRANGER });
    const { ready, blockers } = (data as unknown as { readonly preflight: Preflight }).preflight;
    expect(ready).toBe(false);
    expect(blockers.find(({ rule }) => rule === "signer_is_derived")?.detail).toContain(derived);
    const registration = { merchant: derived, attestor: AGENT, name: "New", payer: STRANGER };
    expect(await refused("/v1/merchants/prepare?transaction=true", registration)).toEqual([
      422,
      ["/merchant"],
    ]);
    expect(
      await refused(`/v1/merchants/${derived}/attestor/prepare?transaction=true`, {
        attestor: AGENT,
        payer: STRANGER,
      }),
    ).toEqual([422, ["/pubkey"]]);
  });

  test("a merchant's wallet that a program derives cancels by instructions, with a warning", async () => {
    const before = escrow("of a derived merchant");
    const theirs = { ...before, merchant: derived };
    service.seed({ escrows: [theirs], merchants: [merchant(derived)] });
    const to = `/v1/escrows/${theirs.address}/cancel/prepare`;
    expect(await post(to)).toMatchObject({
      status: 200,
      data: { payer: null, signers: [derived], warnings: ["signer_is_derived"] },
    });
    expect(await refused(`${to}?transaction=true`, { payer: STRANGER })).toEqual([
      422,
      ["?transaction"],
    ]);
  });
});

describe("merchants", () => {
  const config = () => service.ledger.accounts;

  test("without the programs' own accounts nothing can be registered", async () => {
    const body = { merchant: STRANGER, attestor: AGENT, name: "New" };
    expect(await post("/v1/merchants/prepare", body)).toMatchObject({
      status: 409,
      rule: "deployment_not_initialized",
    });
    expect(config().has(merchantAddress(LOCAL_DEPLOYMENT, STRANGER).address)).toBe(false);
  });

  test("a key of small order, a name that turns direction and one that shows nothing are refused with their pointers", async () => {
    const smallOrder = addressFromBytes(Uint8Array.of(1, ...new Uint8Array(31)));
    const key = await post("/v1/merchants/prepare", {
      merchant: STRANGER,
      attestor: smallOrder,
      name: "New",
    });
    expect([key.status, key.errors?.[0]?.pointer]).toEqual([422, "/attestor"]);
    const name = await post("/v1/merchants/prepare", {
      merchant: STRANGER,
      attestor: AGENT,
      name: "a\u202eb",
    });
    expect([name.status, name.errors?.[0]?.pointer]).toEqual([422, "/name"]);
    for (const blank of [" ", "\u200b", "\u00a0\u2060\ufeff", "\u3164", "\u2800\u00ad"]) {
      const body = { merchant: STRANGER, attestor: AGENT, name: blank };
      const { status, errors } = await post("/v1/merchants/prepare", body);
      expect([blank, status, errors?.[0]?.pointer]).toEqual([blank, 422, "/name"]);
    }
    const rotate = await post(`/v1/merchants/${MERCHANT}/attestor/prepare`, {
      attestor: smallOrder,
    });
    expect([rotate.status, rotate.errors?.[0]?.pointer]).toEqual([422, "/attestor"]);
  });
});
