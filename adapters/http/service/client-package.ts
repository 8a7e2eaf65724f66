import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { projectCommand } from "../../../core/domain/project-command.ts";
import { ClientPackage } from "../../../ports/client-package.ts";
import { entityTag, isNotModified } from "../request/accept.ts";
import { endpoint } from "../server/endpoint.ts";

/** The path at which the service hands out its client. */
export const CLIENT_PACKAGE_PATH = "/client/settlement-evidence.tgz";

/** `GET /client/settlement-evidence.tgz` */
export const clientPackageEndpoint = endpoint({
  method: "GET",
  path: CLIENT_PACKAGE_PATH,
  operationId: "readClientPackage",
  tag: "Service",
  summary: "The client package for Node, Bun, Deno and browsers",
  description: `The client that fits this service, for \`npm install <address of this file>\`. Who doubts the service builds the same file from the repository (\`${projectCommand("build")}\`) and compares its SHA-256: the party under test hands out the verifier here.`,
  budget: "reads",
  maySeconds: 60,
  answers: {
    200: {
      description: "The package: a gzipped tar archive.",
      content: { "application/octet-stream": { schema: Type.String(), example: () => "" } },
      headers: { etag: "Strong validator of the whole package." },
    },
    304: {
      description: "The package is the one that `If-None-Match` names.",
      content: {},
      headers: { etag: "The package's validator." },
    },
  },
  problems: ["client_package_unavailable"],
}).handle(({ headers }) =>
  Effect.gen(function* () {
    const bytes = yield* ClientPackage.use((source) => source.bytes);
    const etag = entityTag(bytes);
    return isNotModified(headers.get("if-none-match"), etag)
      ? { status: 304 as const, text: null, headers: { etag } }
      : { bytes, headers: { etag } };
  }),
);
