import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findName, namesOf, nearestNames } from "../../tools/where/find-name.ts";
import { readProject } from "../../tools/where/project.ts";

const ROOT = join(import.meta.dir, "../..");
const project = readProject(ROOT);
const names = namesOf(project);

const meanings = new Map<string, ReturnType<typeof findName>>();
const meaningsOf = (name: string) => {
  const found = meanings.get(name) ?? findName(project, name);
  meanings.set(name, found);
  return found;
};
const filesOf = (name: string, role?: string): ReadonlyArray<string> =>
  meaningsOf(name).flatMap(({ places }) =>
    places.flatMap((place) => (role === undefined || place.role === role ? [place.file] : [])),
  );
const textOf = (file: string): string => project.sources.textOf(file);

describe("every name of the project leads to existing files", () => {
  for (const [kind, list] of Object.entries(names))
    test(kind, () => {
      expect(list.length).toBeGreaterThan(10);
      const lost = list.filter((name) => {
        const files = filesOf(name);
        return files.length === 0 || files.some((file) => !existsSync(join(ROOT, file)));
      });
      expect(lost).toEqual([]);
    });
});

test("every route leads to one file that declares it, and to its recorded answers", () => {
  const wrong = project.contract.operations.filter(({ method, path, operationId }) => {
    const [route = "", ...others] = filesOf(`${method} ${path}`, "route");
    return others.length > 0 || !textOf(route).includes(`"${operationId}"`);
  });
  expect(wrong).toEqual([]);
});

test("every schema is in one file, and every field of it leads there", () => {
  const wrong = [...project.contract.schemas].flatMap(([schema, fields]) =>
    [...fields].filter((field) => {
      const files = filesOf(field, "contract").filter((file) =>
        new RegExp(`(?:\\(|^ *|title: )"${schema}"`, "m").test(textOf(file)),
      );
      return files.length !== 1;
    }),
  );
  expect(wrong).toEqual([]);
});

test("every field of a contract is in a file that is named for it", () => {
  const wrong = names.fields.filter(
    (field) =>
      ![...filesOf(field, "contract"), ...filesOf(field, "route")].some((file) =>
        textOf(file).includes(field),
      ),
  );
  expect(wrong).toEqual([]);
});

test("every problem code leads to the catalogue", () => {
  const catalogue = "adapters/http/problems/problem-catalogue.ts";
  expect(names.codes.filter((code) => !filesOf(code, "contract").includes(catalogue))).toEqual([]);
});

describe("by name", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    [
      "/v1/escrows/{pda}",
      [
        "adapters/http/escrow/live-escrow-contract.ts",
        "adapters/http/escrow/read-escrow.ts",
        "core/use-cases/escrow/read-escrow.ts",
        "ports/ledger/ledger.ts",
        "test/adapters/http/escrow/escrows.test.ts",
        "test/vectors/http-answers/readEscrow.txt",
      ],
    ],
    [
      "/v1/merchants/7ithf5tHzJMn92rtbAbfoqym3JADtusRecPGdQH3ioSE",
      ["adapters/http/merchant/read-merchant.ts", "core/use-cases/merchant/read-merchant.ts"],
    ],
    [
      "POST /v1/relay",
      [
        "adapters/http/relay/relay.ts",
        "core/use-cases/relay/relay-transaction.ts",
        "ports/ledger/broadcaster.ts",
        "ports/outcome-log.ts",
      ],
    ],
    ["queryEvents", ["adapters/http/index/query-events.ts", "ports/index/index-reader.ts"]],
    [
      "rent_payer",
      [
        "adapters/http/escrow/escrow-contract.ts",
        "adapters/http/evidence/evidence-contract.ts",
        "core/domain/escrow/escrow.ts",
        "test/adapters/http/escrow/escrow-contract.test.ts",
      ],
    ],
    [
      "task_intent",
      [
        "adapters/http/escrow/prepare/prepared-escrow-contract.ts",
        "adapters/http/escrow/prepare/prepare-escrow.ts",
      ],
    ],
    [
      "escrow_not_found",
      [
        "adapters/http/problems/problem-catalogue.ts",
        "core/use-cases/request-errors.ts",
        "core/use-cases/escrow/read-escrow.ts",
        "adapters/http/escrow/read-escrow.ts",
      ],
    ],
    [
      "payout_account_shared",
      [
        "core/domain/relay/settlement-rule.ts",
        "core/protocol/rules/payout-rules.ts",
        "programs/custody.idl.json",
        "test/programs/custody/payout-account.test.ts",
      ],
    ],
    [
      "SYNC_INTERVAL_SECONDS",
      ["app/config/environment.ts", "app/syncing/syncing-side.ts", "test/app/settings.test.ts"],
    ],
    ["proof template", ["docs/glossary.md", "core/domain/evidence/proof-template.ts"]],
    ["lease", ["docs/glossary.md", "ports/index/sync-lease.ts", "adapters/postgres/sync-lease.ts"]],
  ];
  for (const [name, files] of cases)
    test(name, () => {
      const found = filesOf(name);
      expect(files.filter((file) => !found.includes(file))).toEqual([]);
    });
});

test("a path matches its own route and not another route's template", () => {
  expect(filesOf("/v1/escrows/prepare", "route")).toEqual([
    "adapters/http/escrow/prepare/prepare-escrow.ts",
  ]);
});

test("an unknown name is refused with the nearest ones", async () => {
  expect(nearestNames(project, "rent_payr")[0]).toBe("rent_payer");
  expect(nearestNames(project, "/v1/escrow/{pda}")[0]).toContain("/v1/escrows/{pda}");
  const child = Bun.spawn([process.execPath, "tools/where.ts", "rent_payr"], {
    cwd: ROOT,
    stderr: "pipe",
  });
  expect(await child.exited).toBe(1);
  expect(await new Response(child.stderr).text()).toStartWith(
    "rent_payr is no name of this project; near it: rent_payer, ",
  );
});
