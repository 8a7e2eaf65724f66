import { describe, expect, test } from "bun:test";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { deployedProgramAccounts } from "../../../../core/protocol/accounts/loader-v3.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { programStatus } from "../../../../core/use-cases/service/program-status.ts";
import { binaryPath, PROGRAM_NAMES, SBPF_VERSIONS } from "../../../../programs/compile.ts";

const ADDRESSES = {
  custody: LOCAL_DEPLOYMENT.custodyProgram,
  attestor: LOCAL_DEPLOYMENT.attestorProgram,
} as const;
const AUTHORITY = addressFromBytes(new Uint8Array(32).fill(7));

const statusOf = (name: keyof typeof ADDRESSES, elf: Uint8Array) => {
  const [data, program] = deployedProgramAccounts(
    ADDRESSES[name],
    { slot: 1n, upgradeAuthority: AUTHORITY, elf },
    () => 1n,
  );
  return programStatus(name, ADDRESSES[name], { program, data }, true, []);
};

describe.each([...PROGRAM_NAMES])("the status of %s", (name) => {
  test.each([...SBPF_VERSIONS])(
    "names the deployed version %s, and knows our file of it",
    async (version) => {
      const elf = await Bun.file(binaryPath(name, version)).bytes();
      const known = { sbpfVersion: Number(version.slice(1)), isOurs: true };
      expect(statusOf(name, elf)).toMatchObject(known);
      // A deployed program has reserved zero bytes after it.
      const roomy = new Uint8Array(elf.length + 100);
      roomy.set(elf);
      expect(statusOf(name, roomy)).toMatchObject(known);
      const changed = elf.with(elf.length - 1, (elf.at(-1) ?? 0) ^ 1);
      expect(statusOf(name, changed)).toMatchObject({ ...known, isOurs: false });
      const other = name === "custody" ? "attestor" : "custody";
      expect(statusOf(other, elf)).toMatchObject({ ...known, isOurs: false });
      // A file that claims another version is compared with that version's binary.
      const mislabelled = elf.with(48, known.sbpfVersion === 0 ? 3 : 0);
      expect(statusOf(name, mislabelled).isOurs).toBe(false);
    },
  );

  test("is null for an account that is not an ELF or does not exist", () => {
    expect(statusOf(name, Uint8Array.of(1, 2, 3))).toMatchObject({
      sbpfVersion: null,
      isOurs: false,
    });
    expect(
      programStatus(name, ADDRESSES[name], { program: null, data: null }, false, []),
    ).toMatchObject({
      deployed: false,
      sbpfVersion: null,
      isOurs: null,
    });
    expect(programStatus(name, ADDRESSES[name], null, null, [])).toMatchObject({ isOurs: null });
  });
});
