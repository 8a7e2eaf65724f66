import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import { parseStrictJson } from "../../../../core/domain/encoding/strict-json.ts";
import { comparePayload } from "../../../../core/domain/evidence/compare-delivery.ts";
import {
  type CallVerdict,
  type EvidenceCheck,
  type EvidenceVerdict,
  passedOrFailed,
  type TrustPolicy,
} from "../../../../core/domain/evidence/evidence-check.ts";
import { PROOF_TEMPLATES } from "../../../../core/domain/evidence/proof-template.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { parseTlogProof } from "../../../../core/log/checkpoint/tlog-proof.ts";
import { decodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { parseCallEvidence } from "../../../../core/protocol/calls/call-evidence.ts";
import { parseEvidencePacket } from "../../../../core/protocol/evidence/evidence-packet.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import { verifyCall } from "../../../../core/protocol/verification/verify-call.ts";
import { verifyEquivocation } from "../../../../core/protocol/verification/verify-equivocation.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { verifyFraud } from "../../../../core/protocol/verification/verify-fraud.ts";
import type { Kind, Recognised } from "./recognise.ts";

/** The verdict on one document, with everything that was given beside it. */
export type Judgement = {
  readonly of: Extract<Kind, "packet" | "call" | "equivocation" | "fraud">;
  readonly result: EvidenceVerdict | CallVerdict;
  /** The escrow that a sound packet is of; null for any other document. */
  readonly escrow: Escrow | null;
};

/** What is said of all documents together. */
export type Judged = {
  /** Why nothing could be judged, null when something was. */
  readonly hindrance: string | null;
  /** In the order packet, call, evidence against an attestor, evidence against a log. */
  readonly judgements: ReadonlyArray<Judgement>;
  /** The service whose own trust document was used, null when the reader's was, or none. */
  readonly trustOf: string | null;
};

type Members = { readonly [name: string]: Json };

/** The escrow in a packet's account bytes, null for a packet of no form. */
const escrowIn = (packet: string): Escrow | null => {
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed) return null;
  const { escrowAddress, account, network } = parsed.value;
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  return "fault" in decoded ? null : decoded.value;
};

/** A packet that refers to the leaf of a proof that was given beside it. Only the proof's signatures make it true. */
const withProof = (packet: string, proof: string): string => {
  const parsed = parseTlogProof(proof);
  const whole = JSON.parse(packet) as { readonly references: Members };
  const log = {
    origin: "value" in parsed ? (parsed.value.checkpoint.split("\n", 1)[0] ?? "") : "",
    index: "value" in parsed ? parsed.value.index : 0,
    proof,
  };
  return JSON.stringify({ ...whole, references: { ...whole.references, log } });
};

/** The checks of a payload against the escrow of a packet. */
const payloadChecks = (text: string, escrow: Escrow): ReadonlyArray<EvidenceCheck> => {
  const strict = parseStrictJson(text);
  if ("fault" in strict)
    return [passedOrFailed("payload", false, "", `the payload ${strict.fault}`)];
  const payload = strict.value as Members;
  const named = payload["proof_template_id"];
  const template = PROOF_TEMPLATES.find(({ id }) => id === named) ?? null;
  const compared = comparePayload(payload, escrow, template);
  const isOfSession = escrow.sessionKey !== null;
  const main: EvidenceCheck =
    compared.matches === null || (isOfSession && !compared.matches)
      ? {
          name: "payload",
          outcome: "unproven",
          reason: isOfSession
            ? "the escrow is a session, whose proof hash is of all deliveries: the evidence of the call shows a payload"
            : "nothing was attested, so there is no hash to compare with",
        }
      : passedOrFailed(
          "payload",
          compared.matches,
          "it is the payload whose hash the merchant's attestor signed; a hash cannot show that its content is true",
          "it is not the payload whose hash the merchant's attestor signed",
        );
  const bound = compared.taskHashBound;
  const broken = (compared.template?.fields ?? []).filter(
    ({ outcome }) => outcome !== "ok" && outcome !== "absent",
  );
  return [
    main,
    ...(bound === null
      ? []
      : [
          passedOrFailed(
            "payload_task",
            bound,
            "the payload names the escrow's task hash",
            "the payload names another task hash than the escrow's",
          ),
        ]),
    ...(compared.template === null
      ? []
      : [
          passedOrFailed(
            "payload_template",
            compared.template.valid,
            `every field is as the template ${compared.template.id} asks`,
            `against the template ${compared.template.id}: ${broken.map(({ name, outcome }) => `${name} is ${outcome}`).join(", ")}`,
          ),
        ]),
  ];
};

