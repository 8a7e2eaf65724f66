import { describe, expect, test } from "bun:test";
import { getAddressEncoder } from "@solana/kit";
import fc from "fast-check";
import type { Address } from "../../../../core/domain/address.ts";
import type { Deployment } from "../../../../core/domain/ledger/deployment.ts";
import type { Decoded } from "../../../../core/domain/ledger/account.ts";
import {
  custodyConfigAddress,
  registryAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import {
  decodeAttestorRegistryAccount,
  decodeCustodyConfigAccount,
} from "../../../../core/protocol/accounts/settings-accounts.ts";
import { decodeClockSysvar } from "../../../../core/protocol/accounts/sysvars.ts";
import { accountDiscriminator } from "../../../doubles/discriminator.ts";
import { SYSTEM_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { anyAddress, anyDeployment } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { fieldsOf } from "../../../../core/protocol/accounts/byte-fields.ts";

const bytesOf = (...addresses: ReadonlyArray<Address>): Uint8Array =>
  Uint8Array.from(addresses.flatMap((each) => Array.from(getAddressEncoder().encode(each))));

/** Discriminator, version 3, bump, six zero bytes, the addresses, then the other fields. */
const account = (
  name: string,
  bump: number,
  addresses: ReadonlyArray<Address>,
  rest: Uint8Array,
): Uint8Array =>
  Buffer.concat([
    accountDiscriminator(name),
    Uint8Array.of(3, bump, 0, 0, 0, 0, 0, 0),
    bytesOf(...addresses),
    rest,
  ]);

/** One account for each program: its address, its owner and its content. */
const cases: ReadonlyArray<{
  readonly name: string;
  readonly place: (deployment: Deployment) => { readonly address: Address; readonly bump: number };
  readonly program: (deployment: Deployment) => Address;
  readonly fields: ReadonlyArray<string>;
  /** The bytes after the addresses, and the values decoded from them. */
  readonly rest: { readonly bytes: Uint8Array; readonly fields: object };
  readonly decode: (
    account: { readonly address: Address; readonly owner: Address; readonly data: Uint8Array },
    deployment: Deployment,
  ) => Decoded<object>;
}> = [
  {
    name: "CustodyConfig",
    place: custodyConfigAddress,
    program: ({ custodyProgram }) => custodyProgram,
    fields: ["attestorProgram"],
    rest: {
      bytes: Uint8Array.of(
        ...new Uint8Array(32).fill(0xab),
        ...[7, 0, 0, 0, 1, 0, 0, 0],
        ...new Uint8Array(1280).fill(0xcd),
      ),
      fields: {
        domain: "ab".repeat(32),
        // Leaf 0 is no event.
        count: 2n ** 32n + 6n,
        frontier: new Uint8Array(1280).fill(0xcd),
      },
    },
    decode: decodeCustodyConfigAccount,
  },
  {
    name: "Registry",
    place: registryAddress,
    program: ({ attestorProgram }) => attestorProgram,
    fields: ["admin", "custodyProgram", "settlementMint"],
    rest: { bytes: new Uint8Array(32), fields: { proposedAdmin: null } },
    decode: decodeAttestorRegistryAccount,
  },
];

describe.each(cases)("$name account", ({ name, place, program, fields, rest, decode }) => {
  const anyFields = fc.tuple(...fields.map(() => anyAddress));

  test("its fields are read, in order", () => {
    fc.assert(
      fc.property(anyDeployment, anyFields, (deployment, values) => {
        const { address, bump } = place(deployment);
        const data = account(name, bump, values, rest.bytes);
        const expected = Object.fromEntries(fields.map((field, i) => [field, values[i]]));
        const decoded = decode({ address, owner: program(deployment), data }, deployment);
        expect(decoded as unknown).toEqual({ value: { bump, ...expected, ...rest.fields } });
      }),
      runs(50),
    );
  });

  test("another owner, length, discriminator, version, bump, reserved byte or address is refused", () => {
    fc.assert(
      fc.property(anyDeployment, anyFields, anyAddress, (deployment, values, other) => {
        const { address, bump } = place(deployment);
        const owner = program(deployment);
        const data = account(name, bump, values, rest.bytes);
        fc.pre(other !== address && other !== owner);
        const fault = (changed: Uint8Array, at = address, by = owner) =>
          decode({ address: at, owner: by, data: changed }, deployment);
        expect(fault(data, address, other)).toEqual({ fault: "wrong_owner" });
        expect(fault(data.slice(1))).toEqual({ fault: "wrong_length" });
        expect(fault(Uint8Array.from([...data, 0]))).toEqual({ fault: "wrong_length" });
        for (let i = 0; i < 16; i++) {
          const expected =
            i < 8
              ? "wrong_discriminator"
              : i === 8
                ? "unknown_version"
                : i === 9
                  ? "address_not_derived"
                  : "reserved_bytes_set";
          expect(fault(data.with(i, (data[i] ?? 0) ^ 64))).toEqual({ fault: expected });
        }
        expect(fault(data, other)).toEqual({ fault: "address_not_derived" });
      }),
      runs(20),
    );
  });
});

test("the clock is the i64 at byte 32 of exactly 40 bytes", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (time) => {
      const data = new Uint8Array(40).fill(0xff);
      new DataView(data.buffer).setBigInt64(32, time, true);
      const account = {
        address: SYSTEM_PROGRAM,
        owner: SYSTEM_PROGRAM,
        lamports: 1n,
        executable: false,
        data,
      };
      expect(decodeClockSysvar(account)).toBe(time);
      expect(decodeClockSysvar({ ...account, data: data.slice(1) })).toBeUndefined();
      expect(decodeClockSysvar(null)).toBeUndefined();
    }),
    runs(50),
  );
});

