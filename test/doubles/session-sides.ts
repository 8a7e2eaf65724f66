import { ed25519Key } from "../../adapters/signer/ed25519-key.ts";
import { addressFromBytes } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { type CallDelivery, callProofHash } from "../../core/protocol/calls/call-delivery.ts";
import { callIntent, callOrder } from "../../core/protocol/calls/call-order.ts";
import { attestedCallsMessage, type CallReceipt } from "../../core/protocol/calls/call-receipt.ts";
import { type CallVoucher, vouchedMessage } from "../../core/protocol/calls/call-voucher.ts";
import type { SessionHead } from "../../core/protocol/calls/session-head.ts";
import { NO_CALLS, type SessionTally } from "../../core/protocol/calls/session-tally.ts";
import { sessionTerms, type SessionTerms } from "../../core/protocol/calls/session-terms.ts";
import type { KeptSession } from "../../client/sessions/store/session-store.ts";
import type { MessageSigner } from "../../client/signing/sign-transaction.ts";
import { NETWORK } from "../arbitraries/evidence.ts";
import { session } from "../core/protocol/rules/session-world.ts";

const [SESSION_KEY, ATTESTOR_KEY] = [51, 52].map((byte) =>
  ed25519Key(new Uint8Array(32).fill(byte)),
) as [ReturnType<typeof ed25519Key>, ReturnType<typeof ed25519Key>];

/** The escrow of a session of a million base units, whose keys this file has. Nothing is captured. */
export const ESCROW: Escrow = {
  ...session,
  amount: 1_000_000n,
  sessionKey: addressFromBytes(SESSION_KEY.publicKey),
  attestor: addressFromBytes(ATTESTOR_KEY.publicKey),
};

/** The terms of that session. */
export const TERMS: SessionTerms = (() => {
  const terms = sessionTerms(ESCROW, NETWORK);
  if (terms === null) throw new Error("a session has a session key");
  return terms;
})();

/** Signs as the agent's session key. */
export const vouch = (
  claim: Omit<CallVoucher, "signature" | "escrow">,
  terms: SessionTerms = TERMS,
): CallVoucher => ({
  ...claim,
  escrow: terms.escrow,
  signature: SESSION_KEY.sign(vouchedMessage(terms, claim)),
});

/** Signs as the attestor. */
export const attest = (
  claim: Omit<CallReceipt["attestation"], "signature">,
  terms: SessionTerms = TERMS,
): CallReceipt["attestation"] => ({
  ...claim,
  signature: ATTESTOR_KEY.sign(attestedCallsMessage(terms, claim)),
});

/** One call to make: by its number, and what it may cost and costs. */
export type PlannedCall = { readonly limit: bigint; readonly price: bigint };

/** The request, the order, the voucher and the delivery of a call that follows a tally, all by honest sides. */
export const honestCall = (
  before: SessionTally,
  { limit, price }: PlannedCall,
  terms: SessionTerms = TERMS,
) => {
  const count = before.count + 1;
  const url = `https://api.example.com/quotes/${count}`;
  const nonce = new Uint8Array(16).fill(count);
  const intent = callIntent("GET", url, new Uint8Array()) ?? "";
  const order = callOrder(intent, nonce, limit);
  const voucher = vouch(
    {
      orders: before.ordersWith(order),
      total: before.total + limit,
      count,
      isClosing: false,
      limit,
      nonce,
    },
    terms,
  );
  const answered = {
    taskHash: order.taskHash,
    network: NETWORK.genesisHash,
    url,
    status: 200,
    body: new TextEncoder().encode(`quote ${count}`),
    deliveredAt: 1_772_366_500n + BigInt(count),
  };
  const delivery: CallDelivery = {
    taskHash: order.taskHash,
    proofHash: callProofHash(answered),
    price,
    totalAfter: before.total + price,
    deliveredAt: answered.deliveredAt,
  };
  const after = before.after(order, delivery);
  const receipt: CallReceipt = {
    delivery,
    attestation: attest(
      {
        deliveries: after.deliveries,
        total: after.total,
        timestamp: delivery.deliveredAt,
        count,
        isFinal: false,
      },
      terms,
    ),
  };
  return { order, intent, voucher, answered, receipt, before, after };
};

/** The calls of an honest session, one behind another. */
export const honestCalls = (
  plan: ReadonlyArray<PlannedCall>,
  terms: SessionTerms = TERMS,
): ReadonlyArray<ReturnType<typeof honestCall>> => {
  let tally = NO_CALLS;
  return plan.map((each) => {
    const call = honestCall(tally, each, terms);
    tally = call.after;
    return call;
  });
};

/** The newest record after a call. */
export const headAfter = ({
  voucher,
  receipt,
  before,
}: ReturnType<typeof honestCall>): SessionHead => ({ voucher, receipt, before });

/** The attestor's key as a seller's signer. */
export const ATTESTOR_SIGNER: MessageSigner = {
  publicKey: TERMS.attestor,
  sign: (message) => Promise.resolve(ATTESTOR_KEY.sign(message)),
};

/** The session key as an agent's signer. */
export const SESSION_SIGNER: MessageSigner = {
  publicKey: TERMS.sessionKey,
  sign: (message) => Promise.resolve(SESSION_KEY.sign(message)),
};

/** The session as a seller keeps it. */
export const KEPT: KeptSession = {
  ...TERMS,
  network: NETWORK.genesisHash,
  mint: session.mint,
  createdAt: session.createdAt,
  expiresAt: session.expiresAt,
};
