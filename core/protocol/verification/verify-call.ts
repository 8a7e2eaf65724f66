import { bytesToHex } from "@noble/hashes/utils.js";
import { taskHash } from "../../domain/escrow/task-hash.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import {
  type CallVerdict,
  type EvidenceCheck,
  type JudgedCall,
  passedOrFailed,
  type TrustPolicy,
} from "../../domain/evidence/evidence-check.ts";
import { canonicalFault } from "../../domain/encoding/canonical-json.ts";
import { proofHash } from "../../domain/evidence/proof-template.ts";
import { type Hash32, hash32ToBytes } from "../../domain/hash32.ts";
import { leafHash } from "../../log/tree/tree-hash.ts";
import { verifyInclusion } from "../../log/tree/tree-proofs.ts";
import { decodeEscrowAccount } from "../accounts/escrow-account.ts";
import {
  type CallEvidence,
  parseCallEvidence,
  type ProvedDelivery,
} from "../calls/call-evidence.ts";
import { deliveryLeaf } from "../calls/call-delivery.ts";
import { isCallIntent, orderLeaf } from "../calls/call-order.ts";
import { isAttestationSigned, isVoucherSigned } from "../calls/judge-call.ts";
import { sessionTerms, type SessionTerms } from "../calls/session-terms.ts";
import { parseEvidencePacket } from "../evidence/evidence-packet.ts";
import type { FreshLog } from "./verify-fresh-log.ts";
import type { LedgerWitness } from "./verify-on-ledger.ts";
import { verifyEvidence } from "./verify-evidence.ts";

/** The checks of a call, behind those of its escrow's packet. */
export const CALL_CHECKS = [
  "call_form",
  "call_session",
  "call_order",
  "call_inclusion",
  "call_price",
  "call_payload",
] as const;

/** The tree of deliveries that a call is proved in, and whether the ledger has it. */
type AttestedTree = {
  readonly size: number;
  readonly root: Hash32;
  readonly total: bigint;
  readonly isOnLedger: boolean;
};

/** The tree that the account has, or else one that the attestor signed; a reason where there is neither. */
const attestedTree = (
  { attestation }: CallEvidence,
  escrow: Escrow,
  session: SessionTerms,
): AttestedTree | string => {
  if (attestation === null) {
    if (escrow.attestation === null)
      return "the account has no attestation, and none is given beside it";
    return {
      size: escrow.deliveries,
      root: escrow.attestation.proofHash,
      total: escrow.released,
      isOnLedger: true,
    };
  }
  if (!isAttestationSigned(session, attestation))
    return "the escrow's attestor did not sign the attestation for these terms";
  const { count: size, deliveries: root, total } = attestation;
  return { size, root, total, isOnLedger: false };
};

const isIn = (
  { delivery, path }: ProvedDelivery,
  index: number,
  { size, root }: AttestedTree,
): boolean =>
  verifyInclusion(
    {
      index,
      leafHash: leafHash(deliveryLeaf(delivery)),
      head: { size, root: hash32ToBytes(root) },
    },
    path,
  );

const orderCheck = (
  { voucher, intent, orderPath, delivered: { delivery } }: CallEvidence,
  session: SessionTerms,
): EvidenceCheck => {
  const fault = ((): string | null => {
    if (voucher.isClosing || voucher.count === 0) return "the voucher orders no call";
    if (voucher.escrow !== session.escrow) return "the voucher names another escrow";
    if (!isVoucherSigned(session, voucher))
      return "the session key did not sign the voucher for these terms";
    if (intent !== null && !isCallIntent(intent)) return "the words are not those of a request";
    if (intent !== null && taskHash(intent, bytesToHex(voucher.nonce)) !== delivery.taskHash)
      return "the delivery is for another order than the words and the nonce make";
    const { count, limit, orders } = voucher;
    const isOrdered = verifyInclusion(
      {
        index: count - 1,
        leafHash: leafHash(orderLeaf({ taskHash: delivery.taskHash, limit })),
        head: { size: count, root: hash32ToBytes(orders) },
      },
      orderPath,
    );
    return isOrdered ? null : "the order is not the one that the voucher was signed for";
  })();
  const shown = intent === null ? ", of which only the hash is shown" : "";
  return passedOrFailed(
    "call_order",
    fault === null,
    `the session key signed a voucher for this order${shown}`,
    fault ?? "",
  );
};

