import { createHash } from "node:crypto";
import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import { AccountRole, type Instruction } from "../../../core/domain/ledger/instruction.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { rent, TOKEN_BYTES } from "./account.ts";
import { limit, refundCall, rentCall, type Target } from "./calls.ts";
import { fallbackOf } from "./cast.ts";
import { FEES } from "./machine.ts";
import type { LiveLedger } from "./live-ledger.ts";
import { unsignedTransaction } from "./wire.ts";
import { associatedOf } from "./world.ts";

// What an honest party prepares: every transaction that it signs at once, before anybody else moves. The rules are
// those of docs/protocol.md, "custody"; each can be left out, and the explorer must notice.

/** The rules that a kit can leave out. */
export const KIT_RULES = [
  /** The settlement alone is prepared beside the whole form. */
  "bare form",
  /** The settlement alone goes first when less than a minute is left. */
  "bare form first near the end",
  /** A payee without a usable account gets one in the same transaction. */
  "made account",
  /** What is made stands even where somebody has sent lamports before. */
  "made account allows lamports",
  /** A settlement does not limit the bytes that it loads. */
  "any size",
  /** A settlement asks for 150,000 compute units. */
  "enough units",
  /** A settled escrow that may be archived at any moment is prepared for both ways. */
  "last bytes",
] as const;

export type Rule = (typeof KIT_RULES)[number];

/** A prepared transaction. */
export type Prepared = {
  readonly form: string;
  readonly instructions: ReadonlyArray<Instruction>;
  /** What must have landed before it, where both do not fit into one transaction. */
  readonly first?: ReadonlyArray<Instruction>;
  /** Sent beside the next one, of which only one can land: near the end there is no time to see it fail. */
  readonly besideNext?: boolean;
};

const system = (
  data: Uint8Array,
  accounts: ReadonlyArray<readonly [Address, AccountRole]>,
): Instruction => ({
  programAddress: SYSTEM_PROGRAM,
  accounts: accounts.map(([address, role]) => ({ address, role })),
  data,
});

const { writable, writableSigner, readonlySigner, readonly } = AccountRole;
const utf8 = new TextEncoder();

/** Where the fee payer makes an account by a seed (Agave `Pubkey::create_with_seed`). */
export const seededAddress = (seed: string): Address => {
  const hash = createHash("sha256");
  hash.update(addressToBytes(FEES)).update(seed).update(addressToBytes(TOKEN_PROGRAM));
  return addressFromBytes(new Uint8Array(hash.digest()));
};

/** A token account of a holder, made at a seeded address in the same transaction; the holder signs nothing. */
const making = (
  holder: Address,
  mint: Address,
  seed: string,
  allowsLamports: boolean,
): ReadonlyArray<Instruction> => {
  const made = seededAddress(seed);
  const lamports = rent(TOKEN_BYTES);
  const text = utf8.encode(seed);
  const seeded = (instruction: number, more: number) =>
    fieldWriter(44 + text.length + more)
      .u32(instruction)
      .address(FEES)
      .u64(BigInt(text.length))
      .bytes(text);
  const initialize: Instruction = {
    programAddress: TOKEN_PROGRAM,
    accounts: [
      { address: made, role: writable },
      { address: mint, role: readonly },
    ],
    data: fieldWriter(33).u8(18).address(holder).done(),
  };
  // CreateAccountWithSeed refuses an address that has lamports: anybody could send some there.
  if (!allowsLamports)
    return [
      system(seeded(3, 48).u64(lamports).u64(BigInt(TOKEN_BYTES)).address(TOKEN_PROGRAM).done(), [
        [FEES, writableSigner],
        [made, writable],
      ]),
      initialize,
    ];
  return [
    system(fieldWriter(12).u32(2).u64(lamports).done(), [
      [FEES, writableSigner],
      [made, writable],
    ]),
    system(seeded(9, 40).u64(BigInt(TOKEN_BYTES)).address(TOKEN_PROGRAM).done(), [
      [made, writable],
      [FEES, readonlySigner],
    ]),
    initialize,
  ];
};

/** The most bytes of a prepared transaction: 100 below the ledger's limit, for what wallets add. */
const MOST_PREPARED = 1132;

