import { describe, expect, test } from "bun:test";
import { createNoopSigner, getAddressCodec, getProgramDerivedAddress } from "@solana/kit";
import {
  AccountState,
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTokenEncoder,
} from "@solana-program/token";
import fc from "fast-check";
import { address } from "../../../../core/domain/address.ts";
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
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { anyAddress, anyU64 } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

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