const priceFault = (
  { voucher, delivered: { delivery }, before }: CallEvidence,
  tree: AttestedTree,
): string | null => {
  const { price, totalAfter } = delivery;
  if (price > voucher.limit) return "the price is above the limit of the order";
  if (totalAfter > voucher.total) return "the total is above the one that the voucher allows";
  if (totalAfter > tree.total) return "the total is above the attested one";
  if ((before === null) !== (voucher.count === 1))
    return "a call but the first needs the leaf before it, and the first has none";
  if (before !== null && !isIn(before, voucher.count - 2, tree))
    return "the leaf before is not in the attested tree";
  return (before?.delivery.totalAfter ?? 0n) + price === totalAfter
    ? null
    : "the totals before and after do not differ by the price";
};

/** Whether a payload that names a task or a URL names those of the call. A payload may name neither. */
const isOfCall = ({ payload, intent, delivered: { delivery } }: CallEvidence): boolean => {
  const { task_hash: task, request_url: url } = payload ?? {};
  return (
    (task === undefined || task === delivery.taskHash) &&
    (url === undefined || intent === null || intent.split(" ")[1] === url)
  );
};

const payloadCheck = (evidence: CallEvidence): EvidenceCheck => {
  const { payload, delivered } = evidence;
  const { delivery } = delivered;
  const name = "call_payload";
  if (payload === null)
    return { name, outcome: "unproven", reason: "no payload is given, only its hash is attested" };
  if (!isOfCall(evidence))
    return passedOrFailed(name, false, "", "the payload names another task or another URL");
  const holds = canonicalFault(payload) === undefined && proofHash(payload) === delivery.proofHash;
  return passedOrFailed(
    name,
    holds,
    "the payload's hash is the one in the leaf",
    "the payload's hash is not the one in the leaf",
  );
};

const notJudged = (from: number): ReadonlyArray<EvidenceCheck> =>
  CALL_CHECKS.slice(from).map((name) => ({
    name,
    outcome: "not_applicable",
    reason: "not judged, since an earlier check failed",
  }));

/** The checks of a call against its session, and the tree that they hold in. */
const callChecks = (
  evidence: CallEvidence,
  escrow: Escrow,
  session: SessionTerms,
): { readonly checks: ReadonlyArray<EvidenceCheck>; readonly tree: AttestedTree | null } => {
  const order = orderCheck(evidence, session);
  const tree = attestedTree(evidence, escrow, session);
  if (typeof tree === "string")
    return {
      checks: [order, passedOrFailed("call_inclusion", false, "", tree), ...notJudged(4)],
      tree: null,
    };
  const { voucher, delivered } = evidence;
  const fault = priceFault(evidence, tree);
  return {
    checks: [
      order,
      passedOrFailed(
        "call_inclusion",
        voucher.count > 0 && isIn(delivered, voucher.count - 1, tree),
        tree.isOnLedger
          ? `the leaf is delivery ${voucher.count} of the ${tree.size} that the account's attestation covers`
          : `the leaf is delivery ${voucher.count} of the ${tree.size} that the attestor signed`,
        "the leaf is not in the attested tree at its place",
      ),
      passedOrFailed(
        "call_price",
        fault === null,
        `it cost ${delivered.delivery.price} of at most ${voucher.limit} base units`,
        fault ?? "",
      ),
      payloadCheck(evidence),
    ],
    tree,
  };
};

