import { describe, expect, test } from "bun:test";
import { createNoopSigner, getAddressCodec, getProgramDerivedAddress } from "@solana/kit";
import {
  AccountState,
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTokenEncoder,
} from "@solana-program/token";
import fc from "fast-check";
import { address, addressFromBytes } from "../../../../core/domain/address.ts";
import {
  associatedTokenAddress,
  programDataAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import {
  createAssociatedTokenInstruction,
  decodeTokenAccount,
} from "../../../../core/protocol/accounts/token.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { anyAddress, anyU64 } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import {
  decodeProgramDataAccount,
  deployedProgramAccounts,
  encodeProgramDataAccount,
} from "../../../../core/protocol/accounts/loader-v3.ts";

describe("associated token account", () => {
  test("the SPL client derives the same address for any owner and mint", async () => {
    await fc.assert(
      fc.asyncProperty(anyAddress, anyAddress, async (owner, mint) => {
        const seeds = { owner, mint, tokenProgram: TOKEN_PROGRAM };
        const [expected] = await findAssociatedTokenPda(seeds);
        expect(associatedTokenAddress(owner, mint) as string).toBe(expected);
      }),
      runs(50),
    );
  });

  test("the SPL client builds the same CreateIdempotent", () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, anyAddress, (payer, owner, mint) => {
        const ours = createAssociatedTokenInstruction({ payer, owner, mint });
        const theirs = getCreateAssociatedTokenIdempotentInstruction({
          payer: createNoopSigner(payer),
          ata: associatedTokenAddress(owner, mint),
          owner,
          mint,
        });
        expect(ours.programAddress as string).toBe(theirs.programAddress);
        expect(Array.from(ours.data)).toEqual(Array.from(theirs.data));
        expect(ours.accounts as unknown).toEqual(
          theirs.accounts.map(({ address, role }) => ({ address, role })),
        );
      }),
      runs(50),
    );
  });
});

describe("token account", () => {
  const anyToken = fc.record({
    mint: anyAddress,
    owner: anyAddress,
    amount: anyU64,
    delegate: fc.option(anyAddress),
    isNative: fc.option(anyU64),
    delegatedAmount: anyU64,
    closeAuthority: fc.option(anyAddress),
    state: fc.constantFrom(
      AccountState.Uninitialized,
      AccountState.Initialized,
      AccountState.Frozen,
    ),
  });

  test("an account written by the SPL client is read if it is initialised", () => {
    fc.assert(
      fc.property(anyToken, (token) => {
        const data = new Uint8Array(getTokenEncoder().encode(token));
        const { mint, owner, amount, state, delegate, closeAuthority } = token;
        const expected =
          state === AccountState.Uninitialized
            ? undefined
            : {
                mint,
                owner,
                amount,
                frozen: state === AccountState.Frozen,
                delegate,
                closeAuthority,
              };
        expect(decodeTokenAccount({ owner: TOKEN_PROGRAM, data })).toEqual(expected);
      }),
      runs(100),
    );
  });

  test("a cleared delegate or close authority is null, whatever bytes follow its zero tag", () => {
    const data = new Uint8Array(165).fill(0xff);
    data[108] = 1;
    for (const at of [72, 129]) data.fill(0, at, at + 4);
    expect(decodeTokenAccount({ owner: TOKEN_PROGRAM, data })).toMatchObject({
      delegate: null,
      closeAuthority: null,
    });
  });

  test("another owner, length or state is not a token account", () => {
    const data = new Uint8Array(165);
    data[108] = 1;
    expect(decodeTokenAccount({ owner: TOKEN_PROGRAM, data })).toBeDefined();
    expect(decodeTokenAccount({ owner: SYSTEM_PROGRAM, data })).toBeUndefined();
    expect(decodeTokenAccount({ owner: TOKEN_PROGRAM, data: data.with(108, 3) })).toBeUndefined();
    for (const length of [0, 82, 164, 166, 355]) {
      const resized = new Uint8Array(length).fill(1);
      expect(decodeTokenAccount({ owner: TOKEN_PROGRAM, data: resized })).toBeUndefined();
    }
  });
});

test("a program's data account is derived by the upgradeable loader from its address alone", async () => {
  await fc.assert(
    fc.asyncProperty(anyAddress, async (program) => {
      const [expected] = await getProgramDerivedAddress({
        programAddress: address("BPFLoaderUpgradeab1e11111111111111111111111"),
        seeds: [getAddressCodec().encode(program)],
      });
      expect(programDataAddress(program) as string).toBe(expected);
    }),
    runs(20),
  );
});

describe("loader v3", () => {
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
});
