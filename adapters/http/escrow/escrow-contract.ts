import { type Static, Type } from "@sinclair/typebox";
import {
  type Escrow as DomainEscrow,
  isRefundable,
  refundedAmount,
} from "../../../core/domain/escrow/escrow.ts";
import { listedMint, usdcOf } from "../../../core/domain/supported-mint.ts";
import { formatUnixTime, type UnixSeconds } from "../../../core/domain/unix-time.ts";
import { ESCROW_ACCOUNT_LENGTH } from "../../../core/protocol/accounts/escrow-account.ts";
import type { ArchivedEscrow } from "../../../core/protocol/accounts/archived-escrow-account.ts";
import { merchantAddress, vaultAddress } from "../../../core/protocol/addresses/addresses.ts";
import {
  type ActionGround,
  nextActions,
} from "../../../core/protocol/instructions/next-actions.ts";
import type { LiveEscrow as Live } from "../../../core/use-cases/escrow/read-escrow.ts";
import type { Instance } from "../../../ports/instance.ts";
import { sampleInstance } from "../openapi/sample-ledger.ts";
import { SAMPLE, sampleEscrow } from "../openapi/sample-values.ts";
import {
  Address,
  Count,
  EscrowState,
  Hash,
  MintSupported,
  MintSymbol,
  nullable,
  record,
  SettledBy,
  Stroops,
  Time,
  UsdcOrNull,
} from "../openapi/values.ts";
import { NextAction, nextActionRecord } from "./next-action-contract.ts";

const Sequence = (description: string) =>
  Type.String({ description, pattern: "^[1-9][0-9]{0,19}$", examples: ["42"] });

/** The index holds a Pending escrow as it was created: what a session captures has no event. */
const NOT_IN_LISTS = "Null in lists while Pending: read the escrow itself.";

/** One escrow, as the ledger or the index shows it. */
export const Escrow = record("Escrow", "One escrow.", {
  escrow_pda: Address("The escrow's own address."),
  state: EscrowState,
  agent_owner: Address("The agent's wallet, which paid."),
  merchant: Address("The merchant's wallet, which receives the payment."),
  merchant_pda: Address("The merchant's account in the attestor program."),
  mint: Address("The token's mint."),
  mint_supported: MintSupported,
  symbol: MintSymbol,
  vault_token_account: Address("The account that holds the tokens until settlement."),
  rent_payer: Address("Who paid the rent and gets it back by `return_rent` and by archiving."),
  session_key: nullable(Address("The key that signs the session's vouchers."), {
    description: "Null: a single payment.",
  }),
  amount_stroops: Stroops("Escrowed base units."),
  amount_usdc: UsdcOrNull("The escrowed amount in USDC."),
  released_stroops: nullable(Stroops("Base units that went to the merchant."), {
    description: `Base units that went to the merchant. ${NOT_IN_LISTS}`,
  }),
  left_stroops: nullable(Stroops("Base units that the merchant can still be paid."), {
    description: `Base units that the merchant can still be paid; 0 once settled. ${NOT_IN_LISTS}`,
  }),
  refunded_stroops: Stroops("Base units that went, or can go, back to the agent once it settled."),
  deliveries: nullable(Count("Deliveries that the last attestation counts."), {
    description: `Deliveries that the last attestation counts; a released single payment has one. ${NOT_IN_LISTS}`,
  }),
  task_hash: Hash("SHA-256 of the task that is paid for."),
  proof_hash: nullable(Hash("What the merchant's attestor signed.")),
  attestor: Address("The only key that can release it: the merchant's attestor at its creation."),
  attested_at: nullable(Time("The timestamp inside the signed message.")),
  created_at: Time("When the escrow was created, by the ledger's clock."),
  expires_at: Time("From here on it can only be refunded, or from `closes_at` on."),
  closes_at: nullable(Time("The end that the agent set by closing its session."), {
    description: "Null: not closed. In lists also null while Pending.",
  }),
  settled_at: nullable(Time("When it was settled.")),
  settled_by: SettledBy,
  created_seq: Sequence("The number of its creation among all events of the custody program."),
  refundable: Type.Boolean({ description: "Pending, and past its end." }),
  next_actions: Type.Array(NextAction, {
    description: "What is left to do. Lists show none of a settled escrow.",
  }),
});
/** An escrow as JSON; amounts are decimal strings of base units, times RFC 3339. */
export type EscrowRecord = Static<typeof Escrow>;

/** A time as JSON, null when there is none. */
const timeOrNull = (seconds: UnixSeconds | null): string | null =>
  seconds === null ? null : formatUnixTime(seconds);

/** What an escrow's record shows only of a live read. */
const captured = ({ state, amount, released, deliveries }: DomainEscrow) => ({
  released_stroops: released.toString(),
  left_stroops: (state === "Pending" ? amount - released : 0n).toString(),
  deliveries,
});

const NOTHING_KNOWN = { released_stroops: null, left_stroops: null, deliveries: null } as const;

