import type { LedgerContradiction, LedgerFault } from "../../../ports/ledger/ledger.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { tombstoneRecord } from "../escrow/escrow-contract.ts";
import { nextActionRecord } from "../escrow/next-action-contract.ts";
import { witnessRefusal } from "../witness/witness-answers.ts";
import { capitalised } from "./problem-kind.ts";
import { stateCure } from "./state-cure.ts";
import { type ApiFailure, CODE_OF_FAILURE } from "./api-failure.ts";
import { NOT_READY } from "./not-ready.ts";
import type { Problem } from "./problem.ts";
import { relayRefusal } from "./relay-refusal.ts";

type Told = Omit<Problem, "code">;

const RETRY_SOON = { "retry-after": "1" };
/** What an answer of a node contradicts, in words. */
const CONTRADICTED: Readonly<Record<LedgerContradiction, string>> = {
  index: "what the index proves",
  relay: "what this service's relay saw confirmed",
};

/** A fault of a node: the request and the answer, without the node's address. */
const ledgerFault = (what: string, fault: LedgerFault | undefined): Told => {
  if (fault === undefined) return { detail: `${what}.`, headers: RETRY_SOON };
  const { method, kind, httpStatus, rpcCode, retryAfterMs, cure } = fault;
  const code = rpcCode ?? httpStatus;
  const told = `${kind.replaceAll("_", " ")}${code === null ? "" : `, ${code}`}`;
  return {
    detail: `${what}: ${method} (${told}).`,
    cure,
    headers: { "retry-after": String(Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1000))) },
  };
};

