import type { Address } from "../../../core/domain/address.ts";
import { INSTRUCTIONS_SYSVAR } from "../../../core/protocol/addresses/well-known-addresses.ts";
import type { Wallet } from "../fixture/wallet.ts";
import { type Account, ESCROW_BYTES, escrowBytes, lengthOf, type Token } from "./account.ts";
import { type Claim, claimOn, type Voucher, voucherFor } from "./attestation.ts";
import type { Sent } from "./call.ts";
import {
  attesting,
  callOf,
  cancelCall,
  closeCall,
  createCall,
  grow,
  limit,
  paymentCall,
  refundCall,
  rentCall,
  type Target,
} from "./calls.ts";
import { deployedWorld, PROOFS, START } from "./cast.ts";
import { lastBytesOf } from "./remembered.ts";
import { accountAt, type World } from "./world.ts";
import { ADMIN, AGENT, KEY_A, MERCHANT, MERCHANT_ACCOUNT, MINT, SESSION_KEY } from "./explored.ts";

const [PROOF] = PROOFS;
const WEEK = 604_800n;
const TTL = 1200;
const EXPIRY = START + BigInt(TTL);
/** Compute units that a prepared settlement asks for. */
const UNITS = limit("units", 150_000);

/** One operation: a transaction, what others do to an account, time, or the ledger's rent. */
export type Operation = { readonly name: string } & (
  | {
      readonly kind: "send";
      /** Every account that any of its transactions names. */
      readonly touches: ReadonlyArray<Address>;
      readonly sentIn: (world: World) => Sent;
    }
  | {
      readonly kind: "change";
      readonly address: Address;
      /** Undefined when it changes nothing. */
      readonly change: (account: Account) => Account | undefined;
    }
  | { readonly kind: "wait"; readonly until: bigint }
  | { readonly kind: "rate"; readonly rate: bigint }
);

/** A transaction that depends on the accounts that it names, and on those it reads beside them. */
export const send = (
  name: string,
  sentIn: (world: World) => Sent,
  reads: ReadonlyArray<Address> = [],
): Operation => {
  const touches = new Set<Address>(reads);
  for (const { sent } of sentIn(deployedWorld()))
    for (const { address } of sent.accounts) touches.add(address);
  touches.delete(INSTRUCTIONS_SYSVAR);
  return { kind: "send", name, touches: [...touches], sentIn };
};

export const always = (name: string, ...sent: Sent): Operation => send(name, () => sent);

/** What a token account's holder, or the mint's freeze authority, does to it. */
export const tokens = (name: string, address: Address, token: Partial<Token>): Operation => ({
  kind: "change",
  name,
  address,
  change: (account) =>
    account.content.kind === "token"
      ? { ...account, content: { ...account.content, ...token } }
      : undefined,
});

type Payment = {
  readonly by?: Wallet;
  readonly claim?: Partial<Claim> & { readonly timestamp?: bigint };
  /** What the voucher says beside what is attested; null leaves it out. */
  readonly voucher?: Partial<Voucher> | null;
  readonly voucherBy?: Wallet;
  /** The terms that are signed for, when they are another escrow's. */
  readonly termsOf?: Target;
};

/** An Ed25519 instruction over an escrow of a world. */
const signed = (
  world: World,
  target: Target,
  session: boolean,
  { by = KEY_A, claim = {}, voucher = {}, voucherBy = SESSION_KEY, termsOf = target }: Payment,
) => {
  const { terms } = claimOn(world, termsOf.escrow, { proofHash: PROOF, timestamp: START });
  const made = claimOn(world, target.escrow, {
    proofHash: PROOF,
    timestamp: START,
    terms,
    ...claim,
  });
  const allowing = { by: voucherBy, voucher: voucherFor(made, voucher ?? {}) };
  return attesting(by, made, session && voucher !== null ? allowing : undefined);
};

/** A capture of a session, by what is used of it and its number of deliveries. */
export const capture = (
  name: string,
  target: Target,
  total: bigint,
  deliveries: number,
  payment: Payment = {},
): Operation =>
  send(
    name,
    (world) => [
      UNITS,
      signed(world, target, true, {
        ...payment,
        claim: { total, deliveries, final: 0, ...payment.claim },
      }),
      paymentCall("capture", target),
    ],
    payment.termsOf && [payment.termsOf.escrow],
  );

/** A release of a single payment, or of a session with what it has used. */
export const release = (
  name: string,
  target: Target,
  used?: readonly [total: bigint, deliveries: number],
  payment: Payment = {},
): Operation =>
  send(
    name,
    (world) => [
      UNITS,
      signed(world, target, used !== undefined, {
        ...payment,
        claim: { ...(used && { total: used[0], deliveries: used[1] }), ...payment.claim },
      }),
      paymentCall("release_escrow", target),
    ],
    payment.termsOf && [payment.termsOf.escrow],
  );

