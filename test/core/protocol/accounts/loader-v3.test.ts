import { expect, test } from "bun:test";
import fc from "fast-check";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import {
  decodeProgramDataAccount,
  deployedProgramAccounts,
  encodeProgramDataAccount,
} from "../../../../core/protocol/accounts/loader-v3.ts";
import {
  SYSTEM_PROGRAM,
  UPGRADEABLE_LOADER,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";

const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes);
const programData = fc.record({
  slot: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  upgradeAuthority: fc.option(address),
  elf: fc.uint8Array({ maxLength: 300 }),
});

test("a ProgramData account decodes to what was encoded", () => {
  fc.assert(
    fc.property(programData, (value) => {
      const data = encodeProgramDataAccount(value);
      expect(decodeProgramDataAccount({ owner: UPGRADEABLE_LOADER, data })).toEqual(value);
    }),
  );
});

test("an account of another owner, tag or length is not a ProgramData account", () => {
  const data = encodeProgramDataAccount({
    slot: 1n,
    upgradeAuthority: null,
    elf: new Uint8Array(8),
  });
  expect(decodeProgramDataAccount({ owner: SYSTEM_PROGRAM, data })).toBeUndefined();
  expect(
    decodeProgramDataAccount({ owner: UPGRADEABLE_LOADER, data: data.subarray(0, 44) }),
  ).toBeUndefined();
  const buffer = data.with(0, 1);
  expect(decodeProgramDataAccount({ owner: UPGRADEABLE_LOADER, data: buffer })).toBeUndefined();
  const strangeOption = data.with(12, 2);
  expect(
    decodeProgramDataAccount({ owner: UPGRADEABLE_LOADER, data: strangeOption }),
  ).toBeUndefined();
});

test("a deployed program is its ProgramData and an executable account that points to it", () => {
  fc.assert(
    fc.property(address, programData, (program, value) => {
      const [data, code] = deployedProgramAccounts(program, value, (bytes) => BigInt(bytes));
      expect(code).toMatchObject({ address: program, executable: true, lamports: 36n });
      expect(addressFromBytes(code.data.slice(4))).toBe(data.address);
      expect(data).toMatchObject({ owner: UPGRADEABLE_LOADER, executable: false });
    }),
    { numRuns: 20 },
  );
});
