import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Clock, Effect, Exit } from "effect";
import { Broadcaster } from "../../../ports/ledger/broadcaster.ts";
import { CallPurpose } from "../../../ports/ledger/ledger-calls.ts";
import { OutcomeLog } from "../../../ports/outcome-log.ts";
import type { Address } from "../../domain/address.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import { clientGroup, RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { sha256 } from "../../domain/sha256.ts";
import type { WireTransaction } from "../../protocol/transaction/wire-transaction.ts";
import { KnownBlockhashes } from "../service/transaction-terms.ts";
import { requirePinned } from "../service/unpinned-programs.ts";
import { heldLanding, type HeldLanding } from "./outcome/held-landing.ts";
import { lookUpRelay, type RelayLookup } from "./read-relay-outcome.ts";
import { admitTransaction, chargeRepetition, takePayerBudget } from "./relay-admission.ts";
import { RelayDelivery } from "./relay-delivery.ts";
import {
  BlockhashExpired,
  IdempotencyKeyInFlight,
  IdempotencyKeyReused,
  rejected,
} from "./relay-errors.ts";
import { chargingFailure, checkBlockhash, preflightRelay } from "./relay-preflight.ts";

/** A client's key for one request. Repetitions get the first answer. */
type Idempotency = {
  readonly client: string;
  readonly key: string;
  /** The whole request as text. */
  readonly request: string;
};

/**
 * Runs a request once for its Idempotency-Key. A repetition gets the recorded answer. It fails when the key was used
 * for another request, or while the first request still runs, which costs a read. A failed request releases its key:
 * nothing was sent, or the signature itself prevents a second sending.
 */
const answerOnce = <A, E, R>(
  idempotency: Idempotency,
  text: { readonly encode: (answer: A) => string; readonly decode: (text: string) => A },
  run: Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const log = yield* OutcomeLog;
    const delivery = yield* RelayDelivery;
    const { client, key, request } = idempotency;
    const nowMs = yield* Clock.currentTimeMillis;
    const use = {
      client,
      key,
      fingerprint: bytesToHex(sha256(utf8ToBytes(request))),
      nowMs,
      forgottenBeforeMs: nowMs - RELAY_POLICY.idempotencyKeyTtlMs,
    };
    // No client has this name, so that the trial keeps nobody from a key.
    const trial = { ...use, client: "relay" };
    const claim = yield* delivery.recording(
      "key",
      log.claimKey(use),
      ({ status }) => status === "claimed",
      Effect.andThen(log.claimKey(trial), log.answerKey(trial, null)),
    );
    switch (claim.status) {
      case "answered":
        return text.decode(claim.answer);
      case "reused":
        return yield* new IdempotencyKeyReused();
      case "in_flight":
        yield* chargeRepetition(client);
        return yield* new IdempotencyKeyInFlight();
      case "claimed":
        return yield* run.pipe(
          // The answer is returned even if the store cannot keep it, because the signature makes a repetition safe.
          Effect.onExit((exit) =>
            Effect.ignore(
              log.answerKey({ client, key }, Exit.isSuccess(exit) ? text.encode(exit.value) : null),
            ),
          ),
        );
    }
  });

/** The body of `POST /v1/relay`, and its sender. */
type RelayRequest = {
  /** base64 */
  readonly signedTransaction: string;
  readonly confirm: boolean;
  readonly skipPreflight: boolean;
  /** The client's key in the rate limiter. */
  readonly client?: string;
  /** The Idempotency-Key header. */
  readonly idempotencyKey?: string;
};

/** The state of a relayed transaction. */
export type RelayResult = {
  readonly signature: LedgerSignature;
  readonly status: "submitted" | "confirmed" | "finalized";
  /** The slot it landed in, null while only submitted. */
  readonly slot: bigint | null;
  readonly feePayer: Address;
};

type Admitted = Effect.Success<ReturnType<typeof admitTransaction>>;

/** The sender of a request, as budgets and queue shares count clients; null when not known. */
const senderOf = ({ client }: RelayRequest): string | null =>
  client === undefined ? null : clientGroup(client);

/** Where a known transaction landed, null when not known. Fails when it can never land. */
const landedOf = Effect.fnUntraced(function* (lookup: RelayLookup, signature: LedgerSignature) {
  switch (lookup.status) {
    case "landed":
      return lookup.landed;
    case "expired":
      return yield* new BlockhashExpired({ signature });
    case "pending":
    case "unknown":
      return null;
  }
});

/** Runs checks. If they fail but the transaction has landed meanwhile, returns where it landed. */
const unlessLanded = <A, E, R>(signature: LedgerSignature, checks: Effect.Effect<A, E, R>) =>
  checks.pipe(
    Effect.catch(
      Effect.fnUntraced(function* (failure) {
        const broadcaster = yield* Broadcaster;
        const status = yield* broadcaster.landed(signature).pipe(Effect.orElseSucceed(() => null));
        return (yield* heldLanding(signature, status)) ?? (yield* Effect.fail(failure));
      }),
    ),
  );

