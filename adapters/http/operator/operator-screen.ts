import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { serialize } from "node:v8";
import {
  type OperatorFacts,
  readOperatorFacts,
} from "../../../core/use-cases/service/operator-facts.ts";
import { html, type Html, sentence } from "../pages/shell/html.ts";
import {
  codeBlock,
  durationText,
  facts,
  notice,
  pill,
  table,
  time,
  wholeKey,
} from "../pages/shell/parts.ts";
import { pageAnswer } from "../pages/shell/screen.ts";
import { type Page, PAGE_POLICY, pageText } from "../pages/shell/shell.ts";
import { htmlContent } from "../pages/static-page.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { sharedHeaders } from "../server/response-headers.ts";
import { OPERATOR_ALERTS, operatorWarnings } from "./operator-alerts.ts";

const UNKNOWN = "not known";
const MIB = 2 ** 20;
const GIB = 2 ** 30;

const bytes = (size: number | null | undefined): string => {
  if (size === null || size === undefined) return UNKNOWN;
  return size < GIB ? `${(size / MIB).toFixed(1)} MiB` : `${(size / GIB).toFixed(1)} GiB`;
};

const ago = (fromMs: number, nowMs: number): string =>
  `${durationText((nowMs - fromMs) / 1000)} ago`;

type Warning = ReturnType<typeof operatorWarnings>[number];

/** What the operator must act on: `lost` are workers that do not answer, and what several workers tell stands once. */
const warningsOf = (
  workers: ReadonlyArray<OperatorFacts>,
  lost: ReadonlyArray<number>,
): ReadonlyArray<Warning> => {
  const [{ name, cure, command }] = OPERATOR_ALERTS;
  const warnings = [
    ...lost.map((worker) => ({ name, says: `Worker ${worker} does not answer.`, cure, command })),
    ...workers.flatMap(operatorWarnings),
  ];
  return [...new Map(warnings.map((warning) => [warning.says, warning])).values()];
};

const warningSection = ({ name, says, cure, command }: Warning): Html =>
  html`<section>
    ${notice("warn", html`<strong>${name}</strong>: ${sentence(says)} ${sentence(cure)}`)}
    ${codeBlock("What to run", command)}
  </section>`;

const nodesOf = ({ nodes }: OperatorFacts): Html =>
  table({
    caption: "Nodes, as this thread has asked them",
    head: ["Node", "State", "Latency", "Answered", "Faults", "Refusals", "Failovers"],
    empty: "No node has been asked yet.",
    rows: nodes.map((node) => [
      node.address,
      node.isPaused ? pill("bad", "Left alone") : pill("good", "Asked"),
      node.latencyMs === null ? UNKNOWN : `${node.latencyMs.toFixed(1)} ms`,
      node.answered,
      [...node.faults].map(([kind, count]) => `${kind} ${count}`).join(", ") || "none",
      node.refusals,
      node.failovers,
    ]),
  });

/** Whether what the store holds is not known now. */
const isStoreAway = ({ notReady }: OperatorFacts): boolean => notReady.includes("store");

const witnessesOf = (shown: OperatorFacts): Html => {
  const { log, nowMs } = shown;
  return table({
    caption: "Witnesses of the published checkpoint",
    head: ["Witness", "Cosigned"],
    empty: isStoreAway(shown)
      ? "Not known while the store does not answer."
      : "No witness has cosigned the published checkpoint.",
    rows: (log?.cosignatures ?? []).map(({ name, time: at }) => [
      name,
      ago(Number(at) * 1000, nowMs),
    ]),
  });
};

const keysOf = ({ keys }: OperatorFacts): Html =>
  table({
    caption: "Public keys",
    head: ["Signs", "Key", "State"],
    empty: "This process signs nothing: no key is configured.",
    rows: [
      ...keys.evidence.map(({ keyId, status }) => ["evidence", wholeKey(keyId), status]),
      ...keys.log.map((key) => ["log", wholeKey(key), "current"]),
      ...(keys.witness === null ? [] : [["witness", wholeKey(keys.witness), "current"]]),
    ],
  });