const judgedCall = (
  { voucher, intent, delivered: { delivery } }: CallEvidence,
  session: SessionTerms,
  isPaid: boolean,
): JudgedCall => ({
  escrow: session.escrow,
  count: voucher.count,
  price_stroops: delivery.price.toString(),
  limit_stroops: voucher.limit.toString(),
  ordered: intent,
  delivered: { attestor: session.attestor, at: Number(delivery.deliveredAt) },
  settlement: isPaid ? "paid" : "attested",
});

/**
 * Whether the account's money is proved. A settled account's bytes are in the log; what a Pending one shows as captured
 * has no leaf, and whoever has a voucher and an attestation can write it. Only a node shows it.
 */
const isReleased = ({ state }: Escrow, checks: ReadonlyArray<EvidenceCheck>): boolean =>
  state !== "Pending" ||
  checks.some(({ name, outcome }) => name === "captured_on_ledger" && outcome === "passed");

/** The session that a packet is of, verified or not; null for every other packet. */
export const sessionOfPacket = (
  packet: string,
): { readonly escrow: Escrow; readonly terms: SessionTerms } | null => {
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed) return null;
  const { escrowAddress, account, network } = parsed.value;
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  if ("fault" in decoded) return null;
  const terms = sessionTerms(decoded.value, network);
  return terms && { escrow: decoded.value, terms };
};

/**
 * Checks the evidence of one call of a session, given as its JSON text or bytes, without any network: the packet of its
 * escrow as `verifyEvidence` does, then that the session key ordered the call, that the attested deliveries have it at
 * its place and price, and that the payload is the one attested. A node and a log add checks as for a packet. Never
 * throws. See docs/verify-evidence.md, "Evidence of a call".
 * @example
 * import { parseTrustPolicy, verifyCall } from "settlement-evidence/verify";
 *
 * const parsed = parseTrustPolicy(trust);
 * if ("fault" in parsed) throw new Error(parsed.fault);
 * verifyCall(callEvidence, parsed.value).call?.settlement; // => "paid"
 */
export const verifyCall = (
  document: string | Uint8Array,
  trust: TrustPolicy | null,
  witness?: LedgerWitness,
  log?: FreshLog,
): CallVerdict => {
  const parsed = parseCallEvidence(document);
  if ("fault" in parsed) {
    const form = passedOrFailed("call_form", false, "", parsed.fault);
    return { verdict: "failed", checks: [form, ...notJudged(1)], amounts: null, call: null };
  }
  const evidence = parsed.value;
  const text = JSON.stringify(evidence.packet);
  const ofPacket = verifyEvidence(text, trust, witness, log);
  const form = passedOrFailed("call_form", true, "the evidence has exactly its members", "");
  const session = sessionOfPacket(text);
  const failed = (checks: ReadonlyArray<EvidenceCheck>): CallVerdict => ({
    verdict: ofPacket.verdict === "unsupported_version" ? "unsupported_version" : "failed",
    checks: [...ofPacket.checks, form, ...checks],
    amounts: null,
    call: null,
  });
  if (session === null)
    return failed([
      passedOrFailed("call_session", false, "", "the packet is not that of a session"),
      ...notJudged(2),
    ]);
  const { checks: inner, tree } = callChecks(evidence, session.escrow, session.terms);
  const checks = [
    passedOrFailed("call_session", true, "the packet is that of a session", ""),
    ...inner,
  ];
  const isSound =
    ofPacket.verdict === "verified" || ofPacket.verdict === "untrusted" ? tree !== null : false;
  if (!isSound || tree === null || checks.some(({ outcome }) => outcome === "failed"))
    return failed(checks);
  return {
    ...ofPacket,
    checks: [...ofPacket.checks, form, ...checks],
    call: judgedCall(
      evidence,
      session.terms,
      tree.isOnLedger && isReleased(session.escrow, ofPacket.checks),
    ),
  };
};
