import { type Address, address } from "../../core/domain/address.ts";
import type { LoggedEvents } from "../../core/domain/index/sync-report.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import { fieldWriter } from "../../core/protocol/accounts/byte-fields.ts";
import { ledgerDomain } from "../../core/protocol/accounts/settings-accounts.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../../core/protocol/generated/custody.ts";
import { TEST_GENESIS_HASH } from "../arbitraries/test-ledger.ts";
import { accountOf } from "./accounts.ts";

/** Perfect subtrees of any 40 hashes. */
const SOME_FRONTIER = new Uint8Array(1280).fill(0x5a);

/** The custody program's configuration account after these events, on the ledger of a genesis hash. */
export const custodyConfigAccount = (
  deployment: Deployment,
  { count, frontier = SOME_FRONTIER }: Pick<LoggedEvents, "count"> & Partial<LoggedEvents>,
  genesisHash: Address = address(TEST_GENESIS_HASH),
): LedgerAccount => {
  const { discriminator, length } = CUSTODY_ACCOUNTS.CustodyConfig;
  const { address: config, bump } = custodyConfigAddress(deployment);
  const data = fieldWriter(length)
    .bytes(Uint8Array.from(discriminator))
    .u8(CUSTODY_CONSTANTS.ACCOUNT_VERSION)
    .u8(bump)
    .skip(6)
    .address(deployment.attestorProgram)
    .bytes(ledgerDomain(genesisHash, deployment.custodyProgram))
    .u64(count + 1n)
    .bytes(frontier)
    .done();
  return accountOf(config, deployment.custodyProgram, data);
};
