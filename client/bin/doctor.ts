import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { readKeyFile } from "../node/key-file.ts";
import { type Answer, requestsTo } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import {
  EX_UNAVAILABLE,
  exitCodeOf,
  readArguments,
  required,
} from "../command-line/command-line.ts";
import { readInput } from "../command-line/read-input.ts";
import { SERVICE_HELP, SERVICE_OPTIONS } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `Says what stands between this machine and a payment: a line for each of service, clock, trust document and key.

usage: npx --no-install settlement-evidence doctor --service URL [--trust FILE] [--key FILE]

${SERVICE_HELP}
  --key FILE               the key that is to sign, mode 0600, as keygen makes it

Ends with 0 when nothing does, 69 when it is only that the service does not answer, 1 for anything else, 64 for a wrong command
line.
`;

const TRUST_PATH = "/.well-known/evidence-trust.json";
/** The most that this machine's clock may differ. The ledger refuses attestations that are minutes off. */
const MOST_SKEW_MS = 60_000;

const problem = (detail: string, cure: string): SettlementError =>
  new SettlementError("not_well", detail, cure);

const clockLine = (answer: Answer, askedMs: number, answered: number): string => {
  const there = Date.parse(answer.headers.get("date") ?? "");
  if (Number.isNaN(there)) return "the service does not say its time";
  // The service's time lies between the question and the answer, and its header has whole seconds.
  const ahead = Math.max(0, askedMs - there - 1000, there - answered);
  if (ahead > MOST_SKEW_MS)
    throw problem(
      `This machine's clock is ${Math.round(ahead / 1000)} s from the service's.`,
      "Set it by a time server.",
    );
  return "within a minute of the service's";
};

/** A JSON document without white space between its members. */
const membersOf = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
};

/** Runs the command. @throws SettlementError for a wrong command line. */
export const run = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = readArguments(args, { ...SERVICE_OPTIONS, key: { type: "string" } });
  const requests = requestsTo(required(values.service, "--service", "the service's address"));
  const exitCodes = new Set<number>();
  const check = async (name: string, look: () => Promise<string>): Promise<void> => {
    try {
      io.stdout.write(`ok       ${name}: ${await look()}\n`);
    } catch (cause) {
      if (!(cause instanceof SettlementError)) throw cause;
      exitCodes.add(exitCodeOf(cause) === EX_UNAVAILABLE ? EX_UNAVAILABLE : 1);
      io.stdout.write(`PROBLEM  ${name}: ${cause.message} ${cause.cure}\n`);
    }
  };
  let ready: { readonly answer: Answer; readonly askedMs: number } | null = null;
  let answered = 0;
  await check("service", async () => {
    const askedMs = Date.now();
    const answer = await requests.answer("/ready");
    answered = Date.now();
    ready = { answer, askedMs };
    if (answer.status === 200) return "ready";
    throw problem(
      `It answers ${answer.status}.`,
      "Ask its operator, or check the address and what lies before it.",
    );
  });
  const first = ready as { readonly answer: Answer; readonly askedMs: number } | null;
  if (first !== null)
    await check("clock", () => Promise.resolve(clockLine(first.answer, first.askedMs, answered)));
  const { trust, key } = values;
  if (trust !== undefined)
    await check("trust document", async () => {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readInput(trust, io));
      const parsed = parseTrustPolicy(text);
      if ("fault" in parsed)
        throw problem(`${trust}: ${parsed.fault}.`, `Fetch ${TRUST_PATH}, check it, and keep it.`);
      if (first === null) return "sound; not compared with the service's";
      const served = await requests.answer(TRUST_PATH);
      if (served.status !== 200)
        throw problem(`The service answers ${served.status} for its own.`, "Ask its operator.");
      if (membersOf(served.text) !== membersOf(text))
        throw problem(
          "The service's own is another.",
          "Find out why it changed before you replace yours: yours stays what is believed.",
        );
      return "the service's own is the same";
    });
  if (key !== undefined) await check("key", async () => (await readKeyFile(key)).address);
  return Math.min(...exitCodes, exitCodes.size === 0 ? 0 : EX_UNAVAILABLE);
};
