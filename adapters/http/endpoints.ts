import type { Endpoint } from "./endpoint.ts";
import { buildEvidenceEndpoint } from "./routes/build-evidence.ts";
import { consoleVerifierEndpoint } from "./routes/console-verifier.ts";
import { descriptorEndpoint, rootEndpoint, versionEndpoint } from "./routes/descriptor.ts";
import { evidenceKeysEndpoint, evidenceTrustEndpoint } from "./routes/evidence-trust.ts";
import { metricsEndpoint } from "./routes/metrics.ts";
import { prepareEscrowEndpoint } from "./routes/prepare-escrow.ts";
import { problemPageEndpoint } from "./routes/problem-page.ts";
import { listProofTemplatesEndpoint, readProofTemplateEndpoint } from "./routes/proof-templates.ts";
import { queryEscrowsEndpoint } from "./routes/query-escrows.ts";
import { queryEventsEndpoint } from "./routes/query-events.ts";
import { queryMerchantsEndpoint } from "./routes/query-merchants.ts";
import { readEscrowEndpoint } from "./routes/read-escrow.ts";
import { readMerchantEndpoint } from "./routes/read-merchant.ts";
import { docsEndpoint, openApiEndpoint } from "./routes/reference.ts";
import {
  readRelayOutcomeEndpoint,
  readRelayPolicyEndpoint,
  relayTransactionEndpoint,
} from "./routes/relay.ts";
import { healthEndpoint, readyEndpoint, statusEndpoint } from "./routes/service-state.ts";
import { streamEventsEndpoint } from "./routes/stream-events.ts";
import { syncIndexEndpoint } from "./routes/sync-index.ts";
import { verifyDeliveryEndpoint } from "./routes/verify-delivery.ts";
import type { StaticPage } from "./static-page.ts";

/** What some operations need beside the ports. */
export type EndpointParts = {
  readonly isDraining: () => boolean;
  readonly console: () => StaticPage;
  /** The console's verifier, as the text of a module. */
  readonly consoleVerifier: () => Promise<string>;
  readonly reference: () => StaticPage;
  readonly openApiDocument: () => Promise<string>;
};

/** Every operation of the contract, in the order of its documentation. */
export const allEndpoints = (parts: EndpointParts): ReadonlyArray<Endpoint> => [
  prepareEscrowEndpoint,
  readEscrowEndpoint,
  buildEvidenceEndpoint,
  verifyDeliveryEndpoint,
  evidenceKeysEndpoint,
  evidenceTrustEndpoint,
  readMerchantEndpoint,
  queryMerchantsEndpoint,
  listProofTemplatesEndpoint,
  readProofTemplateEndpoint,
  queryEscrowsEndpoint,
  queryEventsEndpoint,
  streamEventsEndpoint(parts.isDraining),
  syncIndexEndpoint,
  readRelayPolicyEndpoint,
  relayTransactionEndpoint,
  readRelayOutcomeEndpoint,
  rootEndpoint(parts.console),
  consoleVerifierEndpoint(parts.consoleVerifier),
  descriptorEndpoint,
  versionEndpoint,
  statusEndpoint,
  healthEndpoint,
  readyEndpoint(parts.isDraining),
  metricsEndpoint,
  openApiEndpoint(parts.openApiDocument),
  docsEndpoint(parts.reference),
  problemPageEndpoint,
];
