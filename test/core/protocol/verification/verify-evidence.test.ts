import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import {
  EVIDENCE_CHECKS,
  verifyEvidence,
} from "../../../../core/protocol/verification/verify-evidence.ts";
import { anyAttestedEscrow, ed25519Key, packetText, TRUST } from "../../../arbitraries/evidence.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { goldenEscrow } from "../../../conformance/evidence/packet-edits.ts";
import { closed } from "../../../doubles/escrow-steps.ts";
import {
  escrowIn,
  failedChecks,
  resigned,
  inner,
  type JsonObject,
  type Packet,
} from "./judged-packet.ts";

const before = (bytes: Uint8Array, name: string): number =>
  Buffer.from(bytes).indexOf(`"${name}":{`);

describe("a genuine packet", () => {
  test("it verifies under the policy, and is untrusted without one", () => {
    fc.assert(
      fc.property(anyAttestedEscrow, (escrow) => {
        const text = packetText(escrow);
        const { verdict, checks } = verifyEvidence(text, TRUST);
        expect(checks.filter(({ outcome }) => outcome === "failed")).toEqual([]);
        expect(verdict).toBe("verified");
        expect(verifyEvidence(text, null).verdict).toBe("untrusted");
        const unproven = checks.filter(({ outcome }) => outcome === "unproven");
        expect(unproven.map(({ name }) => name)).toEqual([
          "account_on_ledger",
          ...(escrow.state === "Pending" && (escrow.released > 0n || escrow.closesAt !== null)
            ? ["captured_on_ledger"]
            : []),
          "attestor_is_the_merchants",
          // The policy does not list the mints of these packets.
          "mint_value",
        ]);
      }),
      runs(40),
    );
  });

  test("it verifies however its JSON is spaced and its members are ordered", () => {
    const packet = JSON.parse(packetText(escrowIn("Fulfilled"))) as Packet;
    const reversed = (value: Json): Json =>
      Array.isArray(value) || typeof value !== "object" || value === null
        ? value
        : Object.fromEntries(
            Object.entries(value)
              .toReversed()
              .map(([name, member]) => [name, reversed(member)]),
          );
    expect(verifyEvidence(JSON.stringify(reversed(packet), null, 3), TRUST).verdict).toBe(
      "verified",
    );
  });

  test("the verifier accepts changes of unsigned members, but not of their form", () => {
    const packet = JSON.parse(packetText(escrowIn("Refunded"))) as Packet;
    const merchant = { name: "anyone", status: "Active", current_attestor: TRUST.custodyProgram };
    const archived = { digest: "00".repeat(32) };
    packet.references = {
      transactions: [],
      merchant,
      observed: null,
      archived,
      log: null,
      not_found: [],
    };
    expect(verifyEvidence(JSON.stringify(packet), TRUST).verdict).toBe("verified");
    const wrong: ReadonlyArray<JsonObject> = [
      { extra: 1 },
      { merchant: { ...merchant, name: 1 } },
      { merchant: { ...merchant, current_attestor: "nobody" } },
      { observed: { slot: -1, commitment: "finalized" } },
      { observed: { slot: 1, commitment: "confirmed" } },
      { not_found: ["agent"] },
      { not_found: ["merchant", "merchant"] },
      { transactions: [{ signature: "1", slot: 1, kind: "escrow_created" }] },
      { transactions: [{ signature: "1".repeat(64), slot: 1, kind: "delivered" }] },
      {
        transactions: [{ signature: "1".repeat(64), slot: 1, kind: "escrow_created" }],
        not_found: ["escrow_created"],
      },
    ];
    for (const change of wrong) {
      const lie = { ...packet, references: { ...packet.references, ...change } };
      expect([change, failedChecks(JSON.stringify(lie))]).toEqual([change, ["form"]]);
    }
  });
});

