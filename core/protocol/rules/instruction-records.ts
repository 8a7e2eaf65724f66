import { type Address, ZERO_ADDRESS } from "../../domain/address.ts";
import type { PreparedOperation } from "../../domain/escrow/prepared-call.ts";
import type { EventCauseKind } from "../../domain/index/settlement-event.ts";
import { MERCHANT_STATUSES } from "../../domain/merchant/merchant.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { formatUnixTime, LAST_UNIX_SECOND } from "../../domain/unix-time.ts";
import type {
  AttestorInstructionCall,
  AttestorInstructionName,
  CustodyInstructionCall,
  CustodyInstructionName,
  ProgramCall,
} from "../instructions/program-call.ts";
import {
  LOADED_BYTES,
  SETTLEMENT_BUDGET,
  type TransactionBudget,
} from "../instructions/compute-budget.ts";
import { archiveFault, cancelFault, closeFault, refundFault, rentFault } from "./refund-rules.ts";
import { createFault } from "./create-rules.ts";
import type { CustodyCall, LedgerView } from "./custody-call.ts";
import { paymentFault } from "./release-rules.ts";

/**
 * What an instruction of the two programs does to its subject. A `release` or `cancel` settles a Pending escrow, and so
 * succeeds once; a `refund` succeeds again whenever the vault is there. `capture` and `close` change a Pending escrow
 * and cause no event; `other` leaves no trace that shows whether it ran.
 */
export type EffectKind =
  | "create"
  | "capture"
  | "close"
  | "release"
  | "cancel"
  | "refund"
  | "archive"
  | "register"
  | "other";

type AnyCall = {
  readonly name: string;
  readonly args: unknown;
  readonly at: (account: never) => Address | undefined;
};

type AccountOf<Call extends AnyCall> = Parameters<Call["at"]>[0];

/** An instruction's arguments, and its accounts and amounts as a person reads them. */
type Told<Call extends AnyCall> = {
  readonly args: Call["args"];
  readonly at: (account: AccountOf<Call>) => string;
  /** An amount with its unit, as far as the mint is known. */
  readonly amountOf: (units: bigint, mint: string) => string;
};

/** What every instruction of the two programs has beside its layout, which the IDL gives. */
type InstructionRecord<Call extends AnyCall> = {
  readonly effect: EffectKind;
  /** The account that it changes. */
  readonly subject: AccountOf<Call>;
  /** The budget of a prepared transaction; null when the service prepares none. */
  readonly budget: Call["name"] extends PreparedOperation ? TransactionBudget : null;
  /** What it does, in words for the person who is to sign it. */
  readonly words: (told: Told<Call>) => string;
};

type CustodyRecord<Name extends CustodyInstructionName> = InstructionRecord<
  CustodyInstructionCall<Name>
> & {
  /** How it causes an event, null when it causes none. */
  readonly causes: EventCauseKind | null;
  /** Why it cannot succeed on the ledger as the view shows it; undefined when no rule is broken. */
  readonly fault: (
    call: CustodyCall,
    read: CustodyInstructionCall<Name>,
    view: LedgerView,
  ) => SettlementFault | undefined;
};

/** No call of another program, so that the size of nobody's account costs units. */
const WITHOUT_CALLS: TransactionBudget = { unitLimit: 20_000 };

type CreateArgs = CustodyInstructionCall<"create_escrow">["args"];

/** How long an escrow that is to be made lives, as a person reads it. */
const lifeWords = ({ expiresAt, ttlSeconds }: CreateArgs): string => {
  if (expiresAt === 0n) return `after ${ttlSeconds} s`;
  const isTime = expiresAt > 0n && expiresAt <= LAST_UNIX_SECOND;
  return `from ${isTime ? formatUnixTime(expiresAt) : expiresAt} on`;
};

/** Who takes the money of an escrow that is to be made, and by which key. */
const takenBy = ({ sessionKey }: CreateArgs, merchant: string): string =>
  sessionKey === ZERO_ADDRESS
    ? `merchant ${merchant}`
    : `a SESSION with merchant ${merchant}, which takes what vouchers of the key ${sessionKey} allow,`;

/**
 * All that this project knows of each custody instruction beside its layout, which the IDL gives. Relay, index, log,
 * prepare operations and the words for people derive from this table, so an instruction without its record does not
 * compile. docs/protocol.md, "custody".
 */
