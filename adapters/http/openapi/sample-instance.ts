import { NO_PINS } from "../../../core/domain/ledger/deployment.ts";
import { Instance } from "../../../ports/instance.ts";
import { SAMPLE, sampleParties } from "./sample-values.ts";

/** The instance that the documentation's examples come from. */
export const sampleInstance = () =>
  Instance.of({
    deployment: SAMPLE.deployment,
    programPins: NO_PINS,
    cluster: "localnet",
    runsLedger: false,
    networkAddress: "http://127.0.0.1:8899",
    supportedMints: [{ address: sampleParties().mint, decimals: 6, symbol: "USDC" }],
    enforceBetaLimits: false,
    version: "1.0.0-devnet",
    revision: null,
    startedAtMs: Number(SAMPLE.createdAt) * 1000,
    syncsByItself: true,
    confirmTimeoutMs: 30_000,
  });
