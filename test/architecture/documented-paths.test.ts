import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

const DOCUMENTS = [
  "AGENTS.md",
  "CONTRIBUTING.md",
  "README.md",
  "SECURITY.md",
  ...[...new Bun.Glob("docs/*.md").scanSync({ cwd: root })].sort(),
];

const FOLDERS = "core|ports|adapters|app|client|programs|test|tools|docs|ops|\\.ci";
/** A path from the root, in prose or in a picture; what comes before it makes neither a URL nor a longer path. */
const IN_TEXT = new RegExp(`(?<![\\w/.:@-])(?:${FOLDERS})/[\\w./*{},-]*`, "g");
/** A file in the root, in backquotes. */
const ROOT_FILE = /`([A-Z]+\.md|package\.json|tsconfig\.json|knip\.json|bun\.lock)`/g;
/** The target of a Markdown link that is not a URL, without its heading. */
const LINK = /\]\((?!\w+:|#)([^)#\s]+)/g;

/** The paths that a document names, from the root. Some have `*` or braces. */
const namedPaths = (file: string): ReadonlyArray<string> => {
  const text = read(file);
  const linked = Array.from(text.matchAll(LINK), ([, to = ""]) => join(dirname(file), to));
  const atRoot = Array.from(text.matchAll(ROOT_FILE), ([, name = ""]) => name);
  const inText = Array.from(text.matchAll(IN_TEXT), ([path]) => path.replace(/[.,/]+$/, ""));
  return [...new Set([...linked, ...atRoot, ...inText])];
};

const exists = (path: string): boolean =>
  /[*{]/.test(path)
    ? [...new Bun.Glob(path).scanSync({ cwd: root, onlyFiles: false })].length > 0
    : existsSync(join(root, path));

test.each(DOCUMENTS)("every path that %s names exists", (file) => {
  expect(namedPaths(file).filter((path) => !exists(path))).toEqual([]);
});

/** The headings of each page. */
const headings = new Map(
  DOCUMENTS.filter((file) => file.startsWith("docs/")).map((file) => [
    file.slice("docs/".length),
    Array.from(read(file).matchAll(/^#+ (.*)$/gm), ([, heading = ""]) => heading),
  ]),
);

/** A page and one of its headings: `docs/relay.md, "Admission"`, with or without a link, and across the lines of a comment. */
const NAMED_HEADING =
  /(?:docs\/|\]\()([\w-]+\.md)[)`]?,\s+(?:(?:\*|\/\/)\s*)?"([^"]{3,60})"(?: and "([^"]{3,60})")?/g;
/** A link to a heading: `relay.md#admission`. */
const LINKED_HEADING = /\]\(([\w-]+\.md)#([\w-]+)\)/g;

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");

test("every heading that a page or a comment names stands on that page", () => {
  const files = [
    ...DOCUMENTS,
    ...new Bun.Glob("{core,ports,adapters,app,client,programs,test}/**/*.{ts,c,h,go,md}").scanSync({
      cwd: root,
    }),
  ].filter((file) => !file.includes("node_modules"));
  const mentions = files.flatMap((file) => {
    const text = read(file);
    const named = Array.from(text.matchAll(NAMED_HEADING), ([, page = "", ...quoted]) =>
      quoted
        .filter((each) => each !== undefined)
        .map((each) => [page, anchorOf(each.replaceAll(/\s+(?:\* |\/\/ )?/g, " "))] as const),
    ).flat();
    const linked = Array.from(
      text.matchAll(LINKED_HEADING),
      ([, page = "", anchor = ""]) => [page, anchor] as const,
    );
    return [...named, ...linked].map(([page, anchor]) => ({ file, page, anchor }));
  });
  expect(mentions.length).toBeGreaterThan(100);
  const isThere = ({ page, anchor }: { readonly page: string; readonly anchor: string }) =>
    headings.get(page)?.some((heading) => anchorOf(heading) === anchor) ?? false;
  expect(
    mentions
      .filter((each) => !isThere(each))
      .map(({ file, page, anchor }) => `${file}: ${page}#${anchor}`),
  ).toEqual([]);
});

/**
 * The end of a TypeScript file's path, in a comment or in backquotes on a page: `exchange.ts`, `server/exchange.ts`.
 */
const FILE_NAME = /(?<![\w./*}-])(?:\w[\w-]*\/)*\w[\w-]*(?:\.[\w-]+)*\.ts\b/g;

test("every TypeScript file that a comment or a page names in part exists", () => {
  const git = Bun.spawnSync(["git", "ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
  });
  const files = git.stdout
    .toString()
    .trim()
    .split("\n")
    .filter((file) => existsSync(join(root, file)));
  const ends = new Set(
    files.flatMap((file) => file.split("/").map((_, at, parts) => parts.slice(at).join("/"))),
  );
  const missing = (file: string, text: string) =>
    Array.from(text.matchAll(FILE_NAME), ([name]) => name)
      .filter((name) => !ends.has(name))
      .map((name) => `${file}: ${name}`);
  const comments = files
    .filter((file) => file.endsWith(".ts") && !file.startsWith("test/"))
    .flatMap((file) =>
      missing(file, (read(file).match(/^ *(?:\/\*\*|\*|\/\/).*$/gm) ?? []).join("\n")),
    );
  const inPages = DOCUMENTS.filter((file) => file.startsWith("docs/")).flatMap((file) =>
    missing(file, (read(file).match(/`[^`\n]+`/g) ?? []).join("\n")),
  );
  expect([...comments, ...inPages]).toEqual([]);
});

test("paths are found in prose, in pictures and in links", () => {
  expect(namedPaths("docs/architecture.md")).toContain("core/use-cases");
  expect(namedPaths("README.md")).toContain("docs/verify-evidence.md");
  expect(namedPaths("CONTRIBUTING.md")).toContain("app/stores/storage.ts");
});

test("each claim in the tables of SECURITY.md names a test file", () => {
  const tables = read("SECURITY.md").match(/(?:^\|.*\n)+/gm) ?? [];
  const claims = tables
    .filter((table) => table.startsWith("| attack "))
    .flatMap((table) => table.trim().split("\n").slice(2));
  expect(claims.length).toBeGreaterThan(20);
  const isTest = /`test\/[\w./-]+\.(?:test|chaos|proxy)\.ts` *\|$/;
  expect(claims.filter((line) => !isTest.test(line))).toEqual([]);
});
