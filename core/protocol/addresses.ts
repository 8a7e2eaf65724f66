import { type Address, addressToBytes } from "../domain/address.ts";
import type { Deployment } from "../domain/deployment.ts";
import { type Hash32, hash32ToBytes } from "../domain/hash32.ts";
import {
  findProgramDerivedAddress,
  type ProgramDerivedAddress,
} from "./program-derived-address.ts";
import { remembered } from "./remembered.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
} from "./well-known-addresses.ts";

const utf8 = new TextEncoder();
const ESCROW = utf8.encode("escrow");
const CONFIG = utf8.encode("config");
const MERCHANT = utf8.encode("merchant");
const REGISTRY = utf8.encode("registry");

/**
 * A page of escrows names a merchant account and two or three token accounts a row: derived each time, they are
 * four fifths of the cost of the page. At about 300 bytes each, these take 12 MB at most.
 */
const REMEMBERED = 10_000;

const pairOf = (text: string): readonly [Address, Address] => {
  const [first, second] = text.split(" ");
  return [first as Address, second as Address];
};

/** What an escrow's address derives from: the 32 bytes of its agent's wallet and those of its task hash. */
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
  findProgramDerivedAddress(deployment.custodyProgram, [CONFIG]);

/** The merchant account of a merchant's wallet. */
export const merchantAddress = (deployment: Deployment, wallet: Address): ProgramDerivedAddress =>
  merchantOf(`${deployment.attestorProgram} ${wallet}`);

const merchantOf = remembered(REMEMBERED, (programAndWallet) => {
  const [program, wallet] = pairOf(programAndWallet);
  return findProgramDerivedAddress(program, [MERCHANT, addressToBytes(wallet)]);
});

/** The attestor program's one registry account. */
export const registryAddress = (deployment: Deployment): ProgramDerivedAddress =>
  findProgramDerivedAddress(deployment.attestorProgram, [REGISTRY]);

/** The associated SPL Token account of a wallet (or an escrow) for a mint. */
export const associatedTokenAddress = (owner: Address, mint: Address): Address =>
  tokenAccountOf(`${owner} ${mint}`);

const tokenAccountOf = remembered(REMEMBERED, (ownerAndMint) => {
  const [owner, mint] = pairOf(ownerAndMint);
  return findProgramDerivedAddress(ASSOCIATED_TOKEN_PROGRAM, [
    addressToBytes(owner),
    addressToBytes(TOKEN_PROGRAM),
    addressToBytes(mint),
  ]).address;
});

/** The account in which the upgradeable loader keeps a program's code and upgrade authority. */
export const programDataAddress = (program: Address): Address =>
  findProgramDerivedAddress(UPGRADEABLE_LOADER, [addressToBytes(program)]).address;
