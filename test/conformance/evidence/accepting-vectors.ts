import { createHash } from "node:crypto";
import { address } from "../../../core/domain/address.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { attested, ed25519Key } from "../../arbitraries/evidence.ts";
import { withVault } from "../../arbitraries/escrow-numbers.ts";
import { GOLDEN_ESCROWS } from "../../core/use-cases/escrow/golden-escrows.ts";
import {
  goldenDraft,
  goldenEscrow,
  inside,
  invented,
  type PacketDraft,
  sign,
} from "./packet-edits.ts";

/** A packet and the verdict that every verifier must reach. */
export type Vector = {
  readonly name: string;
  /** What is special or wrong about it. */
  readonly why: string;
  /** The checks that fail under trust.json; none for an accepting packet. */
  readonly failed_checks: ReadonlyArray<string>;
  /** The verdict without a policy. */
  readonly without_policy: "untrusted" | "failed" | "unsupported_version";
} & ({ readonly packet: string } | { readonly packet_base64: string });

/** The key that is retired in trust.json. */
export const RETIRED_KEY = ed25519Key(3);

const reversed = (value: Json): Json => {
  if (Array.isArray(value) || typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
};

/** Writes every character of a JSON text's strings as an escape. */
const escaped = (text: string): string =>
  text.replace(/"([^"\\]*)"/g, (_, inner: string) => {
    const units = inner.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
    return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
  });

const accepts = (name: string, why: string, packet: string): Vector => ({
  name,
  why,
  packet,
  failed_checks: [],
  without_policy: "untrusted",
});

const withReferences = (references: Record<string, Json>): string => {
  const packet = goldenDraft();
  Object.assign(packet.references, references);
  return JSON.stringify(packet);
};

/** SHA-256 of a packet's account bytes, hex. */
const digestOf = ({ data }: PacketDraft): string =>
  createHash("sha256")
    .update(Buffer.from(inside(data, "account")["data_base64"] as string, "base64"))
    .digest("hex");

/** The fulfilled packet with another name for its merchant. */
export const withMerchantName = (name: string): string => {
  const { references } = goldenDraft();
  return withReferences({ merchant: { ...inside(references, "merchant"), name } });
};

/** A packet padded with white space at its end to a length in bytes. */
export const padded = (packet: string, bytes: number): string =>
  packet + " ".repeat(bytes - Buffer.byteLength(packet));

/** A mint that trust.json does not list. */
const UNLISTED_MINT = address("Worth1ess1111111111111111111111111111111111");

/** Packets that every verifier must accept under trust.json. */
export const acceptingVectors = (): ReadonlyArray<Vector> => {
  const { escrow } = goldenEscrow("fulfilled");
  const most = { ...escrow, amount: 2n ** 64n - 1n, released: 2n ** 64n - 1n };
  const partial = goldenEscrow("partially-fulfilled").escrow;
  return [
    ...GOLDEN_ESCROWS.map(({ name }) =>
      accepts(name, `the golden packet ${name}.json, compact`, JSON.stringify(goldenDraft(name))),
    ),
    accepts(
      "archived",
      "the packet of an escrow that was archived",
      withReferences({ archived: { digest: digestOf(goldenDraft()) } }),
    ),
    accepts(
      "members-reversed",
      "the members of every object in reverse order",
      JSON.stringify(reversed(goldenDraft())),
    ),
    accepts(
      "spread-out",
      "white space of every kind between tokens",
      JSON.stringify(goldenDraft(), null, "\t").replaceAll("\n", "\r\n "),
    ),
    accepts(
      "escaped",
      "every character of every string, names too, as \\u escapes",
      escaped(JSON.stringify(goldenDraft())),
    ),
    accepts(
      "signed-before-rotation",
      "signed by a key that is retired by now",
      JSON.stringify(sign(goldenDraft(), RETIRED_KEY)),
    ),
    accepts(
      "nothing-found",
      "references that say nothing could be found",
      withReferences({
        transactions: [],
        merchant: null,
        not_found: ["merchant", "escrow_created", "escrow_released"],
      }),
    ),
    accepts(
      "another-merchant-name",
      "references are not signed, so they can be changed; a name may hold any character",
      withReferences({
        merchant: {
          name: 'Mél “\u202e𝄞\u0000" \\u0041',
          status: "Suspended",
          current_attestor: inside(goldenDraft().data, "escrow")["merchant"] ?? null,
        },
      }),
    ),
    accepts(
      "largest-name",
      "a merchant's name of 32 bytes, which are 16 characters",
      withMerchantName("é".repeat(16)),
    ),
    accepts(
      "largest-packet",
      "65,536 bytes, which are 65,520 characters",
      padded(withMerchantName("é".repeat(16)), 65_536),
    ),
    accepts(
      "nine-decimals",
      "a token of which anybody can make a thousand million: no list names it, and nothing is said of its worth",
      invented(
        attested(
          withVault({ ...escrow, mint: UNLISTED_MINT, amount: 10n ** 15n, released: 10n ** 15n }),
        ),
      ),
    ),
    accepts("largest-amount", "an amount of 2^64 - 1 base units", invented(attested(most))),
    accepts(
      "smallest-part",
      "one base unit released of two",
      invented(attested({ ...partial, amount: 2n, released: 1n })),
    ),
    accepts(
      "expired-this-second",
      "a pending escrow read at the very second of its expiry",
      invented(goldenEscrow("pending").escrow, {
        ledgerTime: goldenEscrow("pending").escrow.expiresAt,
      }),
    ),
    accepts(
      "a-second-before-expiry",
      "and a second earlier",
      invented(goldenEscrow("pending").escrow, {
        ledgerTime: goldenEscrow("pending").escrow.expiresAt - 1n,
      }),
    ),
    accepts(
      "refunded-at-expiry",
      "refunded in the first second in which that is possible",
      invented({ ...goldenEscrow("refunded").escrow, settledAt: escrow.expiresAt }),
    ),
  ];
};
