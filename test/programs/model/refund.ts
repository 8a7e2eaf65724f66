import type { Address } from "../../../core/domain/address.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import { hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  digest,
  endOf,
  type Escrow,
  ESCROW_BYTES,
  escrowBytes,
  isSession,
  lengthOf,
  termsOf,
} from "./account.ts";
import { type Arguments, CUSTODY, type Verdict } from "./call.ts";
import { requireEscrow } from "./custody.ts";
import { choosePayout, closeVault, moveTokens, requireVault } from "./payout.ts";
import { remember } from "./remembered.ts";
import type { At, Privileges } from "./shape.ts";
import type { Draft } from "./world.ts";

const WEEK = 604_800n;
/** Seconds that a merchant has left to capture. */
const CLOSING = 900n;

/** The escrow after its settlement, which goes by what the merchant has got. */
export const settled = (escrow: Escrow, settledBy: 1 | 2 | 3, now: bigint): Escrow => {
  const state = escrow.released === 0n ? 2 : escrow.released === escrow.amount ? 1 : 3;
  return { ...escrow, state, settledBy, settledAt: now };
};

/** `cancel_escrow`. */
export const cancelEscrow = (v: Verdict, draft: Draft, at: At): void => {
  const address = at("escrow");
  v.require(draft.at(at("config")).content.kind === "config", CUSTODY.WrongConfig);
  const escrow = requireEscrow(v, draft, address);
  if (escrow === undefined) return;
  v.require(escrow.state === 0, CUSTODY.NotPending);
  v.require(at("merchant_wallet") === escrow.merchant, CUSTODY.NotMerchantWallet);
  v.require(draft.time < endOf(escrow), CUSTODY.Expired);
  if (v.accepted) draft.number(address, settled(escrow, 3, draft.time), "settledSeq");
};

/** `close_session`. */
export const closeSession = (v: Verdict, draft: Draft, at: At): void => {
  const address = at("escrow");
  const escrow = requireEscrow(v, draft, address);
  if (escrow === undefined) return;
  const { agentOwner, state, closesAt, expiresAt } = escrow;
  v.require(at("agent_owner") === agentOwner, CUSTODY.NotAgentWallet);
  v.require(state === 0, CUSTODY.NotPending);
  v.require(isSession(escrow), CUSTODY.NotSession);
  v.require(closesAt === 0n, CUSTODY.SessionClosing);
  v.require(draft.time < expiresAt, CUSTODY.Expired);
  if (!v.accepted) return;
  const soon = draft.time + CLOSING;
  const content = { ...escrow, closesAt: soon < expiresAt ? soon : expiresAt };
  draft.put(address, { ...draft.at(address), content });
};

/** The parts of an escrow's bytes that outlive its archiving. */
const escrowIn = (bytes: Uint8Array): Escrow => {
  const fields = fieldsOf(bytes);
  return {
    kind: "escrow",
    bump: fields.u8(9),
    state: fields.u8(10) as Escrow["state"],
    vaultBump: fields.u8(11),
    deliveries: fields.u32(12),
    agentOwner: fields.address(16),
    merchant: fields.address(48),
    mint: fields.address(80),
    rentPayer: fields.address(112),
    taskHash: fields.hash(144),
    amount: fields.u64(176),
    released: fields.u64(184),
    createdAt: fields.i64(192),
    expiresAt: fields.i64(200),
    settledAt: fields.i64(208),
    proofHash: fields.hash(216),
    attestor: fields.address(248),
    attestedAt: fields.i64(280),
    signature: fields.bytes(288, 64),
    createdSeq: fields.u64(352),
    settledSeq: fields.u64(360),
    sessionKey: fields.address(368),
    settledBy: fields.u8(400) as Escrow["settledBy"],
    closesAt: fields.i64(408),
  };
};

