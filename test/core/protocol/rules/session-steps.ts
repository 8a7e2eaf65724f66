import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { associatedTokenAddress } from "../../../../core/protocol/addresses/addresses.ts";
import {
  cancelEscrowInstruction,
  captureInstruction,
  claimRefundInstruction,
  closeSessionInstruction,
  releaseEscrowInstruction,
  returnRentInstruction,
} from "../../../../core/protocol/instructions/custody-instructions.ts";
import { captured, closed, settled } from "../../../doubles/escrow-steps.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
import {
  AGENT,
  CREATED_AT,
  DEPLOYMENT,
  MERCHANT,
  MINT,
  PAYER,
  proves,
  session,
} from "./session-world.ts";

/** The steps of a session, and its escrow after them. */
export const target = { escrow: session.address, mint: MINT };
export const capture = captureInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
export const release = releaseEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
export const cancel = cancelEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
export const close = closeSessionInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT });
export const refund = (lastBytes?: Uint8Array, agentOwner: typeof AGENT | null = AGENT) =>
  claimRefundInstruction(DEPLOYMENT, { ...target, agentOwner, lastBytes });
export const rent = (lastBytes?: Uint8Array, rentPayer = PAYER) =>
  returnRentInstruction(DEPLOYMENT, { ...target, rentPayer, lastBytes });

export const FINAL = { isFinal: true } as const;
export const CLOSING = { isClosing: true, total: 300n, count: 3 } as const;
export const proof = proves(session);
export const finalProof = proves(session, FINAL, CLOSING);

export const attested = {
  proofHash: session.taskHash,
  total: 200n,
  timestamp: CREATED_AT + 50n,
  deliveries: 2,
  signature: new Uint8Array(64),
};
export const partly = captured(session, attested);
export const wholly = captured(session, { ...attested, total: 1000n });
export const closing = closed(partly, CREATED_AT + 60n);
export const released = settled(session, "release", CREATED_AT + 60n, attested);
export const cancelled = settled(partly, "cancel", CREATED_AT + 60n);
export const last = (escrow: Escrow) => encodeEscrowAccount(escrow);
export const noTokens = (accounts: ReadonlyArray<LedgerAccount>, owner: typeof AGENT) =>
  accounts.filter(({ address }) => address !== associatedTokenAddress(owner, MINT));
export const archived = tombstoneAccount(cancelled, DEPLOYMENT.custodyProgram);

export type Case = {
  readonly of: string;
  readonly instructions: ReadonlyArray<Instruction>;
  readonly accounts?: ReadonlyArray<LedgerAccount>;
  readonly at?: bigint;
};
