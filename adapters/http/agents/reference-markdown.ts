import { SERVICE_DESCRIPTION, SERVICE_TAGS } from "../openapi/service-texts.ts";
import { CONTRACT_VERSION, SERVICE_NAME } from "../openapi/service-version.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { operationMarkdown } from "./operation-markdown.ts";

/** The path of the reference in Markdown. */
export const REFERENCE_PATH = "/docs.md";

/** The reference of all operations in Markdown, with the texts that the OpenAPI document has. */
export const referenceMarkdown = (operations: ReadonlyArray<Endpoint>): string => {
  const sections = SERVICE_TAGS.flatMap(({ name, description }) => {
    const own = operations.filter(({ tag }) => tag === name);
    const texts = own.map(operationMarkdown).join("\n\n");
    return own.length === 0 ? [] : [`## ${name}`, description, texts];
  });
  return `${[
    `# ${SERVICE_NAME}, contract ${CONTRACT_VERSION}`,
    SERVICE_DESCRIPTION,
    "Schemas of bodies and answers are in [the OpenAPI document](/openapi.json), the lives of a payment in [the Arazzo document](/arazzo.json).",
    ...sections,
  ].join("\n\n")}\n`;
};
