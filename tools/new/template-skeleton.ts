import { camel, NameRefused, type Skeleton } from "./skeleton.ts";

const FOLDER = "core/domain/evidence/proof-templates";

/**
 * A proof template with the fields that every one has. The test that fails is there already: it holds the folder
 * against the catalogue.
 * @throws NameRefused unless the name ends with a version, `-v1`.
 */
export const templateSkeleton = (name: string): Skeleton => {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*-v[1-9]\d*$/.test(name))
    throw new NameRefused(
      `${name} is no id of a template; write small letters, hyphens and a version, such as parcel-delivered-v1`,
    );
  const template = {
    id: name,
    wedge: "commerce",
    category: "commerce",
    title: "TO WRITE: what was delivered",
    description: "The merchant states that TO WRITE.",
    fields: [
      {
        name: "proof_template_id",
        type: "constant",
        required: true,
        value: name,
        description: "Names this template.",
      },
      {
        name: "task_hash",
        type: "hash",
        required: true,
        description: "The escrow's task hash: ties the proof to what was paid for.",
      },
      {
        name: "delivered_at",
        type: "time",
        required: true,
        description: "When it was handed over, RFC 3339 UTC.",
      },
    ],
    example: {
      proof_template_id: name,
      task_hash: "4c06b1c97212b6a6b9ad115861aab8f14e290a9442dfc2ee4968c7fca0cb6264",
      delivered_at: "2026-01-15T10:00:00Z",
    },
  };
  return {
    files: { [`${FOLDER}/${name}.json`]: `${JSON.stringify(template, null, 2)}\n` },
    next: [
      `${FOLDER}/${name}.json: wedge, category, title, description, fields and an example; every TO WRITE`,
      `core/domain/evidence/proof-template-catalogue.ts: an import (${camel(name)}) and a line; bun test test/core/domain/evidence/proof-template.test.ts passes`,
      "bun run test:more record-answers, and read the difference: only the new template may be in it",
    ],
  };
};
