import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Layer, Logger } from "effect";
import { webhookRecordsSqlite } from "../../../adapters/sqlite/webhook-records.ts";
import { WebhookRecords } from "../../../ports/webhook-records.ts";
import { webhookRecordsContract } from "../../contracts/webhook-records.ts";
import { tmpdir } from "../../temporary-root.ts";

const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = () => join(folder, `${files++}`, "webhooks.sqlite");

webhookRecordsContract("webhookRecordsSqlite", () => {
  const path = newPath();
  return () => webhookRecordsSqlite(path);
});

test("secrets are in files that only the service's user reads, whatever it lets others read", async () => {
  const path = newPath();
  const before = process.umask(0);
  try {
    await Effect.runPromise(
      WebhookRecords.use(({ replace }) =>
        Effect.andThen(
          replace("wh_a", null, "secret"),
          Effect.sync(() => {
            const names = readdirSync(join(path, ".."));
            expect(names).toContain("webhooks.sqlite-wal");
            for (const name of names)
              expect(statSync(join(path, "..", name)).mode & 0o777).toBe(0o600);
          }),
        ),
      ).pipe(Effect.provide(webhookRecordsSqlite(path))),
    );
  } finally {
    process.umask(before);
  }
});

test("with a file that is no store each use fails, and the log says why", async () => {
  const path = join(folder, "text.sqlite");
  writeFileSync(
    path,
    "not a database, and longer than a header of one would be, by some text more",
  );
  const lines: Array<string> = [];
  const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))]);
  const failure = await Effect.runPromise(
    Effect.flip(WebhookRecords.use(({ all }) => all)).pipe(
      Effect.provide(Layer.provide(webhookRecordsSqlite(path), logger)),
    ),
  );
  expect(failure).toMatchObject({ _tag: "StoreUnavailable", retryable: false });
  expect(lines.join("\n")).toContain("webhooks cannot be read");
  expect(lines.join("\n")).toContain(path);
});
