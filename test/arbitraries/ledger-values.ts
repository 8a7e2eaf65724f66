import fc from "fast-check";
import { type Address, addressFromBytes } from "../../core/domain/address.ts";
import { MAX_U64 } from "../../core/domain/amount.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { type Hash32, hash32FromBytes } from "../../core/domain/hash32.ts";

/** Exactly `length` bytes: mostly random, sometimes all zero, all 255, or led by zeros. */
export const bytesOfLength = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.uint8Array({ minLength: length, maxLength: length }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 255).map((byte) => bytesFilledWith(length, byte)) },
    {
      weight: 1,
      arbitrary: fc
        .uint8Array({ minLength: length, maxLength: length })
        .chain((bytes) => fc.nat({ max: length }).map((zeros) => bytes.slice().fill(0, 0, zeros))),
    },
  );

const bytesFilledWith = (length: number, byte: number): Uint8Array =>
  new Uint8Array(length).fill(byte);

/** Any address, on the curve or off it. */
export const anyAddress: fc.Arbitrary<Address> = bytesOfLength(32).map(addressFromBytes);

/** Any hash. */
export const anyHash32: fc.Arbitrary<Hash32> = bytesOfLength(32).map(hash32FromBytes);

/** Any u64. The smallest and largest come more often than by chance. */
export const anyU64: fc.Arbitrary<bigint> = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: 0n, max: MAX_U64 }) },
  { weight: 2, arbitrary: fc.bigInt({ min: 0n, max: 1_000_000_000n }) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, MAX_U64) },
);

/** Any two programs. */
export const anyDeployment: fc.Arbitrary<Deployment> = fc
  .uniqueArray(anyAddress, { minLength: 2, maxLength: 2 })
  .map(([custodyProgram, attestorProgram]) => {
    if (custodyProgram === undefined || attestorProgram === undefined)
      throw new Error("uniqueArray gave fewer than asked for");
    return { custodyProgram, attestorProgram };
  });
