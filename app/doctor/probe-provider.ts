import { Effect, type Redacted, Result } from "effect";
import { redactedRpcAddress } from "../../adapters/solana-rpc/transport/rpc-failure.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR } from "../../core/protocol/addresses/well-known-addresses.ts";
import { type AskNode, askNodeAt, configScan } from "./check-methods.ts";
import { type Finding, finding, Problem } from "./finding.ts";

/** The calls that the service's tests hold it to (docs/nodes.md, "Calls"). */
const CALLS_AN_ESCROW = 25;
const CALLS_AT_REST_AN_HOUR = 240;

/** Requests that are sent at once, to see a limit. */
const AT_ONCE = 40;
/** Readings in a row, to see whether slots go back. */
const READINGS = 12;
/** More than any ledger gets ahead within a request. */
const FAR_AHEAD = 100_000;
/** Slots by which a node's finalized slot is usually behind its confirmed one, and more than by which it ever is. */
const MOST_UNFINAL = 150;
const SECONDS_A_SLOT = 0.4;

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
const slotIn = (value: unknown): number | null =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;

const noAnswer = (method: string) =>
  new Problem({ message: `${method} gives no usable answer`, isUnavailable: true });

const slotAt = Effect.fnUntraced(function* (ask: AskNode, commitment: "confirmed" | "finalized") {
  const info = yield* Effect.mapError(ask("getEpochInfo", [{ commitment }]), () =>
    noAnswer("getEpochInfo"),
  );
  return slotIn(asRecord(info)["absoluteSlot"]) ?? (yield* noAnswer("getEpochInfo"));
});

/** How far back the node's history goes. */
const historyDepth = Effect.fnUntraced(function* (ask: AskNode, { custodyProgram }: Deployment) {
  const slot = yield* slotAt(ask, "finalized");
  const first = slotIn(yield* Effect.orElseSucceed(ask("getFirstAvailableBlock", []), () => null));
  if (first === null)
    return "the node does not tell where its history begins: nothing shows that it is whole, and the index scans";
  const days = (Math.max(0, slot - first) * SECONDS_A_SLOT) / 86_400;
  const listed = yield* Effect.result(
    ask("getSignaturesForAddress", [custodyProgram, { limit: 1000, commitment: "finalized" }]),
  );
  const lists =
    Result.isSuccess(listed) && Array.isArray(listed.success)
      ? `lists ${listed.success.length}${listed.success.length === 1000 ? " or more" : ""} transactions of custody`
      : "lists none of custody's transactions";
  return `from slot ${first} on, some ${days.toFixed(1)} days; ${lists}`;
});

/** Whether the node applies the filters of a scan. */
const filters = Effect.fnUntraced(function* (ask: AskNode, deployment: Deployment) {
  const listed = yield* Effect.mapError(ask("getProgramAccounts", configScan(deployment)), () =>
    noAnswer("getProgramAccounts"),
  );
  if (!Array.isArray(listed)) return yield* noAnswer("getProgramAccounts");
  const { address } = custodyConfigAddress(deployment);
  const keys = listed.map((each) => asRecord(each)["pubkey"]);
  if (keys.length === 1 && keys[0] === address) return "a scan lists what its filters name";
  return yield* new Problem({
    message: keys.includes(address)
      ? `a scan for one account lists ${keys.length}: the node ignores filters, and each scan costs the whole program`
      : `a scan does not list the custody config, which is there: the node hides accounts`,
  });
});

/** How many requests at once the node takes. */
const limits = Effect.fnUntraced(function* (ask: AskNode) {
  const asked = yield* Effect.forEach(
    Array.from({ length: AT_ONCE }),
    () => Effect.result(ask("getEpochInfo", [{ commitment: "confirmed" }])),
    { concurrency: AT_ONCE },
  );
  const failed = asked.flatMap((each) => (Result.isFailure(each) ? [each.failure] : []));
  if (failed.length === 0) return `${AT_ONCE} requests at once are all answered`;
  const limited = failed.filter(
    (each) => each._tag === "NodeFault" && each.kind === "rate_limited",
  );
  const waits = limited.flatMap((each) =>
    each._tag === "NodeFault" && each.retryAfterMs !== null ? [each.retryAfterMs] : [],
  );
  const wait =
    waits.length === 0
      ? "it does not say for how long"
      : `Retry-After ${Math.max(...waits) / 1000} s`;
  const text = `of ${AT_ONCE} requests at once ${AT_ONCE - failed.length} are answered, ${limited.length} refused as too many (${wait})`;
  return limited.length === failed.length
    ? text
    : yield* new Problem({ message: `${text}, and ${failed.length - limited.length} not at all` });
});