const told = (failure: ApiFailure): Told => {
  switch (failure._tag) {
    case "InvalidRequest":
      return { detail: "The request breaks the contract.", errors: failure.faults };
    case "InvalidRequestAddress":
      return { detail: "An address is not valid.", errors: failure.faults };
    case "RequestBeyondBetaLimit": {
      const { faults, instructionIndex } = failure;
      return {
        detail: "A limit of the beta is exceeded.",
        errors: faults,
        ...(instructionIndex === undefined
          ? {}
          : { extensions: { instruction_index: instructionIndex } }),
      };
    }
    case "WalletLinksOff":
      return { detail: "This service has no public address that a wallet link could begin with." };
    case "TaskRequired":
      return { detail: "Give task_hash or task_intent." };
    case "EscrowNotFound":
      return { detail: "The ledger has no escrow at this address." };
    case "NotAnEscrow":
      return {
        detail: "The account at this address is not an escrow of this deployment.",
        extensions: { reason: failure.fault },
      };
    case "EscrowArchived":
      return {
        detail: "The escrow was archived, and this service does not have its bytes.",
        extensions: { archived: tombstoneRecord(failure.tombstone) },
      };
    case "WrongState": {
      const { rule, detail, state, awaiting, nextActions, at } = failure;
      return {
        detail: `${capitalised(detail)}.`,
        cure: stateCure(rule),
        extensions: {
          rule,
          state,
          awaiting,
          next_actions: nextActions.map(nextActionRecord),
          slot: Number(at.slot),
          ledger_time: formatUnixTime(at.ledgerTime),
        },
      };
    }
    case "MerchantNotFound":
      return { detail: "No merchant is registered under this address." };
    case "NotAMerchant":
      return {
        detail: "The account at this address is not a merchant.",
        extensions: { reason: failure.fault },
      };
    case "ProofTemplateNotFound":
      return { detail: "No proof template has this id." };
    case "MalformedCursor":
      return {
        detail:
          failure.fault === "another_log"
            ? "The cursor belongs to another log: to that of another ledger, or of other programs or rules."
            : "The cursor was not made for this list.",
      };
    case "NotInLog":
      return {
        detail:
          failure.what === "tile"
            ? "The settlement log has no tile of this path."
            : "This service has published no checkpoint of a settlement log.",
      };
    case "NotLoggedYet":
      return {
        detail: `Leaf ${failure.index} is not among the ${failure.size} leaves of the published log.`,
        extensions: { index: failure.index, log_size: failure.size },
        headers: RETRY_SOON,
      };
    case "NotFinalYet": {
      const { slot, finalizedSlot, waitSeconds } = failure;
      return {
        detail: `The escrow is confirmed at slot ${slot}, and the ledger is finalized up to slot ${finalizedSlot}. Expect it in ${waitSeconds} seconds.`,
        extensions: {
          slot: Number(slot),
          commitment: "confirmed",
          finalized_slot: Number(finalizedSlot),
          wait_seconds: waitSeconds,
        },
        headers: { "retry-after": String(waitSeconds) },
      };
    }
    case "TransactionMalformed":
    case "TransactionTooLarge":
    case "SignatureMissing":
    case "SignatureInvalid":
    case "ProgramNotAllowed":
    case "LookupTableNotAllowed":
    case "DurableNonceNotAllowed":
    case "ComputeBudgetExceeded":
    case "ComputeBudgetInvalid":
    case "SettlementCheckFailed":
    case "RelayQueueFull":
    case "RelayShareFull":
    case "FeePayerRateLimited":
    case "IdempotencyKeyReused":
    case "IdempotencyKeyInFlight":
    case "TransactionNotFound":
    case "FeePayerCannotPay":
    case "TransactionRejected":
    case "BlockhashExpired":
      return relayRefusal(failure);
    case "CheckpointMalformed":
    case "LogUnknown":
    case "LogSignatureInvalid":
    case "CheckpointRefused":
    case "WitnessNotReady":
      return witnessRefusal(failure);
    case "LedgerUnavailable":
      return failure.contradicts === undefined
        ? ledgerFault("The ledger node gave no usable answer", failure.fault)
        : {
            detail: `The ledger node's answer contradicts ${CONTRADICTED[failure.contradicts]}.`,
            extensions: { reason: `contradicts_${failure.contradicts}` },
            headers: RETRY_SOON,
          };
    case "LedgerTimeout":
      return ledgerFault("The ledger node did not answer in time", failure.fault);
    case "SlotBeyondReach": {
      const { method, detail, cure } = failure;
      return {
        detail: `The ledger node claims a slot that is out of reach: ${method} (${detail}).`,
        cure,
        headers: RETRY_SOON,
      };
    }
    case "StoreUnavailable":
      return failure.fault === undefined
        ? { detail: "The index cannot be reached.", headers: RETRY_SOON }
        : {
            detail: `The store cannot be used: ${failure.fault.problem}.`,
            cure: `${failure.fault.cure} Then ask again.`,
            headers: RETRY_SOON,
          };
    case "KeyUnavailable":
      return { detail: "The evidence key gives no signature.", headers: RETRY_SOON };
    case "ClientPackageUnavailable":
      return { detail: "The build of the client package failed." };
    case "MalformedHost":
      return {
        detail: "The Host header must be given once, and be a host with or without a port.",
      };
    case "OriginNotAllowed":
      return { detail: "The request comes from a page of an origin that is not listed." };
    case "RouteNotFound":
      return { detail: "No operation has this path." };
    case "ProblemNotFound":
      return {
        detail: "No problem has this code.",
        cure: "Take the code from a problem's `code`. `/openapi.json` lists the codes of each operation.",
      };
    case "DocumentationPageNotFound":
      return {
        detail: "The documentation has no page of this name.",
        cure: "`/llms.txt` lists the pages.",
      };
    case "MalformedEventId":
      return {
        detail:
          failure.fault === "another_log"
            ? "The event's id belongs to another log: to that of another ledger, or of other programs or rules."
            : "`Last-Event-ID` is not the `id` of an event.",
        cure: "Send the `id` of an event that this stream gave, as `after` or in `Last-Event-ID`. `after=0` replays everything; without both the stream begins now.",
      };
    case "MethodNotAllowed":
      return {
        detail: `This path has the methods ${failure.allow.join(", ")}.`,
        headers: { allow: failure.allow.join(", ") },
      };
    case "NotAcceptable":
      return { detail: `This answer is available as ${failure.offers.join(", ")}.` };
    case "UnsupportedMediaType":
      return {
        detail:
          failure.header === "content-type"
            ? "The body must be declared as application/json, in UTF-8."
            : "The body must be sent as it is, without a Content-Encoding.",
      };
    case "PayloadTooLarge":
      return {
        detail: `The body may have at most ${failure.maxBytes} bytes.`,
        // The rest of the body is never read, so the connection cannot carry another request.
        headers: { connection: "close" },
      };
    case "MalformedJson":
      return { detail: `The body ${failure.detail}.` };
    case "BodyBrokenOff":
      return { detail: "The body ended too early." };
    case "RateLimited":
      return {
        detail: `The budget does not cover this request for ${failure.resetSeconds} more seconds.`,
        headers: { "retry-after": String(failure.resetSeconds) },
      };
    case "NotReady": {
      const { missing } = failure;
      const [first] = missing;
      const cure = failure.cure ?? (first && NOT_READY[first].cure);
      return {
        detail: `Not ready: ${missing.join(", ")}.`,
        ...(cure === undefined ? {} : { cure }),
        errors: missing.map((part) => ({ pointer: `/${part}`, detail: NOT_READY[part].says })),
        headers: RETRY_SOON,
      };
    }
    case "ShuttingDown":
      return { detail: "This instance is shutting down.", headers: RETRY_SOON };
  }
};

/** The problem that an expected failure amounts to; it contains nothing of the cause or the request. */
export const problemOfFailure = (failure: ApiFailure): Problem => {
  const problem = told(failure);
  const nodes = "nodes" in failure ? failure.nodes : undefined;
  return {
    code: CODE_OF_FAILURE[failure._tag],
    ...problem,
    ...(nodes === undefined ? {} : { extensions: { ...problem.extensions, nodes } }),
  };
};

/** The problem of a defect. The cause is in the log under the request id, and not in the answer. */
export const INTERNAL_ERROR: Problem = {
  code: "internal_error",
  detail: "Something failed that should not. The request id leads to it in the log.",
};
