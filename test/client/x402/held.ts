import type { Json } from "../../../core/domain/encoding/canonical-json.ts";

/** What `extra` of every offer says of how the money is held, until `deadline` in Unix seconds. */
export const held = (deadline: number): Readonly<Record<string, Json>> => ({
  assetTransferMethod: "delivery-escrow",
  paymentFlow: "escrow",
  minFeeBps: 0,
  maxFeeBps: 0,
  captureDeadline: deadline,
  refundDeadline: deadline,
});

/** The same for tests that read no clock: until 2026-11-22T10:00:00Z. */
export const HELD = held(Date.UTC(2026, 10, 22, 10) / 1000);
