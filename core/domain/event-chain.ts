import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { canonicalJsonBytes } from "./canonical-json.ts";
import type { Deployment } from "./deployment.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "./hash32.ts";
import type { SettlementEvent } from "./settlement-event.ts";
import { formatUnixTime } from "./unix-time.ts";

/** What the first event of a store on one ledger is chained to. See docs/protocol.md, "Index". */
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

/** `SHA-256(previous || RFC 8785 of the event)`: altering or dropping an event changes all that follow. */
export const chainedEventHash = (previous: Hash32, event: SettlementEvent): Hash32 =>
  hash32FromBytes(
    sha256(
      concatBytes(
        hash32ToBytes(previous),
        canonicalJsonBytes({
          id: event.id,
          kind: event.kind,
          escrow_pda: event.escrow,
          agent_owner: event.agentOwner,
          merchant: event.merchant,
          mint: event.mint,
          state: event.state,
          amount_stroops: event.amount.toString(),
          proof_hash: event.proofHash,
          occurred_at: formatUnixTime(event.occurredAt),
        }),
      ),
    ),
  );
