import { ADD_CHECKPOINT_EXAMPLE } from "../../../../adapters/http/witness/add-checkpoint.ts";
import { MINT } from "../../../adapters/http/support/parties.ts";
import {
  CLOSED,
  EXPIRED,
  FULFILLED,
  PENDING,
  payloadOf,
  REFUNDED,
  releaseBodyOf,
  SESSION,
  sessionBodyOf,
} from "../world/escrows.ts";
import { RICH } from "../world/ledger-accounts.ts";
import { AGENT, ATTESTOR, MERCHANT } from "../world/parties.ts";
import { paymentBody } from "../world/payments.ts";
import { REGISTRATION, signatureOf } from "../world/transactions.ts";

/** A good request to an operation. */
export type Sample = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** A body that is text and not JSON. */
  readonly text?: string;
  /** A query parameter of the operation, with a good value. */
  readonly query?: string;
};

/** A good body of `POST /v1/escrows/prepare`. */
export const PREPARE_BODY = {
  agent_owner: AGENT.address,
  merchant: MERCHANT.wallet,
  mint: MINT,
  amount_stroops: "1500000",
  ttl_seconds: 3600,
  task_intent: "GET https://api.example.com/v1/quotes?symbol=SOL",
  nonce: "order-1",
} as const;

/** A good link that creates an escrow. */
const CREATE_LINK = `/v1/actions/create?${new URLSearchParams({
  merchant: MERCHANT.wallet,
  mint: MINT,
  amount_stroops: "1500000",
  ttl_seconds: "3600",
  task_intent: PREPARE_BODY.task_intent,
  nonce: PREPARE_BODY.nonce,
}).toString()}`;

const at = (path: string): Sample => ({ method: "GET", path });