/** A verdict with further checks. One that fails makes it fail, and takes its amounts. */
const withChecks = <Result extends EvidenceVerdict>(
  result: Result,
  more: ReadonlyArray<EvidenceCheck>,
): Result => {
  const checks = [...result.checks, ...more];
  const isFailed = more.some(({ outcome }) => outcome === "failed");
  return isFailed ? { ...result, checks, verdict: "failed", amounts: null } : { ...result, checks };
};

const judgePacket = (
  packet: string,
  texts: Partial<Record<Kind, string>>,
  trust: TrustPolicy | null,
): Judgement => {
  const { proof, payload } = texts;
  const isPacket = !("fault" in parseEvidencePacket(packet));
  const text = proof !== undefined && isPacket ? withProof(packet, proof) : packet;
  const escrow = escrowIn(text);
  const bare = verifyEvidence(text, trust);
  const result =
    payload === undefined || escrow === null
      ? bare
      : withChecks(bare, payloadChecks(payload, escrow));
  return { of: "packet", result, escrow: result.amounts === null ? null : escrow };
};

/** A call's evidence, with the payload that was given where it shows none of its own. */
const judgeCall = (
  call: string,
  payload: string | undefined,
  trust: TrustPolicy | null,
): Judgement => {
  const parsed = parseCallEvidence(call);
  const given = payload === undefined ? null : parseStrictJson(payload);
  const isOpen = "value" in parsed && parsed.value.payload === null;
  const text =
    isOpen && given !== null && "value" in given
      ? JSON.stringify({ ...(JSON.parse(call) as Members), payload: given.value })
      : call;
  return { of: "call", result: verifyCall(text, trust), escrow: null };
};

/** What a file against a log shows, as a verdict like the others. */
const judgeFraud = (fraud: string, trust: TrustPolicy | null): Judgement => {
  const { verdict, kind, reason, unproven } = verifyFraud(fraud, trust);
  const main = passedOrFailed(kind ?? "fraud", kind !== null, reason, reason);
  const open = unproven.map((name): EvidenceCheck => ({
    name,
    outcome: "unproven",
    reason: "the file cannot show it by itself: only a node of the ledger does",
  }));
  return { of: "fraud", result: { verdict, checks: [main, ...open], amounts: null }, escrow: null };
};

/**
 * The verdicts on documents, whatever their order: by the functions that the command line runs, without network. With
 * one document of each kind at most. Never throws.
 */
export const judgeDocuments = (documents: ReadonlyArray<Recognised>): Judged => {
  const texts: Partial<Record<Kind, string>> = Object.fromEntries(
    documents.map(({ kind, text }) => [kind, text]),
  );
  const trustDocument = documents.find(({ kind }) => kind === "trust");
  const trustOf = trustDocument?.service ?? null;
  const trust = trustDocument === undefined ? null : parseTrustPolicy(trustDocument.text);
  if (trust !== null && "fault" in trust)
    return {
      hindrance: `The trust document cannot be read: ${trust.fault}.`,
      judgements: [],
      trustOf,
    };
  const policy = trust?.value ?? null;
  const { packet, call, equivocation, fraud } = texts;
  const judgements: ReadonlyArray<Judgement> = [
    ...(packet === undefined ? [] : [judgePacket(packet, texts, policy)]),
    ...(call === undefined ? [] : [judgeCall(call, texts.payload, policy)]),
    ...(equivocation === undefined
      ? []
      : [
          {
            of: "equivocation" as const,
            result: verifyEquivocation(equivocation, policy),
            escrow: null,
          },
        ]),
    ...(fraud === undefined ? [] : [judgeFraud(fraud, policy)]),
  ];
  const hindrance =
    judgements.length === 0
      ? "Nothing to judge yet: give a packet, the evidence of a call, or evidence against a log or an attestor."
      : null;
  return { hindrance, judgements, trustOf };
};
