import type { ClientPackageUnavailable } from "../../../ports/client-package.ts";
import type { KeyUnavailable } from "../../../ports/evidence-signer.ts";
import type { SlotBeyondReach } from "../../../ports/index/index-news.ts";
import type { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import type { LedgerFailure } from "../../../ports/ledger/ledger.ts";
import type {
  RelayRefusal,
  TransactionNotFound,
} from "../../../core/use-cases/relay/relay-errors.ts";
import type * as Request from "../../../core/use-cases/request-errors.ts";
import type { NotInLog, NotLoggedYet } from "../../../core/use-cases/log/serving/read-log.ts";
import type { NotFinalYet } from "../../../core/use-cases/escrow/read-escrow.ts";
import type * as Http from "./http-failures.ts";
import type { WitnessFailure } from "../../../core/use-cases/witness/witness-errors.ts";
import type { ProblemCode } from "./problem-catalogue.ts";

/** Every expected failure that becomes a problem answer. */
export type ApiFailure =
  | Request.TaskRequired
  | Request.EscrowNotFound
  | Request.NotAnEscrow
  | Request.EscrowArchived
  | Request.WrongState
  | Request.MerchantNotFound
  | Request.NotAMerchant
  | Request.ProofTemplateNotFound
  | Request.MalformedCursor
  | NotInLog
  | NotLoggedYet
  | NotFinalYet
  | WitnessFailure
  | RelayRefusal
  | TransactionNotFound
  | LedgerFailure
  | SlotBeyondReach
  | StoreUnavailable
  | KeyUnavailable
  | ClientPackageUnavailable
  | Http.InvalidRequest
  | Http.InvalidRequestAddress
  | Http.RequestBeyondBetaLimit
  | Http.MalformedHost
  | Http.OriginNotAllowed
  | Http.RouteNotFound
  | Http.ProblemNotFound
  | Http.DocumentationPageNotFound
  | Http.MalformedEventId
  | Http.MethodNotAllowed
  | Http.NotAcceptable
  | Http.UnsupportedMediaType
  | Http.PayloadTooLarge
  | Http.MalformedJson
  | Http.BodyBrokenOff
  | Http.WalletLinksOff
  | Http.RateLimited
  | Http.ShuttingDown
  | Http.NotReady;

/** The problem code of each failure. */
export const CODE_OF_FAILURE = {
  TaskRequired: "task_required",
  EscrowNotFound: "escrow_not_found",
  NotAnEscrow: "not_an_escrow",
  EscrowArchived: "archived_unseen",
  WrongState: "wrong_state",
  MerchantNotFound: "merchant_not_found",
  NotAMerchant: "not_a_merchant",
  ProofTemplateNotFound: "proof_template_not_found",
  MalformedCursor: "malformed_cursor",
  NotInLog: "not_in_log",
  NotLoggedYet: "not_logged_yet",
  NotFinalYet: "not_final_yet",
  TransactionMalformed: "transaction_malformed",
  TransactionTooLarge: "transaction_too_large",
  SignatureMissing: "signature_missing",
  SignatureInvalid: "signature_invalid",
  ProgramNotAllowed: "program_not_allowed",
  LookupTableNotAllowed: "lookup_table_not_allowed",
  DurableNonceNotAllowed: "durable_nonce_not_allowed",
  ComputeBudgetExceeded: "compute_budget_exceeded",
  ComputeBudgetInvalid: "compute_budget_invalid",
  SettlementCheckFailed: "settlement_check_failed",
  RelayQueueFull: "relay_queue_full",
  RelayShareFull: "relay_share_full",
  FeePayerRateLimited: "rate_limited",
  IdempotencyKeyReused: "idempotency_key_reused",
  IdempotencyKeyInFlight: "idempotency_key_in_flight",
  TransactionNotFound: "transaction_not_found",
  FeePayerCannotPay: "fee_payer_cannot_pay",
  TransactionRejected: "transaction_rejected",
  BlockhashExpired: "blockhash_expired",
  CheckpointMalformed: "checkpoint_malformed",
  LogUnknown: "log_unknown",
  LogSignatureInvalid: "log_signature_invalid",
  CheckpointRefused: "checkpoint_refused",
  WitnessNotReady: "witness_not_ready",
  LedgerUnavailable: "ledger_unavailable",
  LedgerTimeout: "ledger_timeout",
  SlotBeyondReach: "slot_beyond_reach",
  StoreUnavailable: "store_unavailable",
  KeyUnavailable: "evidence_key_unavailable",
  ClientPackageUnavailable: "client_package_unavailable",
  InvalidRequest: "validation_failed",
  InvalidRequestAddress: "invalid_address",
  RequestBeyondBetaLimit: "beta_limit_exceeded",
  MalformedHost: "malformed_host",
  OriginNotAllowed: "origin_not_allowed",
  RouteNotFound: "route_not_found",
  ProblemNotFound: "route_not_found",
  DocumentationPageNotFound: "route_not_found",
  MalformedEventId: "malformed_cursor",
  MethodNotAllowed: "method_not_allowed",
  NotAcceptable: "not_acceptable",
  UnsupportedMediaType: "unsupported_media_type",
  PayloadTooLarge: "payload_too_large",
  MalformedJson: "malformed_json",
  BodyBrokenOff: "malformed_json",
  WalletLinksOff: "wallet_links_off",
  RateLimited: "rate_limited",
  ShuttingDown: "shutting_down",
  NotReady: "not_ready",
} as const satisfies { readonly [Tag in ApiFailure["_tag"]]: ProblemCode };

/** The failures that a set of problem codes covers. */
export type FailureOf<Code extends ProblemCode> = ApiFailure extends infer Failure
  ? Failure extends { readonly _tag: infer Tag extends ApiFailure["_tag"] }
    ? (typeof CODE_OF_FAILURE)[Tag] extends Code
      ? Failure
      : never
    : never
  : never;
