import { getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import { type Address, address as toAddress } from "../../../core/domain/address.ts";
import { type Hash32, hash32ToBytes } from "../../../core/domain/hash32.ts";
import type { CreateEscrowAddresses } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";

const encoder = getAddressEncoder();
const bytesOf = (address: Address): Uint8Array => new Uint8Array(encoder.encode(address));

const derive = async (program: Address, seeds: ReadonlyArray<string | Uint8Array>) => {
  const [derived, bump] = await getProgramDerivedAddress({
    programAddress: program,
    seeds: [...seeds],
  });
  return { address: toAddress(derived), bump };
};
const tokenAccount = async (owner: Address, mint: Address): Promise<Address> =>
  (await derive(ASSOCIATED_TOKEN_PROGRAM, [bytesOf(owner), bytesOf(TOKEN_PROGRAM), bytesOf(mint)]))
    .address;

const { custodyProgram, attestorProgram } = LOCAL_DEPLOYMENT;
const config = (await derive(custodyProgram, ["config"])).address;

/** The addresses of `createEscrowAddresses`, derived by kit: four addresses, and one that never changes. */
export const kitAddresses = async (terms: {
  readonly agentOwner: Address;
  readonly merchant: Address;
  readonly mint: Address;
  readonly taskHash: Hash32;
}): Promise<CreateEscrowAddresses> => {
  const seeds = ["escrow", bytesOf(terms.agentOwner), hash32ToBytes(terms.taskHash)];
  const escrow = await derive(custodyProgram, seeds);
  return {
    escrow,
    vaultTokenAccount: await tokenAccount(escrow.address, terms.mint),
    agentTokenAccount: await tokenAccount(terms.agentOwner, terms.mint),
    merchantAccount: await derive(attestorProgram, ["merchant", bytesOf(terms.merchant)]),
    config,
  };
};
