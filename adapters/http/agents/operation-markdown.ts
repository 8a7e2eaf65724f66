import type { TObject, TSchema } from "@sinclair/typebox";
import { type Endpoint, maxBodyBytes, problemsOf } from "../server/endpoint.ts";
import { PROBLEM_CATALOGUE } from "../problems/problem-catalogue.ts";

/** One member as a list item: its name, whether it is required, and its meaning. */
const member = (name: string, schema: TSchema, where: string, isRequired: boolean): string => {
  const meaning = schema.description === undefined ? "" : `: ${schema.description}`;
  return `- \`${name}\` (${where}${isRequired ? ", required" : ""})${meaning}`;
};

const members = (schema: TObject, where: string): ReadonlyArray<string> =>
  Object.entries(schema.properties).map(([name, part]) =>
    member(name, part, where, (schema.required ?? []).includes(name)),
  );

const listed = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [`${title}\n\n${lines.join("\n")}`];

const code = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

const bodyOf = ({ body, textBody }: Endpoint): ReadonlyArray<string> => {
  if (body !== undefined)
    return [`An example of the body:\n\n${code("json", JSON.stringify(body.example(), null, 2))}`];
  return textBody === undefined ? [] : [`Body: ${textBody.description}`];
};

/** Where the reference describes an operation: the fragment of its heading. */
export const operationAnchor = ({ operationId }: Endpoint): string => operationId.toLowerCase();

/** An operation as a section of the reference in Markdown, made from its declaration. */
export const operationMarkdown = (operation: Endpoint): string => {
  const { method, path, operationId, summary, description, params, query, answers } = operation;
  const { requestHeaders = {}, body } = operation;
  const inputs = [
    ...Object.entries(params).map(([name, schema]) => member(name, schema, "path", true)),
    ...members(query, "query"),
    ...Object.entries(requestHeaders).map(([name, schema]) =>
      member(name, schema, "header", false),
    ),
    ...(body === undefined ? [] : members(body.schema, "body")),
  ];
  const outcomes = Object.entries(answers).map(([status, { description: text, content }]) => {
    const types = Object.keys(content).map((type) => `\`${type}\``);
    return `- ${status}: ${text}${types.length === 0 ? "" : ` (${types.join(", ")})`}`;
  });
  const problems = problemsOf(operation).map(
    (name) => `- ${PROBLEM_CATALOGUE[name].status}: [\`${name}\`](/problems/${name}.md)`,
  );
  return [
    `### ${operationId}`,
    `\`${method} ${path}\``,
    `${summary}. ${description}`,
    ...listed("Input:", inputs),
    ...bodyOf(operation),
    ...(method === "POST" ? [`The body has at most ${maxBodyBytes(operation)} bytes.`] : []),
    ...listed("Answers:", outcomes),
    ...listed("Problems:", problems),
  ].join("\n\n");
};
