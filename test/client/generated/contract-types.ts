import { compile, type JSONSchema } from "json-schema-to-typescript";
import { makeService } from "../../adapters/http/support/service.ts";

const HEADER = `// Made from the OpenAPI document of the service by \`bun run test:more generate-client\`. Do not edit.\n\n`;

/** The TypeScript types of every record of the served OpenAPI document. */
export const contractTypes = async (): Promise<string> => {
  const service = await makeService();
  try {
    const response = await service.app.handle(new Request("http://localhost/openapi.json"));
    const { components } = (await response.json()) as {
      readonly components: { readonly schemas: Readonly<Record<string, object>> };
    };
    const text = JSON.stringify(components.schemas).replaceAll(
      "#/components/schemas/",
      "#/definitions/",
    );
    const definitions = JSON.parse(text) as Record<string, JSONSchema>;
    const names = Object.keys(definitions);
    const schema: JSONSchema = {
      description: "Every record of the contract by its name.",
      type: "object",
      additionalProperties: false,
      definitions,
      properties: Object.fromEntries(
        names.map((name) => [name, { $ref: `#/definitions/${name}` }]),
      ),
      required: names,
    };
    const types = await compile(schema, "Contract", {
      additionalProperties: false,
      bannerComment: "",
      format: false,
    });
    // The compiler needs a root; nobody else does.
    const root = /\/\*\*\n \* Every record of the contract by its name\.\n \*\/\nexport interface Contract \{[^}]*\}\n/;
    return HEADER + types.replace(root, "");
  } finally {
    await service.runtime.dispose();
  }
};
