import { Context, type Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";

/** What a node tells of an account by itself, of its finalized state. */
export type AccountTold =
  /** The node has taken a subscription to the account. What came before it may have been missed. */
  | { readonly kind: "taken" }
  /** The node has sent a notification of something else: it sends what nobody asks for again. */
  | { readonly kind: "pushed" }
  /** The account was written. Null: the notification cannot be read, or the account is gone. */
  | { readonly kind: "changed"; readonly account: LedgerAccount | null }
  /** The subscription is over. Another one is asked for. */
  | { readonly kind: "lost" };

/** A node's news of accounts. Only a hint: news may be lost, late or false, which costs only time. */
export class AccountNews extends Context.Service<
  AccountNews,
  {
    /** What is told of an account while somebody reads it. Never fails and never ends. */
    readonly of: (address: Address) => Stream.Stream<AccountTold>;
  }
>()("settlement-evidence/ports/AccountNews") {}
