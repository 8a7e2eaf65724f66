import { type Address, address } from "../../../core/domain/address.ts";
import type { SupportedMint } from "../../../core/domain/supported-mint.ts";
import { NO_PINS } from "../../../core/domain/ledger/deployment.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { Instance } from "../../../ports/instance.ts";

/** The mint of the test instance: devnet USDC. */
export const SUPPORTED_MINT = address("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU");

/** A mint that a list calls USDC. */
export const usdc = (mint: Address): SupportedMint => ({
  address: mint,
  decimals: 6,
  symbol: "USDC",
});

/** An instance on a local ledger, with or without the beta's limits enforced. */
export const testInstance = (enforceBetaLimits = false) =>
  Instance.of({
    deployment: LOCAL_DEPLOYMENT,
    programPins: NO_PINS,
    cluster: "localnet",
    runsLedger: false,
    networkAddress: "http://127.0.0.1:8899",
    supportedMints: [usdc(SUPPORTED_MINT)],
    enforceBetaLimits,
    version: "0.0.0",
    revision: null,
    startedAtMs: 0,
    syncsByItself: true,
    confirmTimeoutMs: 0,
  });