const machineOf = ({ host }: OperatorFacts): Html =>
  html`${facts([
    ["Memory", bytes(host?.residentBytes)],
    ["Free on the disk", `${bytes(host?.disk?.freeBytes)} of ${bytes(host?.disk?.sizeBytes)}`],
  ])}
  ${table({
    caption: "Stores",
    head: ["Store", "Kind", "Takes", "Schema"],
    empty: "The stores are not known.",
    rows: (host?.stores ?? []).map((store) => [
      store.name,
      store.kind,
      bytes(store.bytes),
      store.schema,
    ]),
  })}`;

/**
 * The operator's page of one moment: the figures of one worker, and the warnings of all, since each knows its own nodes
 * and one of them syncs and publishes for all. `others` is what the others know, `lost` the numbers of those that do not
 * answer.
 */
export const operatorPage = (
  shown: OperatorFacts,
  others: ReadonlyArray<OperatorFacts> = [],
  lost: ReadonlyArray<number> = [],
): Page => {
  const { build, index, relay, log, nowMs } = shown;
  const warnings = warningsOf([shown, ...others], lost);
  return {
    title: "Operator",
    body: html`<h1>Operator</h1>
      ${warnings.length === 0 ? notice("good", "Nothing needs the operator now.") : warnings.map(warningSection)}
      ${facts([
        ["Version", `${build.version} (${build.revision ?? "revision not known"})`],
        ["Network", build.cluster],
        ["Up since", time(new Date(build.startedAtMs).toISOString())],
        ["Index behind", index.lagSlots === null ? UNKNOWN : `${index.lagSlots} slots`],
        ["Last sync", index.mark === null ? UNKNOWN : ago(index.mark.atMs, nowMs)],
        ["Relays under way", `${relay.pending} of ${relay.capacity}`],
        [
          "Oldest of them",
          relay.oldestAgeMs === null ? "none" : durationText(relay.oldestAgeMs / 1000),
        ],
        ["Log", log === null ? "none, or not known" : log.state],
        [
          "Leaves signed and published",
          log === null
            ? null
            : isStoreAway(shown)
              ? UNKNOWN
              : `${log.size ?? 0} and ${log.publishedSize ?? 0}`,
        ],
      ])}
      ${nodesOf(shown)} ${witnessesOf(shown)} ${keysOf(shown)} ${machineOf(shown)}
      <p><a href="/metrics">The figures for Prometheus</a></p>`,
  };
};

/** The facts of one process in place of its page, as the one that runs the workers asks for them: a structured clone. */
export const FACTS_TYPE = "application/vnd.settlement-evidence.operator-facts";

/** The page of several workers as an answer; the arguments are `operatorPage`'s. */
export const joinedOperatorPage = (...workers: Parameters<typeof operatorPage>): Response =>
  new Response(pageText(operatorPage(...workers), null), {
    headers: {
      ...Object.fromEntries(sharedHeaders([]).unrouted.read),
      ...PAGE_POLICY,
      "content-type": "text/html; charset=utf-8",
    },
  });

/** `GET /` of the metrics' own listener. */
export const operatorEndpoint: Endpoint = {
  method: "GET",
  path: "/",
  isPage: true,
  operationId: "page operator",
  tag: "Pages",
  summary: "",
  description: "",
  budget: null,
  params: {},
  query: Type.Object({}, { additionalProperties: false }),
  answers: {
    200: {
      description: "The page.",
      content: {
        ...htmlContent("<!doctype html>…"),
        [FACTS_TYPE]: { schema: Type.String(), example: () => "" },
      },
    },
  },
  problems: [],
  handle: ({ headers, mediaType }) =>
    Effect.map(readOperatorFacts, (shown) =>
      mediaType === FACTS_TYPE
        ? { bytes: new Uint8Array(serialize(shown)) }
        : pageAnswer(operatorPage(shown), null, headers),
    ),
};
