import { describe, expect, test } from "bun:test";
import { address } from "../../../../core/domain/address.ts";
import type { TrustPolicy } from "../../../../core/domain/evidence/evidence-check.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { withVault } from "../../../arbitraries/escrow-numbers.ts";
import { attested, packetText, TRUST } from "../../../arbitraries/evidence.ts";
import { GOLDEN_ESCROWS } from "../../use-cases/escrow/golden-escrows.ts";

/** A mint of 9 decimals that anybody can make, worth nothing. */
const WORTHLESS = address("Worth1ess1111111111111111111111111111111111");

const golden = GOLDEN_ESCROWS.find(({ name }) => name === "fulfilled")?.escrow;

if (golden === undefined) throw new Error("no golden escrow is fulfilled");

const AMOUNT = 1_000_000_000_000_000n;

const worthless = packetText(
  attested(withVault({ ...golden, mint: WORTHLESS, amount: AMOUNT, released: AMOUNT })),
);

const judge = (packet: string, trust: TrustPolicy | null) => {
  const { verdict, checks, amounts } = verifyEvidence(packet, trust);
  const unproven = checks.filter(({ outcome }) => outcome === "unproven").map(({ name }) => name);
  return { verdict, amounts, listed: !unproven.includes("mint_value") };
};

describe("a payment of 10^15 base units of a mint that the policy does not list", () => {
  test("is verified, and the verdict does not claim a value", () => {
    expect(worthless).not.toContain("1000000000.000000");
    expect(worthless).not.toContain("usdc");
    expect(judge(worthless, TRUST)).toEqual({
      verdict: "verified",
      listed: false,
      amounts: {
        mint: WORTHLESS,
        mint_supported: false,
        symbol: null,
        amount_stroops: "1000000000000000",
        released_stroops: "1000000000000000",
        refunded_stroops: "0",
        amount_usdc: null,
        released_usdc: null,
        refunded_usdc: null,
      },
    });
  });

  test("a mint listed under another symbol than USDC, or with other decimals, has no USDC amounts", () => {
    for (const [decimals, symbol] of [
      [9, "USDC"],
      [6, "EURC"],
    ] as const) {
      const supportedMints = [{ address: WORTHLESS, decimals, symbol }];
      const { listed, amounts } = judge(worthless, { ...TRUST, supportedMints });
      expect([listed, amounts]).toMatchObject([true, { symbol, released_usdc: null }]);
    }
  });
});

test("a mint that the policy lists as USDC has its amounts in USDC", () => {
  expect(judge(packetText(golden), TRUST)).toMatchObject({
    verdict: "verified",
    listed: true,
    amounts: { symbol: "USDC", amount_usdc: "2.500000", refunded_usdc: "0.000000" },
  });
});

test("without a policy no mint is listed, and a failed packet shows no amounts", () => {
  expect(judge(packetText(golden), null)).toMatchObject({
    verdict: "untrusted",
    listed: false,
    amounts: { mint_supported: false, amount_stroops: "2500000", amount_usdc: null },
  });
  expect(judge(packetText(golden).replace('"bump":', '"bump": 1'), TRUST).amounts).toBeNull();
});

describe("packet length", () => {
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
});
