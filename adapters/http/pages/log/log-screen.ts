import { type Static, Type } from "@sinclair/typebox";
import type { EvidenceTrustRecord } from "../../evidence/evidence-trust.ts";
import type { LogLeafRecord } from "../../log/read-leaf.ts";
import type { LogStatusRecord } from "../../service/status/log-status-contract.ts";
import type { ServiceStatus } from "../../service/status/status-contract.ts";
import { eventTable } from "../shell/event-table.ts";
import { html, type Html } from "../shell/html.ts";
import { type AmountOf, curl, facts, live, notice, table, time, wholeKey } from "../shell/parts.ts";
import { problemNotice } from "../shell/problem-screen.ts";
import { partOr, Refused, type Screen } from "../shell/screen.ts";
import { leafPath } from "./leaf-path.ts";
import { HINDRANCE_SENTENCES, PUBLISHER_SENTENCES } from "./log-words.ts";
import { witnessTable } from "./log-witnesses.ts";

type Status = Static<typeof ServiceStatus>;

/** Whether the signed root is the one that the ledger's own record gives, as far as the index knows it. */
const onLedger = (log: LogStatusRecord, { count, root }: Status["indexer"]): Html => {
  if (log.size === null || count === null || root === null)
    return notice("wait", "Not known yet whether the ledger has the same root.");
  if (log.size !== count + 1)
    return notice(
      "wait",
      html`The ledger's record, as the index follows it, has ${count + 1} leaves and what was signed
      last has ${log.size}: roots of two sizes cannot be compared here.`,
    );
  return log.root === root
    ? notice(
        "good",
        "The root that was signed is the one that the custody program keeps on the ledger.",
      )
    : notice("bad", "The root that was signed is not the one that the ledger gives at this size.");
};

const standing = (log: LogStatusRecord): Html => {
  const words = PUBLISHER_SENTENCES[log.state];
  if (log.hindrance === null) return notice("good", html`${words} Nothing keeps it from growing.`);
  return notice("warn", html`${words} ${HINDRANCE_SENTENCES[log.hindrance]} ${log.ended}`);
};

const logFacts = (log: LogStatusRecord): Html =>
  facts([
    ["Published", log.published_size === null ? "nothing yet" : `${log.published_size} leaves`],
    ["Signed last", log.size === null ? "nothing yet" : `${log.size} leaves`],
    log.root === null ? null : ["Root that was signed", wholeKey(log.root)],
    log.origin === null ? null : ["Origin", html`<code>${log.origin}</code>`],
    log.vkey === null ? null : ["Key", wholeKey(log.vkey)],
    log.next_vkey === null ? null : ["Next key", wholeKey(log.next_vkey)],
    ["Quorum", log.quorum ?? "none, or nothing published yet"],
    ["Newest cosignature", time(log.cosigned_at)],
    [
      "For programs",
      html`<a href="/log/checkpoint">Checkpoint</a> ·
        <a href="/.well-known/evidence-trust.json">trust document</a>`,
    ],
  ]);

const predecessors = ({ predecessors: ended }: LogStatusRecord): Html | false =>
  ended.length > 0 &&
  html`<h2>Logs before this one</h2>
    ${table({
      caption: "Logs of this service that ended, oldest first",
      head: ["Origin", "Leaves", "Why it ended"],
      rows: ended.map(({ origin, size, cause }) => [html`<code>${origin}</code>`, size, cause]),
      empty: "",
    })}`;

const lookUp = (asked: string): Html =>
  html`<form class="filters" action="/log">
    <div>
      <label for="leaf">Leaf</label>
      <input
        id="leaf"
        name="leaf"
        inputmode="numeric"
        required
        maxlength="16"
        value="${asked}"
        placeholder="An event's position"
      />
    </div>
    <button>Look up</button>
  </form>`;

/** What leaf is: an event, an event whose escrow nobody has shown, or the network's own. */
const leafFacts = (leaf: LogLeafRecord, amount: AmountOf): Html => {
  const { index, leaf_hash: hash, escrow_pda: pda, event } = leaf;
  const of =
    pda === null
      ? html`<p>
          Leaf ${index} names the ledger and the custody program; every log of them begins with it.
        </p>`
      : event === null
        ? html`<p>
            An event of the escrow <a href="/escrows/${pda}"><code>${pda}</code></a
            >, which is archived: its amounts are not known here.
          </p>`
        : eventTable([event], amount, "", "The event of this leaf");
  return html`${of}${facts([
    ["Leaf hash", wholeKey(hash)],
    ["Published root", wholeKey(leaf.checkpoint.root)],
  ])}`;
};

const leafPart = (
  asked: string,
  leaf: { readonly data: LogLeafRecord } | Refused | null,
  amount: AmountOf,
  origin: string,
): Html | null =>
  leaf &&
  html`<h2>Leaf ${asked}</h2>
    ${partOr(
      leaf,
      ({ data }) =>
        html`${leafFacts(data, amount)}
          <h3>From the leaf to the root</h3>
          ${leafPath(data)} ${curl(origin, `/v1/log/leaves/${data.index}`)}`,
      problemNotice,
    )}`;

/** The settlement log: how it stands, who checks it, and one leaf with its way to the root. */
export const logScreen: Screen = {
  path: "/log",
  query: Type.Object(
    { leaf: Type.Optional(Type.String({ maxLength: 40 })) },
    { additionalProperties: false },
  ),
  show: async ({ read, readText, query, nowMs, amount, origin }) => {
    const asked = typeof query["leaf"] === "string" ? query["leaf"].trim() : "";
    const [status, trust, checkpoint, leaf] = await Promise.all([
      read<{ readonly data: Status }>("/v1/status"),
      read<EvidenceTrustRecord>("/.well-known/evidence-trust.json"),
      readText("/log/checkpoint"),
      asked === ""
        ? null
        : read<{ readonly data: LogLeafRecord }>(`/v1/log/leaves/${encodeURIComponent(asked)}`),
    ]);
    if (status instanceof Refused) return status;
    const { log, indexer } = status.data;
    const text = checkpoint instanceof Refused ? null : checkpoint;
    return {
      title: "Settlement log",
      follows: "/v1/indexer/events/stream",
      body: html`<h1>Settlement log</h1>
        <p class="lead">
          Every event has a number and a leaf in one tree of hashes. The custody program keeps the
          tree's root on the ledger; this service signs and publishes it, and witnesses cosign it,
          so that no event can be taken out or changed unnoticed.
        </p>
        ${lookUp(asked)} ${leafPart(asked, leaf, amount, origin)}
        ${live(
          "log",
          log === null
            ? notice(
                "warn",
                "This service publishes no log, or does not know now how it stands. Packets then carry no proof from it.",
              )
            : html`<h2>How it stands</h2>
                ${standing(log)} ${onLedger(log, indexer)} ${logFacts(log)}
                <h2>Witnesses</h2>
                ${trust instanceof Refused && problemNotice(trust.problem)}
                ${witnessTable(log, trust instanceof Refused ? null : trust, text, nowMs)}
                <p class="note">
                  A witness counts for as much as whoever runs it is independent of this service,
                  which no page of this service can show.
                </p>
                ${predecessors(log)}`,
        )}
        ${curl(origin, "/v1/status")}`,
    };
  },
};
