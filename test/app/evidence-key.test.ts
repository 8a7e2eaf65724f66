import { afterAll, expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { encodeBase58 } from "../../core/domain/encoding/base58.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import { quietEnvironment, temporaryDirectory, untilReady } from "./support/running-service.ts";
import { type ServiceProcess, startShortLivedService } from "./support/service-process.ts";

const directory = await temporaryDirectory();
let service: ServiceProcess | undefined;

afterAll(async () => {
  service?.kill("SIGKILL");
  await service?.ended;
  await directory.remove();
});

test("only the owner can read the generated evidence key, and it is in no log and in no other file", async () => {
  service = startShortLivedService({
    ...quietEnvironment(withDemoLedger(directory.path)),
    LOG_LEVEL: "debug",
  });
  const url = await service.url;
  await untilReady(url);
  const paths = [
    "/.well-known/jwks.json",
    "/.well-known/evidence-trust.json",
    "/v1/status",
    "/metrics",
  ];
  const answers = await Promise.all(
    paths.map(async (path) => (await fetch(`${url}${path}`)).text()),
  );

  const path = join(directory.path, "evidence-signing-key");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const seed = Buffer.from((await Bun.file(path).text()).trim(), "base64");
  expect(seed).toHaveLength(32);
  const forms = [
    seed.toString("base64").replace(/=+$/, ""),
    seed.toString("base64url"),
    seed.toString("hex"),
    encodeBase58(new Uint8Array(seed)),
    [...seed].join(","),
  ];

  service.kill("SIGTERM");
  const { stdout, stderr } = await service.ended;
  expect(stdout).toContain("listening");
  for (const form of forms)
    expect(`${stdout}${stderr}${answers.join("")}`.includes(form)).toBe(false);
  for (const name of await readdir(directory.path, { recursive: true })) {
    const file = join(directory.path, name);
    if (file === path || !(await stat(file)).isFile()) continue;
    const bytes = Buffer.from(await Bun.file(file).bytes());
    for (const form of [seed, ...forms])
      expect([name, bytes.includes(form)]).toEqual([name, false]);
  }
}, 60_000);
