import { Option, Redacted, Schema } from "effect";
import { parseAddress } from "../../domain/address.ts";
import type { WebhookRecord } from "../../../ports/webhook-records.ts";
import { isWebhookSecret } from "./webhook-signature.ts";

/** How many webhooks a service has at most. */
export const MOST_WEBHOOKS = 100;
/** How many former secrets of a webhook sign at most. */
const MOST_FORMER = 8;
const MAX_URL_LENGTH = 2048;

/** `wh_` and 16 random hex digits. A webhook's id is part of what is signed, so that it holds no full stop. */
const ID = /^wh_[0-9a-f]{16}$/;

/** The id of a new webhook, from 8 random bytes. */
export const webhookIdOf = (bytes: Uint8Array): string =>
  `wh_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;

const Address = Schema.String.check(Schema.makeFilter((text) => parseAddress(text) !== undefined));
const Position = Schema.String.check(Schema.isPattern(/^(0|[1-9][0-9]{0,17})$/));

/** Why a webhook is not delivered any more: its receiver answered 410, or has failed for five days. */
export const WEBHOOK_ENDS = ["gone", "failing"] as const;

const Secret = Schema.String.check(Schema.makeFilter(isWebhookSecret));

/** A record's text. What only the operator changes stands apart from what delivering changes. */
const Text = Schema.fromJsonString(
  Schema.Struct({
    url: Schema.String,
    secret: Secret,
    /** Those before it, the newest first, each of which signs as well up to a time, unix milliseconds. */
    formers: Schema.optional(
      Schema.Array(Schema.Struct({ secret: Secret, untilMs: Schema.Natural })),
    ),
    merchant: Schema.NullOr(Address),
    agentOwner: Schema.NullOr(Address),
    allowPrivate: Schema.Boolean,
    /** Grows with each change by the operator. */
    edition: Schema.Natural,
    /** Every event up to this number is delivered, or passed by the filter. Null: begin with what comes next. */
    position: Schema.NullOr(Position),
    /** Attempts that failed in a row. */
    failures: Schema.Natural,
    /** When the first of them failed, unix milliseconds; null while none did. */
    failingSinceMs: Schema.NullOr(Schema.Natural),
    ended: Schema.NullOr(Schema.Literals(WEBHOOK_ENDS)),
  }),
);
type Fields = typeof Text.Type;

/** Where settlement events are sent, which of them, and how far that has come. */
export type Webhook = Omit<Fields, "secret" | "formers" | "position"> & {
  readonly id: string;
  readonly secret: Redacted.Redacted;
  readonly formers: ReadonlyArray<{
    readonly secret: Redacted.Redacted;
    readonly untilMs: number;
  }>;
  readonly position: bigint | null;
};

const decode = Schema.decodeUnknownOption(Text);

/** The webhook of a record; null for a record that this version did not write. */
export const webhookOf = ({ id, text }: WebhookRecord): Webhook | null => {
  const fields = Option.getOrNull(decode(text));
  if (fields === null || !ID.test(id)) return null;
  const { secret, formers = [], position, ...others } = fields;
  return {
    ...others,
    id,
    secret: Redacted.make(secret),
    formers: formers.map(({ secret: each, untilMs }) => ({ secret: Redacted.make(each), untilMs })),
    position: position === null ? null : BigInt(position),
  };
};

/** The text of a webhook's record, its secret in it. */
export const webhookText = (webhook: Webhook): string =>
  JSON.stringify({
    ...webhook,
    id: undefined,
    secret: Redacted.value(webhook.secret),
    formers: webhook.formers.map((each) => ({ ...each, secret: Redacted.value(each.secret) })),
    position: webhook.position?.toString() ?? null,
  } satisfies Fields & { readonly id: undefined });

/** How a webhook stands whose receiver took what it was sent last. */
export const NEVER_FAILED = { failures: 0, failingSinceMs: null } as const;

/** A webhook that the operator has sent to deliver from behind a position on, whatever failed before. */
export const restarted = (webhook: Webhook, position: bigint | null): Webhook => ({
  ...webhook,
  position,
  edition: webhook.edition + 1,
  ...NEVER_FAILED,
  ended: null,
});

/**
 * A webhook with another secret. The one that it had signs as well for `overlapMs` from now on, unix milliseconds, beside
 * those whose time is not over: its receiver may have any of them. With 0 none but the new one signs.
 */
export const rotated = (
  webhook: Webhook,
  secret: Redacted.Redacted,
  { nowMs, overlapMs }: { readonly nowMs: number; readonly overlapMs: number },
): Webhook => ({
  ...webhook,
  secret,
  formers:
    overlapMs === 0
      ? []
      : [
          { secret: webhook.secret, untilMs: nowMs + overlapMs },
          ...withoutSpentSecrets(webhook, nowMs).formers,
        ].slice(0, MOST_FORMER),
  edition: webhook.edition + 1,
});

/** The webhook without the former secrets whose time is over, unix milliseconds; itself while there is none. */
export const withoutSpentSecrets = (webhook: Webhook, nowMs: number): Webhook => {
  const formers = webhook.formers.filter(({ untilMs }) => nowMs < untilMs);
  return formers.length === webhook.formers.length ? webhook : { ...webhook, formers };
};

/** The secrets that sign what is sent at a time, unix milliseconds: the webhook's own first. */
export const secretsAt = (webhook: Webhook, nowMs: number): ReadonlyArray<string> =>
  [webhook, ...withoutSpentSecrets(webhook, nowMs).formers].map(({ secret }) =>
    Redacted.value(secret),
  );

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The address of a receiver, or why it is none: `https`, or `http` on this machine. */
export const parseWebhookUrl = (
  text: string,
): { readonly url: URL } | { readonly fault: string } => {
  // A parser drops the ends of lines, and would make one address of two.
  const isOne = text.length <= MAX_URL_LENGTH && !/\s/.test(text);
  const url = isOne ? URL.parse(text) : null;
  if (url === null)
    return {
      fault: `expected an https:// address, alone and of at most ${MAX_URL_LENGTH} characters, without spaces`,
    };
  if (url.username !== "" || url.password !== "")
    return { fault: "expected no user name and password: requests are signed" };
  if (url.hash !== "") return { fault: "expected no #fragment, which is never sent" };
  if (url.protocol === "https:") return { url };
  return url.protocol === "http:" && LOOPBACK.test(url.hostname)
    ? { url }
    : { fault: "expected https://, or http:// on this machine (localhost)" };
};
