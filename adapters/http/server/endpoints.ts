import type { JsonText } from "./declared-answer.ts";
import type { Endpoint } from "./endpoint.ts";
import type { OpenApiDocument } from "../openapi/openapi-document.ts";
import { actionsJsonEndpoint, iconEndpoint } from "../actions/actions-json.ts";
import { readCreateActionEndpoint, runCreateActionEndpoint } from "../actions/create-action.ts";
import {
  readArchiveActionEndpoint,
  readRefundActionEndpoint,
  runArchiveActionEndpoint,
  runRefundActionEndpoint,
} from "../actions/escrow-actions.ts";
import { buildEvidenceEndpoint } from "../evidence/build-evidence.ts";
import { clientPackageEndpoint } from "../service/client-package.ts";
import { descriptorEndpoint, rootEndpoint, versionEndpoint } from "../service/descriptor.ts";
import { evidenceKeysEndpoint, evidenceTrustEndpoint } from "../evidence/evidence-trust.ts";
import { logLeafEndpoint } from "../log/read-leaf.ts";
import { checkpointEndpoint, escrowProofEndpoint, logTileEndpoints } from "../log/read-log.ts";
import { metricsEndpoint } from "../service/metrics.ts";
import { prepareEscrowEndpoint } from "../escrow/prepare/prepare-escrow.ts";
import {
  prepareArchiveEndpoint,
  prepareCancelEndpoint,
  prepareCloseEndpoint,
  prepareRefundEndpoint,
  prepareRentEndpoint,
} from "../escrow/prepare/prepare-return.ts";
import { prepareAttestationEndpoint } from "../escrow/prepare/prepare-attestation.ts";
import {
  prepareCaptureEndpoint,
  prepareReleaseEndpoint,
} from "../escrow/prepare/prepare-payment.ts";
import { prepareAttestorEndpoint } from "../merchant/prepare-attestor.ts";
import { prepareMerchantEndpoint } from "../merchant/prepare-merchant.ts";
import { problemPageEndpoint } from "../service/problem-page.ts";
import {
  listProofTemplatesEndpoint,
  readProofTemplateEndpoint,
} from "../evidence/proof-templates.ts";
import { queryDaysEndpoint } from "../index/query-days.ts";
import { queryEscrowsEndpoint, queryEventsEndpoint } from "../index/query-escrows.ts";
import { queryMerchantsEndpoint, readMerchantEndpoint } from "../merchant/read-merchant.ts";
import { readEscrowEndpoint } from "../escrow/read-escrow.ts";
import { docsEndpoint, openApiEndpoint } from "../service/reference.ts";
import {
  readRelayOutcomeEndpoint,
  readRelayPolicyEndpoint,
  relayTransactionEndpoint,
} from "../relay/relay.ts";
import { attestorIdlEndpoint, custodyIdlEndpoint } from "../service/idl.ts";
import { healthEndpoint, readyEndpoint, statusEndpoint } from "../service/service-state.ts";
import { streamEventsEndpoint } from "../index/stream-events.ts";
import { searchEndpoint } from "../index/search.ts";
import { syncIndexEndpoint } from "../index/sync-index.ts";
import { verifyDeliveryEndpoint } from "../evidence/verify-delivery.ts";
import { addCheckpointEndpoint } from "../witness/add-checkpoint.ts";
import { readRefusedEndpoint } from "../witness/read-refused.ts";
import {
  settlePaymentEndpoint,
  supportedPaymentsEndpoint,
  verifyPaymentEndpoint,
} from "../x402/facilitator.ts";
import { arazzoEndpoint } from "../agents/arazzo.ts";
import { llmsEndpoint } from "../agents/llms.ts";
import { mcpEndpoint, type McpParts } from "../agents/mcp.ts";
import { documentationPageEndpoint, referenceMarkdownEndpoint } from "../agents/markdown-pages.ts";
import type { CodedText } from "./coded-text.ts";

/** What some operations need beside the ports. */
export type EndpointParts = {
  readonly isDraining: () => boolean;
  /** The reference as a page. */
  readonly reference: () => Promise<CodedText>;
  /** The reference in Markdown. */
  readonly referenceMarkdown: () => Promise<CodedText>;
  /** The text of `/llms.txt`. */
  readonly llmsText: () => CodedText;
  readonly openApiDocument: () => Promise<JsonText<OpenApiDocument>>;
  readonly mcp: McpParts;
};

/** Every operation of the contract, in the order of its documentation. */
export const allEndpoints = (parts: EndpointParts): ReadonlyArray<Endpoint> => [
  prepareEscrowEndpoint,
  readEscrowEndpoint,
  prepareAttestationEndpoint,
  prepareCaptureEndpoint,
  prepareReleaseEndpoint,
  prepareCloseEndpoint,
  prepareRefundEndpoint,
  prepareCancelEndpoint,
  prepareRentEndpoint,
  prepareArchiveEndpoint,
  buildEvidenceEndpoint,
  escrowProofEndpoint,
  verifyDeliveryEndpoint,
  evidenceKeysEndpoint,
  evidenceTrustEndpoint,
  readMerchantEndpoint,
  prepareMerchantEndpoint,
  prepareAttestorEndpoint,
  queryMerchantsEndpoint,
  listProofTemplatesEndpoint,
  readProofTemplateEndpoint,
  checkpointEndpoint,
  ...logTileEndpoints,
  logLeafEndpoint,
  queryEscrowsEndpoint,
  queryEventsEndpoint,
  queryDaysEndpoint,
  searchEndpoint,
  streamEventsEndpoint(parts.isDraining),
  syncIndexEndpoint,
  readRelayPolicyEndpoint,
  relayTransactionEndpoint,
  readRelayOutcomeEndpoint,
  actionsJsonEndpoint,
  iconEndpoint,
  readCreateActionEndpoint,
  runCreateActionEndpoint,
  readRefundActionEndpoint,
  runRefundActionEndpoint,
  readArchiveActionEndpoint,
  runArchiveActionEndpoint,
  supportedPaymentsEndpoint,
  verifyPaymentEndpoint,
  settlePaymentEndpoint,
  addCheckpointEndpoint,
  readRefusedEndpoint,
  rootEndpoint(parts.llmsText),
  clientPackageEndpoint,
  descriptorEndpoint,
  custodyIdlEndpoint,
  attestorIdlEndpoint,
  versionEndpoint,
  statusEndpoint,
  healthEndpoint,
  readyEndpoint(parts.isDraining),
  metricsEndpoint,
  openApiEndpoint(parts.openApiDocument),
  arazzoEndpoint,
  llmsEndpoint(parts.llmsText),
  mcpEndpoint(parts.mcp),
  docsEndpoint(parts.reference, parts.referenceMarkdown),
  referenceMarkdownEndpoint(parts.referenceMarkdown),
  documentationPageEndpoint,
  problemPageEndpoint,
];
