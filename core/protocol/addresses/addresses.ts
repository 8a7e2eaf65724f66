import { type Address, addressToBytes } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { type Hash32, hash32ToBytes } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import {
  findProgramDerivedAddress,
  type ProgramDerivedAddress,
  programDerivedAddressAt,
} from "./program-derived-address.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from "./well-known-addresses.ts";

/**
 * Memoizes `compute(key, scope)`. Keeps the last `capacity` to `2 * capacity` keys, with one scope each: the latest.
 * For pure functions only, and for keys that rarely come with several scopes. A joined key would cost a concatenation
 * and a hash on each call.
 */
export const memoized = <Key extends string, Scope extends string, Result>(
  capacity: number,
  compute: (key: Key, scope: Scope) => Result,
): ((key: Key, scope: Scope) => Result) => {
  const results = new RecentlyUsed<Key, { readonly scope: Scope; readonly result: Result }>(
    capacity,
  );
  return (key, scope) => {
    const known = results.get(key);
    if (known?.scope === scope) return known.result;
    const result = compute(key, scope);
    results.set(key, { scope, result });
    return result;
  };
};

const utf8 = new TextEncoder();
const ESCROW = utf8.encode("escrow");
const CONFIG = utf8.encode("config");
const MERCHANT = utf8.encode("merchant");
const REGISTRY = utf8.encode("registry");
const TOKEN_PROGRAM_BYTES = addressToBytes(TOKEN_PROGRAM);

/**
 * Addresses kept of each kind. A row of a page names a merchant account and two or three token accounts; deriving them
 * each time is four fifths of the page's cost. At about 300 bytes each they take 12 MB at most.
 */
const MEMOIZED = 10_000;
/** A process has one deployment; tests have several. */
const MEMOIZED_PROGRAMS = 16;

/** What an escrow's address derives from: the 32 bytes of the agent wallet and the 32 bytes of the task hash. */
export const escrowSeeds = (
  agentOwner: Uint8Array,
  taskHash: Uint8Array,
): ReadonlyArray<Uint8Array> => [ESCROW, agentOwner, taskHash];

/** The escrow of one agent wallet and task hash. See docs/protocol.md, "Addresses". */
export const escrowAddress = (
  deployment: Deployment,
  agentOwner: Address,
  taskHash: Hash32,
): ProgramDerivedAddress =>
  findProgramDerivedAddress(
    deployment.custodyProgram,
    escrowSeeds(addressToBytes(agentOwner), hash32ToBytes(taskHash)),
  );

/** The custody program's one configuration account. */
export const custodyConfigAddress = (deployment: Deployment): ProgramDerivedAddress =>
  configOf(deployment.custodyProgram, "config");

const configOf = memoized(MEMOIZED_PROGRAMS, (program: Address) =>
  findProgramDerivedAddress(program, [CONFIG]),
);

/** The merchant account of a merchant wallet. */
export const merchantAddress = (deployment: Deployment, wallet: Address): ProgramDerivedAddress =>
  merchantOf(wallet, deployment.attestorProgram);

const merchantOf = memoized(MEMOIZED, (wallet: Address, program: Address) =>
  findProgramDerivedAddress(program, [MERCHANT, addressToBytes(wallet)]),
);

/** The attestor program's one registry account. */
export const registryAddress = (deployment: Deployment): ProgramDerivedAddress =>
  findProgramDerivedAddress(deployment.attestorProgram, [REGISTRY]);

/** The associated SPL Token account of a wallet (or an escrow) for a mint. */
export const associatedTokenAddress = (owner: Address, mint: Address): Address =>
  tokenAccountOf(owner, mint).address;

/** The same with its bump, which settlement instructions carry. */
export const associatedToken = (owner: Address, mint: Address): ProgramDerivedAddress =>
  tokenAccountOf(owner, mint);

const tokenSeeds = (owner: Address, mint: Address): ReadonlyArray<Uint8Array> => [
  addressToBytes(owner),
  TOKEN_PROGRAM_BYTES,
  addressToBytes(mint),
];

const deriveTokenAccount = (owner: Address, mint: Address): ProgramDerivedAddress =>
  findProgramDerivedAddress(ASSOCIATED_TOKEN_PROGRAM, tokenSeeds(owner, mint));

const tokenAccountOf = memoized(MEMOIZED, deriveTokenAccount);

/**
 * The vault of a decoded escrow. Its account keeps the bump, which is the canonical one: the decoder has found so, or
 * the log's root proves that the custody program wrote it. So this takes one hash and no search.
 */
export const vaultAddress = ({
  address,
  mint,
  vaultBump,
}: Pick<Escrow, "address" | "mint" | "vaultBump">): Address =>
  programDerivedAddressAt(ASSOCIATED_TOKEN_PROGRAM, tokenSeeds(address, mint), vaultBump);

/** The account in which the upgradeable loader keeps a program's code and upgrade authority. */
export const programDataAddress = (program: Address): Address =>
  findProgramDerivedAddress(UPGRADEABLE_LOADER, [addressToBytes(program)]).address;

/** The derived addresses that `create_escrow` names. */
export type CreateEscrowAddresses = {
  readonly escrow: ProgramDerivedAddress;
  readonly merchantAccount: ProgramDerivedAddress;
  readonly vaultTokenAccount: Address;
  readonly agentTokenAccount: Address;
  readonly config: Address;
};

/** The addresses that follow from an escrow's terms, before it exists. */
export const createEscrowAddresses = (
  deployment: Deployment,
  terms: {
    readonly agentOwner: Address;
    readonly merchant: Address;
    readonly mint: Address;
    readonly taskHash: Hash32;
  },
): CreateEscrowAddresses => {
  const escrow = escrowAddress(deployment, terms.agentOwner, terms.taskHash);
  return {
    escrow,
    merchantAccount: merchantAddress(deployment, terms.merchant),
    // The escrow does not exist yet: keeping its vault would push out addresses that are asked for again.
    vaultTokenAccount: deriveTokenAccount(escrow.address, terms.mint).address,
    agentTokenAccount: associatedTokenAddress(terms.agentOwner, terms.mint),
    config: custodyConfigAddress(deployment).address,
  };
};
