import { parseAddress } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import { decodeCustodyConfigAccount } from "../../../../core/protocol/accounts/settings-accounts.ts";
import {
  decodeEscrowAccount,
  encodeEscrowAccount,
} from "../../../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../../../core/protocol/accounts/merchant-account.ts";
import { custodyConfigAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { accountOf, rentAccount, walletAccount } from "../../../doubles/accounts.ts";
import { attestedBy } from "../../../doubles/attested.ts";
import { registryOf } from "../../../doubles/registry.ts";
import { custodyConfigOf } from "../../../simulation/custody-log.ts";
import { ScriptedChain } from "../../../world/scripted-chain.ts";
import { ATTESTOR, ATTESTOR_KEY, CREATED_AT, NETWORK, PAYER } from "./parties.ts";

/**
 * A ledger whose programs are set up: it has a registry, and the custody config that its accounts make. Its time is a
 * minute after the escrows' creation, and `PAYER` can pay fees.
 */
export const settlementLedger = (genesisHash: string): ScriptedChain => {
  const registry = registryOf(LOCAL_DEPLOYMENT);
  const config = custodyConfigAddress(LOCAL_DEPLOYMENT).address;
  const ledger: ScriptedChain = new ScriptedChain(genesisHash, (address) => {
    if (address === registry.address) return registry;
    return address === config
      ? custodyConfigOf(LOCAL_DEPLOYMENT, ledger.accounts, parseAddress(genesisHash))
      : null;
  });
  ledger.setClock(CREATED_AT + 60n);
  ledger.put(rentAccount);
  ledger.put(walletAccount(PAYER, 1_000_000n));
  return ledger;
};

/** The number of the last event on a ledger. */
const countOn = ({ accounts }: ScriptedChain): bigint => {
  const config = custodyConfigOf(LOCAL_DEPLOYMENT, accounts);
  const decoded = decodeCustodyConfigAccount(config, LOCAL_DEPLOYMENT);
  if ("fault" in decoded) throw new Error(decoded.fault);
  return decoded.value.count;
};

/**
 * An escrow with the next numbers of a ledger: for its creation unless it is there already, and for its
 * settlement unless it is settled there.
 */
export const numberedOn = (ledger: ScriptedChain, row: Escrow): Escrow => {
  const account = ledger.account(row.address);
  const decoded = account === null ? undefined : decodeEscrowAccount(account, LOCAL_DEPLOYMENT);
  const known = decoded !== undefined && "value" in decoded ? decoded.value : undefined;
  const count = countOn(ledger);
  const createdSeq = known?.createdSeq ?? count + 1n;
  const next = known === undefined ? count + 2n : count + 1n;
  const settledSeq = row.state === "Pending" ? null : (known?.settledSeq ?? next);
  const numbered = { ...row, createdSeq, settledSeq };
  // The number is among the terms, so the merchant's attestor has signed it.
  return row.attestor === ATTESTOR ? attestedBy(numbered, NETWORK, ATTESTOR_KEY.sign) : numbered;
};

/** The least that an escrow's account holds, lamports. */
const ESCROW_RENT = 3_786_240n;

/** Puts escrow and merchant accounts on a ledger. Escrows get the ledger's next numbers, and are returned so. */
export const seedInto =
  (ledger: ScriptedChain) =>
  (rows: {
    readonly escrows?: ReadonlyArray<Escrow>;
    readonly merchants?: ReadonlyArray<Merchant>;
  }): ReadonlyArray<Escrow> => {
    for (const row of rows.merchants ?? [])
      ledger.put(
        accountOf(row.address, LOCAL_DEPLOYMENT.attestorProgram, encodeMerchantAccount(row)),
      );
    return (rows.escrows ?? []).map((row) => {
      const escrow = numberedOn(ledger, row);
      ledger.put(
        accountOf(
          row.address,
          LOCAL_DEPLOYMENT.custodyProgram,
          encodeEscrowAccount(escrow),
          ESCROW_RENT,
        ),
      );
      return escrow;
    });
  };
