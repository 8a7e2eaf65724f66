import { existsSync } from "node:fs";
import { join } from "node:path";

/** The generators, of the versions that are tried. */
export const GENERATORS = {
  python: "openapi-python-client==0.29.1",
  java: "openapi-generator-cli==7.26.0",
  go: "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2",
  typescript: "openapi-typescript@7.13.0",
} as const;

/** The folder into which `--install` puts generators; undefined when CLIENT_TOOLS is not set. */
const folder = process.env["CLIENT_TOOLS"];

/** The path of a program in the tools' folder or on PATH; null when it is in neither. */
const program = (name: string, ...inFolder: ReadonlyArray<string>): string | null => {
  const own = folder === undefined ? null : join(folder, ...inFolder, name);
  return own !== null && existsSync(own) ? own : Bun.which(name);
};

/** The programs that each language needs, in the order of their names; null for one that is absent. */
export const TOOLS = {
  python: {
    python3: program("python3", "python", "bin"),
    "openapi-python-client": program("openapi-python-client", "python", "bin"),
  },
  go: { go: Bun.which("go"), "oapi-codegen": program("oapi-codegen", "go") },
  java: {
    java: Bun.which("java"),
    mvn: Bun.which("mvn"),
    "openapi-generator-cli": program("openapi-generator-cli", "python", "bin"),
  },
  typescript: {
    "openapi-typescript": program("openapi-typescript", "typescript", "node_modules", ".bin"),
  },
} as const;

/** A language whose generator is tried. */
export type Language = keyof typeof TOOLS;

/** The programs that are absent for a language. */
export const missingFor = (language: Language): ReadonlyArray<string> =>
  Object.entries(TOOLS[language]).flatMap(([name, path]) => (path === null ? [name] : []));