/** Bytes in which whole fields are often all zero or all ones. */
const anyBytes = fc
  .array(fc.oneof(fc.constantFrom(0, 0x1f, 0x20, 0x7f, 0x80, 255), fc.nat(255)), { maxLength: 24 })
  .map((bytes) => Uint8Array.from(bytes));

/** The result of a read, or the kind of its error. */
const outcome = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (cause) {
    return cause instanceof RangeError ? "RangeError" : cause;
  }
};

test("numbers equal a DataView's, and a read past the end throws", () => {
  fc.assert(
    fc.property(anyBytes, fc.nat(26), (bytes, at) => {
      const fields = fieldsOf(bytes);
      const view = new DataView(bytes.buffer);
      expect(outcome(() => fields.u8(at))).toBe(outcome(() => view.getUint8(at)));
      expect(outcome(() => fields.u32(at))).toBe(outcome(() => view.getUint32(at, true)));
      expect(outcome(() => fields.u64(at))).toBe(outcome(() => view.getBigUint64(at, true)));
      expect(outcome(() => fields.i64(at))).toBe(outcome(() => view.getBigInt64(at, true)));
    }),
    runs(2000),
  );
});

test("bytes are copied, compared and tested for zero at their offset", () => {
  const bytes = Uint8Array.of(1, 0, 0, 2);
  const fields = fieldsOf(bytes);
  fields.bytes(0, 4).fill(9);
  expect(bytes).toEqual(Uint8Array.of(1, 0, 0, 2));
  expect([0, 1, 2].map((at) => fields.isZero(at, 2))).toEqual([false, true, false]);
  expect(fields.isAt(2, Uint8Array.of(0, 2))).toBe(true);
  expect(fields.isAt(2, Uint8Array.of(0, 3))).toBe(false);
  expect(fields.isAt(3, Uint8Array.of(2, 0))).toBe(false);
  expect(() => fields.bytes(2, 3)).toThrow(RangeError);
  expect(() => fields.isZero(4, 1)).toThrow(RangeError);
  expect(() => fields.address(0)).toThrow(RangeError);
  expect(() => fields.hash(0)).toThrow(RangeError);
});
