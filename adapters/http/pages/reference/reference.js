const element = (tag, content = [], attributes = {}) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...[content].flat());
  return made;
};

/** Text with what stands between backquotes set as code. */
const marked = (text = "") =>
  text.split("`").map((part, i) => (i % 2 === 0 ? part : element("code", part)));

const table = (headings, rows) =>
  element("table", [
    element(
      "thead",
      element(
        "tr",
        headings.map((heading) => element("th", heading)),
      ),
    ),
    element(
      "tbody",
      rows.map((cells) =>
        element(
          "tr",
          cells.map((cell) => element("td", cell)),
        ),
      ),
    ),
  ]);

const named = (schema) => schema.$ref?.split("/").at(-1);

/** A schema in few words, its named records linked. */
const typeOf = (schema) => {
  if (schema === undefined) return "";
  const name = named(schema);
  if (name !== undefined) return element("a", name, { href: `#schema-${name}` });
  if (schema.allOf !== undefined) return typeOf(schema.allOf[0]);
  if (schema.enum !== undefined) return schema.enum.join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined)
    return element(
      "span",
      schema.anyOf.flatMap((part, i) => [i === 0 ? "" : " | ", typeOf(part)]),
    );
  if (schema.type === "array") return element("span", ["array of ", typeOf(schema.items)]);
  const { minimum, maximum } = schema;
  const range =
    minimum === undefined && maximum === undefined ? "" : ` ${minimum ?? ""}…${maximum ?? ""}`;
  return `${schema.type ?? "any"}${range}`;
};

const fieldRows = (schema) =>
  Object.entries(schema.properties ?? {}).map(([name, field]) => [
    element("code", name),
    typeOf(field),
    schema.required?.includes(name) ? "" : "optional",
    marked(field.description ?? ""),
  ]);

const fieldTable = (schema) => table(["Field", "Type", "", "Meaning"], fieldRows(schema));

/** The fields of a body: those of an envelope are followed one level down. */
const bodyFields = (schema) =>
  schema.properties === undefined ? typeOf(schema) : fieldTable(schema);

const example = (value) =>
  element("pre", typeof value === "string" ? value : JSON.stringify(value, null, 2));

const parameterTable = (parameters) =>
  table(
    ["Parameter", "In", "Type", "Meaning"],
    parameters.map(({ name, in: place, required, schema, description }) => [
      element("code", name),
      `${place}${required ? "" : ", optional"}`,
      typeOf(schema),
      marked(description),
    ]),
  );

const contentOf = ([mediaType, { schema, example: value }]) => [
  element("p", mediaType, { class: "dim" }),
  bodyFields(schema),
  ...(value === undefined
    ? []
    : [element("details", [element("summary", "Example"), example(value)])]),
];

const isProblem = (response) => response.content?.["application/problem+json"] !== undefined;

const problemRows = (responses) =>
  responses.flatMap(([status, response]) =>
    response.content["application/problem+json"].schema.allOf[1].properties.code.enum.map(
      (code) => [status, element("a", element("code", code), { href: `/problems/${code}` })],
    ),
  );

const operationArticle = (spec, path, method, operation) => {
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    status,
    response.$ref === undefined ? response : spec.components.responses[named(response)],
  ]);
  const successes = responses.filter(([, response]) => !isProblem(response));
  const problems = responses.filter(([, response]) => isProblem(response));
  return element(
    "article",
    [
      element("h3", operation.summary),
      element("p", [element("span", method.toUpperCase(), { class: "method" }), path], {
        class: "path",
      }),
      element("p", marked(operation.description)),
      ...(operation.parameters === undefined ? [] : [parameterTable(operation.parameters)]),
      ...(operation.requestBody === undefined
        ? []
        : [
            element("h4", "Body"),
            ...Object.entries(operation.requestBody.content).flatMap(contentOf),
          ]),
      ...successes.flatMap(([status, response]) =>
        [element("h4", `${status} ${response.description}`)].concat(
          Object.entries(response.content ?? {}).flatMap(contentOf),
        ),
      ),
      element("details", [
        element("summary", "Problems"),
        table(["Status", "Code"], problemRows(problems)),
      ]),
    ],
    { id: operation.operationId },
  );
};

const operationsOf = ({ paths }) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

const render = (spec) => {
  const operations = operationsOf(spec);
  const groups = spec.tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  document.getElementById("version").replaceChildren(spec.info.version);
  document.getElementById("contents").replaceChildren(
    ...groups.flatMap(({ name, operations: members }) => [
      element("h2", name),
      element(
        "ul",
        members.map(({ operation }) =>
          element("li", element("a", operation.summary, { href: `#${operation.operationId}` })),
        ),
      ),
    ]),
    element("h2", "Records"),
    element(
      "ul",
      Object.keys(spec.components.schemas).map((name) =>
        element("li", element("a", name, { href: `#schema-${name}` })),
      ),
    ),
  );
  document
    .getElementById("main")
    .replaceChildren(
      element("h1", spec.info.title),
      ...spec.info.description.split("\n\n").map((paragraph) => element("p", marked(paragraph))),
      ...groups.flatMap(({ name, description, operations: members }) =>
        [element("h2", name), element("p", marked(description))].concat(
          members.map(({ path, method, operation }) =>
            operationArticle(spec, path, method, operation),
          ),
        ),
      ),
      element("h2", "Records"),
      ...Object.entries(spec.components.schemas).map(([name, schema]) =>
        element(
          "article",
          [element("h3", name), element("p", marked(schema.description)), fieldTable(schema)],
          { id: `schema-${name}` },
        ),
      ),
    );
  if (location.hash !== "") document.getElementById(location.hash.slice(1))?.scrollIntoView();
};

const response = await fetch("/openapi.json");
render(await response.json());
