import { sha256 } from "../sha256.ts";
import { canonicalJsonBytes } from "../encoding/canonical-json.ts";
import type { Deployment } from "../ledger/deployment.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../hash32.ts";
import type { SettlementEvent } from "./settlement-event.ts";
import { formatUnixTime } from "../unix-time.ts";

/** The chain hash before a store's first event on one ledger. See docs/protocol.md, "Index". */
export const eventChainStart = (genesisHash: string, deployment: Deployment): Hash32 =>
  hash32FromBytes(
    sha256(
      canonicalJsonBytes({
        genesis_hash: genesisHash,
        custody_program: deployment.custodyProgram,
        attestor_program: deployment.attestorProgram,
      }),
    ),
  );

const utf8 = new TextEncoder();

/**
 * RFC 8785 of an event. Its members are sorted already and no value needs an escape, so it is written directly. General
 * sorting and quoting would take ten times as long, about half the cost of storing an event.
 */
const canonicalEvent = (event: SettlementEvent): string => {
  const { id, kind, escrow, agentOwner, merchant, mint, state, amount, proofHash } = event;
  const proof = proofHash === null ? "null" : `"${proofHash}"`;
  return `{"agent_owner":"${agentOwner}","amount_stroops":"${amount}","escrow_pda":"${escrow}","id":"${id}","kind":"${kind}","merchant":"${merchant}","mint":"${mint}","occurred_at":"${formatUnixTime(event.occurredAt)}","proof_hash":${proof},"state":"${state}"}`;
};

/**
 * A buffer for 32 bytes and an event's text of at most 700 ASCII characters. Reused, because a snapshot hashes millions
 * of events.
 */
const PREIMAGE = new Uint8Array(1024);
const EVENT = PREIMAGE.subarray(32);

/** An event's chain hash, 32 bytes: the SHA-256 of `previous || RFC 8785 of the event`. */
export const nextEventLink = (previous: Uint8Array, event: SettlementEvent): Uint8Array => {
  PREIMAGE.set(previous);
  const { written } = utf8.encodeInto(canonicalEvent(event), EVENT);
  return sha256(PREIMAGE.subarray(0, previous.length + written));
};

/** An event's chain hash. Altering or dropping an event changes all later hashes. */
export const chainedEventHash = (previous: Hash32, event: SettlementEvent): Hash32 =>
  hash32FromBytes(nextEventLink(hash32ToBytes(previous), event));
