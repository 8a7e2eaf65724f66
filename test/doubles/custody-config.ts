import { type Hash32, hash32FromBytes } from "../../core/domain/hash32.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import { fieldWriter } from "../../core/protocol/accounts/byte-fields.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../../core/protocol/generated/custody.ts";
import { accountOf } from "./accounts.ts";

const SOME_HEAD = hash32FromBytes(new Uint8Array(32).fill(0x5a));

/** The custody program's configuration account after `count` events with this head. */
export const custodyConfigAccount = (
  deployment: Deployment,
  count: bigint,
  head: Hash32 = SOME_HEAD,
): LedgerAccount => {
  const { discriminator, length } = CUSTODY_ACCOUNTS.CustodyConfig;
  const { address, bump } = custodyConfigAddress(deployment);
  const data = fieldWriter(length)
    .bytes(Uint8Array.from(discriminator))
    .u8(CUSTODY_CONSTANTS.ACCOUNT_VERSION)
    .u8(bump)
    .skip(6)
    .address(deployment.attestorProgram)
    .u64(count)
    .hash(head)
    .done();
  return accountOf(address, deployment.custodyProgram, data);
};