/** A good request to each operation, by its `operationId`, in the order of the documentation. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  prepareEscrow: {
    method: "POST",
    path: "/v1/escrows/prepare",
    body: PREPARE_BODY,
    query: "preflight=true",
  },
  readEscrow: at(`/v1/escrows/${PENDING.address}`),
  prepareAttestation: {
    method: "POST",
    path: `/v1/escrows/${PENDING.address}/attestation/prepare`,
    body: { payload: payloadOf(PENDING) },
  },
  prepareCapture: {
    method: "POST",
    path: `/v1/escrows/${SESSION.address}/capture/prepare`,
    body: sessionBodyOf(SESSION),
    query: "transaction=false",
  },
  prepareRelease: {
    method: "POST",
    path: `/v1/escrows/${PENDING.address}/release/prepare`,
    body: releaseBodyOf(PENDING),
    query: "transaction=false",
  },
  prepareClose: {
    method: "POST",
    path: `/v1/escrows/${SESSION.address}/close/prepare`,
    body: { payer: RICH.address },
    query: "transaction=true",
  },
  prepareRefund: {
    method: "POST",
    path: `/v1/escrows/${EXPIRED.address}/refund/prepare`,
    body: {},
    query: "transaction=false",
  },
  prepareCancel: {
    method: "POST",
    path: `/v1/escrows/${PENDING.address}/cancel/prepare`,
    body: { payer: RICH.address },
    query: "transaction=true",
  },
  prepareRent: {
    method: "POST",
    path: `/v1/escrows/${CLOSED.address}/rent/prepare`,
    body: {},
    query: "transaction=false",
  },
  prepareArchive: {
    method: "POST",
    path: `/v1/escrows/${REFUNDED.address}/archive/prepare`,
    body: {},
    query: "transaction=false",
  },
  buildEvidence: {
    ...at(`/v1/evidence/${FULFILLED.address}`),
    query: "download=json",
  },
  readEscrowProof: at(`/v1/evidence/${FULFILLED.address}/proof`),
  verifyDelivery: {
    method: "POST",
    path: `/v1/evidence/${FULFILLED.address}/verify`,
    body: { payload: payloadOf(FULFILLED) },
  },
  listEvidenceKeys: at("/.well-known/jwks.json"),
  readEvidenceTrust: at("/.well-known/evidence-trust.json"),
  readMerchant: at(`/v1/merchants/${MERCHANT.wallet}`),
  prepareMerchant: {
    method: "POST",
    path: "/v1/merchants/prepare",
    body: { merchant: RICH.address, attestor: ATTESTOR.address, name: "New Data" },
    query: "transaction=true",
  },
  prepareAttestor: {
    method: "POST",
    path: `/v1/merchants/${MERCHANT.wallet}/attestor/prepare`,
    body: { attestor: AGENT.address, payer: RICH.address },
    query: "transaction=true",
  },
  queryMerchants: { ...at("/v1/registry/merchants"), query: "limit=1" },
  listProofTemplates: { ...at("/v1/proof-templates"), query: "wedge=api-data" },
  readProofTemplate: at("/v1/proof-templates/api-delivered-v1"),
  readLogCheckpoint: at("/log/checkpoint"),
  readRefusedCheckpoints: at("/witness/refused"),
  readLogTile: at("/log/tile/0/000"),
  readLogTileOfTwoSegments: at("/log/tile/entries/000.p/1"),
  readLogTileOfThreeSegments: at("/log/tile/0/x001/234.p/12"),
  readLogTileOfFourSegments: at("/log/tile/0/x001/x234/067.p/12"),
  readLogLeaf: at("/v1/log/leaves/1"),
  queryEscrows: { ...at("/v1/indexer"), query: "limit=1" },
  queryEvents: { ...at("/v1/indexer/events"), query: "limit=1" },
  queryDays: { ...at("/v1/indexer/days"), query: "days=7" },
  search: { ...at("/v1/search?q=1"), query: "q=1" },
  streamEvents: { ...at("/v1/indexer/events/stream"), query: "after=0" },
  syncIndex: { method: "POST", path: "/v1/indexer/sync" },
  readRelayPolicy: at("/v1/relay"),
  relayTransaction: {
    method: "POST",
    path: "/v1/relay",
    body: { signed_transaction: REGISTRATION },
  },
  readRelayOutcome: at(`/v1/relay/${signatureOf(REGISTRATION)}`),
  readActionsJson: at("/actions.json"),
  readIcon: at("/icon.svg"),
  readCreateAction: at(CREATE_LINK),
  runCreateAction: { method: "POST", path: CREATE_LINK, body: { account: AGENT.address } },
  readRefundAction: at(`/v1/actions/refund/${EXPIRED.address}`),
  runRefundAction: {
    method: "POST",
    path: `/v1/actions/refund/${EXPIRED.address}`,
    body: { account: RICH.address },
  },
  readArchiveAction: at(`/v1/actions/archive/${REFUNDED.address}`),
  runArchiveAction: {
    method: "POST",
    path: `/v1/actions/archive/${REFUNDED.address}`,
    body: { account: RICH.address },
  },
  supportedPayments: at("/x402/supported"),
  verifyPayment: { method: "POST", path: "/x402/verify", body: paymentBody() },
  settlePayment: { method: "POST", path: "/x402/settle", body: paymentBody() },
  addCheckpoint: { method: "POST", path: "/witness/add-checkpoint", text: ADD_CHECKPOINT_EXAMPLE },
  readRoot: at("/"),
  readClientPackage: at("/client/settlement-evidence.tgz"),
  readDescriptor: at("/.well-known/settlement-evidence.json"),
  readCustodyIdl: at("/idl/custody.json"),
  readAttestorIdl: at("/idl/attestor.json"),
  readVersion: at("/v1"),
  readStatus: at("/v1/status"),
  readHealth: at("/health"),
  readReadiness: at("/ready"),
  readMetrics: at("/metrics"),
  readOpenApi: at("/openapi.json"),
  readArazzo: at("/arazzo.json"),
  readLlms: at("/llms.txt"),
  callMcp: {
    method: "POST",
    path: "/mcp",
    body: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
  },
  readDocs: at("/docs"),
  readDocsMarkdown: at("/docs.md"),
  readDocsPage: at("/docs/glossary.md"),
  readProblem: at("/problems/validation_failed"),
};

/** The good request to an operation. @throws Error for an unknown operation. */
export const sampleOf = (operation: string): Sample => {
  const sample = SAMPLES[operation];
  if (sample === undefined) throw new Error(`no sample of ${operation}`);
  return sample;
};