/** The first sending of a transaction, or its known outcome when there is nothing to send. */
const send = Effect.fnUntraced(function* (admitted: Admitted, request: RelayRequest) {
  const { transaction, bytes } = admitted;
  const { signature, feePayer } = transaction;
  const blockhash = yield* (yield* KnownBlockhashes)(transaction.blockhash);
  // What landed under a blockhash that was handed out just now shows in the checks.
  const lookup = yield* lookUpRelay(signature, blockhash !== null);
  if (lookup.status !== "unknown") return yield* landedOf(lookup, signature);
  yield* requirePinned;
  if (blockhash === null) {
    // Anyone can send an old transaction of the payer, so the payer's budget is charged only for one that can still
    // land.
    const landed = yield* unlessLanded(signature, Effect.as(checkBlockhash(transaction), null));
    if (landed !== null) return landed;
  }
  const isPayersFirst = yield* takePayerBudget(feePayer, signature);
  const charged = { feePayer: isPayersFirst ? feePayer : null, client: senderOf(request) };
  const preflight = preflightRelay(admitted, request.skipPreflight, blockhash);
  const checked = yield* unlessLanded(signature, preflight).pipe(chargingFailure(charged));
  if ("commitment" in checked) return checked;
  if (checked.isProcessed) {
    const broadcaster = yield* Broadcaster;
    const known = yield* broadcaster.landed(signature).pipe(Effect.orElseSucceed(() => null));
    if (known !== null) return yield* heldLanding(signature, known);
  }
  const delivery = yield* RelayDelivery;
  const openedAtMs = yield* Clock.currentTimeMillis;
  const entry = {
    signature,
    transaction: bytes,
    feePayer,
    ...checked.lifetime,
    openedAtMs,
    outcome: null,
  };
  yield* delivery.accept(entry, senderOf(request));
  return null;
});

const toResult = Effect.fnUntraced(function* (
  transaction: WireTransaction,
  landed: HeldLanding | null,
) {
  const { signature, feePayer } = transaction;
  const submitted: RelayResult = { signature, status: "submitted", slot: null, feePayer };
  if (landed === null || landed.commitment === "processed") return submitted;
  const { error, commitment: status, slot, logs, nodes } = landed;
  if (error !== null)
    return yield* rejected(transaction, error, logs, landed).pipe(
      Effect.mapError((failure) => Object.assign(failure, { nodes })),
    );
  const result: RelayResult = { signature, status, slot, feePayer };
  return result;
});

const relay = Effect.fnUntraced(function* (admitted: Admitted, request: RelayRequest) {
  const delivery = yield* RelayDelivery;
  const { transaction } = admitted;
  const { signature } = transaction;
  const sent = yield* delivery.once(signature, send(admitted, request));
  const open = sent === null || sent.commitment === "processed";
  return yield* toResult(
    transaction,
    open && request.confirm ? yield* delivery.confirmed(signature) : sent,
  );
});

/** A result as the text that is kept for an Idempotency-Key. */
const asText = {
  encode: (result: RelayResult): string =>
    JSON.stringify({ ...result, slot: result.slot === null ? null : String(result.slot) }),
  decode: (text: string): RelayResult => {
    const kept = JSON.parse(text) as Omit<RelayResult, "slot"> & { readonly slot: string | null };
    return { ...kept, slot: kept.slot === null ? null : BigInt(kept.slot) };
  },
};

/**
 * Sends a signed transaction to the ledger after all possible checks: signatures, programs, compute budget, blockhash,
 * fee payer, settlement rules and a simulation. With `skipPreflight`, the simulation refuses only a transaction of
 * which no instruction can run. The transaction is then recorded and sent again until its outcome is known, also after
 * this call and after a restart. A known transaction gets its known outcome, and concurrent requests for it share one
 * sending. With `confirm` it waits for a confirmation, and returns `submitted` when none comes in time. See
 * docs/relay.md.
 */
export const relayTransaction = Effect.fn("relayTransaction")(
  function* (request: RelayRequest) {
    const admitted = yield* admitTransaction(request.signedTransaction);
    const { signedTransaction, confirm, skipPreflight, idempotencyKey: key, client = "" } = request;
    if (key === undefined) return yield* relay(admitted, request);
    return yield* answerOnce(
      { client, key, request: JSON.stringify([signedTransaction, confirm, skipPreflight]) },
      asText,
      relay(admitted, request),
    );
  },
  Effect.provideService(CallPurpose, "relay"),
);
