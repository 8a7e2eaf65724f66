import { Elysia } from "elysia";
import { SERVICE_DESCRIPTION, SERVICE_TAGS } from "./service-texts.ts";
import { CONTRACT_VERSION, SERVICE_NAME } from "./service-version.ts";
import { type Endpoint, routerPath } from "../server/endpoint.ts";
import { type JsonText, jsonText } from "../server/declared-answer.ts";
import { finishDocument, type OpenApiDocument } from "./finish-document.ts";
import { operationObject, sharedComponents } from "./operation-object.ts";

const SPEC_PATH = "/openapi.json";

/** The plugin with the routes of these operations. Its package takes 70 ms to load, and most services are never asked. */
const collector = async (operations: ReadonlyArray<Endpoint>) => {
  const { swagger } = await import("@elysiajs/swagger");
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
  const app = new Elysia({ strictPath: true }).use(plugin);
  for (const operation of operations)
    app.route(operation.method, routerPath(operation.path), () => null, {
      parse: "none",
      detail: operationObject(operation),
    });
  return plugin;
};

/**
 * The OpenAPI 3.1.0 document of these operations as JSON text. Nothing of it is loaded or computed before the call: neither
 * the plugin that collects the routes nor an example.
 */
export const openApiDocument = async (
  operations: ReadonlyArray<Endpoint>,
): Promise<JsonText<OpenApiDocument>> => {
  const plugin = await collector(operations);
  const collected = await plugin.handle(new Request(`http://localhost${SPEC_PATH}`));
  const paths = operations.map(({ path }) => path);
  return jsonText(finishDocument(await collected.json(), paths));
};
