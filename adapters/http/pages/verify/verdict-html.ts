import { projectCommand } from "../../../../core/domain/project-command.ts";
import { amountsText } from "../../../../core/domain/evidence/delivery-payload.ts";
import type { EvidenceCheck, JudgedCall } from "../../../../core/domain/evidence/evidence-check.ts";
import { unprovenIn } from "../../../../core/domain/evidence/verdict-text.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { formatUnixTime, unixTimeText } from "../../../../core/domain/unix-time.ts";
import { html, type Html, type Inner, sentence } from "../shell/html.ts";
import {
  facts,
  notice,
  pill,
  statePill,
  table,
  time,
  type Tone,
  wholeKey,
} from "../shell/parts.ts";
import { judgeDocuments, type Judged, type Judgement } from "./judge-documents.ts";
import { KIND_WORDS, type Recognised } from "./recognise.ts";

const TONE_OF_CHECK: Readonly<Record<EvidenceCheck["outcome"], Tone>> = {
  passed: "good",
  witnessed: "good",
  failed: "bad",
  unproven: "wait",
  not_applicable: "plain",
};

const WORD_OF_CHECK: Partial<Record<EvidenceCheck["outcome"], string>> = {
  not_applicable: "not judged",
};

type Verdict = Judgement["result"]["verdict"];

const VERDICTS: Readonly<Record<Verdict, readonly [tone: Tone, word: string]>> = {
  verified: ["good", "Verified"],
  failed: ["bad", "Failed"],
  untrusted: ["wait", "Sound, but nobody is trusted yet"],
  unsupported_version: ["warn", "Another version"],
};

const namesOf = ({ result }: Judgement, outcome: EvidenceCheck["outcome"]): string =>
  result.checks
    .filter((check) => check.outcome === outcome)
    .map(({ name }) => name)
    .join(", ");

/** What a verdict comes to, in one sentence. */
const sentenceOf = (judgement: Judgement): string => {
  const { verdict } = judgement.result;
  const what = `This ${KIND_WORDS[judgement.of]}`;
  switch (verdict) {
    case "verified": {
      const open = unprovenIn(judgement.result).length > 0;
      return `${what} holds under the trust document that was given. ${open ? `Not shown here: ${namesOf(judgement, "unproven")}.` : "Nothing is left open."}`;
    }
    case "failed":
      return `Do not rely on it. These checks fail: ${namesOf(judgement, "failed")}.`;
    case "untrusted":
      return `${what} agrees with itself, and whoever made it may have signed it. Add a trust document that you obtained beforehand, from someone you trust.`;
    case "unsupported_version":
      return `${what} is of another version of the format. Nothing of it was checked.`;
  }
};

const callFacts = (call: JudgedCall): Html =>
  facts([
    ["Call", `${call.count} of the session`],
    ["Session", wholeKey(call.escrow)],
    ["Ordered", call.ordered ?? "an order of which only the hash is shown"],
    [
      "Delivered",
      `at ${unixTimeText(BigInt(call.delivered.at))}, by the word of the attestor ${call.delivered.attestor}`,
    ],
    [
      "Paid",
      call.settlement === "paid"
        ? `${call.price_stroops} base units, by the account of the escrow`
        : `attested, not paid: ${call.price_stroops} base units of at most ${call.limit_stroops}`,
    ],
  ]);

/** A state in its colour only where the packet is verified: of any other it is no more than the packet's word. */
const escrowFacts = (escrow: Escrow, verdict: Verdict): Html =>
  facts([
    ["Escrow", wholeKey(escrow.address)],
    [
      "State",
      verdict === "verified" ? statePill(escrow.state) : pill("plain", `${escrow.state}, it says`),
    ],
    ["Agent", wholeKey(escrow.agentOwner)],
    ["Merchant", wholeKey(escrow.merchant)],
    ["Attestor", wholeKey(escrow.attestor)],
    ["Task hash", wholeKey(escrow.taskHash)],
    ["Expires", time(formatUnixTime(escrow.expiresAt))],
  ]);

/** One verdict; `under` warns of the trust document, beside the verdict that stands on it. */
const judgementHtml = (judgement: Judgement, under: Inner): Html => {
  const { result, escrow, of } = judgement;
  const [tone, word] = VERDICTS[result.verdict];
  const call = "call" in result ? result.call : null;
  return html`<section class="judgement" aria-label="Verdict on the ${KIND_WORDS[of]}">
    <p class="verdict">${pill(tone, word)}</p>
    <p class="lead">${sentence(sentenceOf(judgement))}</p>
    ${under} ${result.amounts !== null && html`<p>${sentence(amountsText(result.amounts))}</p>`}
    ${call !== null && callFacts(call)} ${escrow !== null && escrowFacts(escrow, result.verdict)}
    ${table({
      caption: `Checks of the ${KIND_WORDS[of]}`,
      head: ["Check", "Outcome", "Why"],
      rows: result.checks.map(({ name, outcome, reason }) => [
        html`<code>${name}</code>`,
        pill(TONE_OF_CHECK[outcome], WORD_OF_CHECK[outcome] ?? outcome),
        sentence(reason),
      ]),
      empty: "No check was made.",
    })}
  </section>`;
};

const NEVER_SHOWN =
  "No packet shows that anything was delivered. It says what an attestor signed and what the ledger did. Its references are not signed; look them up on the ledger.";

/** Verdicts for people: each with its word, its sentence and its checks. Every text in it is escaped. */
export const judgedHtml = ({ hindrance, judgements, trustOf }: Judged): Html => {
  if (hindrance !== null) return notice("warn", sentence(hindrance));
  const under =
    trustOf !== null &&
    notice(
      "warn",
      html`The trust document is that of <code>${trustOf}</code>. Under it a verdict shows only that
        they agree with themselves. Give one that you obtained beforehand, from someone you trust.`,
    );
  return html`${judgements.map((each) => judgementHtml(each, under))}
  ${
    judgements.some(({ result }) => unprovenIn(result).length > 0) &&
    notice(
      "wait",
      html`What is unproven did not fail: nothing that was given shows it. Ask a node of your
        choice: <code>${projectCommand("cli verify FILE --trust trust.json --rpc URL")}</code>.`,
    )
  }
  ${notice("plain", NEVER_SHOWN)}`;
};

/** The documents as they were recognised. With `canRemove`, each has a button that takes it away. */
export const documentsHtml = (documents: ReadonlyArray<Recognised>, canRemove: boolean): Html =>
  table({
    caption: "What was given",
    head: ["Recognised as", "Name", "From", ...(canRemove ? ["Take away"] : [])],
    rows: documents.map(({ kind, name, service }, at) => [
      pill(kind === "unknown" ? "bad" : "plain", KIND_WORDS[kind]),
      name,
      service === null ? "you" : html`<code>${service}</code>`,
      ...(canRemove
        ? [
            html`<button type="button" data-remove="${at}">
              Remove <span class="hidden">${name}</span>
            </button>`,
          ]
        : []),
    ]),
    empty: "Nothing was given yet.",
  });

/** Shows documents and the verdict on them in the page's elements `given` and `verdict`. Without documents there is none. */
export const showJudged = (
  page: Document,
  documents: ReadonlyArray<Recognised>,
  canRemove: boolean,
): void => {
  const put = (id: string, shown: string): void => {
    const part = page.getElementById(id);
    if (part !== null) part.innerHTML = shown;
  };
  put("verdict", documents.length === 0 ? "" : judgedHtml(judgeDocuments(documents)).text);
  put("given", documentsHtml(documents, canRemove).text);
};
