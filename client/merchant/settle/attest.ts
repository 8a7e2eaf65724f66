import { parseHash32 } from "../../../core/domain/hash32.ts";
import { canonicalJsonBytes } from "../../../core/domain/encoding/canonical-json.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { proofHash } from "../../../core/domain/evidence/proof-template.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import {
  attestationMessage,
  domainOf,
  MAX_ATTESTATION_AGE_SECONDS,
  SINGLE_DELIVERY,
} from "../../../core/protocol/instructions/attestation.ts";
import { type DeliveryPayload, judgeDelivery, payloadFault } from "../../pay/delivery.ts";
import { unitsOf } from "../../pay/payment-terms.ts";
import { SettlementError } from "../../settlement-error.ts";
import { type MessageSigner, signatureBy } from "../../signing/sign-transaction.ts";
import type { AttestationJournal, KeptClaim } from "./attestation-journal.ts";
import { type EscrowTerms, readEscrowTerms, requireSinglePayment } from "./escrow-terms.ts";
import { type MerchantContext, ReleasedAlready } from "../merchant-context.ts";

/** What an attestor states about an escrow. */
export type Statement = {
  readonly escrow: string;
  /** What was delivered. Its RFC 8785 bytes are hashed. */
  readonly payload: DeliveryPayload;
  /** The proof template that the payload must fit; null for none. */
  readonly template: string | null;
  /** The merchant's part, decimal, below the escrow's amount; all of it when left out. */
  readonly amount?: string;
  /**
   * The mint that the escrow must be in. Needed with `amount` when the trust document lists mints with different
   * decimals, because only the service says which mint the escrow has.
   */
  readonly mint?: string;
  readonly attestor: MessageSigner;
  readonly journal: AttestationJournal;
  readonly signal?: AbortSignal;
};

/** A signed claim: whoever holds it can release the escrow, until then. */
export type Attestation = {
  readonly escrow: string;
  readonly attestor: string;
  readonly proof_hash: string;
  /** The ledger's time when it was signed, which the message carries. */
  readonly timestamp: string;
  /** Base units for the merchant, decimal; null for all of it. */
  readonly amount_stroops: string | null;
  /** 64 bytes, base64. */
  readonly attestation_signature: string;
  /** The second from which a release with it fails. Then attest the same again. */
  readonly until: string;
};

const refuse = (code: string, detail: string, cure: string): never => {
  throw new SettlementError(code, detail, `Nothing was signed. ${cure}`);
};

/** @throws SettlementError when the ledger would take no attestation for the escrow by this key now. */
const requireOpen = ({ record, ...terms }: EscrowTerms, attestor: string): void => {
  if (record.state !== "Pending")
    refuse("not_pending", `${terms.escrow} is ${record.state} already.`, "There is nothing to do.");
  if (terms.ledgerTime >= terms.endsAt)
    refuse(
      "expired",
      `${terms.escrow} expired at ${record.expires_at}.`,
      "It can only be refunded.",
    );
  if (terms.attestor !== attestor)
    refuse(
      "wrong_attestor_key",
      `${terms.escrow} records the attestor ${terms.attestor}; the signer's key is ${attestor}.`,
      "Sign with the recorded key: an escrow keeps the one of its creation.",
    );
  if (!record.next_actions.some(({ action }) => action === "release_escrow"))
    refuse(
      "attestor_revoked",
      `The attestor key of ${terms.escrow} was revoked.`,
      "Have the merchant's wallet cancel the escrow.",
    );
};

/**
 * Base units of a part, null for the whole. @throws SettlementError for an amount that is no part of the whole, and
 * when the escrow is not in the mint that was named
 */
const partOf = (
  { policy }: MerchantContext,
  { mint, amount, escrow }: EscrowTerms,
  { amount: text, mint: named }: Statement,
): bigint | null => {
  if (named !== undefined && named !== mint)
    refuse(
      "another_mint",
      `${escrow} is in the mint ${mint}, not in ${named}.`,
      "Correct the mint; if it is right, do not use this service before its operator has explained it.",
    );
  if (text === undefined) return null;
  if (named === undefined && new Set(policy.supportedMints.map((each) => each.decimals)).size > 1)
    refuse(
      "mint_unnamed",
      "The trust document lists mints of several decimals, and the mint of the part is not named.",
      `Name it: the service says ${mint}.`,
    );
  const listedMint = policy.supportedMints.find(({ address }) => address === mint);
  if (listedMint === undefined)
    return refuse(
      "unknown_mint",
      `The trust document does not list the mint ${mint}, so its decimals are not known.`,
      "Release the whole amount, or add the mint to the trust document.",
    );
  const part = unitsOf(text, listedMint.decimals);
  return part < amount
    ? part
    : refuse(
        "amount_out_of_range",
        `${text} is not below the amount of ${escrow}.`,
        "Leave the amount out to release all of it.",
      );
};

