import { afterAll, describe, expect, test } from "bun:test";
import { addressFromBytes } from "../../../../../core/domain/address.ts";
import { PROOF_TEMPLATES } from "../../../../../core/domain/evidence/proof-template.ts";
import { associatedTokenAddress } from "../../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../../core/protocol/addresses/local-deployment.ts";
import { ED25519_PROGRAM } from "../../../../../core/protocol/addresses/well-known-addresses.ts";
import { GENESIS, MERCHANT, MINT, STRANGER } from "../../support/parties.ts";
import { preparingService } from "./preparing-service.ts";

const { service, pending, path, tokens, post, attested } = await preparingService();
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
      LOCAL_DEPLOYMENT.custodyProgram,
    ]);
    expect(data.cost).toMatchObject({ fee: "10000", deposits: [] });
    expect(data).not.toHaveProperty("transaction");
  });

  test("a missing account is made, and an account with a delegate is a warning", async () => {
    const account = associatedTokenAddress(MERCHANT, MINT);
    service.ledger.vanish(account);
    const made = await post(`${path}/release/prepare`, await attested());
    expect(made.data.instructions).toHaveLength(4);
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

  test("is held to the template that the request names, which must be one", async () => {
    const to = `${path}/attestation/prepare`;
    const { proof_template_id: _named, ...payload } = payloadFor(GENESIS) as Record<
      string,
      unknown
    >;
    expect(await post(to, { payload })).toMatchObject({
      status: 200,
      data: { template_id: null },
    });
    const { status, errors } = await post(to, { payload, template_id: template?.id });
    expect([status, errors?.[0]?.pointer]).toEqual([422, "/payload/proof_template_id"]);
    expect((await post(to, { payload, template_id: "no-such-template-v1" })).status).toBe(404);
  });

  test("is attested for the amount or a part of it, never for more", async () => {
    const to = `${path}/attestation/prepare`;
    const payload = payloadFor(GENESIS);
    for (const [amount, expected] of [
      [pending.amount - 1n, 200],
      [pending.amount, 200],
      [pending.amount + 1n, 422],
    ] as const) {
      const { status, errors } = await post(to, { payload, amount_stroops: String(amount) });
      expect(status).toBe(expected);
      if (expected === 422) expect(errors?.[0]?.pointer).toBe("/amount_stroops");
    }
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
