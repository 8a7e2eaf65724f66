import type { Address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { sha256 } from "../../domain/sha256.ts";
import type { ArchivedEscrow } from "./archived-escrow-account.ts";
import { decodeEscrowAccount } from "./escrow-account.ts";

/** An archived escrow, and the account bytes that it had until then. */
export type LastBytes = { readonly escrow: Escrow; readonly data: Uint8Array };

/**
 * The escrow in bytes that somebody kept; undefined unless their SHA-256 is the tombstone's `last_hash`. Nothing else
 * makes them the ledger's.
 */
export const believedBytes = (
  address: Address,
  data: Uint8Array,
  { lastHash }: Pick<ArchivedEscrow, "lastHash">,
  deployment: Deployment,
): LastBytes | undefined => {
  if (hash32FromBytes(sha256(data)) !== lastHash) return undefined;
  const decoded = decodeEscrowAccount(
    { address, owner: deployment.custodyProgram, data },
    deployment,
  );
  return "value" in decoded ? { escrow: decoded.value, data } : undefined;
};
