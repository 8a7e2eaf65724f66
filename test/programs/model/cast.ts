import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { type Wallet, wallet } from "../fixture/wallet.ts";
import { type Account, ESCROW_BYTES, RATE, rent } from "./account.ts";
import { AUTHORITY } from "./machine.ts";
import {
  associatedOf,
  ATTESTOR_DATA,
  CONFIG,
  CUSTODY_DATA,
  escrowOf,
  merchantOf,
  PROGRAMS,
  REGISTRY,
  type World,
} from "./world.ts";

// The parties and accounts of the model. The first of each list is an honest sender's choice.

export const START = 1_767_225_600n;
export const AGENTS = [wallet("agent").address, wallet("second agent").address] as const;
/** An agent can be a merchant too, even its own. */
export const MERCHANTS = [
  wallet("merchant").address,
  wallet("second merchant").address,
  AGENTS[0],
] as const;
export const PAYERS = [AGENTS[0], wallet("sponsor").address] as const;
export const STRANGER = wallet("stranger").address;
export const ADMINS = [AUTHORITY, wallet("second admin").address, STRANGER] as const;
export const ATTESTORS: readonly [Wallet, ...ReadonlyArray<Wallet>] = [
  wallet("attestor"),
  wallet("second attestor"),
  wallet("merchant"),
];
/** The keys that sign the vouchers of sessions. */
export const SESSION_KEYS: readonly [Wallet, ...ReadonlyArray<Wallet>] = [
  wallet("session key"),
  wallet("second session key"),
];
export const MINTS = [wallet("settlement mint").address, wallet("other mint").address] as const;
const hashOf = (byte: number) => hash32FromBytes(new Uint8Array(32).fill(byte));
export const TASKS = [1, 2, 3, 4, 5, 6, 7, 8].map(hashOf);
export const PROOFS = [hashOf(0x22), hashOf(0x23)] as const;

const HOLDERS = [...new Set([...AGENTS, ...MERCHANTS])];

/** A payee's other account of a mint. */
export const fallbackOf = (holder: Address, mint: Address): Address =>
  wallet(`fallback ${holder} ${mint}`).address;

const fallbacks = new Map(
  HOLDERS.flatMap((holder) =>
    MINTS.map((mint) => [`${holder}${mint}`, fallbackOf(holder, mint)] as const),
  ),
);

/** Every token account that a payee may have. */
export const TOKEN_PLACES: ReadonlyArray<{
  readonly address: Address;
  readonly holder: Address;
  readonly mint: Address;
}> = HOLDERS.flatMap((holder) =>
  MINTS.flatMap((mint) => [
    { address: associatedOf(holder, mint).address, holder, mint },
    { address: fallbacks.get(`${holder}${mint}`) ?? ZERO_ADDRESS, holder, mint },
  ]),
);

/** Every escrow that there can be. */
export const ESCROWS = AGENTS.flatMap((agent) =>
  TASKS.map((task) => ({ agent, task, address: escrowOf(agent, task).address })),
);

/** Every vault that there can be, with its escrow. */
export const VAULTS = ESCROWS.flatMap(({ address: escrow }) =>
  MINTS.map((mint) => ({ escrow, mint, address: associatedOf(escrow, mint).address })),
);

const WALLETS = [
  ...new Set([...AGENTS, ...MERCHANTS, ...PAYERS, ...ADMINS, STRANGER]),
] as ReadonlyArray<Address>;

/** Wallets that sign, to replace another signer. */
export const SIGNERS = WALLETS;

const FORGED = wallet("forged copy").address;

/** Replacements for the right account: every account of the model, forged copies, and an unused address. */
export const STRANGE: ReadonlyArray<Address> = [
  wallet("nowhere").address,
  FORGED,
  STRANGER,
  ...ESCROWS.map(({ address }) => address),
  ...VAULTS.slice(0, 4).map(({ address }) => address),
  ...TOKEN_PLACES.map(({ address }) => address),
  ...MERCHANTS.map((each) => merchantOf(each).address),
  ...MINTS,
  CONFIG.address,
  REGISTRY.address,
  CUSTODY_DATA,
  PROGRAMS.custodyProgram,
  PROGRAMS.attestorProgram,
  TOKEN_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  INSTRUCTIONS_SYSVAR,
];

/** Programs that exist from the start. A random choice must not record one of them as a partner. */
export const EXECUTABLE: ReadonlySet<Address> = new Set([
  PROGRAMS.custodyProgram,
  PROGRAMS.attestorProgram,
  TOKEN_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
]);

/** What a ledger has when both programs are deployed and nothing else has happened. */
export const deployedWorld = (): World => {
  const accounts = new Map<Address, Account>();
  for (const each of WALLETS)
    accounts.set(each, { lamports: 1_000_000_000_000n, content: { kind: "wallet" } });
  for (const mint of MINTS) accounts.set(mint, { lamports: rent(82), content: { kind: "mint" } });
  for (const { address, holder, mint } of TOKEN_PLACES)
    accounts.set(address, {
      lamports: rent(165),
      content: {
        kind: "token",
        mint,
        holder,
        amount: (AGENTS as ReadonlyArray<Address>).includes(holder) ? 1_000_000_000n : 0n,
        delegate: null,
        closeAuthority: null,
        frozen: false,
      },
    });
  for (const each of EXECUTABLE) accounts.set(each, { lamports: 1n, content: { kind: "program" } });
  for (const each of [CUSTODY_DATA, ATTESTOR_DATA])
    accounts.set(each, { lamports: 1n, content: { kind: "programData", authority: AUTHORITY } });
  const data = new Uint8Array(ESCROW_BYTES).fill(7);
  accounts.set(FORGED, { lamports: rent(ESCROW_BYTES), content: { kind: "foreign", data } });
  return { time: START, rate: RATE, accounts };
};

/** The account at which forged copies of others lie. */
export const FORGERY = FORGED;
