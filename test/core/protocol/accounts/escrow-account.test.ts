import { describe, expect, test } from "bun:test";
import {
  fixCodecSize,
  getAddressCodec,
  getBase16Codec,
  getBase64Codec,
  getBytesCodec,
  getI64Codec,
  getStructCodec,
  getU32Codec,
  getU64Codec,
  getU8Codec,
} from "@solana/kit";
import fc from "fast-check";
import { ZERO_ADDRESS } from "../../../../core/domain/address.ts";
import { ESCROW_STATES, type Escrow, SETTLED_BY } from "../../../../core/domain/escrow/escrow.ts";
import { LAST_UNIX_SECOND } from "../../../../core/domain/unix-time.ts";
import {
  checkEscrowAccount,
  decodeEscrowAccount,
  encodeEscrowAccount,
  escrowIn,
  ESCROW_ACCOUNT_LENGTH,
} from "../../../../core/protocol/accounts/escrow-account.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { deployment, derivedAccountContract, fieldAt } from "./derived-account.ts";

/** The account as docs/protocol.md lists it, field by field, written with another library's codecs. */
const FIELDS = [
  ["discriminator", fixCodecSize(getBase16Codec(), 8)],
  ["version", getU8Codec()],
  ["bump", getU8Codec()],
  ["state", getU8Codec()],
  ["vaultBump", getU8Codec()],
  ["deliveries", getU32Codec()],
  ["agentOwner", getAddressCodec()],
  ["merchant", getAddressCodec()],
  ["mint", getAddressCodec()],
  ["rentPayer", getAddressCodec()],
  ["taskHash", fixCodecSize(getBase16Codec(), 32)],
  ["amount", getU64Codec()],
  ["released", getU64Codec()],
  ["createdAt", getI64Codec()],
  ["expiresAt", getI64Codec()],
  ["settledAt", getI64Codec()],
  ["proofHash", fixCodecSize(getBase16Codec(), 32)],
  ["attestor", getAddressCodec()],
  ["attestedAt", getI64Codec()],
  ["signature", fixCodecSize(getBase64Codec(), 64)],
  ["createdSeq", getU64Codec()],
  ["settledSeq", getU64Codec()],
  ["sessionKey", getAddressCodec()],
  ["settledBy", getU8Codec()],
  ["reserved", fixCodecSize(getBytesCodec(), 7)],
  ["closesAt", getI64Codec()],
] as const;
const account = getStructCodec(FIELDS);

const SETTLED = { release: 1, refund: 2, cancel: 3 } as const;

const byKit = (escrow: Escrow): Uint8Array => {
  const { attestation } = escrow;
  return new Uint8Array(
    account.encode({
      discriminator: "1fd57bbbba16da9b",
      version: 3,
      bump: escrow.bump,
      state: { Pending: 0, Fulfilled: 1, Refunded: 2, PartiallyFulfilled: 3 }[escrow.state],
      vaultBump: escrow.vaultBump,
      deliveries: escrow.deliveries,
      agentOwner: escrow.agentOwner,
      merchant: escrow.merchant,
      mint: escrow.mint,
      rentPayer: escrow.rentPayer,
      taskHash: escrow.taskHash,
      amount: escrow.amount,
      released: escrow.released,
      createdAt: escrow.createdAt,
      expiresAt: escrow.expiresAt,
      settledAt: escrow.settledAt ?? 0n,
      proofHash: attestation?.proofHash ?? "00".repeat(32),
      attestor: escrow.attestor,
      attestedAt: attestation?.attestedAt ?? 0n,
      signature: attestation?.signature ?? "A".repeat(86).concat("=="),
      createdSeq: escrow.createdSeq,
      settledSeq: escrow.settledSeq ?? 0n,
      sessionKey: escrow.sessionKey ?? ZERO_ADDRESS,
      settledBy: escrow.settledBy === null ? 0 : SETTLED[escrow.settledBy],
      reserved: new Uint8Array(7),
      closesAt: escrow.closesAt ?? 0n,
    }),
  );
};

