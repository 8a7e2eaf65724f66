import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Address, address } from "../../../../core/domain/address.ts";
import type { Decoded } from "../../../../core/domain/ledger/account.ts";
import type { Deployment } from "../../../../core/domain/ledger/deployment.ts";
import { anyAddress } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

export const deployment: Deployment = {
  custodyProgram: address("Custody111111111111111111111111111111111111"),
  attestorProgram: address("Attestor11111111111111111111111111111111111"),
};

/** The field that holds the byte at an offset, by the fields of an account with their codecs, in order. */
export const fieldAt = (
  fields: ReadonlyArray<readonly [string, { readonly fixedSize: number }]>,
  offset: number,
): string => {
  let end = 0;
  return fields.find(([, { fixedSize }]) => offset < (end += fixedSize))?.[0] ?? "none";
};

type Kind<T> = {
  readonly any: fc.Arbitrary<T>;
  readonly length: number;
  readonly program: keyof Deployment & ("custodyProgram" | "attestorProgram");
  readonly encode: (value: T) => Uint8Array;
  readonly decode: (
    account: { readonly address: Address; readonly owner: Address; readonly data: Uint8Array },
    deployment: Deployment,
  ) => Decoded<T>;
  /** The account's bytes, written with another library's codecs. */
  readonly byKit: (value: T) => Uint8Array;
  readonly fieldAt: (offset: number) => string;
  /** Whether the address of this value leaves a field free, so that a changed byte of it can be another valid account. */
  readonly isFree: (value: T, field: string) => boolean;
};

/** The tests of an account that stands at an address which its own fields derive. */
export const derivedAccountContract = <
  T extends { readonly address: Address; readonly bump: number },
>(
  kind: Kind<T>,
): void => {
  const { any, length, program, encode, isFree } = kind;
  const decode = (value: T, data: Uint8Array, under = deployment) =>
    kind.decode({ address: value.address, owner: under[program], data }, under);

  test("each decodes to itself, also inside a larger buffer, from bytes that another library writes the same", () => {
    fc.assert(
      fc.property(any, fc.nat({ max: 20 }), (value, before) => {
        const data = encode(value);
        expect(data).toEqual(kind.byKit(value));
        expect(decode(value, data)).toEqual({ value });
        const buffer = Buffer.concat([Buffer.alloc(before, 0xaa), data, Buffer.alloc(9, 0xaa)]);
        expect(decode(value, buffer.subarray(before, before + length))).toEqual({ value });
      }),
      runs(300),
    );
  });

  test("a changed byte is refused, or sits in a field that the address does not bind", () => {
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 255 }), (value, mask) => {
        const data = encode(value);
        for (let offset = 0; offset < data.length; offset++) {
          const mutated = data.with(offset, (data[offset] ?? 0) ^ mask);
          const decoded = decode(value, mutated);
          if ("fault" in decoded) continue;
          if (!isFree(value, kind.fieldAt(offset)))
            throw new Error(`accepted a changed ${kind.fieldAt(offset)} at ${offset}`);
          if (Buffer.compare(encode(decoded.value), mutated) !== 0)
            throw new Error("decoded to something else than the bytes say");
        }
      }),
      runs(25),
    );
  });

  test("random bytes, shorter or longer ones, are refused and never throw", () => {
    fc.assert(
      fc.property(any, fc.uint8Array({ maxLength: length + 90 }), (value, junk) => {
        expect(decode(value, junk)).toHaveProperty("fault");
        const data = encode(value);
        const tail = data.slice();
        tail.set(junk.subarray(0, length - 8), 8);
        if (junk.length > 8) expect(decode(value, tail)).toHaveProperty("fault");
        const resized = new Uint8Array(junk.length === length ? 0 : junk.length);
        resized.set(data.subarray(0, resized.length));
        expect(decode(value, resized)).toEqual({ fault: "wrong_length" });
      }),
      runs(300),
    );
  });

  test("each counts only at its own address and under its own programs", () => {
    fc.assert(
      fc.property(any, anyAddress, (value, other) => {
        fc.pre(other !== value.address && other !== deployment[program]);
        const data = encode(value);
        const notDerived = { fault: "address_not_derived" } as const;
        expect(decode({ ...value, address: other }, data)).toEqual(notDerived);
        expect(decode(value, data, { ...deployment, [program]: other })).toEqual(notDerived);
        expect(decode(value, data.with(9, value.bump - 1))).toEqual(notDerived);
        const stranger = { address: value.address, owner: other, data };
        expect(kind.decode(stranger, deployment)).toEqual({ fault: "wrong_owner" });
      }),
      runs(50),
    );
  });
};
