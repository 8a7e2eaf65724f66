import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { encodeEscrowAccount, termsOf } from "../../../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../../../core/protocol/accounts/merchant-account.ts";
import {
  associatedToken,
  escrowAddress,
  merchantAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import {
  type AttestationClaim,
  attestationMessage,
  domainOf,
  SINGLE_DELIVERY,
} from "../../../../core/protocol/instructions/attestation.ts";
import { ed25519Instruction } from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import {
  type VoucherClaim,
  voucherMessage,
} from "../../../../core/protocol/instructions/voucher.ts";
import { preparedFault } from "../../../../core/protocol/rules/settlement-check.ts";
import { ATTESTOR_KEY, ed25519Key, NETWORK } from "../../../arbitraries/evidence.ts";
import { tokenAccountOf } from "../../../doubles/token-account.ts";

/** An address whose bytes all have this value. */
export const party = (byte: number): Address => addressFromBytes(new Uint8Array(32).fill(byte));
const hash = (byte: number) => hash32FromBytes(new Uint8Array(32).fill(byte));

/** The keys that sign here: the attestor's, the session's, and another one. */
export const [ATTESTOR, SESSION, OTHER] = [ATTESTOR_KEY, ed25519Key(3), ed25519Key(4)];
type Key = typeof ATTESTOR;

/** 2026-03-01T12:00:00Z, when these escrows are made. */
export const CREATED_AT = 1_772_366_400n;
/** The first second after their end. */
export const EXPIRES_AT = CREATED_AT + 3600n;
export const DEPLOYMENT = NETWORK;
export const [AGENT, MERCHANT, MINT, PAYER, STRANGER] = [41, 42, 43, 44, 45].map(party) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];

const derived = escrowAddress(DEPLOYMENT, AGENT, hash(7));

/** A session of 1,000 base units, of which nothing is captured. */
export const session: Escrow = {
  ...derived,
  vaultBump: associatedToken(derived.address, MINT).bump,
  state: "Pending",
  agentOwner: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  rentPayer: PAYER,
  taskHash: hash(7),
  sessionKey: addressFromBytes(SESSION.publicKey),
  amount: 1000n,
  released: 0n,
  deliveries: 0,
  createdAt: CREATED_AT,
  expiresAt: EXPIRES_AT,
  closesAt: null,
  settledAt: null,
  settledBy: null,
  attestor: addressFromBytes(ATTESTOR.publicKey),
  attestation: null,
  createdSeq: 5n,
  settledSeq: null,
};

/** The same as a single payment. */
export const payment: Escrow = { ...session, sessionKey: null };

const domain = domainOf(NETWORK);

/** A signed attestation for an escrow: 300 base units for three deliveries now, all of it for one of a single payment. */
export const attests = (
  escrow: Escrow,
  other: Partial<AttestationClaim> = {},
  key: Key = ATTESTOR,
) => {
  const isSession = escrow.sessionKey !== null;
  const message = attestationMessage({
    domain,
    terms: termsOf(escrow),
    proofHash: hash(9),
    total: isSession ? 300n : escrow.amount,
    timestamp: CREATED_AT + 100n,
    ...(isSession ? { deliveries: 3, isFinal: false } : SINGLE_DELIVERY),
    ...other,
  });
  return { publicKey: addressFromBytes(key.publicKey), signature: key.sign(message), message };
};

/** A signed voucher of a session: for 400 base units and four orders. */
export const vouches = (escrow: Escrow, other: Partial<VoucherClaim> = {}, key: Key = SESSION) => {
  const message = voucherMessage({
    domain,
    terms: termsOf(escrow),
    orders: hash(8),
    total: 400n,
    count: 4,
    isClosing: false,
    ...other,
  });
  return { publicKey: addressFromBytes(key.publicKey), signature: key.sign(message), message };
};

/** The Ed25519 instruction of a session. */
export const proves = (
  escrow: Escrow,
  attested: Partial<AttestationClaim> = {},
  vouched: Partial<VoucherClaim> = {},
): Instruction => ed25519Instruction(attests(escrow, attested), vouches(escrow, vouched));

const account = (address: Address, owner: Address, data: Uint8Array): LedgerAccount => ({
  address,
  owner,
  lamports: 5_000_000n,
  executable: false,
  data,
});

/** The account of an escrow. */
export const escrowAccount = (escrow: Escrow): LedgerAccount =>
  account(escrow.address, DEPLOYMENT.custodyProgram, encodeEscrowAccount(escrow));

/** The merchant, with the number up to which it revoked its attestors. */
export const merchantAccount = (revokedSeq = 0n): LedgerAccount => {
  const derived = merchantAddress(DEPLOYMENT, MERCHANT);
  const data = encodeMerchantAccount({
    ...derived,
    wallet: MERCHANT,
    name: "merchant",
    status: "Active",
    attestor: addressFromBytes(ATTESTOR.publicKey),
    previousAttestor: null,
    attestorSince: CREATED_AT - 10n,
    registeredAt: CREATED_AT - 10n,
    updatedAt: CREATED_AT,
    reputation: 0,
    slashes: 0,
    deliveries: 0n,
    partialDeliveries: 0n,
    volume: 0n,
    revokedSeq,
  });
  return account(derived.address, DEPLOYMENT.attestorProgram, data);
};

/** What a ledger shows: the escrow, its vault, the merchant and both associated accounts, unless others take their places. */
export const ledgerWith = (
  escrow: Escrow,
  ...others: ReadonlyArray<LedgerAccount>
): ReadonlyArray<LedgerAccount> => [
  escrowAccount(escrow),
  tokenAccountOf({ owner: escrow.address, mint: MINT }, escrow.amount - escrow.released),
  merchantAccount(),
  tokenAccountOf({ owner: MERCHANT, mint: MINT }, 0n),
  tokenAccountOf({ owner: AGENT, mint: MINT }, 0n),
  ...others,
];

/** What the relay's rules say of instructions on a ledger at a time. */
export const judged = (
  instructions: ReadonlyArray<Instruction>,
  accounts: ReadonlyArray<LedgerAccount>,
  ledgerTime = CREATED_AT + 120n,
) => {
  const byAddress = new Map(accounts.map((each) => [each.address, each]));
  return preparedFault(instructions, party(46), {
    deployment: DEPLOYMENT,
    domain,
    account: (address) => byAddress.get(address) ?? null,
    ledgerTime,
    marginSeconds: 0n,
  });
};