/** A claim beside another one, in words. */
const claimText = ({ proof_hash, total }: KeptClaim): string =>
  `proof ${proof_hash}, ${total} base units`;

/** @throws ReleasedAlready when the escrow was released with the claim that would be signed. */
const requireUnreleased = (
  { record, escrow, amount, released }: EscrowTerms,
  payload: DeliveryPayload,
  part: bigint | null,
): void => {
  if (released === (part ?? amount) && record.proof_hash === proofHash(payload))
    throw new ReleasedAlready({ escrow, released: released.toString(), signature: null });
};

/** The claim for an escrow, judged and kept. @throws SettlementError when it may not be signed. */
const keptClaim = async (
  { policy }: MerchantContext,
  terms: EscrowTerms,
  { payload, template, journal }: Statement,
  part: bigint | null,
): Promise<KeptClaim> => {
  const hash = proofHash(payload);
  const attested = { proofHash: hash, taskHash: terms.taskHash };
  const { reasons } = await judgeDelivery(payload, attested, template, null);
  const network = payload["network"];
  const objections = [
    ...reasons,
    ...(network === undefined || network === policy.genesisHash ? [] : ["it is of another ledger"]),
  ];
  if (objections.length > 0)
    refuse(
      "payload_refused",
      `The payload is refused: ${objections.join("; ")}.`,
      "Correct the payload, or name another template: `GET /v1/proof-templates` lists them.",
    );
  const claim: KeptClaim = {
    version: 3,
    network: policy.genesisHash,
    escrow: terms.escrow,
    terms: terms.terms,
    attestor: terms.attestor,
    proof_hash: hash,
    total: (part ?? terms.amount).toString(),
    deliveries: SINGLE_DELIVERY.deliveries,
    final: SINGLE_DELIVERY.isFinal,
    template_id: template,
    payload: new TextDecoder().decode(canonicalJsonBytes(payload)),
  };
  const kept = await journal.keep(claim);
  if (kept.proof_hash !== claim.proof_hash || kept.total !== claim.total)
    refuse(
      "another_proof",
      `Another claim was kept for ${terms.escrow} before: ${claimText(kept)}; this one is ${claimText(claim)}.`,
      "Attest the kept payload, or have the wallet cancel the escrow: there is never a second proof.",
    );
  return kept;
};

/**
 * Signs a delivery claim for an escrow, over a message built here. The claim is kept in the journal before it is
 * signed, and another one for the same escrow is refused from then on; the same one can be signed anew until the escrow
 * is settled. @throws SettlementError, a `ReleasedAlready` where the escrow was released with this claim.
 */
export const attest = async (
  context: MerchantContext,
  statement: Statement,
): Promise<Attestation> => {
  const { attestor, signal } = statement;
  const terms = await readEscrowTerms(context, statement.escrow, signal);
  requireSinglePayment(terms);
  const part = partOf(context, terms, statement);
  const fault = payloadFault(statement.payload);
  if (fault !== null)
    refuse("payload_refused", `The payload is refused: ${fault}.`, "Correct the payload.");
  requireUnreleased(terms, statement.payload, part);
  requireOpen(terms, attestor.publicKey);
  const kept = await keptClaim(context, terms, statement, part);
  const timestamp = terms.ledgerTime < terms.createdAt ? terms.createdAt : terms.ledgerTime;
  const hash = parseHash32(kept.proof_hash);
  if (hash === undefined)
    return refuse("journal_damaged", "The kept claim has no proof hash.", "Restore the journal.");
  const message = attestationMessage({
    domain: domainOf(context.policy),
    terms: terms.terms,
    proofHash: hash,
    total: part ?? terms.amount,
    timestamp,
    ...SINGLE_DELIVERY,
  });
  const signature = await signatureBy(attestor, message);
  const latest = timestamp + MAX_ATTESTATION_AGE_SECONDS + 1n;
  return {
    escrow: terms.escrow,
    attestor: terms.attestor,
    proof_hash: hash,
    timestamp: formatUnixTime(timestamp),
    amount_stroops: part?.toString() ?? null,
    attestation_signature: encodeBase64(signature),
    until: formatUnixTime(latest < terms.endsAt ? latest : terms.endsAt),
  };
};
