import { ESCROW_STATES } from "../../domain/escrow/escrow.ts";
import type { UnseenEscrow } from "../../domain/index/indexed-escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { sha256 } from "../../domain/sha256.ts";
import { fieldsOf } from "../../protocol/accounts/byte-fields.ts";
import {
  ESCROW_ACCOUNT_LENGTH,
  ESCROW_DISCRIMINATOR,
  pendingEscrowBytes,
} from "../../protocol/accounts/escrow-account.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../../protocol/generated/custody.ts";

const { at: AT } = CUSTODY_ACCOUNTS.Escrow;

/**
 * What the bytes of an escrow that cannot be decoded still say: numbers, state and digests, from which its leaves follow.
 * Undefined for bytes of another layout or version, an unknown state, and numbers that contradict the state: their leaves
 * cannot be made. Only the chain proves that the ledger numbered such an account.
 */
export const unreadableEscrowOf = ({
  address,
  data,
}: Pick<LedgerAccount, "address" | "data">): UnseenEscrow | undefined => {
  if (data.length !== ESCROW_ACCOUNT_LENGTH) return undefined;
  const fields = fieldsOf(data);
  if (!fields.isAt(0, ESCROW_DISCRIMINATOR)) return undefined;
  if (fields.u8(AT.version) !== CUSTODY_CONSTANTS.ACCOUNT_VERSION) return undefined;
  const state = ESCROW_STATES[fields.u8(AT.state)];
  const [createdSeq, settledSeq] = [fields.u64(AT.createdSeq), fields.u64(AT.settledSeq)];
  if (state === undefined || createdSeq === 0n) return undefined;
  if (state === "Pending")
    return settledSeq === 0n
      ? {
          address,
          state,
          createdSeq,
          settledSeq: null,
          pendingHash: sha256(data),
          settledHash: null,
        }
      : undefined;
  if (settledSeq <= createdSeq) return undefined;
  const pendingHash = sha256(pendingEscrowBytes(data));
  return { address, state, createdSeq, settledSeq, pendingHash, settledHash: sha256(data) };
};
