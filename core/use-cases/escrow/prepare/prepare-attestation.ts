import { Effect } from "effect";
import type { Address } from "../../../domain/address.ts";
import { parseAmount } from "../../../domain/amount.ts";
import { canonicalFault, type Json, jsonPointer } from "../../../domain/encoding/canonical-json.ts";
import { endOf, type Escrow } from "../../../domain/escrow/escrow.ts";
import type { ReadAt } from "../../../domain/escrow/prepared-call.ts";
import { compareWithTemplate } from "../../../domain/evidence/delivery-payload.ts";
import { proofHash } from "../../../domain/evidence/proof-template.ts";
import { type Hash32, parseHash32 } from "../../../domain/hash32.ts";
import type { UnixSeconds } from "../../../domain/unix-time.ts";
import { termsOf } from "../../../protocol/accounts/escrow-account.ts";
import { expiredFault, pendingFault } from "../../../protocol/accounts/escrow-rules.ts";
import { decodeMerchantAccount } from "../../../protocol/accounts/merchant-account.ts";
import { merchantAddress } from "../../../protocol/addresses/addresses.ts";
import {
  type AttestationClaim,
  attestationMessage,
  MAX_ATTESTATION_AGE_SECONDS,
} from "../../../protocol/instructions/attestation.ts";
import { totalFault } from "../../../protocol/rules/proof-rules.ts";
import { revokedFault } from "../../../protocol/rules/release-rules.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { readProofTemplate } from "../../evidence/proof-templates.ts";
import { requirePinned } from "../../service/unpinned-programs.ts";
import { type FieldFault, ValidationFailed } from "../../request-errors.ts";
import { AMOUNT_FAULT, countFault } from "./parse-claim.ts";
import { readSurroundings, type Surroundings, wrongState } from "./escrow-surroundings.ts";

/** What is to be attested. Only the types of its members are checked. */
export type PrepareAttestationRequest = {
  /** The delivery payload, the preimage of the proof hash; or the hash itself. One of the two. */
  readonly payload?: { readonly [name: string]: Json } | undefined;
  readonly proofHash?: string | undefined;
  /** By default the payload's own `proof_template_id`, when that is a text. */
  readonly templateId?: string | undefined;
  /** Base units for the merchant in all, what was captured included; undefined: the whole amount. */
  readonly amount?: string | undefined;
  /** How many deliveries in all; undefined: 1. */
  readonly deliveries?: number | undefined;
  /** Whether nothing follows; undefined: yes. */
  readonly final?: boolean | undefined;
};

/** What the escrow's attestor signs, and how long the signature is good for. */
export type PreparedAttestation = {
  readonly escrow: Address;
  /** The ledger and its custody program, as the message names them. */
  readonly domain: Hash32;
  /** The escrow, as the message names it: the digest of its bytes right after its creation. */
  readonly terms: Hash32;
  readonly proofHash: Hash32;
  /** The template that the payload met, null without one. */
  readonly templateId: string | null;
  /** The ledger's time when it was read, which the message carries. */
  readonly timestamp: UnixSeconds;
  /** Null for the whole amount. */
  readonly amount: bigint | null;
  readonly deliveries: number;
  readonly isFinal: boolean;
  /** 128 bytes. */
  readonly message: Uint8Array;
  /** The key that must sign. */
  readonly attestor: Address;
  /**
   * The first second by the ledger's clock at which a release with it fails, or a capture for one that is not final.
   */
  readonly until: UnixSeconds;
  readonly at: ReadAt;
};

type Field = keyof PrepareAttestationRequest;
const failed = (...faults: ReadonlyArray<FieldFault<Field>>) =>
  Effect.fail(new ValidationFailed<Field>(faults));

/** The proof hash of a request, and the template that its payload meets. */
const parseProof = Effect.fnUntraced(function* (request: PrepareAttestationRequest) {
  const { payload, templateId } = request;
  if ((payload === undefined) === (request.proofHash === undefined))
    return yield* failed({ field: "payload", detail: "give either a payload or a proof hash" });
  if (payload === undefined) {
    const given = parseHash32(request.proofHash ?? "");
    if (given === undefined)
      return yield* failed({ field: "proofHash", detail: "must be 64 hex digits" });
    return { hash: given, template: null };
  }
  const fault = canonicalFault(payload);
  if (fault !== undefined)
    return yield* failed({ field: "payload", inside: fault.pointer, detail: fault.detail });
  const named = payload["proof_template_id"];
  const id = templateId ?? (typeof named === "string" ? named : undefined);
  if (id === undefined) return { hash: proofHash(payload), template: null };
  const template = yield* readProofTemplate(id).pipe(
    // A template that the payload names is a fault of the payload, so the pointer leads into it.
    Effect.catchIf(
      () => templateId === undefined,
      () =>
        failed({
          field: "payload",
          inside: "/proof_template_id",
          detail: "names no proof template of this service",
        }),
    ),
  );
  const faults = compareWithTemplate(payload, template).flatMap(({ name, outcome, expected }) =>
    outcome === "ok" || outcome === "absent"
      ? []
      : [
          {
            field: "payload" as const,
            inside: jsonPointer([name]),
            detail:
              outcome === "unexpected"
                ? `is no member of the template ${id}`
                : `must be ${expected ?? "absent"}, by the template ${id}`,
          },
        ],
  );
  if (faults.length > 0) return yield* failed(...faults);
  return { hash: proofHash(payload), template: id };
});

