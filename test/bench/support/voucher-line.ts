import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { callIntent, callOrder, orderLeaf } from "../../../core/protocol/calls/call-order.ts";
import { vouchedMessage, voucherHeader } from "../../../core/protocol/calls/call-voucher.ts";
import type { SessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { TreeEdge } from "../../../core/log/tree/tree-edge.ts";
import { leafHash } from "../../../core/log/tree/tree-hash.ts";

/**
 * The header values of a session's vouchers, one behind another, each for a GET of the same URL. Where every call costs
 * its limit, a voucher follows from those before it alone, so that a load can make them all before it begins.
 */
export const voucherLine = (
  session: SessionTerms,
  seed: Uint8Array,
  { url, limit }: { readonly url: string; readonly limit: bigint },
): (() => string) => {
  const { sign } = ed25519Key(seed);
  const intent = callIntent("GET", url, new Uint8Array()) ?? "";
  const orders = new TreeEdge();
  const nonce = new Uint8Array(16);
  return () => {
    const count = orders.size + 1;
    new DataView(nonce.buffer).setUint32(0, count);
    orders.append(leafHash(orderLeaf(callOrder(intent, nonce, limit))));
    const claim = {
      orders: hash32FromBytes(orders.root()),
      total: limit * BigInt(count),
      count,
      isClosing: false,
    };
    const signature = sign(vouchedMessage(session, claim));
    return voucherHeader({ ...claim, escrow: session.escrow, limit, nonce, signature });
  };
};
