import type { ContractDocument, DocumentOperation } from "./contract-document.ts";
import {
  contractsOf,
  inwardOf,
  operationsWith,
  type Place,
  placesOf,
  placesOfOperation,
  routesOf,
  testsOf,
} from "./places.ts";
import { findText, findWords } from "./find-words.ts";
import type { Sources } from "./sources.ts";

/** What a name stands for, and the files to open. */
export type Meaning = { readonly title: string; readonly places: ReadonlyArray<Place> };

/** The tree and its contract, in which names are looked up. */
export type Project = { readonly sources: Sources; readonly contract: ContractDocument };

const ENVIRONMENT = "app/config/environment.ts";
const GLOSSARY = "docs/glossary.md";
const CODES = "adapters/http/problems/api-failure.ts";
const PRODUCTION = /^(?:core|ports|adapters|app|client|programs)\//;

const camel = (name: string): string =>
  name.replace(/[-_ ]+(\w)/g, (_, letter: string) => letter.toUpperCase());
const kebab = (name: string): string => name.toLowerCase().replace(/[_ ]+/g, "-");

const settingsIn = ({ textOf }: Sources): ReadonlyMap<string, string> =>
  new Map(
    Array.from(
      textOf(ENVIRONMENT).matchAll(/(\w+): variable\(\s*"(\w+)"/g),
      ([, key = "", name = ""]) => [name, key],
    ),
  );

type Word = { readonly word: string; readonly sentence: string };

const wordsIn = ({ textOf }: Sources): ReadonlyArray<Word> =>
  Array.from(
    textOf(GLOSSARY).matchAll(/^- \*\*([^*]+)\*\*(?: \(`\w+`\))?: (.+)$/gm),
    ([, word = "", sentence = ""]) => ({ word, sentence }),
  );

/** Every name that is known, for suggestions and for the test. */
export const namesOf = ({ sources, contract }: Project) => ({
  routes: contract.operations.map(({ method, path }) => `${method} ${path}`),
  operations: contract.operations.map(({ operationId }) => operationId),
  fields: [
    ...new Set([
      ...[...contract.schemas.values()].flatMap((fields) => Array.from(fields)),
      ...contract.operations.flatMap(({ fields }) => [...fields]),
    ]),
  ],
  codes: contract.problemCodes,
  values: [...contract.values],
  settings: [...settingsIn(sources).keys()],
  words: wordsIn(sources).map(({ word }) => word),
});

const isPathOf = (template: string, path: string): boolean =>
  path === template ||
  new RegExp(
    `^${template
      .split(/\{\w+\}/)
      .map((part) => RegExp.escape(part))
      .join("[^/{}]+")}$`,
  ).test(path);

const routeMeanings = ({ sources, contract }: Project, name: string): ReadonlyArray<Meaning> => {
  const [, verb, path = ""] = /^(?:([A-Za-z]+) )?(\/[^?#]*)/.exec(name) ?? [];
  const matches = ({ method, path: template, operationId }: DocumentOperation): boolean =>
    operationId === name ||
    ((verb === undefined || verb.toUpperCase() === method) && isPathOf(template, path));
  const found = contract.operations.filter(matches);
  // A path without parameters, such as `/v1/indexer/sync`, is no example of one with them.
  const exact = found.filter((operation) => operation.path === path);
  return (exact.length > 0 ? exact : found).map((operation) => ({
    title: `${operation.method} ${operation.path}, ${operation.operationId}: ${operation.summary}`,
    places: placesOfOperation(sources, operation),
  }));
};

const fieldMeanings = ({ sources, contract }: Project, name: string): ReadonlyArray<Meaning> => {
  const operations = operationsWith(contract, name);
  const owners = [...contract.schemas]
    .filter(([, fields]) => fields.has(name))
    .map(([schema]) => schema);
  if (operations.length === 0 && owners.length === 0) return [];
  const routes = routesOf(sources, operations);
  const isNamed = new RegExp(`\\b${name.replace(/^\W+|\W+$/g, "")}\\b`);
  const isSchema = /@sinclair\/typebox|\brecord\(/;
  const declared = contractsOf(sources, owners);
  const start = [...declared, ...routes];
  const near = start.concat(start.flatMap((file) => sources.importsOf(file)));
  const contracts = near.filter(
    (file) =>
      file.startsWith("adapters/http/") &&
      (declared.includes(file) ||
        (isSchema.test(sources.textOf(file)) && isNamed.test(sources.textOf(file)))),
  );
  const inCore = sources.matching("core/", new RegExp(`^ +readonly ${camel(name)}\\??:`, "m"));
  return [
    {
      title: `a field of ${[...owners, ...operations.map((each) => each.operationId)].join(", ")}`,
      places: [
        ...placesOf("contract", contracts),
        ...placesOf("core", inCore),
        ...placesOf("route", routes),
        ...inwardOf(sources, routes),
        ...placesOf("test", [...testsOf(sources, declared), ...sources.testsNaming(name)]),
      ],
    },
  ];
};

const codeMeanings = ({ sources, contract }: Project, name: string): ReadonlyArray<Meaning> => {
  if (!contract.problemCodes.includes(name)) return [];
  const tags = Array.from(
    sources.textOf(CODES).matchAll(new RegExp(`(\\w+): "${name}"`, "g")),
    ([, tag = ""]) => tag,
  );
  const failures = tags.flatMap((tag) => sources.matching("", new RegExp(`class ${tag}\\b`)));
  const raised = tags.flatMap((tag) =>
    sources.matching(PRODUCTION, new RegExp(`new (?:\\w+\\.)?${tag}\\(`)),
  );
  const operations = contract.operations.filter(({ problems }) => problems.has(name));
  const some = operations.length < contract.operations.length ? operations : [];
  return [
    {
      title: `a problem code${some.length === 0 ? " of every operation" : ""}`,
      places: [
        ...placesOf(
          "contract",
          sources.matching("adapters/http/problems/", new RegExp(`^  ${name}: `, "m")),
        ),
        ...placesOf("failure", [CODES, ...failures]),
        ...placesOf("raised in", raised),
        ...placesOf("route", routesOf(sources, some)),
        ...placesOf("test", sources.testsNaming(name)),
      ],
    },
  ];
};

const valueMeanings = ({ sources }: Project, name: string): ReadonlyArray<Meaning> => {
  const inIdl = camel(name.replace(/^\w/, (letter) => letter.toUpperCase()));
  const quoted = sources.matching(
    PRODUCTION,
    new RegExp(`"(?:${RegExp.escape(name)}|${RegExp.escape(inIdl)})"`),
  );
  if (quoted.length === 0) return [];
  return [
    {
      title: "a value, written so in these files",
      places: [...placesOf("source", quoted), ...placesOf("test", sources.testsNaming(name))],
    },
  ];
};

const DOCUMENT = /^(?!CHANGELOG).*\.md$/;

/** The documents that name a setting, the one with its row in a table first. */
const documentedIn = (sources: Sources, name: string): ReadonlyArray<string> => {
  const rows = sources.matching(DOCUMENT, new RegExp(`^\\| *\`${name}\``, "m"));
  return [...rows, ...sources.matching(DOCUMENT, new RegExp(`\`${name}\\b`))];
};

const settingMeanings = ({ sources }: Project, name: string): ReadonlyArray<Meaning> => {
  const key = settingsIn(sources).get(name);
  if (key === undefined) return [];
  const uses = sources
    .matching(
      "app/",
      new RegExp(`\\b(?:settings|values)\\.${key}\\b|\\b${key}\\b[^{}]*\\} = [^;]*settings`),
    )
    .filter((file) => file !== ENVIRONMENT);
  return [
    {
      title: `a setting, \`${key}\` in the code`,
      places: [
        ...placesOf("setting", [ENVIRONMENT]),
        ...placesOf("reader", uses),
        ...placesOf("docs", documentedIn(sources, name)),
        ...placesOf("test", sources.matching("test/app/", new RegExp(`\\b${name}\\b`))),
      ],
    },
  ];
};

const wordMeanings = ({ sources }: Project, name: string): ReadonlyArray<Meaning> => {
  const found = wordsIn(sources).find(({ word }) => kebab(word) === kebab(name));
  if (found === undefined) return [];
  const own = new RegExp(`/(?:[\\w-]+-)?${kebab(found.word)}(?:-[\\w-]+)?\\.\\w+$`);
  const pascal = camel(found.word.replace(/^\w/, (letter) => letter.toUpperCase()));
  const exported = new RegExp(
    `^export (?:const|type|class) (?:${pascal}|${camel(found.word)})\\b`,
    "m",
  );
  const named = sources.files.filter((file) => PRODUCTION.test(file) && own.test(file));
  const declaring = sources.matching(PRODUCTION, exported);
  const said = new RegExp(`\\b${RegExp.escape(found.word)}`, "i");
  const files = [...declaring, ...named];
  return [
    {
      title: `${found.word}: ${found.sentence}`,
      places: [
        ...placesOf("source", files.length > 0 ? files : sources.matching("core/", said)),
        ...placesOf("glossary", [GLOSSARY]),
        ...placesOf("test", testsOf(sources, files)),
      ],
    },
  ];
};

const meaningOf = (title: string, places: ReadonlyArray<Place>): ReadonlyArray<Meaning> =>
  places.length === 0 ? [] : [{ title, places }];

/**
 * Everything that a name stands for, the most exact first: a route, a field, a problem code or a setting; else what is named with its
 * words, the glossary's word, a value, or a text. Empty for a name that is nowhere.
 */
export const findName = (project: Project, name: string): ReadonlyArray<Meaning> => {
  const fields = fieldMeanings(project, name);
  // A plain word, such as escrow, is a field of some answers as well, and not asked for as one.
  const isPlain = /^[a-z]+$/.test(name);
  const exact = [routeMeanings, codeMeanings, settingMeanings].flatMap((meanings) =>
    meanings(project, name),
  );
  if (exact.length > 0 || (fields.length > 0 && !isPlain))
    return [...exact, ...fields, ...wordMeanings(project, name)];
  const named = meaningOf("named with these words", findWords(project, name));
  const found = [...named, ...wordMeanings(project, name), ...fields];
  if (found.length > 0) return found;
  const values = valueMeanings(project, name);
  return values.length > 0 ? values : meaningOf("nothing is named so", findText(project, name));
};

/** How many letters have to be put in, taken out or exchanged to make one text of another (Levenshtein). */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of a.split("").entries()) {
    const next = [at + 1];
    for (const [column, other] of b.split("").entries())
      next.push(
        Math.min(
          (row[column + 1] ?? 0) + 1,
          (next[column] ?? 0) + 1,
          (row[column] ?? 0) + (letter === other ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[b.length] ?? 0;
};

/** The known names that are most like an unknown one, the likeliest first, at most five. */
export const nearestNames = (project: Project, name: string): ReadonlyArray<string> => {
  const known = [...new Set(Object.values(namesOf(project)).flat())];
  const wanted = name.toLowerCase();
  return known
    .map((each) => {
      const text = each.toLowerCase();
      return { each, far: text.includes(wanted) ? 0.5 : distance(text, wanted) };
    })
    .filter(({ each, far }) => far <= Math.max(2, each.length / 2))
    .sort((a, b) => a.far - b.far)
    .slice(0, 5)
    .map(({ each }) => each);
};
