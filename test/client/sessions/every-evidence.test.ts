import { expect, test } from "bun:test";
import fc from "fast-check";
import { useNativeCrypto } from "../../../client/node/native-crypto.ts";
import { callEvidences } from "../../../client/sessions/evidence/call-evidences.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { callPayload } from "../../../core/protocol/calls/call-delivery.ts";
import { sessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { verifyCall } from "../../../core/protocol/verification/verify-call.ts";
import { NETWORK, packetText, TRUST } from "../../arbitraries/evidence.ts";
import { runs } from "../../arbitraries/runs.ts";
import { captured, settled } from "../../doubles/escrow-steps.ts";
import { attest, ESCROW, honestCalls } from "../../doubles/session-sides.ts";

useNativeCrypto();

/** Calls of one session, each of which is proved, and changed in one field after another. */
const COUNT = Number(process.env["EVIDENCES"] ?? 24);
const SESSION = { ...ESCROW, amount: 10_000_000n, expiresAt: ESCROW.createdAt + 604_800n };
const TERMS = sessionTerms(SESSION, NETWORK) ?? undefined;
const CALLS = honestCalls(
  Array.from({ length: COUNT }, (_, i) => ({ limit: 100n, price: BigInt(1 + (i % 100)) })),
  TERMS,
);
const KEPT = CALLS.map(({ voucher, receipt, intent, answered }) => ({
  voucher,
  receipt,
  intent,
  status: answered.status,
}));

/** The evidences of a session whose account shows the first `deliveries` calls, all of them by its release. */
const evidencesAt = (deliveries: number) => {
  const call = CALLS[deliveries - 1];
  if (call === undefined) throw new RangeError(`no call ${deliveries}`);
  const isFinal = deliveries === COUNT;
  const { after, receipt } = call;
  const { timestamp } = receipt.attestation;
  const claim = { deliveries: after.deliveries, total: after.total, timestamp, count: deliveries };
  const { signature } = attest({ ...claim, isFinal }, TERMS);
  const attested = { ...claim, proofHash: after.deliveries, deliveries, signature };
  const escrow = isFinal
    ? settled(SESSION, "release", timestamp + 5n, attested)
    : captured(SESSION, attested);
  const packet = packetText(escrow, { slot: 7n, ledgerTime: timestamp + 10n });
  const made = callEvidences(
    JSON.parse(packet) as Json,
    { deliveries, proofHash: after.deliveries },
    KEPT,
  );
  return (count: number): string => {
    const answered = CALLS[count - 1]?.answered;
    return made(count, {
      payload: answered === undefined ? null : callPayload(answered),
      isOrderShown: true,
    });
  };
};

/** After the release every call is proved by the account, after a capture of the first half the others by a receipt. */
const SETTLED = evidencesAt(COUNT);
const CAPTURED = evidencesAt(COUNT / 2);

type Node = { [name: string]: Json };
/** A change of a member, by two numbers that choose where and what. */
type Change = (holder: Node, name: string, at: number, bit: number) => void;

const inBytes =
  (from = 0, to = Number.POSITIVE_INFINITY): Change =>
  (holder, name, at, bit) => {
    const bytes = Buffer.from(holder[name] as string, "base64");
    // A path of no hashes gets one.
    if (bytes.length === 0) holder[name] = Buffer.alloc(32).toString("base64");
    else {
      const index = from + (at % (Math.min(to, bytes.length) - from));
      bytes[index] = (bytes[index] ?? 0) ^ (1 << (bit % 8));
      holder[name] = bytes.toString("base64");
    }
  };

const inText: Change = (holder, name, at, bit) => {
  const text = holder[name] as string;
  const index = at % text.length;
  const code = text.charCodeAt(index) ^ (1 << (bit % 4));
  holder[name] = text.slice(0, index) + String.fromCharCode(code) + text.slice(index + 1);
};

const inNumber: Change = (holder, name, at) => {
  holder[name] = Number(holder[name]) + 1 + (at % 100);
};

/** Every field of the document: the members on the way to it, and how it changes. */
const FIELDS: Readonly<Record<string, readonly [path: ReadonlyArray<string>, change: Change]>> = {
  version: [["version"], inText],
  intent: [["intent"], inText],
  "voucher: tag": [["voucher_base64"], inBytes(0, 8)],
  "voucher: escrow": [["voucher_base64"], inBytes(8, 40)],
  "voucher: orders": [["voucher_base64"], inBytes(40, 72)],
  "voucher: total": [["voucher_base64"], inBytes(72, 80)],
  "voucher: count": [["voucher_base64"], inBytes(80, 84)],
  "voucher: closing and zeros": [["voucher_base64"], inBytes(84, 88)],
  "voucher: limit": [["voucher_base64"], inBytes(88, 96)],
  "voucher: nonce": [["voucher_base64"], inBytes(96, 112)],
  "voucher: signature": [["voucher_base64"], inBytes(112, 176)],
  "path of the order": [["order_path_base64"], inBytes()],
  "leaf: task hash": [["delivered", "leaf_base64"], inBytes(0, 32)],
  "leaf: proof hash": [["delivered", "leaf_base64"], inBytes(32, 64)],
  "leaf: price": [["delivered", "leaf_base64"], inBytes(64, 72)],
  "leaf: total": [["delivered", "leaf_base64"], inBytes(72, 80)],
  "leaf: time": [["delivered", "leaf_base64"], inBytes(80, 88)],
  "path of the leaf": [["delivered", "path_base64"], inBytes()],
  "leaf before": [["before", "leaf_base64"], inBytes()],
  "path of the leaf before": [["before", "path_base64"], inBytes()],
  "attestation: deliveries": [["attestation_base64"], inBytes(0, 32)],
  "attestation: total": [["attestation_base64"], inBytes(32, 40)],
  "attestation: time": [["attestation_base64"], inBytes(40, 48)],
  "attestation: count": [["attestation_base64"], inBytes(48, 52)],
  "attestation: final and zeros": [["attestation_base64"], inBytes(52, 56)],
  "attestation: signature": [["attestation_base64"], inBytes(56, 120)],
  "payload: template": [["payload", "proof_template_id"], inText],
  "payload: task hash": [["payload", "task_hash"], inText],
  "payload: network": [["payload", "network"], inText],
  "payload: URL": [["payload", "request_url"], inText],
  "payload: status": [["payload", "status_code"], inNumber],
  "payload: content": [["payload", "content_sha256"], inText],
  "payload: time": [["payload", "delivered_at"], inText],
  "packet: account": [["packet", "data", "account", "data_base64"], inBytes()],
  "packet: deliveries": [["packet", "data", "escrow", "deliveries"], inNumber],
  "packet: signature": [["packet", "signature", "signature"], inBytes()],
};

/** The document with one field changed; null where it does not have that field. */
const tampered = (text: string, field: string, at: number, bit: number): string | null => {
  const [path, change] = FIELDS[field] ?? [[], inText];
  const document = JSON.parse(text) as Node;
  let holder: Node | null = document;
  for (const name of path.slice(0, -1)) holder = (holder?.[name] ?? null) as Node | null;
  const name = path.at(-1) ?? "";
  if (holder === null || holder[name] === null) return null;
  change(holder, name, at, bit);
  return JSON.stringify(document);
};

test(`each of ${COUNT} calls is verified: paid after the release, attested after a capture that no node shows`, () => {
  const wrong: Array<string> = [];
  for (let count = 1; count <= COUNT; count++)
    for (const [evidences, settlement] of [
      [SETTLED, "paid"],
      [CAPTURED, "attested"],
    ] as const) {
      // Read and written again, as a changed one is.
      const again = JSON.stringify(JSON.parse(evidences(count)));
      const { verdict, call } = verifyCall(again, TRUST);
      const price = String(CALLS[count - 1]?.receipt.delivery.price);
      const isRight =
        verdict === "verified" &&
        call?.count === count &&
        call.price_stroops === price &&
        call.settlement === settlement;
      if (!isRight) wrong.push(`${settlement} call ${count}: ${verdict}`);
    }
  expect(wrong).toEqual([]);
}, 3_600_000);

test(`none of ${COUNT} calls is verified once any one field of it is changed`, () => {
  const changedFields = new Set<string>();
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
      const next = (): number => numbers.next().value ?? 0;
      const verified: Array<string> = [];
      for (let count = 1; count <= COUNT; count++) {
        const text = next() % 2 === 0 ? SETTLED(count) : CAPTURED(count);
        for (const field of Object.keys(FIELDS)) {
          const [at, bit] = [next(), next()];
          const document = tampered(text, field, at, bit);
          if (document === null) continue;
          changedFields.add(field);
          if (verifyCall(document, TRUST).verdict !== "failed")
            verified.push(`call ${count}, ${field}, ${at}, ${bit}`);
        }
      }
      expect(verified).toEqual([]);
    }),
    { ...runs(1), numRuns: 1, endOnFailure: true },
  );
  // Each field was there to be changed, in some of the calls.
  expect([...changedFields].sort()).toEqual(Object.keys(FIELDS).sort());
}, 3_600_000);
