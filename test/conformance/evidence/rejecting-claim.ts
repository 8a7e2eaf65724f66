import { addressFromBytes } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import type { Vector } from "./accepting-vectors.ts";
import { type Draft, goldenEscrow, inside, invented, lie } from "./packet-edits.ts";
import { NEUTRAL, NEUTRAL_SIGNATURE, secondForm } from "./lax-ed25519.ts";
import { STRANGER } from "./rejecting-signature.ts";
import { rejects } from "./rejects.ts";

/** Packets with a claim that the account does not record, or a record that nobody signed. */
export const claimVectors = (): ReadonlyArray<Vector> => {
  const on = (name: string, why: string, change: (claim: Draft) => void, golden?: string) =>
    rejects(
      name,
      why,
      "delivery_claim",
      lie((data) => change(inside(data, "delivery_claim")), golden),
    );
  const { escrow } = goldenEscrow("fulfilled");
  const stranger = addressFromBytes(STRANGER.publicKey);
  const attestation = escrow.attestation ?? undefined;
  if (attestation === undefined) throw new Error("a fulfilled escrow is attested");
  const by = (change: Partial<typeof attestation>): string =>
    invented({ ...escrow, attestation: { ...attestation, ...change } });
  const partial = goldenEscrow("partially-fulfilled").escrow;
  const signature = new Uint8Array(Buffer.from(attestation.signature, "base64"));
  const unsigned = (name: string, why: string, packet: string) =>
    rejects(name, why, "attestation_signature", packet);
  return [
    on(
      "claim-another-proof",
      "another proof hash",
      (c) => void (c["proof_hash"] = "00".repeat(32)),
    ),
    on("claim-delivered", "a claim that it was delivered", (c) => void (c["claim"] = "delivered")),
    on(
      "claim-verification",
      "another text of the method",
      (c) => void (c["verification"] = "checked by hand"),
    ),
    on("claim-attestor", "another attestor", (c) => void (c["attestor"] = stranger)),
    on(
      "claim-attested-at",
      "another time",
      (c) => void (c["attested_at"] = "2026-09-01T12:01:31Z"),
    ),
    on(
      "claim-message",
      "another message",
      (c) => void (inside(c, "attestation")["message_hex"] = "00".repeat(128)),
    ),
    on(
      "claim-signature",
      "another signature",
      (c) => void (inside(c, "attestation")["signature"] = encodeBase64(new Uint8Array(64))),
    ),
    on("claim-unknown-member", "an unknown member", (c) => void (c["delivered"] = true)),
    on(
      "claim-without-proof",
      "a refund with a proof hash",
      (c) => void (c["proof_hash"] = "00".repeat(32)),
      "refunded",
    ),
    unsigned(
      "attested-by-a-stranger",
      "another key in the account than the one that signed",
      invented({ ...escrow, attestor: stranger }),
    ),
    unsigned(
      "attested-by-neutral-point",
      "the neutral point as attestor",
      invented({
        ...escrow,
        attestor: addressFromBytes(NEUTRAL),
        attestation: { ...attestation, signature: encodeBase64(NEUTRAL_SIGNATURE) },
      }),
    ),
    unsigned(
      "attestation-s-plus-l",
      "S + L in place of S in the account",
      by({ signature: encodeBase64(secondForm(signature)) }),
    ),
    unsigned(
      "attested-another-proof",
      "the signature is over another proof hash",
      by({ proofHash: escrow.taskHash }),
    ),
    unsigned(
      "attested-another-time",
      "the signature is over another time",
      by({ attestedAt: attestation.attestedAt + 1n }),
    ),
    unsigned(
      "attested-another-part",
      "the signature is over another amount",
      invented({ ...partial, released: partial.released + 1n }),
    ),
    unsigned(
      "full-release-on-a-part",
      "the whole released by a signature over a part",
      invented({ ...partial, state: "Fulfilled", released: partial.amount }),
    ),
    unsigned(
      "part-on-a-full-release",
      "a part released by a signature over the whole",
      invented({ ...escrow, state: "PartiallyFulfilled", released: 1n }),
    ),
  ];
};