/** The last bytes of an archived escrow, nothing for any other. */
const lastBytes = (world: World, { escrow }: Target, changes = false): Uint8Array => {
  const { content } = accountAt(world, escrow);
  const last = content.kind === "tombstone" ? lastBytesOf(content) : undefined;
  const bytes = last === undefined ? new Uint8Array() : escrowBytes(last);
  return changes && last !== undefined ? bytes.with(112, (bytes[112] ?? 0) ^ 1) : bytes;
};

/** `claim_refund` of an escrow, archived or not; `to` null names no account of the agent. */
export const claim = (
  name: string,
  target: Target,
  { to = target, changes = false }: { to?: Target | null; changes?: boolean } = {},
): Operation =>
  send(name, (world) => [UNITS, refundCall(target, lastBytes(world, target, changes), to)]);

/** `return_rent` of an escrow, archived or not. */
export const rentBack = (name: string, target: Target): Operation =>
  send(name, (world) => [rentCall(target, lastBytes(world, target))]);

/** `archive_escrow`. */
export const archive = (name: string, { escrow, rentPayer }: Target, changes = false): Operation =>
  send(name, (world) => {
    const { content } = accountAt(world, escrow);
    const bytes = content.kind === "escrow" ? escrowBytes(content) : new Uint8Array(ESCROW_BYTES);
    const given = changes ? bytes.with(216, (bytes[216] ?? 0) ^ 1) : bytes;
    const accounts = { escrow, rent_payer: rentPayer };
    return [callOf("archive_escrow", accounts, { lastBytes: given })];
  });

/** The whole form of a settlement: a release, the agent's rest, the rent. */
export const whole = (
  name: string,
  target: Target,
  used: readonly [total: bigint, deliveries: number],
): Operation =>
  send(name, (world) => [
    UNITS,
    signed(world, target, true, { claim: { total: used[0], deliveries: used[1] } }),
    paymentCall("release_escrow", target),
    refundCall(target),
    rentCall(target),
  ]);

export const rotate = (name: string, to: Wallet, revoke: number): Operation =>
  always(
    name,
    callOf(
      "rotate_attestor",
      { merchant_wallet: MERCHANT, merchant: MERCHANT_ACCOUNT },
      { attestor: to.address, revoke },
    ),
  );

export const status = (name: string, value: number): Operation =>
  always(
    name,
    callOf("set_merchant_status", { admin: ADMIN, merchant: MERCHANT_ACCOUNT }, { status: value }),
  );

/** What the holder of a key does to its own account, by the System program. */
export const growth = (name: string, address: Address, size: number): Operation =>
  always(name, grow(address, size));

/** Another account of a holder's: without lamports. */
export const emptied = (name: string, address: Address): Operation => ({
  kind: "change",
  name,
  address,
  change: ({ content, lamports }) =>
    content.kind === "wallet" && lengthOf(content) === 0 && lamports > 0n
      ? { lamports: 0n, content }
      : undefined,
});

/** A creation as the agent would send it: `sessionKey` makes it a session. */
export const create = (
  name: string,
  target: Target,
  terms: Pick<
    Parameters<typeof createCall>[0],
    "amount" | "task" | "attestor" | "sessionKey" | "expiresAt"
  > & { readonly loaded?: number },
): Operation => {
  const { loaded, ...rest } = terms;
  const call = createCall({
    payer: target.rentPayer,
    agent: AGENT,
    merchant: MERCHANT,
    mint: MINT,
    ...(terms.expiresAt === undefined && { ttlSeconds: TTL }),
    ...rest,
  });
  return always(name, ...(loaded === undefined ? [] : [limit("loaded", loaded)]), call);
};

/** `cancel_escrow`, by a wallet that signs. */
export const cancel = (name: string, { escrow }: Target, by: Address): Operation =>
  always(name, cancelCall(escrow, by));

/** `close_session`, by a wallet that signs. */
export const close = (name: string, { escrow }: Target, by: Address): Operation =>
  always(name, closeCall(escrow, by));

/** The seconds at which a rule changes its answer. */
export const WAITS: ReadonlyArray<Operation> = [
  START + 300n,
  START + 301n,
  START + 899n,
  START + 900n,
  EXPIRY - 1n,
  EXPIRY,
  START + WEEK - 1n,
  START + WEEK,
  EXPIRY + WEEK,
].map((until): Operation => ({ kind: "wait", name: `wait until ${until - START} s`, until }));

export { EXPIRY };
