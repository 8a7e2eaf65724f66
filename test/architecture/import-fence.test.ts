import { afterAll, beforeAll, expect, test } from "bun:test";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "../..");

/** One planted file per rule: its path, its import, and whether the fence must refuse it. */
const planted = [
  { file: "client/pay/redirects.ts", code: `void fetch("http://x.example");`, refused: true },
  { file: "app/commands/redirects.ts", code: `void fetch("http://x.example");`, refused: true },
  { file: "core/domain/a.ts", code: `import "../protocol/pda.ts";`, refused: true },
  { file: "core/domain/b.ts", code: `import "effect";`, refused: true },
  { file: "core/domain/c.ts", code: `import "node:fs";`, refused: true },
  { file: "core/domain/d.ts", code: `import "bun";`, refused: true },
  {
    file: "core/domain/e.ts",
    code: `export type W = import("bun:sqlite").Database;`,
    refused: true,
  },
  {
    file: "core/domain/ok.ts",
    code: `import "./x.ts"; import "@noble/hashes/sha2.js"; import "@scure/base";`,
    refused: false,
  },
  { file: "core/domain/f.ts", code: `import "@scure/bip32";`, refused: true },
  { file: "core/domain/escrow/a.ts", code: `import "../../protocol/rules/x.ts";`, refused: true },
  { file: "core/domain/escrow/b.ts", code: `import "effect";`, refused: true },
  {
    file: "core/domain/escrow/ok.ts",
    code: `import "../address.ts"; import "../ledger/x.ts"; import "@noble/curves/ed25519.js";`,
    refused: false,
  },
  { file: "core/protocol/a.ts", code: `import "../use-cases/x.ts";`, refused: true },
  { file: "core/protocol/b.ts", code: `import "../../ports/x.ts";`, refused: true },
  { file: "core/protocol/ok.ts", code: `import "../domain/x.ts";`, refused: false },
  { file: "core/protocol/rules/a.ts", code: `import "../../use-cases/relay/x.ts";`, refused: true },
  { file: "core/protocol/rules/b.ts", code: `import "../../../ports/x.ts";`, refused: true },
  {
    file: "core/protocol/rules/ok.ts",
    code: `import "../accounts/x.ts"; import "../../domain/escrow/x.ts";`,
    refused: false,
  },
  { file: "core/protocol/rules/c.ts", code: `import "../../log/tree/x.ts";`, refused: true },
  { file: "core/protocol/calls/a.ts", code: `import "../../use-cases/x.ts";`, refused: true },
  {
    file: "core/protocol/calls/ok.ts",
    code: `import "../../log/tree/x.ts"; import "../instructions/x.ts"; import "../../domain/x.ts";`,
    refused: false,
  },
  { file: "core/protocol/evidence/a.ts", code: `import "../../use-cases/x.ts";`, refused: true },
  {
    file: "core/protocol/evidence/ok.ts",
    code: `import "../../log/policy/x.ts"; import "../accounts/x.ts"; import "../../domain/x.ts";`,
    refused: false,
  },
  {
    file: "core/protocol/verification/a.ts",
    code: `import "../../use-cases/x.ts";`,
    refused: true,
  },
  {
    file: "core/protocol/verification/ok.ts",
    code: `import "../../log/policy/x.ts"; import "../evidence/x.ts"; import "../../domain/x.ts";`,
    refused: false,
  },
  { file: "core/log/a.ts", code: `import "../use-cases/x.ts";`, refused: true },
  { file: "core/log/b.ts", code: `import "effect";`, refused: true },
  { file: "core/log/c.ts", code: `import "node:crypto";`, refused: true },
  {
    file: "core/log/ok.ts",
    code: `import "../domain/x.ts"; import "../protocol/accounts/x.ts"; import "./y.ts";`,
    refused: false,
  },
  { file: "core/log/tree/a.ts", code: `import "../../use-cases/index/x.ts";`, refused: true },
  { file: "core/log/tree/b.ts", code: `import "../../../ports/x.ts";`, refused: true },
  {
    file: "core/log/tree/ok.ts",
    code: `import "../leaf/x.ts"; import "../../domain/x.ts"; import "../../protocol/crypto/x.ts";`,
    refused: false,
  },
  { file: "core/use-cases/a.ts", code: `import "../../adapters/sqlite/x.ts";`, refused: true },
  { file: "core/use-cases/b.ts", code: `import "bun:sqlite";`, refused: true },
  { file: "core/use-cases/c.ts", code: `import "elysia";`, refused: true },
  {
    file: "core/use-cases/ok.ts",
    code: `import "../../ports/x.ts"; import "../log/x.ts"; import "effect";`,
    refused: false,
  },
  {
    file: "core/use-cases/index/sync/a.ts",
    code: `import "../../../../adapters/sqlite/x.ts";`,
    refused: true,
  },
  { file: "core/use-cases/index/sync/b.ts", code: `import "elysia";`, refused: true },
  {
    file: "core/use-cases/index/sync/events/a.ts",
    code: `import "../../../../../adapters/sqlite/x.ts";`,
    refused: true,
  },
  { file: "core/use-cases/index/sync/events/b.ts", code: `import "elysia";`, refused: true },
  {
    file: "core/use-cases/index/sync/events/ok.ts",
    code: `import "../../../../domain/a.ts"; import "../../../../log/tree/e.ts"; import "../../../../../ports/index/c.ts"; import "../ledger/d.ts"; import "../../../escrow/e.ts";`,
    refused: false,
  },
  {
    file: "core/use-cases/index/sync/ok.ts",
    code: `import "../../../domain/a.ts"; import "../../../protocol/b.ts"; import "../../../log/tree/e.ts"; import "../../../../ports/c.ts"; import "../d.ts"; import "../../e.ts";`,
    refused: false,
  },
  {
    file: "core/use-cases/relay/a.ts",
    code: `import "../../../adapters/sqlite/x.ts";`,
    refused: true,
  },
  { file: "core/use-cases/relay/b.ts", code: `import "elysia";`, refused: true },
  {
    file: "core/use-cases/relay/ok.ts",
    code: `import "../escrow/x.ts"; import "../../protocol/rules/x.ts"; import "../../log/x.ts"; import "../../../ports/x.ts";`,
    refused: false,
  },
  { file: "ports/a.ts", code: `import "../core/protocol/x.ts";`, refused: true },
  { file: "ports/b.ts", code: `import "../adapters/http/x.ts";`, refused: true },
  { file: "ports/c.ts", code: `import "node:crypto";`, refused: true },
  { file: "ports/log/a.ts", code: `import "../../core/protocol/x.ts";`, refused: true },
  { file: "ports/log/b.ts", code: `import "../../adapters/http/x.ts";`, refused: true },
  {
    file: "ports/log/ok.ts",
    code: `import "../../core/domain/x.ts"; import "../index/x.ts"; import "effect";`,
    refused: false,
  },
  { file: "ports/ok.ts", code: `import "../core/domain/x.ts"; import "effect";`, refused: false },
  { file: "adapters/http/a.ts", code: `import "../sqlite/x.ts";`, refused: true },
  { file: "adapters/http/d.ts", code: `import "../bun/x.ts";`, refused: false },
  { file: "adapters/http/server/d.ts", code: `import "../../bun/x.ts";`, refused: false },
  { file: "adapters/sqlite/d.ts", code: `import "../sql/x.ts";`, refused: false },
  { file: "adapters/postgres/index/d.ts", code: `import "../../sql/x.ts";`, refused: false },
  {
    file: "adapters/postgres/index/build/d.ts",
    code: `import "../../../sql/x.ts";`,
    refused: false,
  },
  { file: "adapters/signer/a.ts", code: `import "../../client/pay/pay.ts";`, refused: true },
  { file: "adapters/signer/b.ts", code: `import "../../client/node/key-file.ts";`, refused: true },
  { file: "adapters/http/x.ts", code: `import "../../client/node/x.ts";`, refused: true },
  {
    file: "adapters/signer/ok.ts",
    code: `import "../../client/node/command-signer.ts"; import "../../client/node/ssh-agent-signer.ts"; import "../bun/x.ts"; import "../../ports/log/x.ts";`,
    refused: false,
  },
  { file: "adapters/sql/a.ts", code: `import "../sqlite/x.ts";`, refused: true },
  { file: "adapters/sql/b.ts", code: `import "../postgres/x.ts";`, refused: true },
  { file: "adapters/sql/c.ts", code: `import "bun:sqlite";`, refused: true },
  { file: "adapters/http/b.ts", code: `import "../../app/x.ts";`, refused: true },
  { file: "adapters/http/server/a.ts", code: `import "../../sqlite/x.ts";`, refused: true },
  { file: "adapters/http/server/b.ts", code: `import "../../../app/x.ts";`, refused: true },
  {
    file: "adapters/http/server/ok.ts",
    code: `import "../x.ts"; import "../../../core/domain/x.ts"; import "elysia";`,
    refused: false,
  },
  {
    file: "adapters/http/pages/console/a.ts",
    code: `import "../../../sqlite/x.ts";`,
    refused: true,
  },
  {
    file: "adapters/http/pages/console/b.ts",
    code: `import "../../../../app/x.ts";`,
    refused: true,
  },
  {
    file: "adapters/http/pages/console/ok.ts",
    code: `import "../../server/x.ts"; import "../../../../core/domain/x.ts";`,
    refused: false,
  },
  { file: "client/a.ts", code: `import "../adapters/http/x.ts";`, refused: true },
  { file: "client/b.ts", code: `import "node:fs";`, refused: true },
  { file: "client/c.ts", code: `import "../core/use-cases/x.ts";`, refused: true },
  {
    file: "client/ok.ts",
    code: `import "../core/protocol/x.ts"; import "../core/log/x.ts";`,
    refused: false,
  },
  { file: "client/d.ts", code: `import "./bin/x.ts";`, refused: true },
  { file: "client/pay/a.ts", code: `import "../../adapters/http/x.ts";`, refused: true },
  { file: "client/pay/b.ts", code: `import "node:fs";`, refused: true },
  { file: "client/pay/c.ts", code: `import "../node/key-file.ts";`, refused: true },
  { file: "client/pay/d.ts", code: `import "../../core/use-cases/x.ts";`, refused: true },
  {
    file: "client/pay/ok.ts",
    code: `import "../service/x.ts"; import "../../core/domain/x.ts"; import "../../core/log/tree/x.ts"; import "@noble/hashes/sha2.js";`,
    refused: false,
  },
  { file: "client/pay/e.ts", code: `import "../command-line/x.ts";`, refused: true },
  { file: "client/merchant/settle/a.ts", code: `import "../../../app/x.ts";`, refused: true },
  { file: "client/merchant/settle/b.ts", code: `import "../../node/x.ts";`, refused: true },
  {
    file: "client/merchant/settle/ok.ts",
    code: `import "../../../core/protocol/x.ts"; import "../../service/x.ts"; import "../x.ts";`,
    refused: false,
  },
  { file: "client/e.ts", code: `import "./merchant/attestor/rules.ts";`, refused: true },
  { file: "client/pay/f.ts", code: `import "../merchant/attestor/rules.ts";`, refused: true },
  { file: "client/merchant/a.ts", code: `import "./attestor/rules.ts";`, refused: true },
  { file: "client/merchant/settle/c.ts", code: `import "../attestor/rules.ts";`, refused: true },
  { file: "client/merchant/attestor/a.ts", code: `import "../../../app/x.ts";`, refused: true },
  { file: "client/merchant/attestor/b.ts", code: `import "../../bin/x.ts";`, refused: true },
  { file: "client/merchant/attestor/c.ts", code: `import "bun";`, refused: true },
  {
    file: "client/merchant/attestor/ok.ts",
    code: `import "node:fs"; import "ajv"; import "./rules.ts"; import "../settle/x.ts"; import "../../node/x.ts"; import "../../../core/domain/x.ts";`,
    refused: false,
  },
  { file: "client/x402/seller/a.ts", code: `import "../../../app/x.ts";`, refused: true },
  { file: "client/x402/seller/b.ts", code: `import "../../node/x.ts";`, refused: true },
  { file: "client/x402/seller/c.ts", code: `import "node:fs";`, refused: true },
  {
    file: "client/x402/seller/ok.ts",
    code: `import "../network.ts"; import "../../pay/x.ts"; import "../../../core/domain/x.ts";`,
    refused: false,
  },
  { file: "client/command-line/a.ts", code: `import "../../app/layers.ts";`, refused: true },
  { file: "client/command-line/b.ts", code: `import "effect";`, refused: true },
  {
    file: "client/command-line/ok.ts",
    code: `import "../node/x.ts"; import "node:fs"; import "../../core/protocol/x.ts";`,
    refused: false,
  },
  { file: "client/mcp/tools/a.ts", code: `import "../../../app/x.ts";`, refused: true },
  { file: "client/mcp/tools/b.ts", code: `import "../../bin/x.ts";`, refused: true },
  { file: "client/mcp/tools/c.ts", code: `import "node:fs";`, refused: true },
  {
    file: "client/mcp/tools/d.ts",
    code: `import "@modelcontextprotocol/server";`,
    refused: true,
  },
  {
    file: "client/mcp/tools/ok.ts",
    code: `import "../tool.ts"; import "../../service/x.ts"; import "../../../core/domain/x.ts";`,
    refused: false,
  },
  { file: "client/bin/a.ts", code: `import "../../app/layers.ts";`, refused: true },
  { file: "client/bin/b.ts", code: `import "effect";`, refused: true },
  { file: "client/node/a.ts", code: `import "bun";`, refused: true },
  { file: "client/node/b.ts", code: `import "../../core/use-cases/x.ts";`, refused: true },
  {
    file: "client/bin/ok.ts",
    code: `import "../node/x.ts"; import "../pay/x.ts"; import "node:fs"; import "../../core/protocol/x.ts";`,
    refused: false,
  },
  {
    file: "client/node/ok.ts",
    code: `import "node:fs"; import "../signing/x.ts";`,
    refused: false,
  },
  { file: "programs/a.ts", code: `import "../adapters/http/x.ts";`, refused: true },
  { file: "tools/a.ts", code: `import "../app/layers.ts";`, refused: true },
  { file: "tools/new/a.ts", code: `import "../../core/domain/x.ts";`, refused: true },
  { file: "tools/new/ok.ts", code: `import "../x.ts"; import "node:fs";`, refused: false },
  { file: "app/a.ts", code: `import "../tools/x.ts";`, refused: true },
  { file: "app/commands/a.ts", code: `import "../../tools/x.ts";`, refused: true },
  { file: "app/b.ts", code: `import "./sync-worker/worker.ts";`, refused: true },
  { file: "app/sync-worker/a.ts", code: `import "./worker.ts";`, refused: true },
  { file: "app/sync-worker/b.ts", code: `import "../../adapters/http/x.ts";`, refused: true },
  { file: "app/sync-worker/c.ts", code: `import "../../tools/x.ts";`, refused: true },
  {
    file: "app/sync-worker/ok.ts",
    code: `import "../syncing/syncing-side.ts"; import "../../adapters/sqlite/x.ts"; import "./messages.ts";`,
    refused: false,
  },
  { file: "app/ok.ts", code: `import "../adapters/http/x.ts";`, refused: false },
  {
    file: "app/cycle-a.ts",
    code: `import { b } from "./cycle-b.ts"; export const a = () => b;`,
    refused: true,
  },
  {
    file: "app/cycle-b.ts",
    code: `import { a } from "./cycle-a.ts"; export const b = () => a;`,
    refused: true,
  },
] as const;