describe("a packet that was tampered with", () => {
  // 10,000 are tried with FC_NUM_RUNS=10000.
  test("no single changed byte of data or signature verifies, and none makes the verifier throw", () => {
    const texts = fc
      .sample(anyAttestedEscrow, { numRuns: 8, seed: 5 })
      .map((escrow) => new TextEncoder().encode(packetText(escrow)));
    const flip = fc.record({
      bytes: fc.constantFrom(...texts),
      place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      mask: fc.integer({ min: 1, max: 255 }),
      inSignature: fc.boolean(),
    });
    fc.assert(
      fc.property(flip, ({ bytes, place, mask, inSignature }) => {
        const signatureAt = before(bytes, "signature");
        const [from, to] = inSignature
          ? [signatureAt, before(bytes, "references")]
          : [before(bytes, "data"), signatureAt];
        const at = from + Math.floor(place * (to - from));
        const changed = bytes.with(at, (bytes[at] ?? 0) ^ mask);
        const text = new TextDecoder().decode(changed);
        expect(verifyEvidence(text, TRUST).verdict).toBe("failed");
        expect(verifyEvidence(text, null).verdict).toBe("failed");
      }),
      runs(1000),
    );
  });

  test("any text gets a verdict", () => {
    const text = packetText(escrowIn("Pending"));
    const paths: Array<ReadonlyArray<string>> = [];
    const walk = (value: Json, path: ReadonlyArray<string>): void => {
      if (path.length > 0) paths.push(path);
      if (typeof value === "object" && value !== null)
        for (const [name, member] of Object.entries(value)) walk(member, [...path, name]);
    };
    walk(JSON.parse(text) as Json, []);
    const replacement = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }).map((value) => value as Json),
      fc.constantFrom<Json>("\ud800", -1, 1.5, 1e300, "", null, [], {}),
    );
    fc.assert(
      fc.property(fc.constantFrom(...paths), replacement, (path, value) => {
        const packet = JSON.parse(text) as JsonObject;
        let holder = packet;
        for (const name of path.slice(0, -1)) holder = holder[name] as JsonObject;
        const last = path.at(-1) ?? "";
        fc.pre(JSON.stringify(holder[last]) !== JSON.stringify(value));
        holder[last] = value;
        const { verdict } = verifyEvidence(JSON.stringify(packet), TRUST);
        if (path[0] !== "references") expect(verdict).toBe("failed");
      }),
      runs(300),
    );
    for (const other of ["", "null", "[]", "{}", "0", '"x"', '{"data":{}}', "{", "\0"]) {
      expect(verifyEvidence(other, TRUST).verdict).toBe("failed");
    }
  });

  test("a value without canonical bytes is refused at any place", () => {
    const text = packetText(escrowIn("Fulfilled"));
    for (const value of ['"\\ud800"', "1e999", "-1e999", '{"\\udc00":1}']) {
      for (const member of ['"purpose":', '"bump":', '"merchant":', '"digest_sha256":']) {
        const at = text.indexOf(member) + member.length;
        const end = text.indexOf(",", at);
        const changed = text.slice(0, at) + value + text.slice(end);
        expect(failedChecks(changed)).toEqual(["form"]);
      }
    }
  });

  test("every verdict lists every check, in the same order, each with a reason", () => {
    for (const text of [
      "",
      "{}",
      packetText(escrowIn("Fulfilled")),
      packetText(escrowIn("Pending")),
    ])
      for (const trust of [TRUST, null]) {
        const { checks } = verifyEvidence(text, trust);
        expect(checks.map(({ name }) => name)).toEqual([...EVIDENCE_CHECKS]);
        for (const { reason } of checks) expect(reason).not.toBe("");
      }
  });

  test("unknown, missing and doubled members are refused", () => {
    const text = packetText(escrowIn("Fulfilled"));
    const parts = ["", "data", "signature"] as const;
    for (const part of parts) {
      const packet = JSON.parse(text) as Packet & JsonObject;
      const holder = part === "" ? packet : inner(packet, part);
      holder["extra"] = 1;
      expect(failedChecks(JSON.stringify(packet))).toEqual(["form"]);
      for (const name of Object.keys(holder).filter((key) => key !== "extra")) {
        const lacking = JSON.parse(text) as Packet & JsonObject;
        delete (part === "" ? lacking : inner(lacking, part))[name];
        expect(failedChecks(JSON.stringify(lacking))).toEqual(["form"]);
      }
    }
    const doubled = text.replace('"signature":{', '"signature":{"status":"signed",');
    expect(failedChecks(doubled)).toEqual(["form"]);
    const escapedTwice = text.replace('"signature":{', '"signature":{"st\\u0061tus":"signed",');
    expect(failedChecks(escapedTwice)).toEqual(["form"]);
  });
});

