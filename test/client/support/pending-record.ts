import type { Hash32 } from "../../../core/domain/hash32.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { AGENT, ATTESTOR, MERCHANT, MINT } from "./fake-service.ts";

/** What a service says of the agent's Pending escrow for a task: `amount` in base units, open from midnight to ten. */
export const pendingRecord = (task: Hash32, amount: string) => ({
  escrow_pda: escrowAddress(LOCAL_DEPLOYMENT, AGENT, task).address,
  state: "Pending",
  agent_owner: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  rent_payer: AGENT,
  session_key: null,
  attestor: ATTESTOR,
  task_hash: task,
  amount_stroops: amount,
  released_stroops: "0",
  left_stroops: amount,
  refunded_stroops: "0",
  deliveries: 0,
  proof_hash: null,
  settled_by: null,
  closes_at: null,
  created_seq: "1",
  created_at: "2026-11-22T00:00:00Z",
  expires_at: "2026-11-22T10:00:00Z",
  next_actions: [{ action: "release_escrow" }],
});
