import { Context } from "effect";
import type { Deployment, ProgramPins } from "../core/domain/ledger/deployment.ts";
import type { SupportedMint } from "../core/domain/supported-mint.ts";

/** The configuration of one running instance of the service. */
export class Instance extends Context.Service<
  Instance,
  {
    readonly deployment: Deployment;
    /** What the programs' bytes must be for this service to prepare and relay. */
    readonly programPins: ProgramPins;
    /** `localnet`, `devnet`, `testnet` or `mainnet-beta`. */
    readonly cluster: string;
    /** Whether the ledger is the service's own process, whose time its user may move ahead. */
    readonly runsLedger: boolean;
    /** The ledger node's address without credentials, path or query. */
    readonly networkAddress: string;
    /** The mints whose amounts this service shows as money. */
    readonly supportedMints: ReadonlyArray<SupportedMint>;
    readonly enforceBetaLimits: boolean;
    /** The package's version, and the revision that was started; null when not known. */
    readonly version: string;
    readonly revision: string | null;
    readonly startedAtMs: number;
    /** Whether the index is synced without being asked for it. */
    readonly syncsByItself: boolean;
    /** How long `confirm` waits on the relay, milliseconds. */
    readonly confirmTimeoutMs: number;
  }
>()("settlement-evidence/ports/Instance") {}