/** An escrow as JSON, with what is said of its captures. `ground` is passed to `nextActions`. */
const recordWith = <Text extends string | null, Count extends number | null>(
  {
    released_stroops,
    left_stroops,
    deliveries,
  }: {
    readonly released_stroops: Text;
    readonly left_stroops: Text;
    readonly deliveries: Count;
  },
  escrow: DomainEscrow,
  ledgerTime: UnixSeconds,
  { deployment, supportedMints }: Pick<Instance["Service"], "deployment" | "supportedMints">,
  ground?: ActionGround,
) => {
  const listed = listedMint(supportedMints, escrow.mint);
  return {
    escrow_pda: escrow.address,
    state: escrow.state,
    agent_owner: escrow.agentOwner,
    merchant: escrow.merchant,
    merchant_pda: merchantAddress(deployment, escrow.merchant).address,
    mint: escrow.mint,
    mint_supported: listed !== undefined,
    symbol: listed?.symbol ?? null,
    vault_token_account: vaultAddress(escrow),
    rent_payer: escrow.rentPayer,
    session_key: escrow.sessionKey,
    amount_stroops: escrow.amount.toString(),
    amount_usdc: usdcOf(escrow.amount, listed),
    released_stroops,
    left_stroops,
    refunded_stroops: refundedAmount(escrow).toString(),
    deliveries,
    task_hash: escrow.taskHash,
    proof_hash: escrow.attestation?.proofHash ?? null,
    attestor: escrow.attestor,
    attested_at: timeOrNull(escrow.attestation?.attestedAt ?? null),
    created_at: formatUnixTime(escrow.createdAt),
    expires_at: formatUnixTime(escrow.expiresAt),
    closes_at: timeOrNull(escrow.closesAt),
    settled_at: timeOrNull(escrow.settledAt),
    settled_by: escrow.settledBy,
    created_seq: escrow.createdSeq.toString(),
    refundable: isRefundable(escrow, ledgerTime),
    next_actions: nextActions(escrow, ledgerTime, deployment, ground).map(nextActionRecord),
  };
};

/** A row of the index as JSON. `ledgerTime` decides whether it can be refunded. */
export const escrowRecord = (
  escrow: DomainEscrow,
  ledgerTime: UnixSeconds,
  instance: Pick<Instance["Service"], "deployment" | "supportedMints">,
): EscrowRecord =>
  escrow.state === "Pending"
    ? recordWith(NOTHING_KNOWN, escrow, ledgerTime, instance)
    : recordWith(captured(escrow), escrow, ledgerTime, instance);

/** As `escrowRecord`, for readers of the index, which does not know whether a settled escrow's account is archived. */
export const indexedEscrowRecord: typeof escrowRecord = (escrow, ledgerTime, instance) => {
  const shown = escrowRecord(escrow, ledgerTime, instance);
  return escrow.state === "Pending" ? shown : { ...shown, next_actions: [] };
};

/** The example escrow of the documentation. */
export const escrowExample = () =>
  escrowRecord(sampleEscrow(), SAMPLE.createdAt + 30n, sampleInstance());

/** What the ledger keeps of an archived escrow. */
export const Tombstone = record("Tombstone", "What the ledger keeps of an archived escrow.", {
  state: EscrowState,
  created_seq: Sequence("The number of its creation among all events of the custody program."),
  settled_seq: Sequence("The number of its settlement."),
  digest: Hash(`SHA-256 of the account's last ${ESCROW_ACCOUNT_LENGTH} bytes.`),
  pending_digest: Hash("SHA-256 of the account's bytes right after its creation."),
});

/** A tombstone as JSON. */
export const tombstoneRecord = (tombstone: ArchivedEscrow): Static<typeof Tombstone> => ({
  state: tombstone.state,
  created_seq: tombstone.createdSeq.toString(),
  settled_seq: tombstone.settledSeq.toString(),
  digest: tombstone.lastHash,
  pending_digest: tombstone.pendingHash,
});

/** One escrow as the ledger shows it, archived or not. */
export const LiveEscrow = record("LiveEscrow", "One escrow, as the ledger shows it.", {
  ...Escrow.properties,
  released_stroops: Stroops("Base units that went to the merchant, captured ones included."),
  left_stroops: Stroops("Base units that the merchant can still be paid; 0 once settled."),
  deliveries: Count(
    "Deliveries that the last attestation counts; a released single payment has one.",
  ),
  archived: nullable(Tombstone, {
    description:
      "What the ledger keeps since the escrow was archived; all other members come from bytes with this digest. Null while the escrow is not archived.",
  }),
});

/** An escrow read from the ledger, as JSON. `ground` is passed to `nextActions`. */
export const liveEscrowRecord = (
  { escrow, ledgerTime, archived }: Live,
  instance: Pick<Instance["Service"], "deployment" | "supportedMints">,
  ground?: ActionGround,
): Static<typeof LiveEscrow> => {
  const record = recordWith(captured(escrow), escrow, ledgerTime, instance, ground);
  return { ...record, archived: archived === null ? null : tombstoneRecord(archived) };
};

/** The example of a live read. */
export const liveEscrowExample = (): Static<typeof LiveEscrow> => {
  const escrow = sampleEscrow();
  const ledgerTime = SAMPLE.createdAt + 30n;
  return {
    ...recordWith(captured(escrow), escrow, ledgerTime, sampleInstance()),
    archived: null,
  };
};
