import type { Address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import { termsOf } from "../accounts/escrow-account.ts";
import { domainOf } from "../instructions/attestation.ts";

/** What all calls of a session have in common. None of it changes while the session lasts. */
export type SessionTerms = {
  readonly escrow: Address;
  /** The ledger and its custody program. */
  readonly domain: Hash32;
  /** The digest of the escrow's bytes right after its creation. */
  readonly terms: Hash32;
  /** Signs the vouchers. */
  readonly sessionKey: Address;
  /** Signs the attestations. */
  readonly attestor: Address;
  /** The budget in base units: no total is above it. */
  readonly amount: bigint;
};

/** The terms of a session by its escrow and its ledger; null for a single payment. */
export const sessionTerms = (
  escrow: Escrow,
  network: { readonly genesisHash: string; readonly custodyProgram: string },
): SessionTerms | null =>
  escrow.sessionKey === null
    ? null
    : {
        escrow: escrow.address,
        domain: domainOf(network),
        terms: termsOf(escrow),
        sessionKey: escrow.sessionKey,
        attestor: escrow.attestor,
        amount: escrow.amount,
      };
