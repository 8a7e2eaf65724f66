/** The RFC 6901 pointer made of member names, outermost first. */
export const jsonPointer = (names: ReadonlyArray<string>): string =>
  names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
