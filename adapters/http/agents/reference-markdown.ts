import type { Reference } from "../openapi/reference.ts";
import { operationMarkdown } from "./operation-markdown.ts";

/** The path of the reference in Markdown. */
export const REFERENCE_PATH = "/docs.md";

/** The reference of all operations in Markdown, without the records. */
export const referenceMarkdown = ({
  title,
  version,
  description,
  subjects,
  records,
}: Reference): string => {
  const sections = subjects.flatMap(({ name, description: about, operations }) => [
    `## ${name}`,
    about,
    ...operations.map((operation) => operationMarkdown(operation, records)),
  ]);
  return `${[
    `# ${title}, contract ${version}`,
    description,
    "Schemas of bodies and answers are in [the OpenAPI document](/openapi.json), the lives of a payment in [the Arazzo document](/arazzo.json).",
    ...sections,
  ].join("\n\n")}\n`;
};
