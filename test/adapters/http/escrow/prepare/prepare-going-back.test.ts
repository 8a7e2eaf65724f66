import { afterAll, describe, expect, test } from "bun:test";
import { decodeBase64 } from "../../../../../core/domain/encoding/base64.ts";
import { fieldWriter } from "../../../../../core/protocol/accounts/byte-fields.ts";
import { associatedTokenAddress } from "../../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../../core/protocol/addresses/local-deployment.ts";
import { CUSTODY_ACCOUNTS } from "../../../../../core/protocol/generated/custody.ts";
import { decodeWireTransaction } from "../../../../../core/protocol/transaction/wire-transaction.ts";
import { accountOf, walletAccount } from "../../../../doubles/accounts.ts";
import {
  CREATED_AT,
  escrow,
  EXPIRES_AT,
  merchant,
  MERCHANT,
  MINT,
  STRANGER,
} from "../../support/parties.ts";
import { preparingService } from "./preparing-service.ts";

const { service, client, pending, path, post } = await preparingService();
afterAll(() => service.runtime.dispose());

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
    // No key signs for an address that a program derives, whatever it holds.
    const derived = associatedTokenAddress(MERCHANT, pending.agentOwner);
    service.ledger.put(walletAccount(derived, 1_000_000_000n));
    const funded = await post(`${path}/refund/prepare?transaction=true`, { payer: derived });
    expect([funded.status, funded.errors?.[0]?.pointer]).toEqual([422, "/payer"]);
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
    const account = service.ledger.account(open.address);
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
      .u8(3)
      .skip(6);
    service.ledger.put(
      accountOf(
        settled.address,
        LOCAL_DEPLOYMENT.custodyProgram,
        data.bytes(new Uint8Array(32).fill(1)).bytes(new Uint8Array(32).fill(2)).done(),
      ),
    );
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
