/** What a new part of the project begins as. */
export type Skeleton = {
  /** By path from the root. */
  readonly files: Readonly<Record<string, string>>;
  /** What is left to do, in this order; each ends with what shows that it is done. */
  readonly next: ReadonlyArray<string>;
};

/** Why a name cannot be used, with the cure. */
export class NameRefused extends Error {
  override readonly name = "NameRefused";
}

/** `list-mints` as `listMints`. */
export const camel = (kebab: string): string =>
  kebab.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `list-mints` as `ListMints`. */
export const pascal = (kebab: string): string =>
  camel(kebab).replace(/^\w/, (letter) => letter.toUpperCase());
