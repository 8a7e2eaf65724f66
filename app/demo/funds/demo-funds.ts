import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import type { Wallet } from "../wallet.ts";

/** The parties of the demo. */
export type Parties = {
  readonly agent: Wallet;
  readonly merchant: Wallet;
  readonly attestor: Wallet;
  readonly passerBy: Wallet;
};

/** The least that the agent needs in base units: the amounts of both escrows. */
export const DEMO_BASE_UNITS = 4_000_000;

/** Where the demo's money comes from and goes to. Every method throws DemoFailed or DeployStopped. */
export type DemoFunds = {
  /** Parties with what they need for two escrows. */
  readonly parties: (deployment: Deployment) => Promise<Parties>;
  readonly latestBlockhash: () => Promise<string>;
};
