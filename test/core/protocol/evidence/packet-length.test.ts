import { expect, test } from "bun:test";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { packetText, TRUST } from "../../../arbitraries/evidence.ts";
import { GOLDEN_ESCROWS } from "../../use-cases/escrow/golden-escrows.ts";

const [golden] = GOLDEN_ESCROWS;
if (golden === undefined) throw new Error("no golden escrow");

/** A valid packet of the given length in UTF-8 bytes, whose merchant's name has two bytes per letter. */
const packetOf = (bytes: number): string => {
  const { escrow } = golden;
  const packet = JSON.parse(packetText(escrow)) as { references: Record<string, unknown> };
  packet.references["merchant"] = {
    name: "é".repeat(16),
    status: "Active",
    current_attestor: escrow.merchant,
  };
  packet.references["not_found"] = [];
  const text = JSON.stringify(packet);
  return text + " ".repeat(bytes - Buffer.byteLength(text));
};

test.each([
  [65_536, "verified"],
  [65_537, "failed"],
  [65_552, "failed"],
] as const)("a packet of %i bytes is %s, given as text or as bytes", (bytes, verdict) => {
  const text = packetOf(bytes);
  const encoded = new TextEncoder().encode(text);
  expect(encoded.length).toBe(bytes);
  expect([verifyEvidence(text, TRUST).verdict, verifyEvidence(encoded, TRUST).verdict]).toEqual([
    verdict,
    verdict,
  ]);
});

test.each([
  ["é".repeat(16), "verified"],
  [`${"é".repeat(16)}.`, "failed"],
  ["𝄞".repeat(9), "failed"],
] as const)(
  "a merchant's name of at most 32 bytes is part of the form: %j is %s",
  (name, verdict) => {
    const packet = JSON.parse(packetOf(10_000)) as { references: { merchant: { name: string } } };
    packet.references.merchant.name = name;
    expect(verifyEvidence(JSON.stringify(packet), TRUST).verdict).toBe(verdict);
  },
);