describe("a packet that a lying service signs itself", () => {
  const fulfilled = packetText(escrowIn("Fulfilled"));
  const refunded = packetText(escrowIn("Refunded"));
  const pending = packetText(escrowIn("Pending"));

  test("every decoded field must be the one in the account's bytes", () => {
    const packet = JSON.parse(fulfilled) as Packet;
    const fields = Object.keys(inner(packet.data, "escrow")).filter(
      (name) => name !== "escrow_pda",
    );
    expect(fields.length).toBeGreaterThan(14);
    for (const name of fields) {
      const lie = resigned(fulfilled, (data) => {
        const escrow = inner(data, "escrow");
        escrow[name] = escrow[name] === 1 ? 2 : 1;
      });
      expect([name, failedChecks(lie)]).toEqual([name, ["escrow_fields"]]);
    }
    for (const name of Object.keys(inner(packet.data, "delivery_claim"))) {
      const lie = resigned(fulfilled, (data) => {
        inner(data, "delivery_claim")[name] = "00";
      });
      expect([name, failedChecks(lie)]).toEqual([name, ["delivery_claim"]]);
    }
    for (const name of Object.keys(inner(packet.data, "settlement_decision"))) {
      const lie = resigned(fulfilled, (data) => {
        inner(data, "settlement_decision")[name] = "refunded";
      });
      expect([name, failedChecks(lie)]).toEqual([name, ["settlement_decision"]]);
    }
    const purpose = resigned(fulfilled, (data) => {
      data["purpose"] = "Proof of delivery";
    });
    expect(failedChecks(purpose)).toEqual(["escrow_fields"]);
  });

  test("an escrow at an address that its fields do not derive is refused", () => {
    const other = JSON.parse(refunded) as Packet;
    const lie = resigned(fulfilled, (data) => {
      inner(data, "escrow")["escrow_pda"] = inner(other.data, "escrow")["escrow_pda"] ?? null;
    });
    expect(failedChecks(lie)).toEqual(["escrow_address"]);
  });

  test("an attestation by nobody, or over another message, does not verify", () => {
    const escrow = escrowIn("PartiallyFulfilled");
    const { attestation } = escrow;
    if (attestation === null) throw new Error("no attestation");
    const stranger = addressFromBytes(ed25519Key(9).publicKey);
    const small = addressFromBytes(new Uint8Array(32).with(0, 1));
    const lies: ReadonlyArray<Escrow> = [
      { ...escrow, attestor: stranger },
      { ...escrow, attestor: small },
      { ...escrow, attestation: { ...attestation, signature: encodeBase64(new Uint8Array(64)) } },
      {
        ...escrow,
        released: escrow.released === 1n ? 2n : escrow.released - 1n,
        amount: escrow.amount + 2n,
      },
      { ...escrow, state: "Fulfilled", amount: escrow.released },
    ];
    for (const lie of lies)
      expect(failedChecks(packetText(lie))).toEqual(["attestation_signature"]);
  });

  test("only a pending packet has a date, and that date decides between waiting and refundable", () => {
    expect(failedChecks(resigned(pending, (data) => void (data["as_of"] = null)))).toContain(
      "as_of",
    );
    const dated = resigned(refunded, (data) => {
      data["as_of"] = { slot: 1, ledger_time: "2026-01-01T00:00:00Z" };
    });
    expect(failedChecks(dated)).toEqual(["as_of"]);
    const late = resigned(pending, (data) => {
      inner(data, "as_of")["ledger_time"] = "9999-12-31T23:59:59Z";
    });
    expect(failedChecks(late)).toEqual(["settlement_decision"]);
    const atSlot = (slot: number) =>
      failedChecks(resigned(pending, (data) => void (inner(data, "as_of")["slot"] = slot)));
    expect(atSlot(0)).toEqual([]);
    for (const slot of [-1, 1.5, 2 ** 53]) expect(atSlot(slot)).toEqual(["form"]);
  });

  test("a session's packet is of no time before its attestation was taken, or before it was closed", () => {
    const open = goldenEscrow("session-open").escrow;
    const { attestation, createdAt } = open;
    if (attestation === null) throw new Error("no attestation");
    const failing = (escrow: Escrow, ledgerTime: bigint) =>
      failedChecks(packetText(escrow, { slot: 7n, ledgerTime }));
    // The ledger takes attestations that are up to 30 s ahead.
    expect(failing(open, attestation.attestedAt - 30n)).toEqual([]);
    expect(failing(open, attestation.attestedAt - 31n)).toEqual(["as_of"]);
    const closing = closed(open, createdAt + 1000n);
    expect(failing(closing, createdAt + 1000n)).toEqual([]);
    expect(failing(closing, createdAt + 999n)).toEqual(["as_of"]);
  });

  test("account bytes that are not an escrow are reported as such", () => {
    const bytes = resigned(fulfilled, (data) => {
      inner(data, "account")["data_base64"] = encodeBase64(new Uint8Array(368));
    });
    expect(failedChecks(bytes)).toEqual(["account_bytes"]);
    const owner = resigned(fulfilled, (data) => {
      inner(data, "account")["owner"] = "11111111111111111111111111111111";
    });
    expect(failedChecks(owner)).toEqual(["account_bytes"]);
  });
});