const decode = (escrow: Escrow, data: Uint8Array) =>
  decodeEscrowAccount(
    { address: escrow.address, owner: deployment.custodyProgram, data },
    deployment,
  );

// The address binds agent, task hash, bump and program, and the vault's bump follows from it and the mint. Merchant,
// mint, rent payer, session key, amounts and the rest are bound by the ledger alone: the decoder can promise no more
// than that they agree with each other.
const FREE: Record<Escrow["state"], ReadonlyArray<string>> = {
  Pending: ["amount", "createdAt", "expiresAt"],
  Refunded: ["amount", "createdAt", "expiresAt", "settledAt", "settledSeq"],
  Fulfilled: ["createdAt", "expiresAt", "settledAt", "settledSeq"],
  PartiallyFulfilled: ["amount", "released", "createdAt", "expiresAt", "settledAt", "settledSeq"],
};
const ALWAYS_FREE = new Set([
  "merchant",
  "mint",
  "rentPayer",
  "attestor",
  "createdSeq",
  "sessionKey",
]);
/** Free in a session by what the rest is: whether it closes, how it was settled, what was captured. */
const OF_SESSION = new Set(["closesAt", "settledBy", "deliveries"]);
const PAID = new Set(["proofHash", "attestedAt", "signature"]);

const isFree = ({ state, attestation, sessionKey }: Escrow, field: string): boolean =>
  ALWAYS_FREE.has(field) ||
  FREE[state].includes(field) ||
  (attestation !== null && PAID.has(field)) ||
  (sessionKey !== null && OF_SESSION.has(field)) ||
  (sessionKey !== null && attestation !== null && field === "released");

