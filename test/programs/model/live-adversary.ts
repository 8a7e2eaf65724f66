import { type Address, address } from "../../../core/domain/address.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { rent, type Token, TOKEN_BYTES } from "./account.ts";
import type { Sent } from "./call.ts";
import { fallbackOf, STRANGER } from "./cast.ts";
import { MINT } from "./explored.ts";
import { seededAddress } from "./live-kit.ts";
import type { LiveLedger } from "./live-ledger.ts";
import { associatedOf } from "./world.ts";

/** Numbers that a seed determines (Marsaglia's xorshift, 32 bits). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds begin far from each other, and none at zero.
    this.#state = (Math.imul(seed + 1, 0x9e37_79b1) ^ 0x5bd1_e995) >>> 0 || 1;
    for (let i = 0; i < 4; i++) this.#next();
  }

  #next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state;
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return (this.#next() >>> 4) % count;
  }

  /** One of a list. @throws Error for an empty list. */
  of<Value>(values: ReadonlyArray<Value>): Value {
    if (values.length === 0) throw new Error("nothing to choose from");
    return values[this.below(values.length)] as Value;
  }
}

const MOST = 10 * 1024 * 1024;
/** More than a transaction may load that limits it. */
export const GROWN = 320 * 1024;
const RICH = 1_000_000_000_000n;
/** Whose executable accounts the virtual machine does not compile: it would keep every one of them. */
const LOADER = address("NativeLoader1111111111111111111111111111111");
/** What stands where a holder of a key has deployed a program; nobody calls it. */
const PROGRAM = new Uint8Array(36);

/** A token account of MINT on which nobody else has a right. */
export const tokenOf = (holder: Address, amount: bigint): Token => ({
  kind: "token",
  mint: MINT,
  holder,
  amount,
  delegate: null,
  closeAuthority: null,
  frozen: false,
});

/** What the holder of a key can do to an account at that key's own address: size, owner, executable, closed. */
export const changeOwn = (ledger: LiveLedger, dice: Dice, address: Address): void => {
  switch (dice.below(6)) {
    case 0:
      return ledger.setWallet(address, RICH, GROWN);
    case 1:
      // The most that an account holds; seldom, because it takes long.
      return ledger.setWallet(address, RICH, dice.below(32) === 0 ? MOST : GROWN);
    case 2:
      return ledger.setWallet(address, 0n);
    case 3:
      return ledger.set({
        address,
        owner: TOKEN_PROGRAM,
        lamports: RICH,
        executable: false,
        data: new Uint8Array(200),
      });
    case 4:
      return ledger.set({
        address,
        owner: LOADER,
        lamports: RICH,
        executable: true,
        data: PROGRAM,
      });
    default:
      return ledger.setWallet(address, RICH);
  }
};

/** What a holder can do to its token account: another owner, a delegate, a close authority, closed. */
const changeTokens = (ledger: LiveLedger, dice: Dice, holder: Address, address: Address): void => {
  const amount = ledger.units(address);
  const put = (change: Partial<Token>) =>
    ledger.setToken(address, rent(TOKEN_BYTES), { ...tokenOf(holder, amount), ...change });
  switch (dice.below(6)) {
    case 0:
    case 1:
      return ledger.setWallet(address, 0n);
    case 2:
      return put({ holder: STRANGER });
    case 3:
      return put({ delegate: STRANGER });
    case 4:
      return put({ closeAuthority: STRANGER });
    default:
      return put({ frozen: true });
  }
};

/** Everything that a dishonest party's keys control is changed, or some of it. */
export const changeAll = (ledger: LiveLedger, dice: Dice, party: Address): void => {
  if (dice.below(4) > 0) changeOwn(ledger, dice, party);
  if (dice.below(4) > 0) changeTokens(ledger, dice, party, associatedOf(party, MINT).address);
  const other = fallbackOf(party, MINT);
  // That account has a key of its own: closed, it becomes whatever its holder likes.
  const which = dice.below(4);
  if (which < 2) changeTokens(ledger, dice, party, other);
  else if (which === 2) changeOwn(ledger, dice, other);
};

/**
 * What anybody can do to what others have: lamports and units are sent, an account is frozen by the mint's authority.
 */
export const meddle = (
  ledger: LiveLedger,
  dice: Dice,
  {
    escrow,
    vault,
    honest,
    seed,
  }: {
    readonly escrow: Address;
    readonly vault: Address;
    readonly honest: ReadonlyArray<Address>;
    readonly seed: string | undefined;
  },
): { readonly lamports: bigint; readonly units: bigint } => {
  const give = (address: Address, lamports: bigint): bigint => {
    const account = ledger.account(address);
    ledger.set({ ...account, lamports: account.lamports + lamports });
    return lamports;
  };
  const given = { lamports: 0n, units: 0n };
  if (dice.below(4) === 0 && ledger.account(escrow).lamports > 0n)
    given.lamports += give(escrow, dice.of([1n, 7n, rent(0)]));
  const held = ledger.account(vault);
  if (dice.below(4) === 0 && held.owner === TOKEN_PROGRAM) given.lamports += give(vault, 5n);
  if (dice.below(4) === 0 && held.owner === TOKEN_PROGRAM) {
    const holder = escrow;
    given.units = dice.of([1n, 77n]);
    const { lamports } = ledger.account(vault);
    ledger.setToken(vault, lamports, tokenOf(holder, ledger.units(vault) + given.units));
  }
  if (seed !== undefined && dice.below(2) === 0) give(seededAddress(seed), rent(0));
  for (const party of honest) {
    if (dice.below(3) > 0) continue;
    const address = dice.of([associatedOf(party, MINT).address, fallbackOf(party, MINT)]);
    const { owner, lamports } = ledger.account(address);
    if (owner !== TOKEN_PROGRAM) continue;
    ledger.setToken(address, lamports, { ...tokenOf(party, ledger.units(address)), frozen: true });
  }
  return given;
};

/** What anybody may land before the prepared transactions do. */
export const frontRun = (ledger: LiveLedger, dice: Dice, calls: ReadonlyArray<Sent>): void => {
  if (calls.length === 0 || dice.below(3) > 0) return;
  ledger.land(dice.of(calls).map(({ sent }) => sent));
};
