import { readContractDocument } from "./contract-document.ts";
import type { Project } from "./find-name.ts";
import { readSources } from "./sources.ts";

/** The recorded document; a test holds what the service serves against it. */
const DOCUMENT = "test/vectors/http-answers/openapi.json";

/** The project in a folder. */
export const readProject = (root: string): Project => {
  const sources = readSources(root);
  return { sources, contract: readContractDocument(sources.textOf(DOCUMENT)) };
};
