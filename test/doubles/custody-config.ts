import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { addressToBytes } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../../core/protocol/generated/custody.ts";

/** The custody program's configuration account after `count` events, with a head of 32 equal bytes. */
export const custodyConfigAccount = (deployment: Deployment, count: bigint): LedgerAccount => {
  const { discriminator, length, at } = CUSTODY_ACCOUNTS.CustodyConfig;
  const { address, bump } = custodyConfigAddress(deployment);
  const data = new Uint8Array(length);
  data.set(discriminator);
  data[at.version] = CUSTODY_CONSTANTS.ACCOUNT_VERSION;
  data[at.bump] = bump;
  data.set(addressToBytes(deployment.attestorProgram), at.attestorProgram);
  new DataView(data.buffer).setBigUint64(at.count, count, true);
  data.fill(0x5a, at.head, at.head + 32);
  return { address, owner: deployment.custodyProgram, lamports: 1n, executable: false, data };
};
