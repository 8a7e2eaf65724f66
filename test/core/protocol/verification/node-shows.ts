import { addressFromBytes, address } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../../../core/protocol/accounts/merchant-account.ts";
import { merchantAddress } from "../../../../core/protocol/addresses/addresses.ts";
import type { LedgerWitness } from "../../../../core/protocol/verification/verify-on-ledger.ts";
import { ATTESTOR_KEY, ed25519Key, NETWORK } from "../../../arbitraries/evidence.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";

/** The key that attests in these packets. */
export const ATTESTOR = addressFromBytes(ATTESTOR_KEY.publicKey);
/** A key without a part in them. */
export const OTHER_KEY = addressFromBytes(ed25519Key(9).publicKey);

/** An account of a lamport. */
export const held = (
  address: Escrow["address"],
  owner: Escrow["address"],
  data: Uint8Array,
): LedgerAccount => ({
  address,
  owner,
  lamports: 1n,
  executable: false,
  data,
});

/** The escrow as it stands on the ledger. */
export const escrowAccount = (escrow: Escrow): LedgerAccount =>
  held(escrow.address, NETWORK.custodyProgram, encodeEscrowAccount(escrow));

/** The escrow's merchant with the attestor's key recorded at `attestorSince`, or as `changes` say. */
export const merchantAccount = (escrow: Escrow, changes: Partial<Merchant>): LedgerAccount => {
  const { address, bump } = merchantAddress(NETWORK, escrow.merchant);
  const merchant: Merchant = {
    address,
    bump,
    wallet: escrow.merchant,
    name: "merchant",
    status: "Active",
    attestor: ATTESTOR,
    previousAttestor: null,
    attestorSince: 0n,
    registeredAt: 0n,
    updatedAt: changes.attestorSince ?? 0n,
    reputation: 0,
    slashes: 0,
    deliveries: 0n,
    partialDeliveries: 0n,
    volume: 0n,
    revokedSeq: 0n,
    ...changes,
  };
  return held(address, NETWORK.attestorProgram, encodeMerchantAccount(merchant));
};

/** The configuration of the custody program after this many events. */
export const configOf = (count: bigint): LedgerAccount =>
  custodyConfigAccount(NETWORK, { count }, address(NETWORK.genesisHash));

/** What an honest node shows while the escrow is the last that anything happened to. */
export const witnessOf = (escrow: Escrow, merchant: Partial<Merchant> = {}): LedgerWitness => ({
  genesisHash: NETWORK.genesisHash,
  escrow: escrowAccount(escrow),
  merchant: merchantAccount(escrow, merchant),
  custodyConfig: configOf(escrow.settledSeq ?? escrow.createdSeq),
});