let folder = "";
let reported = new Set<string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "import-fence-"));
  await cp(join(root, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  for (const { file, code } of planted) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await Bun.write(join(folder, file), `${code}\n`);
  }
  const lint = Bun.spawn([join(root, "node_modules/.bin/oxlint"), "--format", "json", "."], {
    cwd: folder,
    stdout: "pipe",
    stderr: "inherit",
  });
  const { diagnostics } = (await new Response(lint.stdout).json()) as {
    diagnostics: ReadonlyArray<{ filename: string; code: string }>;
  };
  const fence = [
    "no-restricted-imports",
    "no-restricted-globals",
    "no-cycle",
    "consistent-type-imports",
  ];
  reported = new Set(
    diagnostics.filter((d) => fence.some((rule) => d.code.includes(rule))).map((d) => d.filename),
  );
});

afterAll(() => rm(folder, { recursive: true, force: true }));

for (const { file, code, refused } of planted) {
  test(`${refused ? "refuses" : "allows"} in ${file}: ${code}`, () => {
    expect(reported.has(file)).toBe(refused);
  });
}

test("only the two SQL stores import what they share", async () => {
  for await (const file of new Bun.Glob("adapters/**/*.ts").scan(root))
    if (!/^adapters\/(sql|sqlite|postgres)\//.test(file))
      expect(await Bun.file(join(root, file)).text(), file).not.toMatch(/"(\.\.\/)+sql\//);
});
