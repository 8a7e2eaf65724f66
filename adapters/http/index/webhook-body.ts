import { Type } from "@sinclair/typebox";
import type { WebhookBody } from "../../../core/use-cases/webhook/deliver-webhook.ts";
import type { Instance } from "../../../ports/instance.ts";
import { Escrow, indexedEscrowRecord } from "../escrow/escrow-contract.ts";
import { EventKind, record, Time } from "../openapi/values.ts";
import { eventRecord, SettlementEvent } from "./event-contract.ts";

/** The body of a webhook's request. */
export const WebhookEvent = record("WebhookEvent", "What a webhook sends of an event.", {
  type: EventKind,
  timestamp: Time("When it occurred, by the ledger's clock."),
  data: Type.Object({ event: SettlementEvent, escrow: Escrow }),
});

const HEADERS = {
  "webhook-id": "The same for the same event, however often it comes.",
  "webhook-timestamp": "When this attempt was made, unix seconds.",
  "webhook-signature":
    "`v1,` or `v1a,` and base64 of a signature over `id.timestamp.body`; two with a space between them while the secret is rotated.",
};

/** What webhooks send, as an OpenAPI 3.1.0 document has it in `webhooks`. `schema` refers to that of the body. */
export const webhooksWith = <S>(schema: S) => ({
  settlementEvent: {
    post: {
      operationId: "receiveSettlementEvent",
      tags: ["Index"],
      summary: "A settlement event",
      description:
        "What the service sends to an address that its operator named, signed as Standard Webhooks 1.0.0 says (docs/webhooks.md). At least once, in order of each escrow.",
      parameters: Object.entries(HEADERS).map(([name, description]) => ({
        name,
        in: "header",
        required: true,
        description,
        schema: { type: "string" },
      })),
      requestBody: { required: true, content: { "application/json": { schema } } },
      responses: {
        "2XX": { description: "Taken: it does not come again once the service has noted that." },
        "410": { description: "The webhook ends, and gets nothing more." },
        default: { description: "Not taken: it comes again, and later ones wait behind it." },
      },
    },
  },
});

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
