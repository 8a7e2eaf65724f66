import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { buildEvidence } from "../../../core/use-cases/evidence/build-evidence.ts";
import {
  SettledEvidence,
  STANDING_FRESH_MS,
} from "../../../core/use-cases/evidence/settled-evidence.ts";
import type { EvidencePacket as Packet } from "../../../core/use-cases/evidence/stored-packet.ts";
import { Instance } from "../../../ports/instance.ts";
import { jsonText } from "../server/declared-answer.ts";
import { READ_ESCROW_PROBLEMS } from "../escrow/read-escrow.ts";
import { endpoint } from "../server/endpoint.ts";
import { entityTag, isNotModified } from "../request/accept.ts";
import { evidenceMarkdown } from "../pages/evidence-page/evidence-markdown.ts";
import { evidencePage } from "../pages/evidence-page/evidence-page.ts";
import { evidenceExample, EvidencePacket, evidenceRecord } from "./evidence-contract.ts";
import { PathAddress } from "../openapi/values.ts";
import { htmlContent, markdownContent, policyIn } from "../pages/static-page.ts";

/** A packet's JSON and its validator. */
const made = (packet: Packet) => {
  const text = jsonText(evidenceRecord(packet));
  return {
    body: { jsonText: text },
    etag: entityTag(text),
    headers: { vary: "accept", "content-type": "application/json" },
  };
};

const answers = new WeakMap<Packet, ReturnType<typeof made>>();

/** Computed once for each packet object. The use case returns the same object until something in it changes. */
const answerOf = (packet: Packet) => {
  const answer = answers.get(packet) ?? made(packet);
  answers.set(packet, answer);
  return answer;
};

const pageOf = (packet: Packet, around: Parameters<typeof evidencePage>[1]) => {
  const { html, headers } = evidencePage(evidenceRecord(packet), around);
  return { body: { text: html }, etag: entityTag(html), headers: { vary: "accept", ...headers } };
};

const markdownOf = (packet: Packet, origin: string) => {
  const text = evidenceMarkdown(evidenceRecord(packet), origin);
  return { body: { text }, etag: entityTag(text), headers: { vary: "accept" } };
};

/** `GET /v1/evidence/{pda}` */
export const buildEvidenceEndpoint = endpoint({
  method: "GET",
  path: "/v1/evidence/{pda}",
  operationId: "buildEvidence",
  tag: "Evidence",
  summary: "Build an escrow's evidence packet",
  description:
    "Read at `finalized`. For a settled escrow `data` has the same bytes for ever, and the answer can be revalidated with `If-None-Match`. `If-None-Match: *` names every packet, a pending one too. A caller that prefers `text/html` gets a page to read and print, with the packet's digest and a QR code of its address and, once the escrow has expired, one with which any wallet runs the refund, one that prefers `text/markdown` the same as Markdown; with `download=json` everyone gets the packet.",
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  query: Type.Object(
    {
      download: Type.Optional(
        Type.Literal("json", { description: "Answer with a file name, to be saved." }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: {
      description: "The packet.",
      content: {
        "application/json": { schema: EvidencePacket, example: evidenceExample },
        ...htmlContent("<!doctype html>…"),
        ...markdownContent("# …"),
      },
      headers: {
        vary: "The answer depends on `Accept`.",
        etag: "Strong validator of the whole body, for a settled escrow.",
        "content-disposition": "A file name, with `download=json`.",
        age: "Seconds since `references.merchant` was read, when the ledger has not answered since.",
      },
    },
    304: {
      description: "The packet is the one that `If-None-Match` names.",
      content: {},
      headers: {
        etag: "The packet's validator, for a settled escrow.",
        vary: "The answer depends on `Accept`.",
      },
    },
  },
  problems: [...READ_ESCROW_PROBLEMS, "not_final_yet", "evidence_key_unavailable"],
}).handle(
  Effect.fnUntraced(function* (input) {
    const { params, query, mediaType, publicUrl } = input;
    const packet = yield* buildEvidence(params.pda);
    const isSettled = packet.data.settlement_decision.status !== "pending";
    const { supportedMints } = yield* Instance;
    const form = query.download === undefined ? mediaType : "application/json";
    const answer =
      form === "text/html"
        ? pageOf(packet, { origin: input.origin(), publicUrl, supportedMints })
        : form === "text/markdown"
          ? markdownOf(packet, input.origin())
          : answerOf(packet);
    const validator: Record<string, string> = isSettled ? { etag: answer.etag } : {};
    if (isNotModified(input.headers.get("if-none-match"), validator["etag"] ?? null))
      return {
        status: 304 as const,
        text: null,
        headers: { ...validator, vary: "accept", ...policyIn(answer.headers) },
      };
    const ageMs = yield* (yield* SettledEvidence).standingAgeMs(packet.data.escrow.merchant);
    const headers: Record<string, string> = { ...answer.headers, ...validator };
    // Older than a state may be: the ledger does not answer, and the last one known is shown.
    if (isSettled && ageMs > STANDING_FRESH_MS) headers["age"] = String(Math.floor(ageMs / 1000));
    if (query.download !== undefined)
      headers["content-disposition"] =
        `attachment; filename="evidence-${packet.data.escrow.escrow_pda}.json"`;
    return { ...answer.body, headers };
  }),
);
