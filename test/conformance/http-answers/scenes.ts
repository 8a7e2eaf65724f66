import { Effect, Layer, Redacted } from "effect";
import {
  evidenceSignerFromSeed,
  evidenceSignerNone,
} from "../../../adapters/signer/evidence-signer.ts";
import { EvidenceSigner, KeyUnavailable } from "../../../ports/evidence-signer.ts";
import { ed25519Key } from "../../arbitraries/evidence.ts";
import type { Scene } from "./exchange.ts";
import {
  actionBetaExchanges,
  actionExchanges,
  noPublicAddressExchanges,
} from "./exchanges/actions.ts";
import { otherWrongBodies, wrongBodies } from "./exchanges/bodies.ts";
import { escrowBetaExchanges, escrowExchanges } from "./exchanges/escrow.ts";
import { everyOperation, overBudget } from "./exchanges/every-operation.ts";
import {
  evidenceExchanges,
  heldKeyExchanges,
  rotatedExchanges,
  unsignedExchanges,
  proofTemplateExchanges,
} from "./exchanges/evidence.ts";
import {
  idempotencyExchanges,
  acceptedExchanges,
  expiredExchanges,
} from "./exchanges/relay/relay-accepted.ts";
import { indexListExchanges, unsyncedExchanges } from "./exchanges/index-lists.ts";
import { mcpExchanges, mcpLastOfBudgetExchanges } from "./exchanges/mcp.ts";
import { merchantExchanges } from "./exchanges/merchant.ts";
import {
  OTHER_SETTINGS,
  otherSettingsExchanges,
  drainingExchanges,
  metricsExchanges,
  serviceStateExchanges,
} from "./exchanges/service-state.ts";
import { pageExchanges } from "./exchanges/pages.ts";
import { prepareExchanges } from "./exchanges/prepare.ts";
import { notAdmittedExchanges } from "./exchanges/relay/relay-not-admitted.ts";
import {
  fullExchanges,
  lastOfBudgetExchanges,
  refusedExchanges,
  relayBetaExchanges,
} from "./exchanges/relay/relay-refused.ts";
import { settlementExchanges } from "./exchanges/relay/settlement.ts";
import {
  settlementLogExchanges,
  withoutLogExchanges,
  witnessExchanges,
  witnessScenes,
} from "./exchanges/settlement-log.ts";
import { streamExchanges } from "./exchanges/stream.ts";
import { syncExchanges } from "./exchanges/sync.ts";
import { settleExchanges, verifyExchanges, x402BetaExchanges } from "./exchanges/x402.ts";

const formerKey = (byte: number): string =>
  Buffer.from(ed25519Key(byte).publicKey).toString("base64url");

/**
 * Everything that is recorded, in order. Each scene has an instance of its own, so that its exchanges see no others.
 */
export const SCENES: ReadonlyArray<Scene> = [
  {
    name: "usual settings",
    exchanges: [
      ...escrowExchanges,
      ...evidenceExchanges,
      ...merchantExchanges,
      ...prepareExchanges,
      ...actionExchanges,
      ...proofTemplateExchanges,
      ...indexListExchanges,
      ...witnessExchanges,
      ...serviceStateExchanges,
      ...pageExchanges,
      ...verifyExchanges,
      ...everyOperation,
      ...wrongBodies,
      ...otherWrongBodies,
    ],
  },
  {
    name: "transactions",
    exchanges: [
      ...acceptedExchanges,
      ...idempotencyExchanges,
      ...notAdmittedExchanges,
      ...refusedExchanges,
    ],
  },
  {
    name: "settlements; then a ledger on which time passes; then a relay that is full",
    exchanges: [...settlementExchanges, ...expiredExchanges, ...fullExchanges],
  },
  { name: "x402 payments; then a relay that is full", exchanges: settleExchanges },
  { name: "MCP clients", exchanges: mcpExchanges },
  { name: "the stream of events", exchanges: streamExchanges },
  {
    name: "an empty index, and its syncs",
    isSynced: false,
    exchanges: [...unsyncedExchanges, ...syncExchanges],
  },
  {
    name: "a published settlement log",
    options: { logSigner: new Uint8Array(32).fill(21) },
    exchanges: settlementLogExchanges,
  },
  { name: "no settlement log", exchanges: withoutLogExchanges },
  {
    name: "no public address",
    options: { publicUrl: null },
    exchanges: noPublicAddressExchanges,
  },
  { name: "metrics", exchanges: metricsExchanges },
  {
    name: "the beta's limits are enforced, and there is no evidence key",
    options: { enforceBetaLimits: true, signer: evidenceSignerNone(formerKey(11)) },
    exchanges: [
      ...escrowBetaExchanges,
      ...actionBetaExchanges,
      ...relayBetaExchanges,
      ...x402BetaExchanges,
      ...unsignedExchanges,
    ],
  },
  { name: "budgets of nothing", options: { limit: 0 }, isSynced: false, exchanges: overBudget },
  {
    name: "budgets of one request",
    options: { limit: 1 },
    exchanges: [...lastOfBudgetExchanges, ...mcpLastOfBudgetExchanges],
  },
  {
    name: "other settings, after two rotations of the evidence key; then it shuts down",
    options: {
      ...OTHER_SETTINGS,
      signer: evidenceSignerFromSeed(
        Redacted.make(new Uint8Array(32).fill(13)),
        `${formerKey(12)}, ${formerKey(11)} revoked 2026-02-01T00:00:00Z`,
      ),
    },
    exchanges: [...otherSettingsExchanges, ...rotatedExchanges, ...drainingExchanges],
  },
  {
    name: "an evidence key whose holder does not answer",
    options: {
      signer: Layer.effect(
        EvidenceSigner,
        Effect.map(EvidenceSigner, (signer) => ({
          ...signer,
          sign: () =>
            new KeyUnavailable({ source: "a KMS", reason: "no answer in 10 s", said: null }),
        })),
      ).pipe(Layer.provide(evidenceSignerFromSeed(Redacted.make(new Uint8Array(32).fill(7))))),
    },
    exchanges: heldKeyExchanges,
  },
  ...witnessScenes,
];
