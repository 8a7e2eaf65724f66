import { Data } from "effect";
import type { AccountFault } from "../domain/ledger/account.ts";

/** One fault of a request: where it is (RFC 6901 pointer into the body, or `?name` for a query) and what. */
export type RequestFault = { readonly pointer: string; readonly detail: string };

/** The request breaks the contract in at least one place. */
export class ValidationFailed extends Data.TaggedError("ValidationFailed")<{
  readonly faults: ReadonlyArray<RequestFault>;
}> {}

/** What should be an address is not base58 of 32 bytes; nothing else is wrong. */
export class InvalidAddress extends Data.TaggedError("InvalidAddress")<{
  readonly faults: ReadonlyArray<RequestFault>;
}> {}

/** Neither task_hash nor task_intent was given. */
export class TaskRequired extends Data.TaggedError("TaskRequired") {}

/** A limit of the planned beta, which this instance enforces, is exceeded. */
export class BetaLimitExceeded extends Data.TaggedError("BetaLimitExceeded")<{
  readonly faults: ReadonlyArray<RequestFault>;
}> {}

/** The ledger has no account at the address, or none that holds more than lamports. */
export class EscrowNotFound extends Data.TaggedError("EscrowNotFound")<{
  readonly address: string;
}> {}

/** The account at the address is not an escrow of this deployment. */
export class NotAnEscrow extends Data.TaggedError("NotAnEscrow")<{
  readonly address: string;
  readonly fault: AccountFault;
}> {}

/** Neither the address nor the merchant account it derives is a registered merchant. */
export class MerchantNotFound extends Data.TaggedError("MerchantNotFound")<{
  readonly address: string;
}> {}

/** The account at the address belongs to one of the programs but is no merchant. */
export class NotAMerchant extends Data.TaggedError("NotAMerchant")<{
  readonly address: string;
  readonly fault: AccountFault;
}> {}

/** No proof template has this id. */
export class ProofTemplateNotFound extends Data.TaggedError("ProofTemplateNotFound")<{
  readonly id: string;
}> {}

/** The cursor was not made by this service for this list. */
export class MalformedCursor extends Data.TaggedError("MalformedCursor") {}
