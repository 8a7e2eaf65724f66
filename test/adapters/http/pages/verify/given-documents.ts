import { readFileSync } from "node:fs";
import { type Given, recognised } from "../../../../../adapters/http/pages/verify/recognise.ts";
import { PROOF_TEMPLATES } from "../../../../../core/domain/evidence/proof-template.ts";

const vector = (name: string): string =>
  readFileSync(new URL(`../../../../vectors/evidence/${name}`, import.meta.url), "utf8");

/** A document that a reader gave. */
export const given = (name: string, text: string): Given => ({ name, text, service: null });

export const PACKET = vector("fulfilled.json");
export const TRUST = vector("trust.json");
export const LOG_TRUST = vector("log-trust.json");
export const CALL = vector("call.json");
/** The evidence of a call that its attestor dates after the year 9999. */
export const BEYOND_THE_CALENDAR: string =
  (
    JSON.parse(vector("calls.json")) as ReadonlyArray<{
      readonly name: string;
      readonly call: string;
    }>
  ).find(({ name }) => name === "beyond-the-calendar")?.call ?? "";

const taskHash = (): string => JSON.parse(PACKET).data.escrow.task_hash;

/** The payload that the packet's attestor signed the hash of. */
export const PAYLOAD = JSON.stringify({ ...PROOF_TEMPLATES[0]?.example, task_hash: taskHash() });

const [logged] = JSON.parse(vector("log-packets.json")) as ReadonlyArray<{
  readonly packet: string;
}>;

/** A packet whose escrow is in a log, with its proof in a document of its own. */
export const APART = (() => {
  const { references, ...whole } = JSON.parse(logged?.packet ?? "");
  const packet = JSON.stringify({ ...whole, references: { ...references, log: null } });
  return { packet, proof: references.log.proof as string };
})();

/** Documents with their kinds. */
export const recognisedAs = (...texts: ReadonlyArray<string>) =>
  texts.map((text, at) => recognised(given(`document ${at}`, text)));