const isPrepared = (instructions: ReadonlyArray<Instruction>): boolean =>
  unsignedTransaction(FEES, instructions).length <= MOST_PREPARED;

/** What a settlement is about. */
export type Purpose = {
  readonly target: Target;
  /** The instructions without which nothing is settled; `fallback` is the payee's other account. */
  readonly main: (
    fallback: Address | undefined,
    lastBytes?: Uint8Array,
  ) => ReadonlyArray<Instruction>;
  /** Who is paid; undefined where nobody is. */
  readonly payee?: Address;
  /** Whether units stay in the vault, open behind the settlement. */
  readonly leavesVault: boolean;
  /** Whether it is a settlement, with a refund and rent to fetch behind it. */
  readonly settles: boolean;
  /** Units that stay for the agent. */
  readonly rest: bigint;
  /** When the purpose is lost, in Unix seconds. */
  readonly until?: bigint;
  /** The account's bytes, of a settled escrow that can be archived. */
  readonly archivable?: Uint8Array;
};

/** The account of a payee that custody would pay, undefined without one. */
const usable = (ledger: LiveLedger, holder: Address, mint: Address): Address | undefined => {
  const associated = associatedOf(holder, mint).address;
  if (ledger.isPayable(associated, holder, mint)) return associated;
  const other = fallbackOf(holder, mint);
  return ledger.isPayable(other, holder, mint) && !ledger.isShared(other) ? other : undefined;
};

/** Every transaction that an honest party prepares for a purpose, in the order in which they go. */
export const prepare = (
  ledger: LiveLedger,
  { target, main, payee, leavesVault, settles, rest, until, archivable }: Purpose,
  seed: string,
  without: ReadonlySet<Rule>,
): ReadonlyArray<Prepared> => {
  const { mint } = target;
  const budget = [
    limit("units", without.has("enough units") ? 9_000 : 150_000),
    ...(without.has("any size") ? [limit("loaded", 327_680)] : []),
  ].map(({ sent }) => sent);
  const other = payee && fallbackOf(payee, mint);
  const fallback =
    other && ledger.isPayable(other, payee, mint) && !ledger.isShared(other) ? other : undefined;
  const agentPaid = usable(ledger, target.agent, mint);
  const refund =
    leavesVault && (rest === 0n || agentPaid !== undefined)
      ? [
          refundCall(
            agentPaid === associatedOf(target.agent, mint).address || agentPaid === undefined
              ? target
              : { ...target, agentFallback: agentPaid },
            undefined,
            rest === 0n ? null : undefined,
          ).sent,
        ]
      : [];
  const madeForm = (making: ReadonlyArray<Instruction>, lastBytes?: Uint8Array): Prepared => {
    const paying = main(seededAddress(seed), lastBytes);
    const together = [...budget, ...making, ...paying];
    return isPrepared(together)
      ? { form: "made", instructions: together }
      : { form: "made before", first: making, instructions: [...budget, ...paying] };
  };
  const forms = (lastBytes?: Uint8Array): ReadonlyArray<Prepared> => {
    const more = settles && lastBytes === undefined ? [...refund, rentCall(target).sent] : [];
    const bare = { form: "bare", instructions: [...budget, ...main(fallback, lastBytes)] };
    // What does not fit is left out, the rent first.
    const fitting = [more, more.slice(0, -1), []].find((each) =>
      isPrepared([...bare.instructions, ...each]),
    );
    const whole = { form: "whole", instructions: [...bare.instructions, ...(fitting ?? [])] };
    const made =
      payee === undefined || without.has("made account")
        ? []
        : [
            madeForm(
              making(payee, mint, seed, !without.has("made account allows lamports")),
              lastBytes,
            ),
          ];
    const isNear = until !== undefined && until - ledger.time < 60n;
    const bareFirst = isNear && !without.has("bare form first near the end");
    if (bareFirst) return [{ ...bare, besideNext: made.length > 0 }, ...made, whole];
    const plain = more.length === 0 ? [bare] : without.has("bare form") ? [whole] : [whole, bare];
    return [...plain, ...made];
  };
  const both = archivable !== undefined && !without.has("last bytes");
  return [...forms(), ...(both ? forms(archivable) : [])];
};
