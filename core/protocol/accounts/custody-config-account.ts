import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Decoded, LedgerAccount } from "../../domain/ledger/account.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import { custodyConfigAddress } from "../addresses/addresses.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../generated/custody.ts";
import { fieldsOf } from "./byte-fields.ts";

/** The custody program's one configuration account, made by `initialize_custody`. */
export type CustodyConfig = {
  readonly bump: number;
  readonly attestorProgram: Address;
  /** The number of the latest event, which is also the count of events. u64 */
  readonly count: bigint;
  /** The hash chain over the leaves of all events, zero before the first event. */
  readonly head: Hash32;
};

const { discriminator: DISCRIMINATOR, length: LENGTH, at: AT } = CUSTODY_ACCOUNTS.CustodyConfig;

/** The configuration that account bytes hold (docs/protocol.md, "Custody config account"), or the fault. */
export const decodeCustodyConfigAccount = (
  { address, owner, data }: Pick<LedgerAccount, "address" | "owner" | "data">,
  deployment: Deployment,
): Decoded<CustodyConfig> => {
  if (owner !== deployment.custodyProgram) return { fault: "wrong_owner" };
  if (data.length !== LENGTH) return { fault: "wrong_length" };
  if (DISCRIMINATOR.some((byte, i) => data[i] !== byte)) return { fault: "wrong_discriminator" };
  const fields = fieldsOf(data);
  if (fields.u8(AT.version) !== CUSTODY_CONSTANTS.ACCOUNT_VERSION)
    return { fault: "unknown_version" };
  if (!fields.isZero(AT.reserved, AT.attestorProgram - AT.reserved))
    return { fault: "reserved_bytes_set" };
  const derived = custodyConfigAddress(deployment);
  if (derived.address !== address || derived.bump !== fields.u8(AT.bump))
    return { fault: "address_not_derived" };
  return {
    value: {
      bump: fields.u8(AT.bump),
      attestorProgram: fields.address(AT.attestorProgram),
      count: fields.u64(AT.count),
      head: fields.hash(AT.head),
    },
  };
};
