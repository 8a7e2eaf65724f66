import type { WebhookBody } from "../../../core/use-cases/webhook/deliver-webhook.ts";
import type { Instance } from "../../../ports/instance.ts";
import { indexedEscrowRecord } from "../escrow/escrow-contract.ts";
import { eventRecord } from "./event-contract.ts";

/**
 * What a webhook sends of an event (Standard Webhooks, "Payload structure"): its kind, its time, and in `data` the
 * records that `GET /v1/indexer/events` and `GET /v1/indexer` show of the event and of its escrow now.
 */
export const webhookBody =
  (instance: Pick<Instance["Service"], "deployment" | "supportedMints">): WebhookBody =>
  (indexed, escrow, ledgerTime) => {
    const event = eventRecord(indexed, instance.supportedMints);
    return JSON.stringify({
      type: event.kind,
      timestamp: event.occurred_at,
      data: { event, escrow: indexedEscrowRecord(escrow, ledgerTime, instance) },
    });
  };
