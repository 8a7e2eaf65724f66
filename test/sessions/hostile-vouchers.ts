import { ed25519 } from "@noble/curves/ed25519.js";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { type CallOrder, callIntent, callOrder } from "../../core/protocol/calls/call-order.ts";
import {
  type CallVoucher,
  callVoucherBytes,
  vouchedMessage,
  VOUCHER_HEADER,
  voucherHeader,
} from "../../core/protocol/calls/call-voucher.ts";
import {
  HEAD_HEADER,
  type SessionHead,
  sessionHeadBytes,
} from "../../core/protocol/calls/session-head.ts";
import type { SessionTally } from "../../core/protocol/calls/session-tally.ts";
import type { SessionTerms } from "../../core/protocol/calls/session-terms.ts";

/** A session whose key a hostile agent has. */
export type HostileSession = {
  readonly terms: SessionTerms;
  readonly seed: Uint8Array;
  /** What the seller is reached by, as it signs it. */
  readonly origin: string;
  /** What a call costs, base units. */
  readonly price: bigint;
};

/** A request that a hostile agent sends. */
export type HostileMessage = {
  readonly what: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The voucher, and what the request orders by it; null where there is none. */
  readonly voucher: CallVoucher | null;
  readonly order: CallOrder | null;
};

/** Gives numbers in [0, 1). */
export type Random = () => number;
export const below = (random: Random, most: number): number => Math.floor(random() * most);
export const oneOf = <T>(random: Random, all: ReadonlyArray<T>): T => {
  const chosen = all[below(random, all.length)];
  if (chosen === undefined) throw new RangeError("nothing to choose from");
  return chosen;
};
export const anyBytes = (random: Random, length: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length }, () => below(random, 256));
/** Up to 400 printable characters without a space. */
export const anyText = (random: Random): string =>
  Array.from({ length: below(random, 400) }, () =>
    String.fromCharCode(33 + below(random, 94)),
  ).join("");

/** A voucher of the session key for what an agent claims. */
export const vouchedBy = (
  { terms, seed }: HostileSession,
  claim: Omit<CallVoucher, "signature" | "escrow">,
): CallVoucher => ({
  ...claim,
  escrow: terms.escrow,
  signature: ed25519.sign(vouchedMessage(terms, claim), seed),
});

/** An honest call of a path: what comes after a tally, at the price. */
export const honestMessage = (
  session: HostileSession,
  tally: SessionTally,
  random: Random,
  target = `/quotes/${tally.count + 1}`,
): HostileMessage & { readonly voucher: CallVoucher; readonly order: CallOrder } => {
  const nonce = anyBytes(random, 16);
  const intent = callIntent("GET", session.origin + target, new Uint8Array()) ?? "";
  const order = callOrder(intent, nonce, session.price);
  const voucher = vouchedBy(session, {
    orders: tally.ordersWith(order),
    total: tally.total + session.price,
    count: tally.count + 1,
    isClosing: false,
    limit: session.price,
    nonce,
  });
  return {
    what: "an honest call",
    method: "GET",
    target,
    headers: { [VOUCHER_HEADER]: voucherHeader(voucher) },
    body: new Uint8Array(),
    voucher,
    order,
  };
};

const u64 = (units: bigint): bigint => BigInt.asUintN(64, units);
/** The same with one to three bits changed. */
export const flipped = (random: Random, bytes: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  // A bit that is flipped twice is as it was.
  const bits = new Set(
    Array.from({ length: 1 + below(random, 3) }, () => below(random, 8 * bytes.length)),
  );
  for (const bit of bits) copy.set([(copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))], bit >> 3);
  return copy;
};

