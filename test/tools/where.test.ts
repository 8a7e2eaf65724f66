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

test("every problem code leads to the file of the catalogue that says what it means", () => {
  const wrong = names.codes.filter(
    (code) =>
      !filesOf(code, "contract").some(
        (file) =>
          /^adapters\/http\/problems\/\w+-problems\.ts$/.test(file) &&
          textOf(file).includes(`  ${code}: kind(`),
      ),
  );
  expect(wrong).toEqual([]);
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
        "adapters/http/problems/request-problems.ts",
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

/** What a contributor types, and the file that must be named first or second. */
const TYPED: ReadonlyArray<readonly [string, string]> = [
  ["tiles", "core/log/tiles/"],
  ["relay expiry", "core/use-cases/relay/outcome/corroborate-expiry.ts"],
  ["canonical", "core/domain/encoding/canonical-json.ts"],
  ["DATABASE_URL", "app/config/environment.ts"],
  ["settings", "app/config/settings.ts"],
  ["/v1/relay", "adapters/http/relay/relay.ts"],
  ["/v1/escrows/prepare", "adapters/http/escrow/prepare/prepare-escrow.ts"],
  ["relay_queue_full", "adapters/http/problems/service-problems.ts"],
  ["escrow_tally", "adapters/sqlite/index/index-schema.ts"],
  ["sync-lease", "ports/index/sync-lease.ts"],
  ["Evidence packet", "core/protocol/evidence/evidence-packet.ts"],
  ["rebuild-index", "app/commands/rebuild-index.ts"],
  ["test:hostile", "test/hostile-node/run.ts"],
  ["idempotency key", "adapters/sqlite/relay/outcome-schema.ts"],
  ["rate limit", "ports/rate-limiter.ts"],
  ["faucet limit", "adapters/local-ledger/faucet.ts"],
  ["retry after", "adapters/solana-rpc/transport/retry-after.ts"],
  ["exit code", "client/command-line/exit-code.ts"],
  ["relayQueue", "core/use-cases/relay/relay-queue.ts"],
  ["event stream", "adapters/http/index/event-stream.ts"],
  ["checkpoint", "core/log/checkpoint/checkpoint.ts"],
  ["import fence", "test/architecture/import-fence.test.ts"],
  ["What is checked before anything is signed", "docs/merchant.md"],
  ["lease", "ports/index/sync-lease.ts"],
];

test.each(TYPED)("%s leads to %s first or second", (typed, file) => {
  expect([...new Set(filesOf(typed))].slice(0, 2)).toContain(file);
});

test("a setting leads to its declaration, its readers, its docs and its tests", () => {
  const name = "RATE_LIMIT_READS";
  expect(filesOf(name, "setting")).toEqual(["app/config/environment.ts"]);
  expect(filesOf(name, "reader")).toContain("app/config/settings.ts");
  expect(filesOf(name, "docs")[0]).toBe("README.md");
  expect(filesOf(name, "test")).not.toBeEmpty();
});

test("words lead to at most eight places, each once, and a phrase that names nothing to where it is said", () => {
  for (const words of ["escrow", "relay", "index", "settlement"]) {
    const [named] = findName(project, words);
    const files = named?.places.map(({ file }) => file) ?? [];
    expect(files.length).toBeLessThanOrEqual(8);
    expect(new Set(files).size).toBe(files.length);
  }
  expect(filesOf("fails over between them", "says so")).toEqual(["app/doctor/check-ledger.ts"]);
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