/** Packets with a value of another type where check `form` asks only that the member is there. */
export const anyValueVectors = (): ReadonlyArray<Vector> => {
  const checkOf = {
    purpose: "escrow_fields",
    delivery_claim: "delivery_claim",
    settlement_decision: "settlement_decision",
  };
  const values: Readonly<Record<string, Json>> = { null: null, number: 1, array: [] };
  return Object.entries(checkOf).flatMap(([member, check]) =>
    Object.entries(values).map(([kind, value]) =>
      rejects(
        `${member.replaceAll("_", "-")}-${kind}`,
        `${member} is ${JSON.stringify(value)}`,
        check,
        lie((data) => void (data[member] = value)),
      ),
    ),
  );
};

/** Packets with a decision or date that does not follow from the account. */
export const decisionVectors = (): ReadonlyArray<Vector> => {
  const on = (name: string, why: string, member: string, value: Json, golden?: string) =>
    rejects(
      name,
      why,
      "settlement_decision",
      lie((data) => void (inside(data, "settlement_decision")[member] = value), golden),
    );
  const dated = (name: string, why: string, asOf: Json, golden: string) =>
    rejects(
      name,
      why,
      "as_of",
      lie((data) => void (data["as_of"] = asOf), golden),
    );
  const { escrow } = goldenEscrow("pending");
  const open = goldenEscrow("session-open").escrow;
  return [
    on("decision-refunded", "a release that calls itself a refund", "status", "refunded"),
    on(
      "decision-cancelled",
      "a refund after expiry that calls itself a cancellation",
      "reason",
      "merchant_cancelled",
      "refunded",
    ),
    on(
      "decision-expired",
      "a cancellation that calls itself a refund after expiry",
      "reason",
      "ttl_expired_without_delivery_proof",
      "cancelled",
    ),
    on(
      "decision-released",
      "a refund that calls itself a release",
      "status",
      "released",
      "refunded",
    ),
    on(
      "decision-reason",
      "a partial release that gives the reason of a full one",
      "reason",
      "merchant_delivery_proof_verified",
      "partially-fulfilled",
    ),
    on(
      "decision-released-usdc",
      "an amount in a unit that no account names",
      "released_usdc",
      "2.500000",
    ),
    on("decision-settled-at", "another time", "settled_at", "2026-09-01T12:01:36Z"),
    on("decision-unknown-member", "an unknown member", "delivered", true),
    on(
      "expired-yet-awaiting",
      "expired at the time it names, and yet awaiting a proof",
      "reason",
      "awaiting_delivery_proof",
      "pending-expired",
    ),
    on(
      "awaiting-yet-expired",
      "not expired at the time it names, and yet refundable",
      "reason",
      "ttl_expired_refund_available",
      "pending",
    ),
    dated("pending-without-date", "a pending packet without a date", null, "pending"),
    rejects(
      "expired-without-date",
      "a pending packet without a date that calls itself expired",
      ["settlement_decision", "as_of"],
      lie((data) => void (data["as_of"] = null), "pending-expired"),
    ),
    dated(
      "settled-with-date",
      "a settled packet with a date",
      { slot: 1, ledger_time: "2026-09-01T12:02:00Z" },
      "fulfilled",
    ),
    rejects(
      "pending-before-created",
      "a pending packet of a time before the escrow was created",
      "as_of",
      invented(escrow, { ledgerTime: escrow.createdAt - 1n }),
    ),
    rejects(
      "pending-before-attested",
      "a session's packet of a time at which the ledger did not take its attestation yet",
      "as_of",
      invented(open, { ledgerTime: open.createdAt + 269n }),
    ),
    rejects(
      "pending-before-closed",
      "a session's packet of a time before its agent closed it",
      "as_of",
      invented(
        { ...open, closesAt: open.createdAt + 1900n },
        { ledgerTime: open.createdAt + 999n },
      ),
    ),
  ];
};
