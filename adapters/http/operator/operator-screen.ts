import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import {
  type OperatorFacts,
  readOperatorFacts,
} from "../../../core/use-cases/service/operator-facts.ts";
import { html, Html, sentence } from "../pages/shell/html.ts";
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
import type { Page } from "../pages/shell/shell.ts";
import { htmlContent } from "../pages/static-page.ts";
import type { Endpoint } from "../server/endpoint.ts";
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

/** Around the warnings of a page, so that those of several pages can be joined. */
const BEGIN = "<!--warnings-->";
const END = "<!--/warnings-->";

const warningSection = ({
  name,
  says,
  cure,
  command,
}: ReturnType<typeof operatorWarnings>[number]) =>
  html`<section>
    ${notice("warn", html`<strong>${name}</strong>: ${sentence(says)} ${sentence(cure)}`)}
    ${codeBlock("What to run", command)}
  </section>`;

const warningsOf = (shown: OperatorFacts): Html => {
  const warnings = operatorWarnings(shown);
  const text =
    warnings.length === 0
      ? notice("good", "Nothing needs the operator now.")
      : html`${warnings.map(warningSection)}`;
  return html`${new Html(BEGIN)}${text}${new Html(END)}`;
};

const warningsIn = (page: string): string => page.slice(page.indexOf(BEGIN), page.indexOf(END));

/**
 * The pages of several workers, the first of them with the warnings of all: each worker knows its own nodes, and one of
 * them syncs and publishes for all. `lost` are the workers that do not answer.
 */
export const joinedOperatorPages = (
  pages: readonly [string, ...ReadonlyArray<string>],
  lost: ReadonlyArray<number>,
): string => {
  const [{ name, cure, command }] = OPERATOR_ALERTS;
  const ofLost = lost.map((worker) =>
    warningSection({ name, says: `Worker ${worker} does not answer.`, cure, command }),
  );
  const sections = pages.flatMap(
    (page) => warningsIn(page).match(/<section>[^]*?<\/section>/g) ?? [],
  );
  const joined = [...new Set([...ofLost.map(({ text }) => text), ...sections])].join("");
  const [first] = pages;
  return joined === "" ? first : first.replace(warningsIn(first), () => `${BEGIN}${joined}`);
};

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

/** The operator's page of one moment. */
export const operatorPage = (shown: OperatorFacts): Page => {
  const { build, index, relay, log, nowMs } = shown;
  return {
    title: "Operator",
    body: html`<h1>Operator</h1>
      ${warningsOf(shown)}
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
  answers: { 200: { description: "The page.", content: htmlContent("<!doctype html>…") } },
  problems: [],
  handle: ({ headers }) =>
    Effect.map(readOperatorFacts, (shown) => pageAnswer(operatorPage(shown), null, headers)),
};
