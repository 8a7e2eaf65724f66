import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "./index/store-refusal.ts";

/** One webhook as the core writes it. Its text holds a secret: it goes to nobody but the operator. */
export type WebhookRecord = { readonly id: string; readonly text: string };

/** The operator's webhooks and how far each has been delivered, in a store that a command and the service share. */
export class WebhookRecords extends Context.Service<
  WebhookRecords,
  {
    /** Every record, by id. */
    readonly all: Effect.Effect<ReadonlyArray<WebhookRecord>, StoreUnavailable>;
    /**
     * Puts `next` in the place of `before`; null stands for no record. Changes nothing and gives false when the record
     * is not `before`.
     */
    readonly replace: (
      id: string,
      before: string | null,
      next: string | null,
    ) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("settlement-evidence/ports/WebhookRecords") {}
