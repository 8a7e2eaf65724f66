import type {
  RelayRefusal,
  TransactionNotFound,
} from "../../../core/use-cases/relay/relay-errors.ts";
import type { LedgerFault } from "../../../ports/ledger/ledger.ts";
import type { NotReadyPart } from "../../../core/use-cases/service/read-readiness.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { nextActionRecord } from "../escrow/next-action-contract.ts";
import { tombstoneRecord } from "../escrow/tombstone-contract.ts";
import { witnessRefusal } from "../witness/witness-refusal.ts";
import { capitalised } from "./capitalised.ts";
import { stateCure, ownStateCure } from "./state-cure.ts";
import { rejectionRecord } from "../relay/transaction-error-contract.ts";
import { type ApiFailure, CODE_OF_FAILURE } from "./api-failure.ts";
import type { Problem } from "./problem.ts";
import { PROBLEM_CATALOGUE } from "./problem-catalogue.ts";

type Told = Omit<Problem, "code">;

const RETRY_SOON = { "retry-after": "1" };
const RETRY_WHEN_SOME_HAVE_LANDED = { "retry-after": "5" };
/** What each part lacks that is not ready. */
const LACKS: Readonly<Record<NotReadyPart, string>> = {
  store: "does not answer",
  ledger: "does not answer",
  identity: "is that of another ledger than the store's",
  programs: "are not initialised for each other",
  index: "has not been synced yet",
};
/** Most relays are answered within 5 seconds. After a crash, a key becomes free at the policy's limit. */
const RETRY_WHEN_ANSWERED = { "retry-after": "5" };

const relayRefusal = (refusal: RelayRefusal | TransactionNotFound): Told => {
  switch (refusal._tag) {
    case "TransactionMalformed":
      return { detail: `The transaction ${refusal.detail}.` };
    case "TransactionTooLarge":
      return {
        detail: `The transaction has ${refusal.actual} bytes; at most ${refusal.max} are possible.`,
      };
    case "SignatureMissing":
      return {
        detail: "A required signature is missing.",
        extensions: { signer: refusal.signer },
      };
    case "SignatureInvalid":
      return {
        detail: "A signature does not verify.",
        extensions: { signature: refusal.signature, signer: refusal.signer },
      };
    case "ProgramNotAllowed":
      return {
        detail:
          refusal.program === null
            ? "No instruction calls the custody or attestor program."
            : "An instruction calls a program that the relay does not allow.",
        extensions: {
          signature: refusal.signature,
          ...(refusal.program === null ? {} : { program: refusal.program }),
        },
      };
    case "LookupTableNotAllowed":
      return {
        detail: `${capitalised(refusal.detail)}.`,
        extensions: { signature: refusal.signature },
      };
    case "DurableNonceNotAllowed":
      return {
        detail: "The transaction's lifetime is a durable nonce.",
        extensions: { signature: refusal.signature },
      };
    case "ComputeBudgetExceeded": {
      const what = refusal.limit === "units" ? "compute units" : "micro-lamports a compute unit";
      return {
        detail: `The transaction asks for ${refusal.actual} ${what}; the relay allows at most ${refusal.max}.`,
        extensions: {
          signature: refusal.signature,
          actual: String(refusal.actual),
          max: String(refusal.max),
        },
      };
    }
    case "ComputeBudgetInvalid":
      return {
        detail: `The instruction ${refusal.detail}.`,
        extensions: {
          signature: refusal.signature,
          instruction_index: refusal.instructionIndex,
        },
      };
    case "SettlementCheckFailed":
      return {
        detail: `${capitalised(refusal.detail)}.`,
        cure: ownStateCure(refusal.rule) ?? PROBLEM_CATALOGUE.settlement_check_failed.cure,
        extensions: {
          signature: refusal.signature,
          rule: refusal.rule,
          instruction_index: refusal.instructionIndex,
        },
      };
    case "RelayQueueFull":
      return {
        detail: `${refusal.capacity} transactions are already pending.`,
        extensions: { signature: refusal.signature },
        headers: RETRY_WHEN_SOME_HAVE_LANDED,
      };
    case "RelayShareFull": {
      const holder = refusal.holder === "client" ? "client address" : "fee payer";
      return {
        detail: `This ${holder} already has its full share of the queue, at present ${refusal.share}.`,
        extensions: { signature: refusal.signature, holder: refusal.holder, share: refusal.share },
        headers: RETRY_WHEN_SOME_HAVE_LANDED,
      };
    }
    case "FeePayerRateLimited":
      return {
        detail: `The fee payer's budget is used up for ${refusal.resetSeconds} more seconds.`,
        extensions: { signature: refusal.signature },
        headers: { "retry-after": String(refusal.resetSeconds) },
      };
    case "IdempotencyKeyReused":
      return { detail: "This Idempotency-Key came with another body before." };
    case "IdempotencyKeyInFlight":
      return {
        detail: "The first request with this Idempotency-Key is not answered yet.",
        headers: RETRY_WHEN_ANSWERED,
      };
    case "TransactionNotFound":
      return {
        detail: "Neither this relay nor the ledger's history knows this signature.",
        extensions: { signature: refusal.signature, safe_to_sign_again: false },
      };
    case "FeePayerCannotPay":
      return {
        detail: `The fee payer holds ${refusal.balanceLamports} lamports; the fee is ${refusal.feeLamports}${
          refusal.rentMinimumLamports === null
            ? ""
            : `, and what is left must be at least ${refusal.rentMinimumLamports}, the rent minimum`
        }.`,
        extensions: { signature: refusal.signature },
      };
    case "TransactionRejected":
      return rejectionRecord(refusal);
    case "BlockhashExpired":
      return {
        detail:
          "The ledger does not accept the transaction's blockhash: it is too old, or newer than what is confirmed. It has not landed as far as is known. This request sent nothing.",
        extensions: { signature: refusal.signature },
      };
  }
};

/** A fault of a node: what was asked and what came back, and nothing of the node's address. */
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
        detail: `The escrow's last event is number ${failure.index}, and the published log has ${failure.size} leaves.`,
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
      return ledgerFault("The ledger node gave no usable answer", failure.fault);
    case "LedgerTimeout":
      return ledgerFault("The ledger node did not answer in time", failure.fault);
    case "StoreUnavailable":
      return { detail: "The index cannot be reached.", headers: RETRY_SOON };
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
    case "NotReady":
      return {
        detail: `Not ready: ${failure.missing.join(", ")}.`,
        errors: failure.missing.map((part) => ({
          pointer: `/${part}`,
          detail: LACKS[part],
        })),
        headers: RETRY_SOON,
      };
    case "ShuttingDown":
      return { detail: "This instance is shutting down.", headers: RETRY_SOON };
  }
};

/** The problem that an expected failure amounts to; it contains nothing of the cause or the request. */
export const problemOfFailure = (failure: ApiFailure): Problem => ({
  code: CODE_OF_FAILURE[failure._tag],
  ...told(failure),
});

/** The problem of a defect. The cause is in the log under the request id, and not in the answer. */
export const INTERNAL_ERROR: Problem = {
  code: "internal_error",
  detail: "Something failed that should not. The request id leads to it in the log.",
};
