import { afterAll, describe, expect, test } from "bun:test";
import { addressFromBytes } from "../../../../../core/domain/address.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
  merchantAddress,
  registryAddress,
} from "../../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../../core/protocol/addresses/local-deployment.ts";
import { SYSTEM_PROGRAM } from "../../../../../core/protocol/addresses/well-known-addresses.ts";
import { AGENT, escrow, merchant, MERCHANT, MINT, STRANGER } from "../../support/parties.ts";
import { preparingService } from "./preparing-service.ts";
import { accountOf } from "../../../../doubles/accounts.ts";

type Preflight = {
  readonly ready: boolean;
  readonly blockers: ReadonlyArray<{ readonly rule: string; readonly detail: string }>;
};

const { service, path, post } = await preparingService();
afterAll(() => service.runtime.dispose());

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

  test("is, for a payer, one for which a key signs, wherever a body names one", async () => {
    const registration = { merchant: STRANGER, attestor: AGENT, name: "New" };
    const release = {
      proof_hash: "11".repeat(32),
      timestamp: "2026-03-01T12:00:00Z",
      attestation_signature: Buffer.alloc(64).toString("base64"),
    };
    for (const payer of [derived, ...nobodys])
      for (const [to, body] of [
        [PREPARE, terms],
        ["/v1/merchants/prepare", registration],
        [`/v1/merchants/${MERCHANT}/attestor/prepare`, { attestor: AGENT }],
        [`${path}/release/prepare`, release],
        [`${path}/refund/prepare`, {}],
        [`${path}/cancel/prepare`, {}],
        [`${path}/archive/prepare`, {}],
      ] as const)
        for (const query of ["", "?transaction=true"])
          expect([to, ...(await refused(to + query, { ...body, payer }))]).toEqual([
            to,
            422,
            ["/payer"],
          ]);
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
  const { ledger } = service;

  test.each([
    ["custody's config", custodyConfigAddress(LOCAL_DEPLOYMENT).address],
    ["the attestor's registry", registryAddress(LOCAL_DEPLOYMENT).address],
  ])("without %s nothing can be registered", async (_name, address) => {
    const body = { merchant: STRANGER, attestor: AGENT, name: "New" };
    // The ledger shows an initialised account wherever a test puts none.
    ledger.put(accountOf(address, SYSTEM_PROGRAM, new Uint8Array()));
    expect(await post("/v1/merchants/prepare", body)).toMatchObject({
      status: 409,
      rule: "deployment_not_initialized",
    });
    ledger.vanish(address);
    expect(await post("/v1/merchants/prepare", body)).toMatchObject({ status: 200 });
    expect(ledger.account(merchantAddress(LOCAL_DEPLOYMENT, STRANGER).address)).toBeNull();
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
