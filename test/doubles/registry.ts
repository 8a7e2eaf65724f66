import { addressToBytes } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { registryAddress } from "../../core/protocol/addresses/addresses.ts";
import { ATTESTOR_ACCOUNTS, ATTESTOR_CONSTANTS } from "../../core/protocol/generated/attestor.ts";
import { MINT } from "../adapters/http/support/parties.ts";
import { accountOf } from "./accounts.ts";

const { discriminator, length, at } = ATTESTOR_ACCOUNTS.Registry;

/** The attestor program's registry, initialised for a deployment's custody program. Its admin is the program itself. */
export const registryOf = (deployment: Deployment): LedgerAccount => {
  const { address, bump } = registryAddress(deployment);
  const data = new Uint8Array(length);
  data.set(discriminator);
  data[at.version] = ATTESTOR_CONSTANTS.ACCOUNT_VERSION;
  data[at.bump] = bump;
  data.set(addressToBytes(deployment.attestorProgram), at.admin);
  data.set(addressToBytes(deployment.custodyProgram), at.custodyProgram);
  data.set(addressToBytes(MINT), at.settlementMint);
  return accountOf(address, deployment.attestorProgram, data);
};
