import { formatUnits } from "../../../core/domain/amount.ts";
import { foreignText } from "../../../core/domain/encoding/foreign-text.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { LamportCost } from "../../../core/domain/escrow/prepared-call.ts";
import { listedMint, type SupportedMint } from "../../../core/domain/supported-mint.ts";
import type { EscrowOffer } from "../../../core/use-cases/escrow/prepare/offer-escrow.ts";
import type { WrongState } from "../../../core/use-cases/request-errors.ts";
import { capitalised } from "../problems/problem-kind.ts";
import { stateCure } from "../problems/state-cure.ts";

/** A rule that does not hold, in one line: what is wrong and what to do. */
export const refusalMessage = ({ rule, detail }: Pick<WrongState, "rule" | "detail">): string =>
  `${capitalised(detail)}. ${stateCure(rule)}`;

type Mints = ReadonlyArray<SupportedMint>;

/** `12.500000 USDC` where the list has the mint, otherwise base units, because anybody can make a mint. */
const amountText = (mints: Mints, mint: string, units: bigint): string => {
  const listed = listedMint(mints, mint);
  return listed === undefined
    ? `${units} base units`
    : `${formatUnits(units, listed.decimals)} ${listed.symbol}`;
};

const mintText = (mints: Mints, mint: string): string =>
  `mint ${mint}${listedMint(mints, mint) === undefined ? ", which this service does not list" : ""}`;

/** A text that somebody chose, in quotes that it cannot end. */
const quoted = (text: string): string => JSON.stringify(foreignText(text));

const sameNameText = (sameNames: number | null): string => {
  if (sameNames === null) return "a name that others may have";
  if (sameNames === 0) return "a name that no other merchant has";
  return sameNames === 1
    ? "a name that 1 other merchant has"
    : `a name that ${sameNames} other merchants have`;
};

const nameText = (merchant: EscrowOffer["merchant"]): string =>
  merchant === null
    ? "not registered"
    : `${quoted(merchant.account.name)}, ${sameNameText(merchant.sameNames)}`;

const afterwards = (ttlSeconds: number, attestor: string | null): string =>
  `It goes to that wallet only with an attestation that ${attestor === null ? "the merchant's attestor" : `the attestor ${attestor}`} signs; after ${ttlSeconds} seconds without one, anyone can send it back to you.`;

/** The texts of an offered escrow; `button` is short enough for one. */
export const createTexts = ({ terms, merchant }: EscrowOffer, mints: Mints) => {
  const { mint, amount, ttlSeconds, attestor, taskIntent } = terms;
  const money = amountText(mints, mint, amount);
  const token = mintText(mints, mint);
  return {
    button: `Pay ${money}`,
    label: `Pay ${money} into escrow for wallet ${terms.merchant} (${nameText(merchant)}), ${token}`,
    description: `Locks ${money} of your wallet in an escrow for the wallet ${terms.merchant} (${nameText(merchant)}), ${token}. ${afterwards(ttlSeconds, attestor)} You pay the network's fee and rent, of which most comes back. The task: ${quoted(taskIntent ?? "")}`,
  };
};

/** What a wallet is told about the transaction that creates an escrow. */
export const createdMessage = (
  prepared: {
    readonly escrow: string;
    readonly merchant: string;
    readonly mint: string;
    readonly amount: bigint;
    readonly ttlSeconds: number;
    readonly attestor: string | null;
  },
  { fee, deposits }: LamportCost,
  mints: Mints,
): string => {
  const { escrow, merchant, mint, amount, ttlSeconds, attestor } = prepared;
  const rent = deposits.reduce((sum, { lamports }) => sum + lamports, 0n);
  return `Locks ${amountText(mints, mint, amount)} (${mintText(mints, mint)}) in the escrow ${escrow} for the wallet ${merchant}. ${afterwards(ttlSeconds, attestor)} You pay ${fee} lamports of fee and ${rent} of rent.`;
};

/** Who gets what from a refund: all that the merchant was not paid. */
const refundShares = (
  { agentOwner, amount, released, mint, rentPayer }: Escrow,
  mints: Mints,
): string => {
  const rest = amountText(mints, mint, amount - released);
  const share = released === 0n ? `The whole ${rest} goes` : `The ${rest} that are left go`;
  return `${share} to the agent ${agentOwner} (${mintText(mints, mint)}), and the vault's rent to ${rentPayer}, who paid it. Nothing goes to whoever runs the refund, who pays the network's fee and, where the agent has no token account, the rent of one.`;
};

/** The texts of a refund. */
export const refundTexts = (escrow: Escrow, mints: Mints) => ({
  label: `Refund ${amountText(mints, escrow.mint, escrow.amount - escrow.released)} to ${escrow.agentOwner}`,
  description: `Refunds the ${escrow.state === "Pending" ? "expired" : "settled"} escrow ${escrow.address}. ${refundShares(escrow, mints)}`,
});

/** Who gets what from an archiving. */
const archiveShares = ({ rentPayer }: Escrow, { returnedAtArchiving }: LamportCost): string =>
  `No tokens move. ${returnedAtArchiving} lamports of rent go to ${rentPayer}, who paid them. Whoever runs it pays the network's fee.`;

/** The texts of an archiving, with its cost. */
export const archiveTexts = (escrow: Escrow, cost: LamportCost) => ({
  label: "Archive escrow and return rent",
  description: `Replaces the settled escrow ${escrow.address} by a tombstone of its final state. ${archiveShares(escrow, cost)}`,
});

/** The texts of an action on an escrow that its state does not allow. */
export const impossibleTexts = (action: "Refund" | "Archive", escrow: Escrow) => ({
  label: `${action} not possible now`,
  description: `The escrow ${escrow.address} of the agent ${escrow.agentOwner} is ${escrow.state}.`,
});