/** The slot that an answer claims, and the one that the state in it is of, by the Clock sysvar (its first u64). */
const clockReading = Effect.fnUntraced(function* (ask: AskNode, minContextSlot?: number) {
  const options = { encoding: "base64", commitment: "confirmed" };
  const answer = yield* ask("getMultipleAccounts", [
    [CLOCK_SYSVAR],
    { ...options, ...(minContextSlot === undefined ? {} : { minContextSlot }) },
  ]);
  const { context, value } = asRecord(answer);
  const claimed = slotIn(asRecord(context)["slot"]);
  const [account] = Array.isArray(value) ? (value as ReadonlyArray<unknown>) : [];
  const [text] = (asRecord(account)["data"] ?? []) as ReadonlyArray<unknown>;
  const bytes = typeof text === "string" ? decodeBase64(text) : undefined;
  if (claimed === null || bytes === undefined || bytes.length < 8) return null;
  return {
    claimed,
    held: Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)),
  };
});

/** Whether the slots that the node claims are those of the state that it shows. */
const slots = Effect.fnUntraced(function* (ask: AskNode) {
  const faults: Array<string> = [];
  const finalized = yield* slotAt(ask, "finalized");
  const confirmed = yield* slotAt(ask, "confirmed");
  // Two backends of a pool may answer.
  if (confirmed < finalized || confirmed - finalized > MOST_UNFINAL)
    faults.push(`finalized ${finalized} beside confirmed ${confirmed}`);
  let [newest, mostBack, mostApart] = [0, 0, 0];
  for (let reading = 0; reading < READINGS; reading++) {
    const read = yield* Effect.orElseSucceed(clockReading(ask), () => null);
    if (read === null) return yield* noAnswer("getMultipleAccounts");
    mostBack = Math.max(mostBack, newest - read.claimed);
    newest = Math.max(newest, read.claimed);
    mostApart = Math.max(mostApart, Math.abs(read.claimed - read.held));
  }
  if (mostApart > 0)
    faults.push(`its state is up to ${mostApart} slots from the slot that it claims`);
  const ahead = yield* Effect.result(clockReading(ask, newest + FAR_AHEAD));
  if (Result.isSuccess(ahead))
    faults.push("it answers for a minContextSlot that the ledger has not reached");
  const back =
    mostBack === 0 ? "never go back" : `go back by up to ${mostBack}: a pool of backends`;
  const text = `in ${READINGS} readings slots ${back}`;
  return faults.length === 0
    ? text
    : yield* new Problem({ message: `${text}; ${faults.join("; ")}` });
});

/** What an operator states: escrows a day, and the provider's price; null where none is given. */
export type ProviderVolume = {
  readonly escrowsADay: number;
  readonly usdPerMillionCalls: number | null;
};

const count = new Intl.NumberFormat("en");

/** The calls of a month of thirty days at a volume, and what they cost, as text. */
export const monthsBill = ({ escrowsADay, usdPerMillionCalls }: ProviderVolume): string => {
  const rest = CALLS_AT_REST_AN_HOUR * 24 * 30;
  const calls = rest + escrowsADay * 30 * CALLS_AN_ESCROW;
  const cost =
    usdPerMillionCalls === null
      ? "give the provider's price with --usd-per-million-calls"
      : `${((calls / 1e6) * usdPerMillionCalls).toFixed(2)} USD at ${usdPerMillionCalls} USD a million`;
  return `at ${count.format(escrowsADay)} escrows a day at most ${count.format(calls)} calls in thirty days (${CALLS_AN_ESCROW} an escrow, ${CALLS_AT_REST_AN_HOUR} an hour at rest): ${cost}`;
};

/** Probes what a node offers beyond what a start needs: one finding for each of depth, filters, limits and slots. */
export const probeProvider = Effect.fnUntraced(function* (
  url: Redacted.Redacted<URL>,
  address: URL,
  deployment: Deployment,
): Effect.fn.Return<ReadonlyArray<Finding>> {
  const ask = askNodeAt(url);
  const shown = redactedRpcAddress(address);
  const told = (check: string, work: Effect.Effect<string, Problem>) =>
    finding(
      check,
      work.pipe(
        Effect.map((text) => `${shown}: ${text}`),
        Effect.mapError(
          ({ message, isUnavailable }) =>
            new Problem({
              message: `${shown}: ${message}`,
              ...(isUnavailable === true ? { isUnavailable } : {}),
            }),
        ),
      ),
    );
  return [
    yield* told("history", historyDepth(ask, deployment)),
    yield* told("filters", filters(ask, deployment)),
    yield* told("slots", slots(ask)),
    // Last, because a node that refuses requests then refuses the others.
    yield* told("limits", limits(ask)),
  ];
});
