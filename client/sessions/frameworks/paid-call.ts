import type { PaidCall } from "../seller/seller-context.ts";

const calls = new WeakMap<object, PaidCall>();

/** Notes the call that a framework's request belongs to. */
export const noteCall = (request: object, call: PaidCall): void => void calls.set(request, call);

/**
 * The paid call that a framework's own request belongs to: hono's `c.req.raw`, express's and fastify's `request`. By it
 * a handler charges less than the price. @throws Error for a request that is not sold
 * @example
 * import { paidCall } from "settlement-evidence/sessions";
 *
 * typeof paidCall; // => "function"
 */
export const paidCall = (request: object): PaidCall => {
  const call = calls.get(request);
  if (call === undefined) throw new Error("the request is not sold: its route has no price");
  return call;
};
