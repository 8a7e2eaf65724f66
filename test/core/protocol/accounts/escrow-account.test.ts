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
import { address, ZERO_ADDRESS } from "../../../../core/domain/address.ts";
import type { Deployment } from "../../../../core/domain/ledger/deployment.ts";
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
import { anyAddress } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const deployment: Deployment = {
  custodyProgram: address("Custody111111111111111111111111111111111111"),
  attestorProgram: address("Attestor11111111111111111111111111111111111"),
};

/** The account as docs/protocol.md lists it, field by field, written with another library's codecs. */
const account = getStructCodec([
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
]);

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

const decode = (escrow: Escrow, data: Uint8Array, under = deployment) =>
  decodeEscrowAccount({ address: escrow.address, owner: under.custodyProgram, data }, under);

/** The end offset of each field, in order. It tells which field a byte belongs to. */
const FIELDS = [
  [8, "discriminator"],
  [9, "version"],
  [10, "bump"],
  [11, "state"],
  [12, "vaultBump"],
  [16, "deliveries"],
  [48, "agentOwner"],
  [80, "merchant"],
  [112, "mint"],
  [144, "rentPayer"],
  [176, "taskHash"],
  [184, "amount"],
  [192, "released"],
  [200, "createdAt"],
  [208, "expiresAt"],
  [216, "settledAt"],
  [248, "proofHash"],
  [280, "attestor"],
  [288, "attestedAt"],
  [352, "signature"],
  [360, "createdSeq"],
  [368, "settledSeq"],
  [400, "sessionKey"],
  [401, "settledBy"],
  [408, "reserved"],
  [416, "closesAt"],
] as const;
const fieldAt = (offset: number): string => FIELDS.find(([end]) => offset < end)?.[1] ?? "none";

describe("escrow account", () => {
  test("every escrow decodes to itself, from bytes that another library writes the same", () => {
    fc.assert(
      fc.property(anyEscrow(deployment), (escrow) => {
        const data = encodeEscrowAccount(escrow);
        expect(data).toEqual(byKit(escrow));
        expect(decode(escrow, data)).toEqual({ value: escrow });
      }),
      runs(300),
    );
  });

  test("bytes inside a larger buffer decode the same", () => {
    fc.assert(
      fc.property(anyEscrow(deployment), fc.nat({ max: 20 }), (escrow, before) => {
        const buffer = new Uint8Array(before + ESCROW_ACCOUNT_LENGTH + 9).fill(0xaa);
        buffer.set(encodeEscrowAccount(escrow), before);
        const view = buffer.subarray(before, before + ESCROW_ACCOUNT_LENGTH);
        expect(decode(escrow, view)).toEqual({ value: escrow });
        expect(decode(escrow, Buffer.from(view))).toEqual({ value: escrow });
      }),
      runs(50),
    );
  });

  // The address binds agent, task hash, bump and program, and the vault's bump follows from it and the mint. Merchant,
  // mint, rent payer, session key, amounts and the rest are bound by the ledger alone: the decoder can promise no more
  // than that they agree with each other.
  test("a changed byte is refused, or sits in a field that the address does not bind", () => {
    const free: Record<Escrow["state"], ReadonlyArray<string>> = {
      Pending: ["amount", "createdAt", "expiresAt"],
      Refunded: ["amount", "createdAt", "expiresAt", "settledAt", "settledSeq"],
      Fulfilled: ["createdAt", "expiresAt", "settledAt", "settledSeq"],
      PartiallyFulfilled: [
        "amount",
        "released",
        "createdAt",
        "expiresAt",
        "settledAt",
        "settledSeq",
      ],
    };
    // What a session has beside these depends on the rest: whether it closes, how it was settled, what was captured.
    const ofSession = ["closesAt", "settledBy", "deliveries"];
    const paid = ["proofHash", "attestedAt", "signature"];
    const always = ["merchant", "mint", "rentPayer", "attestor", "createdSeq", "sessionKey"];
    fc.assert(
      fc.property(anyEscrow(deployment), fc.integer({ min: 1, max: 255 }), (escrow, mask) => {
        const data = encodeEscrowAccount(escrow);
        const allowed = new Set([...always, ...free[escrow.state]]);
        if (escrow.attestation !== null) for (const field of paid) allowed.add(field);
        if (escrow.sessionKey !== null) for (const field of ofSession) allowed.add(field);
        if (escrow.sessionKey !== null && escrow.attestation !== null) allowed.add("released");
        for (let offset = 0; offset < data.length; offset++) {
          const mutated = data.with(offset, (data[offset] ?? 0) ^ mask);
          const decoded = decode(escrow, mutated);
          if ("fault" in decoded) continue;
          if (!allowed.has(fieldAt(offset)))
            throw new Error(`accepted a changed ${fieldAt(offset)} at ${offset}`);
          const { value } = decoded;
          if (value.address !== escrow.address || value.state !== escrow.state)
            throw new Error("became another escrow");
          if (Buffer.compare(encodeEscrowAccount(value), mutated) !== 0)
            throw new Error("decoded to something else than the bytes say");
        }
      }),
      runs(25),
    );
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

  test("random bytes, shorter or longer ones, are not an escrow and never throw", () => {
    fc.assert(
      fc.property(anyEscrow(deployment), fc.uint8Array({ maxLength: 500 }), (escrow, junk) => {
        expect(decode(escrow, junk)).toHaveProperty("fault");
        const data = encodeEscrowAccount(escrow);
        const tail = data.slice();
        tail.set(junk.subarray(0, 360), 8);
        if (junk.length > 8) expect(decode(escrow, tail)).toHaveProperty("fault");
        const length = junk.length === ESCROW_ACCOUNT_LENGTH ? 0 : junk.length;
        const resized = new Uint8Array(length);
        resized.set(data.subarray(0, length));
        expect(decode(escrow, resized)).toEqual({ fault: "wrong_length" });
      }),
      runs(300),
    );
  });

  test("an escrow counts only at its own address and under its own programs", () => {
    fc.assert(
      fc.property(anyEscrow(deployment), anyAddress, (escrow, other) => {
        const data = encodeEscrowAccount(escrow);
        fc.pre(other !== escrow.address && other !== deployment.custodyProgram);
        expect(decode({ ...escrow, address: other }, data)).toEqual({
          fault: "address_not_derived",
        });
        expect(
          decodeEscrowAccount({ address: escrow.address, owner: other, data }, deployment),
        ).toEqual({ fault: "wrong_owner" });
        expect(decode(escrow, data, { ...deployment, custodyProgram: other })).toEqual({
          fault: "address_not_derived",
        });
        const lowerBump = data.with(9, escrow.bump - 1);
        expect(decode(escrow, lowerBump)).toEqual({ fault: "address_not_derived" });
      }),
      runs(50),
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
            const ofVault = ["vaultBump", "mint"].includes(fieldAt(at));
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
