import type { WireTransaction } from "./wire-transaction.ts";

/** Most top-level instructions (Agave `transaction-context`: MAX_INSTRUCTION_TRACE_LENGTH; SIMD-0160). */
const MAX_INSTRUCTIONS = 64;
/** Most accounts of one instruction (Agave `transaction-context`: MAX_ACCOUNTS_PER_INSTRUCTION; SIMD-0406). */
const MAX_INSTRUCTION_ACCOUNTS = 255;
/** Most accounts of a transaction (Agave `sanitized.rs`: MAX_TX_ACCOUNT_LOCKS); a cluster may allow 64 only. */
const MAX_ACCOUNTS = 128;

/**
 * The limit of every ledger that a well-formed transaction exceeds, undefined when none. The text completes
 * "The transaction ...".
 */
export const transactionLimitFault = ({
  instructions,
  staticAccounts,
  tables,
}: WireTransaction): string | undefined => {
  if (instructions.length > MAX_INSTRUCTIONS)
    return `has ${instructions.length} instructions; at most ${MAX_INSTRUCTIONS} can run`;
  if (instructions.some(({ accounts }) => accounts.length > MAX_INSTRUCTION_ACCOUNTS))
    return `has an instruction of more than ${MAX_INSTRUCTION_ACCOUNTS} accounts`;
  const accounts = tables.reduce(
    (sum, { writable, readonly }) => sum + writable.length + readonly.length,
    staticAccounts.length,
  );
  return accounts > MAX_ACCOUNTS
    ? `names ${accounts} accounts; at most ${MAX_ACCOUNTS} can be locked`
    : undefined;
};