/** Why the ledger would refuse every payment of the escrow's merchant now. */
const paymentStateFault = ({ escrow, find, view }: Surroundings) => {
  const account = find(merchantAddress(view.deployment, escrow.merchant).address);
  const merchant = account === null ? undefined : decodeMerchantAccount(account, view.deployment);
  return (
    pendingFault(escrow) ??
    expiredFault(escrow, view) ??
    (merchant !== undefined && "value" in merchant
      ? revokedFault(escrow, merchant.value)
      : {
          rule: "merchant_unregistered" as const,
          detail: `the wallet ${escrow.merchant} is not registered as a merchant`,
        })
  );
};

/** Where a claim contradicts the escrow: its kind, or what was paid before. */
const claimFaults = (
  escrow: Escrow,
  claim: { readonly total: bigint; readonly deliveries: number; readonly isFinal: boolean },
): ReadonlyArray<FieldFault<Field>> => {
  const isSingle = escrow.sessionKey === null;
  const faults: Array<FieldFault<Field>> = [];
  if (isSingle && claim.deliveries !== 1)
    faults.push({ field: "deliveries", detail: "must be 1: the escrow is a single payment" });
  if (isSingle && !claim.isFinal)
    faults.push({ field: "final", detail: "must be true: the escrow is a single payment" });
  const fault = totalFault(claim, escrow, claim.isFinal);
  if (fault !== undefined)
    faults.push({
      field: fault.rule === "deliveries_fall" ? "deliveries" : "amount",
      detail: fault.detail,
    });
  return faults;
};

/**
 * The message that releases an escrow, or pays a part of a session, once its attestor has signed it, with the ledger's
 * time in it. Fails with `WrongState` where no payment is possible at the slot that was read, `ValidationFailed` for a
 * field of the request and a payload that does not meet its template, or names another task or another ledger,
 * `ProofTemplateNotFound`, and as `readEscrow` does. See docs/protocol.md, "Attestation".
 */
export const prepareAttestation = Effect.fn("prepareAttestation")(function* (
  pda: string,
  request: PrepareAttestationRequest,
) {
  const { hash, template } = yield* parseProof(request);
  const amount = request.amount === undefined ? null : parseAmount(request.amount);
  if (amount === undefined)
    return yield* failed({
      field: "amount",
      detail: AMOUNT_FAULT,
    });
  const { deliveries = 1, final: isFinal = true } = request;
  const count = countFault(deliveries);
  if (count !== undefined) return yield* failed({ field: "deliveries", detail: count });
  yield* requirePinned;
  const surroundings = yield* readSurroundings(pda, []);
  const { escrow, at } = surroundings;
  const fault = paymentStateFault(surroundings);
  if (fault !== undefined) return yield* wrongState(surroundings, fault.rule, fault.detail);
  const total = amount ?? escrow.amount;
  const faults = claimFaults(escrow, { total, deliveries, isFinal });
  if (faults.length > 0) return yield* failed(...faults);
  const task = request.payload?.["task_hash"];
  if (task !== undefined && task !== escrow.taskHash)
    return yield* failed({
      field: "payload",
      inside: "/task_hash",
      detail: `must be the escrow's task hash ${escrow.taskHash}`,
    });
  const network = request.payload?.["network"];
  if (network !== undefined) {
    const genesisHash = yield* (yield* Ledger).genesisHash;
    if (network !== genesisHash)
      return yield* failed({
        field: "payload",
        inside: "/network",
        detail: `must be the genesis hash of the escrow's ledger, ${genesisHash}`,
      });
  }
  const timestamp = at.ledgerTime;
  const claim: AttestationClaim = {
    domain: surroundings.view.domain,
    terms: termsOf(escrow),
    proofHash: hash,
    total,
    timestamp,
    deliveries,
    isFinal,
  };
  const end = endOf(escrow);
  const latest = timestamp + MAX_ATTESTATION_AGE_SECONDS + 1n;
  const prepared: PreparedAttestation = {
    escrow: escrow.address,
    domain: claim.domain,
    terms: claim.terms,
    proofHash: hash,
    timestamp,
    templateId: template,
    amount,
    deliveries,
    isFinal,
    message: attestationMessage(claim),
    attestor: escrow.attestor,
    until: isFinal && latest < end ? latest : end,
    at,
  };
  return prepared;
});
