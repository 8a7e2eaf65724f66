import type { Project } from "./find-name.ts";
import { type Place, placesOf } from "./places.ts";
import { type Indexed, wordIndex } from "./word-index.ts";
import { wordsOf } from "./words.ts";

/** The most places that words lead to. */
const MOST_PLACES = 8;
/** Shorter beginnings of words fit too many of them. */
const LEAST_BEGINNING = 4;
/** Letters from which on two words count as forms of one, such as expiry and expired. */
const STEM = 5;

/** How well kinds of entries answer "which file do I open", in parts of a matched word. */
const KINDS: ReadonlyArray<readonly [RegExp, number]> = [
  [/^file/, 1],
  [/^folder/, 0.9],
  [/^bun run/, 0.8],
  [/^table/, 0.8],
  [/^(?:export|problem|setting|route)/, 0.6],
  [/^heading/, 0.5],
  [/^test/, 0],
];
/** Of two files that fit alike, the inner layer's comes first. */
const LAYERS = ["core/", "ports/", "adapters/", "app/", "client/", "programs/", "docs/", "test/"];

const fits = (asked: string, word: string): boolean =>
  asked.length >= LEAST_BEGINNING && word.startsWith(asked);

/** How well one word of an entry fits, 0 where it does not. */
const ofOne = (asked: string, word: string): number => {
  if (word === asked) return 3;
  if (fits(asked, word)) return 2;
  return asked.length >= STEM && fits(asked.slice(0, STEM), word) ? 1.5 : 0;
};

const ofWord = (asked: string, { words, around }: Indexed): number => {
  const best = words.reduce((most, word) => Math.max(most, ofOne(asked, word)), 0);
  return best === 0 && around.includes(asked) ? 1 : best;
};

/** How well an entry fits words, 0 where one of them is nowhere in it. */
const fitness = (asked: ReadonlyArray<string>, entry: Indexed): number => {
  const each = asked.map((word) => ofWord(word, entry));
  if (each.includes(0) || !each.some((one) => one > 1)) return 0;
  const matched = each.reduce((sum, one) => sum + one, 0) / asked.length;
  const extra = entry.words.filter((word) => !asked.some((one) => fits(one, word) || one === word));
  const isSame = extra.length === 0 && each.every((one) => one === 3) ? 2 : 0;
  const [, kind] = KINDS.find(([role]) => role.test(entry.role)) ?? [null, 0];
  const layer = LAYERS.findIndex((prefix) => entry.file.startsWith(prefix));
  return matched + isSame + kind - 0.3 * extra.length - 0.04 * (layer < 0 ? LAYERS.length : layer);
};

/** An entry with how well it fits. */
type Ranked = { readonly entry: Indexed; readonly fit: number };

/** All entries, and their places by each word that they have. */
type Index = {
  readonly entries: ReadonlyArray<Indexed>;
  readonly placesOf: ReadonlyMap<string, ReadonlyArray<number>>;
};

const indexes = new WeakMap<Project, Index>();

const indexOf = (project: Project): Index => {
  const known = indexes.get(project);
  if (known !== undefined) return known;
  const entries = wordIndex(project);
  const placesOf = new Map<string, Array<number>>();
  for (const [at, { words }] of entries.entries())
    for (const word of new Set(words)) {
      const places = placesOf.get(word);
      if (places === undefined) placesOf.set(word, [at]);
      else places.push(at);
    }
  const index = { entries, placesOf };
  indexes.set(project, index);
  return index;
};

/** The entries that have a word which one of these fits, in their order: the only ones that can fit at all. */
const candidatesFor = (asked: ReadonlyArray<string>, index: Index): ReadonlyArray<Indexed> => {
  const places = new Set<number>();
  for (const [word, at] of index.placesOf)
    if (asked.some((one) => ofOne(one, word) > 0)) for (const place of at) places.add(place);
  return [...places].sort((a, b) => a - b).flatMap((place) => index.entries[place] ?? []);
};

/** The files whose text holds a phrase, those of the product that hold it most often first. */
const filesWith = ({ sources }: Project, phrase: string): ReadonlyArray<string> => {
  const said = new RegExp(`\\b${RegExp.escape(phrase).replace(/(?:\\x20|\s)+/g, "\\s+")}`, "gi");
  return sources.files
    .filter((file) => !file.startsWith("test/") && file !== "CHANGELOG.md")
    .map((file) => ({ file, count: sources.textOf(file).match(said)?.length ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .map(({ file }) => file);
};

const importerCounts = new WeakMap<Project, ReadonlyMap<string, number>>();

/** How many files import each file. */
const importersIn = (project: Project): ReadonlyMap<string, number> => {
  const known = importerCounts.get(project);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  for (const file of project.sources.files)
    for (const imported of project.sources.importsOf(file))
      counts.set(imported, (counts.get(imported) ?? 0) + 1);
  importerCounts.set(project, counts);
  return counts;
};

/** The places that are named with these words, best first, at most eight, each file once. */
export const findWords = (project: Project, text: string): ReadonlyArray<Place> => {
  const asked = wordsOf(text);
  if (asked.length === 0) return [];
  const best = new Map<string, Ranked>();
  for (const entry of candidatesFor(asked, indexOf(project))) {
    const fit = fitness(asked, entry);
    const before = best.get(entry.file);
    if (fit > 0 && fit > (before?.fit ?? 0)) best.set(entry.file, { entry, fit });
  }
  const importers = importersIn(project);
  const weightOf = ({ entry }: Ranked): number => importers.get(entry.file) ?? 0;
  return [...best.values()]
    .sort((a, b) => b.fit - a.fit || weightOf(b) - weightOf(a))
    .slice(0, MOST_PLACES)
    .map(({ entry: { role, file } }) => ({ role, file }));
};

/** The files whose text holds a phrase, at most eight: for what nothing is named after. */
export const findText = (project: Project, text: string): ReadonlyArray<Place> =>
  wordsOf(text).length === 0
    ? []
    : placesOf("says so", filesWith(project, text.trim()).slice(0, MOST_PLACES));
