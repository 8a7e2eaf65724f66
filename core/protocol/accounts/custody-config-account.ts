import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Decoded, LedgerAccount } from "../../domain/ledger/account.ts";
import { custodyConfigAddress } from "../addresses/addresses.ts";
import { fieldsOf } from "./byte-fields.ts";
import { accountDiscriminator } from "./discriminator.ts";

/** The custody program's one configuration account, made by `initialize_custody`. */
export type CustodyConfig = { readonly bump: number; readonly attestorProgram: Address };

const DISCRIMINATOR = accountDiscriminator("CustodyConfig");
const LENGTH = 48;

/** The configuration that account bytes hold (docs/protocol.md, "Custody config account"), or the fault. */
export const decodeCustodyConfigAccount = (
  { address, owner, data }: Pick<LedgerAccount, "address" | "owner" | "data">,
  deployment: Deployment,
): Decoded<CustodyConfig> => {
  if (owner !== deployment.custodyProgram) return { fault: "wrong_owner" };
  if (data.length !== LENGTH) return { fault: "wrong_length" };
  if (DISCRIMINATOR.some((byte, i) => data[i] !== byte)) return { fault: "wrong_discriminator" };
  const fields = fieldsOf(data);
  if (fields.u8(8) !== 1) return { fault: "unknown_version" };
  if (!fields.isZero(10, 6)) return { fault: "reserved_bytes_set" };
  const derived = custodyConfigAddress(deployment);
  if (derived.address !== address || derived.bump !== fields.u8(9))
    return { fault: "address_not_derived" };
  return { value: { bump: fields.u8(9), attestorProgram: fields.address(16) } };
};
