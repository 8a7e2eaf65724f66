import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { startedServices } from "../support/started-services.ts";

const { alone, start } = startedServices();

/** How a service ends that cannot start. */
const ended = async (env: Readonly<Record<string, string>>) => start(env).ended;

test.concurrent("a second service on the same DATA_DIR or the same port ends with an explanation", async () => {
  const env = await alone();
  const first = start(env);
  const { port } = new URL(await first.url);
  const [sameDirectory, samePort] = await Promise.all([
    ended(env),
    ended({ ...(await alone()), PORT: port }),
  ]);
  expect(sameDirectory.code).toBe(1);
  expect(sameDirectory.stderr).toContain("another service is using it");
  expect(samePort.code).toBe(1);
  expect(samePort.stderr).toContain(`Port ${port} on 127.0.0.1 is taken`);
  expect((await fetch(`${await first.url}/health`)).status).toBe(200);
  first.kill("SIGINT");
  expect((await first.ended).code).toBe(0);
}, 60_000);

test.concurrent("a service that cannot start explains it on standard error and exits with 1", async () => {
  const [configuration, unwritable] = await Promise.all([
    ended({ PORT: "http", DATABASE_URL: "postgres://u:hunter2@db/x?schema=A-B" }),
    ended({ DATA_DIR: "/dev/null/data" }),
  ]);
  expect(configuration).toMatchObject({ code: 1, stdout: "" });
  expect(configuration.stderr.trim().split("\n")).toEqual([
    "The configuration is not usable:",
    '  PORT is "http"; expected a whole number from 0 to 65535',
    "  DATABASE_URL is set, but malformed; expected a postgres:// address, % written as %25; ?schema= in small letters, digits and underscores, ?sslmode= one of disable, allow, prefer, require, verify-ca and verify-full",
  ]);
  expect(unwritable.code).toBe(1);
  expect(unwritable.stderr).toStartWith("DATA_DIR /dev/null/data: it cannot be written");
}, 60_000);

test.concurrent("a store that the sync worker cannot open ends the service with its path, the cause and the cure", async () => {
  const env = await alone();
  writeFileSync(`${env.DATA_DIR}/log`, "");
  const { code, stderr } = await ended(env);
  expect(code).toBe(1);
  expect(stderr).toStartWith(
    `${env.DATA_DIR}/log cannot be used: a file stands where a folder belongs`,
  );
  expect(stderr).toContain("Move it away, or set another DATA_DIR.");
}, 60_000);

test.concurrent("a service that lists a mint with other decimals than the ledger's ends with an explanation", async () => {
  const wrong = { SUPPORTED_MINTS: `${LOCAL_USDC_MINT}:9:PLAY` };
  const { code, stderr } = await ended({ ...(await alone()), ...wrong });
  expect(code).toBe(1);
  expect(stderr).toContain(
    `SUPPORTED_MINTS lists ${LOCAL_USDC_MINT} (PLAY) with 9 decimals, but the mint on the ledger has 6`,
  );
}, 60_000);