export const CUSTODY_RECORDS: { readonly [Name in CustodyInstructionName]: CustodyRecord<Name> } = {
  initialize_custody: {
    effect: "other",
    subject: "config",
    causes: null,
    budget: null,
    fault: () => undefined,
    words: () => "INITIALISE the custody program",
  },
  create_escrow: {
    effect: "create",
    subject: "escrow",
    causes: "creation",
    budget: { unitLimit: 160_000, loadedBytes: LOADED_BYTES },
    fault: createFault,
    words: ({ args, at, amountOf }) =>
      `LOCK ${amountOf(args.amount, at("mint"))} of agent ${at("agent_owner")} for ${takenBy(args, at("merchant_wallet"))} in escrow ${at("escrow")}, refundable ${lifeWords(args)}`,
  },
  capture: {
    effect: "capture",
    subject: "escrow",
    causes: null,
    budget: SETTLEMENT_BUDGET,
    fault: paymentFault,
    words: ({ at }) => `CAPTURE what is attested of the session ${at("escrow")} for its merchant`,
  },
  release_escrow: {
    effect: "release",
    subject: "escrow",
    causes: "release",
    budget: SETTLEMENT_BUDGET,
    fault: paymentFault,
    words: ({ at }) => `RELEASE what is attested of escrow ${at("escrow")} to its merchant`,
  },
  claim_refund: {
    effect: "refund",
    subject: "escrow",
    causes: "refund",
    budget: SETTLEMENT_BUDGET,
    fault: refundFault,
    words: ({ at }) => `REFUND what is left of the ended escrow ${at("escrow")} to its agent`,
  },
  return_rent: {
    effect: "other",
    subject: "escrow",
    causes: null,
    budget: WITHOUT_CALLS,
    fault: rentFault,
    words: ({ at }) =>
      `RETURN the rent of the settled escrow ${at("escrow")} to its payer ${at("rent_payer")}`,
  },
  cancel_escrow: {
    effect: "cancel",
    subject: "escrow",
    causes: "cancel",
    budget: SETTLEMENT_BUDGET,
    fault: cancelFault,
    words: ({ at }) =>
      `CANCEL escrow ${at("escrow")}: what was not captured goes back to its agent`,
  },
  close_session: {
    effect: "close",
    subject: "escrow",
    causes: null,
    budget: WITHOUT_CALLS,
    fault: closeFault,
    words: ({ at }) => `CLOSE the session ${at("escrow")}: it ends within 900 s`,
  },
  archive_escrow: {
    effect: "archive",
    subject: "escrow",
    causes: null,
    budget: WITHOUT_CALLS,
    fault: archiveFault,
    words: ({ at }) => `ARCHIVE the settled escrow ${at("escrow")}`,
  },
};

/** The same for the attestor program. docs/protocol.md, "attestor". */
export const ATTESTOR_RECORDS: {
  readonly [Name in AttestorInstructionName]: InstructionRecord<AttestorInstructionCall<Name>>;
} = {
  initialize_registry: {
    effect: "other",
    subject: "registry",
    budget: null,
    words: () => "INITIALISE the attestor program",
  },
  register_merchant: {
    effect: "register",
    subject: "merchant",
    budget: { unitLimit: 60_000, loadedBytes: LOADED_BYTES },
    words: ({ args, at }) =>
      `REGISTER MERCHANT for merchant ${at("merchant_wallet")}, naming ${args.attestor}`,
  },
  rotate_attestor: {
    effect: "other",
    subject: "merchant",
    budget: { unitLimit: 30_000, loadedBytes: LOADED_BYTES },
    words: ({ args, at }) =>
      `ROTATE ATTESTOR for merchant ${at("merchant_wallet")}, naming ${args.attestor}${args.revoke ? ", and REVOKE the present one" : ""}`,
  },
  set_merchant_status: {
    effect: "other",
    subject: "merchant",
    budget: null,
    words: ({ args, at }) =>
      `SET MERCHANT STATUS for merchant ${at("merchant")} to ${MERCHANT_STATUSES[args.status] ?? args.status}`,
  },
  slash_merchant: {
    effect: "other",
    subject: "merchant",
    budget: null,
    words: ({ args, at }) =>
      `SLASH MERCHANT for merchant ${at("merchant")} by ${args.points} points`,
  },
  propose_admin: {
    effect: "other",
    subject: "registry",
    budget: null,
    words: ({ args }) => `PROPOSE ADMIN, naming ${args.admin}`,
  },
  accept_admin: {
    effect: "other",
    subject: "registry",
    budget: null,
    words: ({ at }) => `ACCEPT ADMIN, naming ${at("proposed_admin")}`,
  },
  record_delivery: {
    effect: "other",
    subject: "escrow",
    budget: null,
    words: ({ at }) => `RECORD DELIVERY of escrow ${at("escrow")}`,
  },
};

const RECORDS = { ...CUSTODY_RECORDS, ...ATTESTOR_RECORDS };

/** The budget of an operation that the service prepares. */
export const budgetOf = (operation: PreparedOperation): TransactionBudget =>
  RECORDS[operation].budget;

/**
 * Why a call of the custody program cannot succeed on the ledger as the view shows it; undefined when no rule is
 * broken.
 */
export const custodyFault = <Name extends CustodyInstructionName>(
  call: CustodyCall,
  read: CustodyInstructionCall<Name>,
  view: LedgerView,
): SettlementFault | undefined => CUSTODY_RECORDS[read.name].fault(call, read, view);

/** What a call changes, and how; null when the transaction does not show its subject. */
export const effectOf = (
  read: ProgramCall,
): { readonly kind: EffectKind; readonly subject: Address } | null => {
  const { effect: kind, subject: name } = RECORDS[read.name];
  const subject = (read.at as (account: string) => Address | undefined)(name);
  return subject === undefined ? null : { kind, subject };
};

/** What a call does, in words for the person who is to sign it. */
export const callWords = (
  read: ProgramCall,
  accountText: (address: Address | undefined) => string,
  amountOf: Told<ProgramCall>["amountOf"],
): string => {
  const { words } = RECORDS[read.name];
  const at = (account: string): string =>
    accountText((read.at as (account: string) => Address | undefined)(account));
  return (words as (told: object) => string)({ args: read.args, at, amountOf });
};