/** A message of some hostile sort. `heads` are the records that the agent has, oldest first. */
export const hostileMessage = (
  session: HostileSession,
  tally: SessionTally,
  heads: ReadonlyArray<SessionHead>,
  random: Random,
): HostileMessage => {
  const honest = honestMessage(session, tally, random);
  const { voucher, order } = honest;
  const carrying = (what: string, value: string, more: Partial<HostileMessage> = {}) => ({
    ...honest,
    what,
    headers: { ...honest.headers, [VOUCHER_HEADER]: value },
    ...more,
  });
  const signed = (what: string, claim: Partial<CallVoucher>): HostileMessage => {
    const made = vouchedBy(session, { ...voucher, ...claim });
    return carrying(what, voucherHeader(made), { voucher: made });
  };
  const unread = { voucher: null, order: null };
  const newest = heads.at(-1);
  switch (below(random, 16)) {
    case 0:
      return carrying("any text", anyText(random), unread);
    case 1:
      return carrying("any bytes", encodeBase64(anyBytes(random, below(random, 400))), unread);
    case 2:
    case 3:
      return carrying(
        "flipped bits",
        encodeBase64(flipped(random, callVoucherBytes(voucher))),
        unread,
      );
    case 4: {
      const bytes = callVoucherBytes(voucher);
      const length = below(random, 2) === 0 ? below(random, 176) : 177 + below(random, 50);
      const cut = Uint8Array.from({ length }, (_, at) => bytes[at] ?? 0);
      return carrying("another length", encodeBase64(cut), unread);
    }
    case 5: {
      const off = oneOf(random, [
        -1n,
        1n,
        -session.price,
        session.price,
        2n ** 64n - 1n,
        10n ** 9n,
      ]);
      return signed("another total", { total: u64(voucher.total + off) });
    }
    case 6: {
      const count = oneOf(random, [0, tally.count, tally.count + 2, 2 ** 32 - 1]);
      return signed("another count", { count });
    }
    case 7: {
      const limit = oneOf(random, [0n, session.price - 1n, session.price + 1n, 2n ** 64n - 1n]);
      const other = { ...order, limit };
      const total = u64(tally.total + limit);
      return {
        ...signed("another limit", { limit, total, orders: tally.ordersWith(other) }),
        order: other,
      };
    }
    case 8:
      return signed("orders of another call", {
        orders: oneOf(random, [tally.orders, session.terms.terms]),
      });
    case 9: {
      const total = oneOf(random, [0n, tally.total + 1n, tally.total + session.price]);
      const count = oneOf(random, [tally.count + 1, Math.max(0, tally.count - 1)]);
      const closing = { isClosing: true, limit: 0n, nonce: new Uint8Array(16) };
      return { ...signed("a false closing", { ...closing, total, count }), order: null };
    }
    case 10:
      return { ...honest, what: "another path", target: `${honest.target}?again`, order: null };
    case 11: {
      const body = anyBytes(random, 1 + below(random, 64));
      return { ...honest, what: "another body", method: "POST", body, order: null };
    }
    case 12:
      return {
        ...honest,
        what: "a free method",
        method: oneOf(random, ["HEAD", "OPTIONS"]),
        order: null,
      };
    case 13: {
      if (newest === undefined) return carrying("no voucher", "", unread);
      const bytes = flipped(random, sessionHeadBytes(newest));
      const headers = {
        [VOUCHER_HEADER]: encodeBase64(flipped(random, callVoucherBytes(voucher))),
        [HEAD_HEADER]: encodeBase64(bytes),
      };
      return { ...honest, what: "a flipped record", headers, ...unread };
    }
    case 14: {
      if (newest === undefined) return carrying("no voucher", "", unread);
      const older = oneOf(random, heads);
      const headers = {
        [VOUCHER_HEADER]: voucherHeader(older.voucher),
        [HEAD_HEADER]: encodeBase64(sessionHeadBytes(older)),
      };
      const target = `/quotes/${older.voucher.count}`;
      const again = {
        taskHash: older.receipt.delivery.taskHash,
        limit: older.voucher.limit,
      };
      return {
        ...honest,
        what: "an old call",
        target,
        headers,
        voucher: older.voucher,
        order: again,
      };
    }
    default: {
      const escrow = oneOf(random, [session.terms.attestor, session.terms.sessionKey]);
      const other = { ...voucher, escrow };
      return carrying("another session", voucherHeader(other), { voucher: null, order: null });
    }
  }
};
