import { swagger } from "@elysiajs/swagger";
import { SERVICE_DESCRIPTION, SERVICE_TAGS } from "./service-texts.ts";
import { CONTRACT_VERSION, SERVICE_NAME } from "./service-version.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { type JsonText, jsonText } from "../server/declared-answer.ts";
import { finishDocument, type OpenApiDocument } from "./finish-document.ts";
import { sharedComponents } from "./operation-object.ts";

const SPEC_PATH = "/openapi.json";

/**
 * The plugin that collects the routes of its app, and the OpenAPI 3.1.0 document of those routes.
 * The app's own routes replace the plugin's two, because the plugin's page loads scripts from another host.
 */
export const openApiDocument = (operations: ReadonlyArray<Endpoint>) => {
  const plugin = swagger({
    path: "/docs",
    specPath: SPEC_PATH,
    excludeStaticFile: false,
    documentation: {
      info: {
        title: SERVICE_NAME,
        version: CONTRACT_VERSION,
        description: SERVICE_DESCRIPTION,
        license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      },
      servers: [{ url: "/", description: "This service." }],
      tags: [...SERVICE_TAGS],
      externalDocs: { description: "The reference, as a page.", url: "/docs" },
      components: sharedComponents(operations),
    },
  });
  return {
    plugin,
    /** The document as JSON text. */
    text: async (): Promise<JsonText<OpenApiDocument>> => {
      const collected = await plugin.handle(new Request(`http://localhost${SPEC_PATH}`));
      const paths = operations.map(({ path }) => path);
      return jsonText(finishDocument(await collected.json(), paths));
    },
  };
};
