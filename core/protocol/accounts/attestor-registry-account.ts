import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Decoded, LedgerAccount } from "../../domain/ledger/account.ts";
import { registryAddress } from "../addresses/addresses.ts";
import { ATTESTOR_ACCOUNTS, ATTESTOR_CONSTANTS } from "../generated/attestor.ts";
import { fieldsOf } from "./byte-fields.ts";

/** The attestor program's one registry account, made by `initialize_registry`. */
export type AttestorRegistry = {
  readonly bump: number;
  /** Who may suspend and slash merchants. */
  readonly admin: Address;
  readonly custodyProgram: Address;
  /** The mint whose deliveries count towards reputation and volume. */
  readonly settlementMint: Address;
  /** Who may become admin, null where nobody is proposed. */
  readonly proposedAdmin: Address | null;
};

const { discriminator: DISCRIMINATOR, length: LENGTH, at: AT } = ATTESTOR_ACCOUNTS.Registry;

/** The registry that account bytes hold (docs/protocol.md, "Registry account"), or the fault. */
export const decodeAttestorRegistryAccount = (
  { address, owner, data }: Pick<LedgerAccount, "address" | "owner" | "data">,
  deployment: Deployment,
): Decoded<AttestorRegistry> => {
  if (owner !== deployment.attestorProgram) return { fault: "wrong_owner" };
  if (data.length !== LENGTH) return { fault: "wrong_length" };
  if (DISCRIMINATOR.some((byte, i) => data[i] !== byte)) return { fault: "wrong_discriminator" };
  const fields = fieldsOf(data);
  if (fields.u8(AT.version) !== ATTESTOR_CONSTANTS.ACCOUNT_VERSION)
    return { fault: "unknown_version" };
  if (!fields.isZero(AT.reserved, AT.admin - AT.reserved)) return { fault: "reserved_bytes_set" };
  const derived = registryAddress(deployment);
  if (derived.address !== address || derived.bump !== fields.u8(AT.bump))
    return { fault: "address_not_derived" };
  return {
    value: {
      bump: fields.u8(AT.bump),
      admin: fields.address(AT.admin),
      custodyProgram: fields.address(AT.custodyProgram),
      settlementMint: fields.address(AT.settlementMint),
      proposedAdmin: fields.isZero(AT.proposedAdmin, 32) ? null : fields.address(AT.proposedAdmin),
    },
  };
};
