/** The RFC 6901 pointer to a value: the names that lead to it, from the outermost inwards. */
export const jsonPointer = (names: ReadonlyArray<string>): string =>
  names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