describe("escrow account", () => {
  derivedAccountContract({
    any: anyEscrow(deployment),
    length: ESCROW_ACCOUNT_LENGTH,
    program: "custodyProgram",
    encode: encodeEscrowAccount,
    decode: decodeEscrowAccount,
    byKit,
    fieldAt: (offset) => fieldAt(FIELDS, offset),
    isFree,
  });

  test("an account is accepted exactly when it keeps the protocol's rules", () => {
    const nearTo = (time: bigint) => fc.bigInt({ min: time - 1n, max: time + 4n });
    const near = nearTo(0n);
    const seen = new Set<string>();
    fc.assert(
      fc.property(
        anyEscrow(deployment),
        fc.record({
          state: fc.oneof(fc.constant(undefined), fc.nat({ max: 4 })),
          amount: fc.bigInt({ min: 0n, max: 3n }),
          released: fc.oneof(fc.constant(undefined), fc.bigInt({ min: 0n, max: 3n })),
          createdAt: fc.bigInt({ min: -1n, max: 2n }),
          // Longer than the other times are far, so that all states are accepted in some runs.
          lifetime: fc.oneof(fc.bigInt({ min: -1n, max: 9n }), nearTo(905n)),
          closesAfter: fc.oneof(
            fc.constant(null),
            fc.constant(null),
            fc.constant<"at expiry">("at expiry"),
            near,
            nearTo(900n),
          ),
          settledAfter: fc.option(fc.oneof(near, nearTo(300n))),
          attestedAfter: fc.oneof(near, nearTo(31n)),
          createdSeq: fc.constantFrom(0n, 1n, 1n, 1n, 2n),
          settledSeq: fc.constantFrom<"right" | bigint>("right", "right", "right", 0n, 1n, 2n),
          settledBy: fc.oneof(fc.constant(undefined), fc.nat({ max: 4 })),
          deliveries: fc.oneof(fc.constant(undefined), fc.nat({ max: 2 })),
        }),
        (escrow, numbers) => {
          const data = encodeEscrowAccount(escrow);
          const view = new DataView(data.buffer);
          const { amount, createdAt } = numbers;
          const isAttested = escrow.attestation !== null;
          const released =
            numbers.released ??
            (escrow.state === "Fulfilled" ? amount : isAttested ? amount / 2n : 0n);
          const expiresAt = createdAt + numbers.lifetime;
          const { closesAfter } = numbers;
          const closesIn = closesAfter === "at expiry" ? numbers.lifetime : closesAfter;
          const closesAt = closesIn === null ? 0n : createdAt + closesIn;
          const settledAt = numbers.settledAfter === null ? 0n : createdAt + numbers.settledAfter;
          const attestedAt = createdAt + numbers.attestedAfter;
          const state = numbers.state ?? ESCROW_STATES.indexOf(escrow.state);
          const settledBy = numbers.settledBy ?? SETTLED_BY.indexOf(escrow.settledBy);
          const deliveries = numbers.deliveries ?? escrow.deliveries;
          view.setUint8(10, state);
          view.setUint32(12, deliveries, true);
          view.setBigUint64(176, amount, true);
          view.setBigUint64(184, released, true);
          view.setBigInt64(192, createdAt, true);
          view.setBigInt64(200, expiresAt, true);
          view.setBigInt64(208, settledAt, true);
          if (isAttested) view.setBigInt64(280, attestedAt, true);
          view.setBigUint64(352, numbers.createdSeq, true);
          const right = state === 0 ? 0n : numbers.createdSeq + 1n;
          const settledSeq = numbers.settledSeq === "right" ? right : numbers.settledSeq;
          view.setBigUint64(360, settledSeq, true);
          view.setUint8(400, settledBy);
          view.setBigInt64(408, closesAt, true);

          const [BY_RELEASE, BY_REFUND] = [1, 2];
          const isSession = escrow.sessionKey !== null;
          const end = closesAt === 0n ? expiresAt : closesAt;
          const isSettled = state !== 0;
          const stateNow = released === 0n ? 2 : released === amount ? 1 : 3;
          const holds =
            createdAt >= 0n &&
            expiresAt > createdAt &&
            amount > 0n &&
            released <= amount &&
            numbers.createdSeq > 0n &&
            (isSettled
              ? settledSeq > numbers.createdSeq &&
                state === stateNow &&
                settledBy >= 1 &&
                settledBy <= 3 &&
                settledAt !== 0n &&
                settledAt >= createdAt &&
                (closesAt === 0n || settledAt >= closesAt - 900n) &&
                (!isAttested || settledAt >= attestedAt - 30n) &&
                (!isAttested || settledBy !== BY_RELEASE || settledAt <= attestedAt + 300n) &&
                settledAt >= end === (settledBy === BY_REFUND)
              : settledSeq === 0n && settledBy === 0 && settledAt === 0n) &&
            (closesAt === 0n ||
              (isSession &&
                closesAt > createdAt &&
                closesAt <= expiresAt &&
                (closesAt === expiresAt || closesAt >= createdAt + 900n))) &&
            isAttested === released > 0n &&
            (deliveries === 0 || released > 0n) &&
            (settledBy !== BY_RELEASE || released > 0n) &&
            (isSession ||
              (released > 0n === (settledBy === BY_RELEASE) &&
                deliveries === (released > 0n ? 1 : 0))) &&
            (!isAttested ||
              (attestedAt >= createdAt &&
                attestedAt < end + (settledBy === BY_RELEASE ? 0n : 30n)));
          const accepted = "value" in decode(escrow, data);
          expect(accepted).toBe(holds);
          seen.add(`${state} ${accepted}`);
        },
      ),
      runs(6000),
    );
    if (process.env["FC_NUM_RUNS"] === undefined) expect(seen.size).toBe(9);
  });

  test("times beyond what RFC 3339 can name, and lifetimes beyond seven days, are refused", () => {
    fc.assert(
      fc.property(anyEscrow(deployment, ["Refunded"]), (refunded) => {
        const escrow: Escrow = {
          ...refunded,
          state: "Pending",
          settledAt: null,
          settledBy: null,
          settledSeq: null,
          closesAt: null,
        };
        const at = (createdAt: bigint, expiresAt: bigint) =>
          decode(escrow, encodeEscrowAccount({ ...escrow, createdAt, expiresAt }));
        const { createdAt } = escrow;
        expect(at(createdAt, createdAt + 604_800n)).toHaveProperty("value");
        expect(at(createdAt, createdAt + 604_801n)).toEqual({ fault: "time_out_of_range" });
        expect(at(createdAt, createdAt)).toEqual({ fault: "time_out_of_range" });
        expect(at(0n, 1n)).toHaveProperty("value");
        expect(at(-1n, 1n)).toEqual({ fault: "time_out_of_range" });
        const last = LAST_UNIX_SECOND;
        expect(at(last - 1n, last)).toHaveProperty("value");
        expect(at(last, last + 1n)).toEqual({ fault: "time_out_of_range" });
        expect(at(2n ** 63n - 2n, 2n ** 63n - 1n)).toEqual({ fault: "time_out_of_range" });
        expect(at(-(2n ** 63n), 2n ** 63n - 1n)).toEqual({ fault: "time_out_of_range" });
      }),
      runs(20),
    );
  });

  test("a check without canonical bumps takes and refuses the same accounts, but for the vault's seeds", () => {
    fc.assert(
      fc.property(
        anyEscrow(deployment),
        fc.nat({ max: ESCROW_ACCOUNT_LENGTH - 1 }),
        fc.integer({ min: 1, max: 255 }),
        (escrow, at, change) => {
          const data = encodeEscrowAccount(escrow);
          const { address } = escrow;
          const own = { address, owner: deployment.custodyProgram };
          expect(checkEscrowAccount({ ...own, data }, deployment)).toHaveProperty("value");
          const changed = data.with(at, (data[at] ?? 0) ^ change);
          const checked = checkEscrowAccount({ ...own, data: changed }, deployment);
          const decoded = decodeEscrowAccount({ ...own, data: changed }, deployment);
          // What a row says gives back every byte whose digest is logged.
          if ("value" in checked)
            expect(encodeEscrowAccount(escrowIn(address, changed))).toEqual(changed);
          if ("fault" in decoded) {
            const ofVault = ["vaultBump", "mint"].includes(fieldAt(FIELDS, at));
            if (ofVault) expect(decoded).toEqual({ fault: "address_not_derived" });
            if (ofVault) expect(checked).toHaveProperty("value");
            else expect(checked).toEqual(decoded);
          } else {
            expect(checked).toMatchObject({
              value: {
                state: decoded.value.state,
                amount: decoded.value.amount,
                released: decoded.value.released,
                createdAt: decoded.value.createdAt,
                expiresAt: decoded.value.expiresAt,
                settledAt: decoded.value.settledAt,
                attestedAt: decoded.value.attestation?.attestedAt ?? null,
                createdSeq: decoded.value.createdSeq,
                settledSeq: decoded.value.settledSeq,
              },
            });
            expect(escrowIn(address, changed)).toEqual(decoded.value);
          }
        },
      ),
      runs(500),
    );
  });

  test("each kind of damage has its own fault", () => {
    const [escrow] = fc.sample(anyEscrow(deployment, ["Fulfilled"]), { numRuns: 1, seed: 1 });
    if (escrow === undefined) throw new Error("no sample");
    const data = encodeEscrowAccount(escrow);
    const damaged = (offset: number, byte: number) => decode(escrow, data.with(offset, byte));
    expect(damaged(0, 0)).toEqual({ fault: "wrong_discriminator" });
    expect(damaged(7, 0)).toEqual({ fault: "wrong_discriminator" });
    expect(damaged(8, 2)).toEqual({ fault: "unknown_version" });
    expect(damaged(8, 4)).toEqual({ fault: "unknown_version" });
    expect(damaged(10, 4)).toEqual({ fault: "unknown_enum_value" });
    for (let i = 401; i < 408; i++) expect(damaged(i, 1)).toEqual({ fault: "reserved_bytes_set" });
    expect(damaged(400, 4)).toEqual({ fault: "unknown_enum_value" });
    expect(damaged(10, 0)).toEqual({ fault: "fields_contradict_state" });
    expect(decode(escrow, encodeEscrowAccount({ ...escrow, amount: 0n, released: 0n }))).toEqual({
      fault: "amount_out_of_range",
    });
    expect(decode(escrow, encodeEscrowAccount({ ...escrow, amount: 1n, released: 2n }))).toEqual({
      fault: "amount_out_of_range",
    });
  });
});