/** The escrow in an account, or the one that a tombstone was, by its last bytes. */
const requireEver = (
  v: Verdict,
  draft: Draft,
  address: Address,
  lastBytes: Uint8Array,
): Escrow | undefined => {
  const { content } = draft.at(address);
  if (content.kind === "escrow") {
    v.require(lastBytes.length === 0, CUSTODY.WrongLastBytes);
    return content;
  }
  if (content.kind !== "tombstone") {
    v.require(false, CUSTODY.WrongEscrow);
    return undefined;
  }
  const right =
    lastBytes.length === ESCROW_BYTES &&
    Buffer.compare(digest(lastBytes), hash32ToBytes(content.lastHash)) === 0;
  v.require(right, CUSTODY.WrongLastBytes);
  return right ? escrowIn(lastBytes) : undefined;
};

/** `claim_refund`. */
export const claimRefund = (
  v: Verdict,
  draft: Draft,
  at: At,
  { agentTokenBump, lastBytes }: Arguments["claim_refund"],
  privileges: Privileges,
): void => {
  const address = at("escrow");
  const vault = at("vault");
  v.require(at("token_program") === TOKEN_PROGRAM, CUSTODY.WrongTokenProgram);
  const escrow = requireEver(v, draft, address, lastBytes);
  if (escrow === undefined) return;
  const settles = escrow.state === 0;
  if (settles) {
    v.require(draft.at(at("config")).content.kind === "config", CUSTODY.WrongConfig);
    v.require(draft.time >= endOf(escrow), CUSTODY.NotExpired);
  }
  const held = requireVault(v, draft, address, escrow, vault);
  const payee = {
    wallet: escrow.agentOwner,
    associated: at("agent_token_account"),
    fallback: at("agent_fallback_account"),
    bump: agentTokenBump,
    wrong: CUSTODY.WrongAgentTokenAccount,
  };
  if (held === undefined) return;
  const to = held > 0n ? choosePayout(v, draft, payee, escrow.mint, privileges) : undefined;
  if (!v.accepted) return;
  if (to !== undefined) moveTokens(draft, vault, to, held);
  closeVault(draft, vault, address);
  if (settles) draft.number(address, settled(escrow, 2, draft.time), "settledSeq");
};

/** What an account holds above its own rent goes to the rent payer, unless that is a program. */
const payRest = (draft: Draft, address: Address, rentPayer: Address): void => {
  const { lamports, content } = draft.at(address);
  const excess = lamports - draft.rent(lengthOf(content));
  if (excess <= 0n || draft.at(rentPayer).content.kind === "program") return;
  draft.pay(address, -excess);
  draft.pay(rentPayer, excess);
};

/** `return_rent`. */
export const returnRent = (
  v: Verdict,
  draft: Draft,
  at: At,
  { lastBytes }: Arguments["return_rent"],
): void => {
  const address = at("escrow");
  const escrow = requireEver(v, draft, address, lastBytes);
  if (escrow === undefined) return;
  v.require(escrow.state !== 0, CUSTODY.NotSettled);
  v.require(at("rent_payer") === escrow.rentPayer, CUSTODY.WrongRentPayer);
  if (v.accepted) payRest(draft, address, escrow.rentPayer);
};

/** `archive_escrow`: docs/protocol.md, "Archiving". */
export const archiveEscrow = (
  v: Verdict,
  draft: Draft,
  at: At,
  { lastBytes }: Arguments["archive_escrow"],
): void => {
  const address = at("escrow");
  const rentPayer = at("rent_payer");
  const escrow = requireEscrow(v, draft, address);
  if (escrow === undefined) return;
  const bytes = escrowBytes(escrow);
  v.require(escrow.state !== 0, CUSTODY.NotSettled);
  v.require(draft.time >= escrow.settledAt + WEEK, CUSTODY.NotArchivable);
  v.require(rentPayer === escrow.rentPayer, CUSTODY.WrongRentPayer);
  v.require(Buffer.compare(bytes, lastBytes) === 0, CUSTODY.WrongLastBytes);
  if (!v.accepted) return;
  const content = {
    kind: "tombstone",
    createdSeq: escrow.createdSeq,
    settledSeq: escrow.settledSeq,
    state: escrow.state,
    pendingHash: termsOf(escrow),
    lastHash: hash32FromBytes(digest(bytes)),
  } as const;
  remember(content, escrow);
  draft.put(address, { ...draft.at(address), content });
  payRest(draft, address, rentPayer);
};
