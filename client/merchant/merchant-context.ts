import type { PrepareContext } from "../pay/prepared-transaction.ts";

/** What every operation of a merchant needs. */
export type MerchantContext = PrepareContext & {
  /**
   * Whether an agent must have a token account already; false when left out. Where it need not, the payer opens a missing one. An
   * agent can then close it after each payment and keep its rent.
   */
  readonly needsAgentAccount?: boolean;
};
