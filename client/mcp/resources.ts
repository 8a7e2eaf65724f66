import { departure } from "../service/forms.ts";
import type { ReadPath } from "../service/operation.ts";
import { jsonOf, problemOf } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import { shown } from "./shown.ts";
import type { ServiceCall } from "./ask.ts";

const JSON_TYPE = "application/json";
/** More than the longest resource, the list of proof templates. */
const MOST_CHARACTERS = 262_144;

/** What a client is told of a resource, and where the service has it. */
type Served = { readonly path: ReadPath; readonly [told: string]: string };

/** The records that are always there, each with its path on the service. */
const RESOURCES = [
  {
    uri: "settlement://guide",
    name: "guide",
    description: "The service for a language model, with links.",
    mimeType: "text/markdown",
    path: "/llms.txt",
  },
  {
    uri: "settlement://trust",
    name: "trust",
    description: "What a verifier pins beforehand: ledger, programs, mints and keys.",
    mimeType: JSON_TYPE,
    path: "/.well-known/evidence-trust.json",
  },
  {
    uri: "settlement://templates",
    name: "templates",
    description: "The delivery proof templates.",
    mimeType: JSON_TYPE,
    path: "/v1/proof-templates",
  },
] as const satisfies ReadonlyArray<Served>;

/** The records that an address or an id names. */
const TEMPLATES = [
  {
    kind: "evidence",
    key: "escrow",
    description: "An escrow's evidence packet, to verify offline.",
    path: "/v1/evidence/{pda}",
  },
  {
    kind: "escrow",
    key: "escrow",
    description: "An escrow on the ledger, every member.",
    path: "/v1/escrows/{pda}",
  },
  {
    kind: "merchant",
    key: "merchant",
    description: "A merchant on the ledger, every member.",
    path: "/v1/merchants/{pubkey}",
  },
  {
    kind: "template",
    key: "id",
    description: "A delivery proof template with its JSON Schema and an example.",
    path: "/v1/proof-templates/{id}",
  },
] as const satisfies ReadonlyArray<Served>;

/** Made by the process that keeps the session, not by the service. */
const CALL_TEMPLATE = {
  kind: "call",
  key: "session-count",
  description: "The evidence of one call of a session kept here, to verify offline.",
} as const;

const NAMED = /^settlement:\/\/([a-z]{1,16})\/([A-Za-z0-9-]{1,64})$/;

/** The resources as a client lists them. */
export const resourceList = () =>
  RESOURCES.map(({ uri, name, description, mimeType }) => ({ uri, name, description, mimeType }));

/** The templates of the resources that an address or an id names, as a client lists them. */
export const resourceTemplates = (hasSessions: boolean) =>
  [...TEMPLATES, ...(hasSessions ? [CALL_TEMPLATE] : [])].map(({ kind, key, description }) => ({
    uriTemplate: `settlement://${kind}/{${key}}`,
    name: kind,
    description,
    mimeType: JSON_TYPE,
  }));

/** Where a resource is on the service; undefined for a URI that names none. */
const placeOf = (uri: string): { readonly path: string; readonly mimeType: string } | undefined => {
  const fixed = RESOURCES.find((resource) => resource.uri === uri);
  if (fixed !== undefined) return fixed;
  const [, kind, name = ""] = NAMED.exec(uri) ?? [];
  const ofKind = TEMPLATES.find((template) => template.kind === kind);
  if (ofKind === undefined) return undefined;
  return { path: ofKind.path.replace(/\{[a-z]+\}/, name), mimeType: JSON_TYPE };
};

/**
 * A resource's text, byte for byte as the service answers it. @throws SettlementError `resource_not_found` for a URI
 * that names none, and the service's problems
 */
export const readResource = async (
  call: ServiceCall,
  uri: string,
): Promise<{ readonly uri: string; readonly mimeType: string; readonly text: string }> => {
  const place = placeOf(uri);
  if (place === undefined)
    throw new SettlementError(
      "resource_not_found",
      `There is no resource ${shown(uri)}.`,
      "Read a URI of resources/list, or fill in a template of resources/templates/list.",
    );
  const answer = await call(place.path, { headers: { accept: place.mimeType } });
  if (answer.status !== 200) throw problemOf(answer);
  if (answer.text.length > MOST_CHARACTERS)
    throw departure("the resource", `a text of at most ${MOST_CHARACTERS} characters`);
  if (place.mimeType === JSON_TYPE) jsonOf(answer);
  return { uri, mimeType: place.mimeType, text: answer.text };
};
