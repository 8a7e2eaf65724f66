import { Context } from "effect";
import type { Deployment } from "../core/domain/ledger/deployment.ts";
import type { SupportedMint } from "../core/domain/supported-mint.ts";

/** What one running instance of the service is set up to serve. */
export class Instance extends Context.Service<
  Instance,
  {
    readonly deployment: Deployment;
    /** `localnet`, `devnet`, `testnet` or `mainnet-beta`. */
    readonly cluster: string;
    /** The ledger node's address without credentials, path or query. */
    readonly networkAddress: string;
    /** The mints whose amounts this service shows as money. */
    readonly supportedMints: ReadonlyArray<SupportedMint>;
    readonly enforceBetaLimits: boolean;
    /** Version of the package, and the revision it was started from, null when not known. */
    readonly version: string;
    readonly revision: string | null;
    readonly startedAtMs: number;
    /** How `confirm` waits on the relay, milliseconds. */
    readonly confirmTimeoutMs: number;
  }
>()("settlement-evidence/ports/Instance") {}
