import type { Address } from "../../../core/domain/address.ts";
import { parseAmount } from "../../../core/domain/amount.ts";
import { type Hash32, parseHash32 } from "../../../core/domain/hash32.ts";
import { parseUnixTime, type UnixSeconds } from "../../../core/domain/unix-time.ts";
import { termsOf } from "../../../core/protocol/accounts/escrow-account.ts";
import { associatedToken, escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import type { LiveEscrow, LiveEscrowRead } from "../../generated/contract.ts";
import { deploymentIn } from "../../pay/payment-terms.ts";
import { requestOf } from "../../service/operation.ts";
import { dataOf, jsonOf, problemOf } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import { addressNamed } from "../../pinned-policy.ts";
import type { MerchantContext } from "../merchant-context.ts";

/** An escrow as the service read it, whose agent and task follow from its address. */
export type EscrowTerms = {
  readonly escrow: Address;
  readonly agentOwner: Address;
  readonly merchant: Address;
  readonly mint: Address;
  readonly rentPayer: Address;
  readonly attestor: Address;
  readonly taskHash: Hash32;
  /** What signatures name of it: the digest of its account's bytes right after its creation. */
  readonly terms: Hash32;
  /** Base units. */
  readonly amount: bigint;
  /** Base units that the merchant has so far: a session pays while Pending too. */
  readonly released: bigint;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
  /**
   * The first second at which it can only be refunded: `expiresAt`, or before it the end that the agent set by closing
   * its session.
   */
  readonly endsAt: UnixSeconds;
  /** The key that signs the vouchers of a session, null for a single payment. */
  readonly sessionKey: Address | null;
  /** The ledger's clock when it was read. */
  readonly ledgerTime: UnixSeconds;
  /** The record itself. */
  readonly record: LiveEscrow;
};

const unsound = (detail: string): never => {
  throw new SettlementError(
    "unsound_escrow",
    detail,
    "Sign nothing for it. Check the trust document, and do not use this service before its operator has explained it.",
  );
};

/** Base units from 0 on. */
const unitsIn = (text: string): bigint | undefined => (text === "0" ? 0n : parseAmount(text));

/** Whether what the service gave as next actions is a list of objects. */
const isActions = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null);

/**
 * The escrow at an address, read now. Its agent and its task hash are those that its address derives from under the
 * trust policy; the programs check everything else against its account. @throws SettlementError for no address, and for
 * an escrow that is not there or does not fit.
 */
export const readEscrowTerms = async (
  context: Pick<MerchantContext, "policy"> & {
    readonly requests: Pick<MerchantContext["requests"], "answer">;
  },
  text: string,
  signal?: AbortSignal,
): Promise<EscrowTerms> => {
  const escrow = addressNamed(text, "escrow");
  const answer = await context.requests.answer(
    ...requestOf("GET /v1/escrows/{pda}", { pda: escrow }, { signal }),
  );
  if (answer.status !== 200) throw problemOf(answer);
  const record = dataOf(answer) as LiveEscrow;
  const { context: at } = jsonOf(answer) as Partial<LiveEscrowRead>;
  const taskHash = parseHash32(record.task_hash);
  const closesAt = record.closes_at === null ? null : parseUnixTime(record.closes_at);
  const [createdSeq, amount, released, createdAt, expiresAt, ledgerTime] = [
    parseAmount(record.created_seq),
    parseAmount(record.amount_stroops),
    unitsIn(record.released_stroops),
    parseUnixTime(record.created_at),
    parseUnixTime(record.expires_at),
    parseUnixTime(at?.ledger_time ?? ""),
  ];
  if (
    taskHash === undefined ||
    createdSeq === undefined ||
    amount === undefined ||
    released === undefined ||
    createdAt === undefined ||
    expiresAt === undefined ||
    closesAt === undefined ||
    ledgerTime === undefined ||
    !isActions(record.next_actions)
  )
    return unsound(`The service's record of ${escrow} is malformed.`);
  const agentOwner = addressNamed(record.agent_owner, "agent_owner");
  const { address: derived, bump } = escrowAddress(
    deploymentIn(context.policy),
    agentOwner,
    taskHash,
  );
  if (derived !== escrow || record.escrow_pda !== escrow)
    return unsound(`The service's record of ${escrow} is of ${derived}.`);
  const mint = addressNamed(record.mint, "mint");
  const made = {
    agentOwner,
    merchant: addressNamed(record.merchant, "merchant"),
    mint,
    rentPayer: addressNamed(record.rent_payer, "rent_payer"),
    attestor: addressNamed(record.attestor, "attestor"),
    sessionKey:
      record.session_key === null ? null : addressNamed(record.session_key, "session_key"),
    taskHash,
    amount,
    createdAt,
    expiresAt,
  };
  const terms = termsOf({
    ...made,
    address: escrow,
    bump,
    vaultBump: associatedToken(escrow, mint).bump,
    createdSeq,
    state: "Pending",
    released: 0n,
    deliveries: 0,
    closesAt: null,
    settledAt: null,
    settledBy: null,
    attestation: null,
    settledSeq: null,
  });
  return { ...made, escrow, terms, released, endsAt: closesAt ?? expiresAt, ledgerTime, record };
};

/**
 * @throws SettlementError `session_unsupported` for a session: this version attests and releases single payments only
 */
export const requireSinglePayment = ({ escrow, sessionKey }: EscrowTerms): void => {
  if (sessionKey !== null)
    throw new SettlementError(
      "session_unsupported",
      `${escrow} is a session: each total needs a voucher of its session key ${sessionKey} and the roots over orders and deliveries, and none was given.`,
      "Nothing was signed. Have it attested, captured and released by the seller that took its calls; cancel gives back what is not captured.",
    );
};
