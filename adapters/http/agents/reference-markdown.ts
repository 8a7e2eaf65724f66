import {
  type Field,
  membersOf,
  type Operation,
  recordName,
  type Reference,
} from "../openapi/reference.ts";

/** One field as a list item: its name, whether it is required, and its meaning. */
const fieldLine = (where: string, { name, isRequired, meaning }: Field): string =>
  `- \`${name}\` (${where}${isRequired ? ", required" : ""})${meaning === undefined ? "" : `: ${meaning}`}`;

const listed = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [`${title}\n\n${lines.join("\n")}`];

const code = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

const exampleOf = (value: unknown): string =>
  typeof value === "string" ? code("text", value) : code("json", JSON.stringify(value, null, 2));

/** Where the reference describes an operation: the fragment of its heading. */
export const operationAnchor = ({ operationId }: Pick<Operation, "operationId">): string =>
  operationId.toLowerCase();

/** An operation as a section of the reference in Markdown; members of its body are found in `records`. */
const operationMarkdown = (
  {
    operationId,
    method,
    path,
    summary,
    description,
    parameters,
    body,
    answers,
    problems,
  }: Operation,
  records: Reference["records"],
): string => {
  const bodies = Object.values(body?.content ?? {});
  const inputs = [
    ...parameters.map((field) => fieldLine(field.place, field)),
    ...bodies
      .flatMap(({ schema }) => membersOf(records[recordName(schema) ?? ""] ?? schema, records))
      .map((field) => fieldLine("body", field)),
  ];
  const outcomes = answers.map(({ status, description: text, content }) => {
    const types = Object.keys(content).map((type) => `\`${type}\``);
    return `- ${status}: ${text}${types.length === 0 ? "" : ` (${types.join(", ")})`}`;
  });
  return [
    `### ${operationId}`,
    `\`${method} ${path}\``,
    `${summary}. ${description}`,
    ...listed("Input:", inputs),
    ...(body === null ? [] : [`Body: ${body.description} An example:`]),
    ...bodies.map(({ example }) => exampleOf(example)),
    ...listed("Answers:", outcomes),
    ...listed(
      "Problems:",
      problems.map(({ status, code: name }) => `- ${status}: [\`${name}\`](/problems/${name}.md)`),
    ),
  ].join("\n\n");
};

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
