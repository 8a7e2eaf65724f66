import { createHash } from "node:crypto";
import type { Address } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import type { LedgerTransaction } from "../../../../core/domain/ledger/history.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { creationOf, settlementOf } from "../../../core/use-cases/index/escrow-instructions.ts";
import { ESCROWS, OBSCURE } from "./escrows.ts";
import { RELAYER } from "./parties.ts";

const landed = (
  label: string,
  slot: bigint,
  signer: Address,
  ix: Instruction,
): LedgerTransaction => {
  const named = ix.accounts.map(({ address }) => address);
  return {
    signature: ledgerSignatureFromBytes(
      new Uint8Array(createHash("sha512").update(label).digest()),
    ),
    slot,
    failed: false,
    signers: new Set([signer]),
    accounts: [...new Set([signer, ...named, ix.programAddress])],
    instructions: [{ program: ix.programAddress, accounts: named, data: ix.data }],
    hasCalls: true,
  };
};

/** The transactions of an escrow: its creation at `slot` and, once settled, its settlement one slot later. */
export const historyOf = (escrow: Escrow, slot: bigint): ReadonlyArray<LedgerTransaction> => {
  const { address, agentOwner } = escrow;
  const creation = creationOf(escrow, agentOwner, LOCAL_DEPLOYMENT);
  const created = landed(`creation of ${address}`, slot, agentOwner, creation);
  if (escrow.state === "Pending") return [created];
  const { ix } = settlementOf(escrow, LOCAL_DEPLOYMENT);
  return [created, landed(`settlement of ${address}`, slot + 1n, RELAYER.address, ix)];
};

/** The transactions of the ledger's escrows, oldest first, from slot 900. */
export const HISTORY: ReadonlyArray<LedgerTransaction> = ESCROWS.filter(
  (escrow) => escrow !== OBSCURE,
).flatMap((escrow, i) => historyOf(escrow, 900n + 10n * BigInt(i)));
