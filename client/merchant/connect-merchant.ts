import { policyIn } from "../pinned-policy.ts";
import { type ClientClock, requestsTo } from "../service/requests.ts";
import type { Fetch } from "../service/fetch-directly.ts";
import { attest } from "./settle/attest.ts";
import { cancel } from "./settle/cancel.ts";
import { exportEscrows } from "./escrows/export.ts";
import type { MerchantContext } from "./merchant-context.ts";
import { register } from "./register.ts";
import { release } from "./settle/release.ts";
import { rotate } from "./rotate.ts";
import { watch } from "./escrows/watch.ts";

/** How a merchant's client is connected. */
export type MerchantOptions = {
  /** The trust document, obtained beforehand and kept: its text, or the object that JSON makes of it. */
  readonly trust: string | object;
  /** The most that a transaction may pay for priority, in lamports; 1,000,000 when left out. */
  readonly mostPriorityFee?: bigint;
  /** Used instead of the global `fetch`. */
  readonly fetch?: Fetch;
  /** Used instead of the machine's clock. */
  readonly clock?: ClientClock;
  /** Used instead of `Math.random`, for the random part of pauses between retries. Gives numbers in [0, 1). */
  readonly random?: () => number;
};

type Operation<F> = F extends (context: MerchantContext, input: infer I) => infer R
  ? (input: I) => R
  : never;

/** A merchant's side of a service. What each operation returns is documented at its definition. */
export type MerchantClient = {
  readonly register: Operation<typeof register>;
  readonly rotate: Operation<typeof rotate>;
  readonly watch: Operation<typeof watch>;
  readonly attest: Operation<typeof attest>;
  readonly release: Operation<typeof release>;
  readonly cancel: Operation<typeof cancel>;
  readonly export: Operation<typeof exportEscrows>;
};

/**
 * A merchant's client of the service at `url`. Opens no connection yet. @throws SettlementError for a wrong option.
 * @example
 * import { connectMerchant } from "settlement-evidence/merchant";
 *
 * const merchant = connectMerchant(service, { trust });
 * typeof merchant.attest; // => "function"
 */
export const connectMerchant = (url: string, options: MerchantOptions): MerchantClient => {
  const context: MerchantContext = {
    requests: requestsTo(url, options.fetch, options.clock, options.random),
    policy: policyIn(options.trust),
    mostPriorityFee: options.mostPriorityFee,
  };
  return {
    register: (input) => register(context, input),
    rotate: (input) => rotate(context, input),
    watch: (input) => watch(context, input),
    attest: (input) => attest(context, input),
    release: (input) => release(context, input),
    cancel: (input) => cancel(context, input),
    export: (input) => exportEscrows(context, input),
  };
};
