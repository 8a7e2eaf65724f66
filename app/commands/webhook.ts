import { Clock, Effect, Redacted } from "effect";
import { webhookSenderHttp } from "../../adapters/webhook-http/webhook-sender.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import { readInput } from "../../client/command-line/read-input.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import { parseAddress } from "../../core/domain/address.ts";
import { foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import {
  MOST_WEBHOOKS,
  NEVER_FAILED,
  parseWebhookUrl,
  restarted,
  rotated,
  secretsAt,
  type Webhook,
  webhookIdOf,
} from "../../core/use-cases/webhook/webhook.ts";
import {
  receiverKey,
  WEBHOOK_SECRET_BYTES,
  webhookHeaders,
  webhookSecret,
} from "../../core/use-cases/webhook/webhook-signature.ts";
import { WebhookSender } from "../../ports/webhook-sender.ts";
import {
  EX_DATAERR,
  EX_NOINPUT,
  EX_USAGE,
  endWith,
  parseCommandLine,
  runAsProcess,
} from "../command-line/command-line.ts";
import { readSettings } from "../config/settings.ts";
import { TAKEN_WITHIN_MS, within } from "./log/running-log.ts";
import { done, openWebhooks, type Webhooks } from "./webhook/open-webhooks.ts";

const HELP = `Has the service send settlement events to an address, signed as Standard Webhooks says. The service may run meanwhile: it
looks every two seconds. docs/webhooks.md is for receivers.

usage: bun run cli webhook ACTION [options]

  add URL       begins to send to an https:// address, or to http:// on this machine, and prints the secret; - reads the
                address from standard input, so that other users' ps does not show it
    --merchant ADDRESS   only events of this merchant wallet
    --agent ADDRESS      only events of this agent wallet
    --from POSITION      from the event of this number on, 1 for all; without it, from the next one on
    --ed25519            signs with a key of its own (v1a) and prints its public half, in place of a shared secret (v1)
    --allow-private      the address may be in a private network
  list          every webhook, how far it is and what keeps it; no secrets
  remove ID     sends nothing more
  replay ID     goes on where it ended, or with --from POSITION sends again from there on
  rotate ID     gives it another secret, or key, and prints it; the one before signs as well for a day
    --overlap HOURS      another number of hours, 0 to 720; with 0 the new secret signs alone, as after a leak
  test ID       sends one request of type "test" now, from here, and says what was answered

  --data-dir DIR  the service's DATA_DIR   ($DATA_DIR, otherwise ./data); with DATABASE_URL the webhooks are there
  --help          this text

Ends with 0 when it is done, 1 when a test was not taken, 64 for a wrong command line, 65 for what cannot be added or is
not there, 66 when the webhooks cannot be read or written.
`;

const OPTIONS = {
  merchant: { type: "string" },
  agent: { type: "string" },
  from: { type: "string" },
  ed25519: { type: "boolean", default: false },
  "allow-private": { type: "boolean", default: false },
  overlap: { type: "string", default: "24" },
  "data-dir": { type: "string" },
} as const;
type Options = ReturnType<typeof parseCommandLine<typeof OPTIONS>>["values"];

/** The longest that a former secret signs: thirty days. */
const MOST_HOURS = 720;

/** The position behind which `--from` begins. */
const positionBehind = (from: string): bigint =>
  /^[1-9][0-9]{0,17}$/.test(from)
    ? BigInt(from) - 1n
    : endWith(EX_USAGE, "--from: expected the number of an event, from 1 on");

const walletIn = (option: string, text: string | undefined): string | null => {
  if (text === undefined) return null;
  return parseAddress(text) ?? endWith(EX_USAGE, `${option}: expected the address of a wallet`);
};

const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

/** The address on standard input. An address can hold a token in its path, and other users see arguments. */
const urlFrom = async (io: CommandIo): Promise<string> => {
  try {
    return new TextDecoder().decode(await readInput("-", io)).trim();
  } catch (cause) {
    if (cause instanceof SettlementError) return endWith(EX_NOINPUT, cause.message);
    throw cause;
  }
};

/** Whether requests are signed with a shared secret (v1), or with a key whose public half the receiver has (v1a). */
const isShared = (secret: string): boolean => secret.startsWith("whsec_");

const keyLine = (secret: string): string =>
  `${isShared(secret) ? "secret    " : "public key"}  ${receiverKey(secret)}`;

const add = async (webhooks: Webhooks, url: string, options: Options): Promise<string> => {
  const parsed = parseWebhookUrl(url);
  if ("fault" in parsed) return endWith(EX_DATAERR, `the webhook cannot be added: ${parsed.fault}`);
  if ((await webhooks.all()).length >= MOST_WEBHOOKS)
    return endWith(
      EX_DATAERR,
      `there are ${MOST_WEBHOOKS} webhooks, which is the most; remove one`,
    );
  const scheme = options.ed25519 ? "ed25519" : "hmac";
  const secret = webhookSecret(scheme, random(WEBHOOK_SECRET_BYTES));
  const webhook: Webhook = {
    id: webhookIdOf(random(8)),
    url: parsed.url.href,
    secret: Redacted.make(secret),
    formers: [],
    merchant: walletIn("--merchant", options.merchant),
    agentOwner: walletIn("--agent", options.agent),
    allowPrivate: options["allow-private"],
    edition: 0,
    position: options.from === undefined ? null : positionBehind(options.from),
    ended: null,
    ...NEVER_FAILED,
  };
  await webhooks.add(webhook);
  const { position } = await within(
    webhook.position === null ? TAKEN_WITHIN_MS : 0,
    () => webhooks.at(webhook.id),
    (now) => now.position !== null,
  );
  return `${webhook.id}
${keyLine(secret)}

Give the receiver this line; it is not shown again. ${
    position === null
      ? "No service has taken the webhook yet: it begins with the next event once one runs on these stores."
      : `Events are sent from position ${position + 1n} on.`
  }
`;
};

const stateOf = ({ ended, failures, failingSinceMs, position }: Webhook): string => {
  const at = position === null ? "begins with the next event" : `sent up to position ${position}`;
  if (ended === "gone") return `${at}; disabled: the receiver answered 410`;
  if (ended === "failing") return `${at}; disabled: the receiver failed for five days`;
  return failingSinceMs === null
    ? at
    : `${at}; failing since ${new Date(failingSinceMs).toISOString()}, ${failures} attempts`;
};

const lineOf = (webhook: Webhook): string => {
  const { id, url, merchant, agentOwner, allowPrivate, secret } = webhook;
  const scheme = isShared(Redacted.value(secret)) ? "v1" : "v1a";
  const only = [
    ...(merchant === null ? [] : [`merchant ${merchant}`]),
    ...(agentOwner === null ? [] : [`agent ${agentOwner}`]),
    ...(allowPrivate ? ["private networks allowed"] : []),
  ];
  return `${id}  ${scheme}  ${url}
  ${[...only, stateOf(webhook)].join("; ")}
`;
};

/** The hours of `--overlap`. */
const hoursOf = (overlap: string): number => {
  const hours = /^[0-9]{1,3}$/.test(overlap) ? Number(overlap) : Infinity;
  if (hours <= MOST_HOURS) return hours;
  return endWith(EX_USAGE, `--overlap: expected hours, from 0 to ${MOST_HOURS}`);
};

/** Gives a webhook another secret of its kind, and says how long the one before signs as well. */
const rotate = async (webhooks: Webhooks, id: string, hours: number): Promise<string> => {
  const nowMs = Date.now();
  const overlapMs = hours * 3_600_000;
  const bytes = random(WEBHOOK_SECRET_BYTES);
  let line = "";
  await webhooks.change(id, (now) => {
    const scheme = isShared(Redacted.value(now.secret)) ? "hmac" : "ed25519";
    const secret = webhookSecret(scheme, bytes);
    line = keyLine(secret);
    return rotated(now, Redacted.make(secret), { nowMs, overlapMs });
  });
  return `${id}
${line}

${
  hours === 0
    ? "None before it signs any more."
    : `The one before signs as well until ${new Date(nowMs + overlapMs).toISOString()}.`
}
`;
};

/** Sends one request from this process, and says what came of it. */
const test = (webhook: Webhook) =>
  Effect.gen(function* () {
    const { id, url, allowPrivate } = webhook;
    const nowMs = yield* Clock.currentTimeMillis;
    const timestamp = new Date(nowMs).toISOString();
    const body = JSON.stringify({ type: "test", timestamp, data: {} });
    const headers = webhookHeaders(secretsAt(webhook, nowMs), {
      id: `${id}-test-${Buffer.from(random(8)).toString("hex")}`,
      atSeconds: Math.floor(nowMs / 1000),
      body,
    });
    const { send } = yield* WebhookSender;
    const { status } = yield* send({ url: new URL(url), allowPrivate, headers, body });
    return { text: `the receiver answered ${status}\n`, isTaken: status >= 200 && status < 300 };
  }).pipe(
    Effect.catch(({ reason }) => Effect.succeed({ text: `${reason}\n`, isTaken: false })),
    Effect.provide(webhookSenderHttp()),
  );

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = parseCommandLine(args, HELP, OPTIONS, ["ACTION", "[OPERAND...]"]);
  const [action = "", operand, ...more] = positionals;
  const wants = { add: "URL", remove: "ID", replay: "ID", rotate: "ID", test: "ID" }[action];
  if (
    (wants === undefined && action !== "list") ||
    (operand === undefined) !== (action === "list") ||
    more.length > 0
  )
    return endWith(
      EX_USAGE,
      "expected add URL, list, remove ID, replay ID, rotate ID or test ID; see --help",
    );
  const dataDir = values["data-dir"] ?? io.env["DATA_DIR"] ?? "./data";
  const settings = await done(readSettings({ ...io.env, DATA_DIR: dataDir }));
  const webhooks = await openWebhooks(settings);
  const say = (text: string) => io.stdout.write(foreignLines(text));
  if (operand === undefined) {
    const lines = (await webhooks.all()).map(lineOf);
    say(lines.length === 0 ? "There is no webhook.\n" : lines.join(""));
    return 0;
  }
  if (action === "add") {
    say(await add(webhooks, operand === "-" ? await urlFrom(io) : operand, values));
    return 0;
  }
  const hours = hoursOf(values.overlap);
  const webhook = await webhooks.at(operand);
  if (action === "test") {
    const { text, isTaken } = await Effect.runPromise(test(webhook));
    say(text);
    return isTaken ? 0 : 1;
  }
  if (action === "rotate") {
    say(await rotate(webhooks, operand, hours));
    return 0;
  }
  const from = values.from === undefined ? null : positionBehind(values.from);
  await webhooks.change(operand, (now) =>
    action === "remove" ? null : restarted(now, from ?? now.position),
  );
  say(
    action === "remove"
      ? `${operand} is removed\n`
      : `${operand} goes on ${from === null ? "where it ended" : `from position ${from + 1n} on`}\n`,
  );
  return 0;
};

if (import.meta.main) await runAsProcess(main);
