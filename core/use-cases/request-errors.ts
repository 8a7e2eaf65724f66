import { Data } from "effect";
import type { Address } from "../domain/address.ts";
import type { EscrowState } from "../domain/escrow/escrow.ts";
import type { NextAction, ReadAt } from "../domain/escrow/prepared-call.ts";
import type { AccountFault } from "../domain/ledger/account.ts";
import type { MerchantStatus } from "../domain/merchant/merchant.ts";
import type { SettlementRule } from "../domain/relay/settlement-rule.ts";
import type { ArchivedEscrow } from "../protocol/accounts/archived-escrow-account.ts";

/** One fault of a use case's input. `field` is the use case's own name for it. */
export type FieldFault<Field extends string> = {
  readonly field: Field;
  /** RFC 6901 pointer into the field's JSON value, when only a part of it is wrong. */
  readonly inside?: string;
  /** What is wrong. Does not repeat the value. */
  readonly detail: string;
};

type FieldFaults<Field extends string> = {
  readonly faults: ReadonlyArray<FieldFault<Field>>;
};

/** At least one field of the input is out of range. `Field` names the possible fields. */
export class ValidationFailed<Field extends string> extends Data.TaggedError("ValidationFailed")<
  FieldFaults<string>
> {
  declare readonly faults: FieldFaults<Field>["faults"];

  constructor(faults: ReadonlyArray<FieldFault<Field>>) {
    super({ faults });
  }
}

/** An address field is not base58 of 32 bytes. Nothing else is wrong. */
export class InvalidAddress<Field extends string> extends Data.TaggedError("InvalidAddress")<
  FieldFaults<string>
> {
  declare readonly faults: FieldFaults<Field>["faults"];

  constructor(faults: ReadonlyArray<FieldFault<Field>>) {
    super({ faults });
  }
}

/** The fault of a field that must be an address. */
export const addressFault = <const Field extends string>(field: Field): FieldFault<Field> => ({
  field,
  detail: "must be a base58 address of 32 bytes",
});

/** Neither task_hash nor task_intent was given. */
export class TaskRequired extends Data.TaggedError("TaskRequired") {}

/** The terms of an escrow that the planned beta limits. */
export type LimitedTerm = "amount" | "ttlSeconds" | "mint";

/** The escrow exceeds a limit of the planned beta, which this instance enforces. */
export class BetaLimitExceeded extends Data.TaggedError("BetaLimitExceeded")<
  FieldFaults<LimitedTerm>
> {}

/** How many nodes of the ledger say so; absent where none was asked. */
export type ToldBy = { readonly nodes?: number };

/** The address has no account, or one that only holds lamports. */
export class EscrowNotFound extends Data.TaggedError("EscrowNotFound")<
  ToldBy & { readonly address: string }
> {}

/** The account at the address is not an escrow of this deployment. */
export class NotAnEscrow extends Data.TaggedError("NotAnEscrow")<
  ToldBy & { readonly address: string; readonly fault: AccountFault }
> {}

/** The address holds a tombstone, and nobody here kept the escrow's bytes. */
export class EscrowArchived extends Data.TaggedError("EscrowArchived")<{
  readonly address: Address;
  readonly tombstone: ArchivedEscrow;
}> {}

/** Rules that only prepare operations check, beside those of the relay; names are stable. */
export const STATE_RULES = [
  "vault_frozen",
  "nothing_left",
  "payer_cannot_pay",
  "signer_is_derived",
  "merchant_exists",
  "attestor_unchanged",
  "deployment_not_initialized",
  "mint_unusable",
  "agent_account_missing",
  "agent_account_frozen",
  "insufficient_funds",
  "beta_limit_exceeded",
] as const;

/** What the ledger's state lacks for an operation. */
export type StateRule = SettlementRule | (typeof STATE_RULES)[number];

/** The ledger, as it was read, would refuse the operation. */
export class WrongState extends Data.TaggedError("WrongState")<{
  readonly rule: StateRule;
  /** A sentence without its full stop. */
  readonly detail: string;
  /** The state of the escrow or merchant; null when there is none. */
  readonly state: EscrowState | MerchantStatus | null;
  readonly awaiting: NextAction["awaiting"];
  readonly nextActions: ReadonlyArray<NextAction>;
  readonly at: ReadAt;
}> {}

/** Neither the address nor the merchant account it derives is a registered merchant. */
export class MerchantNotFound extends Data.TaggedError("MerchantNotFound")<
  ToldBy & { readonly address: string }
> {}

/** The account at the address belongs to one of the programs but is not a merchant. */
export class NotAMerchant extends Data.TaggedError("NotAMerchant")<{
  readonly address: string;
  readonly fault: AccountFault;
}> {}

/** No proof template has this id. */
export class ProofTemplateNotFound extends Data.TaggedError("ProofTemplateNotFound")<{
  readonly id: string;
}> {}

/** The cursor was not made for this list, or for the log of another ledger or of other rules. */
export class MalformedCursor extends Data.TaggedError("MalformedCursor")<{
  readonly fault: "malformed" | "another_log";
}> {}
