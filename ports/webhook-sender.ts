import { Context, Data, type Effect } from "effect";

/** One signed request to a receiver. */
export type WebhookRequest = {
  readonly url: URL;
  /** Whether a receiver in a private network may be asked. */
  readonly allowPrivate: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** What a receiver answered. Its body is never read. */
export type WebhookAnswer = {
  readonly status: number;
  /** What its `Retry-After` asks for, seconds; null without one. */
  readonly retryAfterSeconds: number | null;
};

/** The receiver gave no answer, or may not be asked. */
export class WebhookUnreachable extends Data.TaggedError("WebhookUnreachable")<{
  /** A clause without the address's path, which may be secret. */
  readonly reason: string;
}> {}

/** Sends requests to the addresses that the operator named, and follows no redirect. */
export class WebhookSender extends Context.Service<
  WebhookSender,
  {
    /** Posts the request. It ends within 20 seconds. */
    readonly send: (request: WebhookRequest) => Effect.Effect<WebhookAnswer, WebhookUnreachable>;
  }
>()("settlement-evidence/ports/WebhookSender") {}
