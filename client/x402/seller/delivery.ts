import { bytesToHex } from "@noble/hashes/utils.js";
import { sha256 } from "../../../core/domain/sha256.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import type { DeliveryPayload } from "../../pay/delivery.ts";

/** What the handler answered, for the statement that is attested. */
export type Delivery = {
  readonly escrow: string;
  readonly taskHash: string;
  /** The genesis hash of the ledger. */
  readonly network: string;
  readonly method: string;
  readonly url: string;
  readonly body: Uint8Array;
  /** The response headers as the framework gives them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly deliveredAtMs: number;
};

/** What is attested: the payload, and the proof template that it fits, if any. */
export type Delivered = {
  readonly payload: DeliveryPayload;
  readonly template?: string | null;
};

/**
 * What is attested unless the seller says otherwise: the request, and SHA-256 and length of the answer. It claims no status, since x402 does not tell it. Each delivery
 * has an id of its own, so that no two have one proof: of two processes that deliver for one payment, one is paid.
 */
export const plainDelivery = (delivery: Delivery): Delivered => ({
  payload: {
    task_hash: delivery.taskHash,
    delivery_id: crypto.randomUUID(),
    network: delivery.network,
    request_method: delivery.method,
    request_url: delivery.url,
    content_sha256: bytesToHex(sha256(delivery.body)),
    content_bytes: delivery.body.length,
    delivered_at: formatUnixTime(BigInt(Math.floor(delivery.deliveredAtMs / 1000))),
  },
});
