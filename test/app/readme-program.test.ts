import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  installFrom,
  readmeMerchant,
  readmeProgram,
  runReadme,
  tryReadme,
} from "./support/readme-program.ts";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { temporaryDirectory, synced } from "./support/running-service.ts";
import { startedServices } from "./support/started-services.ts";

const LONG_MS = 240_000;

const services = startedServices();
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  directory = await temporaryDirectory();
});

afterAll(() => directory.remove());

test("the README's first block is a program of at most twelve lines that pays and waits", async () => {
  const program = await readmeProgram();
  expect(program).toContain("client.pay(");
  expect(program).toContain("client.settled(");
});

test("the README's command for the merchant's side holds the demo keys", async () => {
  const command = await readmeMerchant();
  const hex = (label: string) => Buffer.from(localKey(label).seed).toString("hex");
  expect(command).toContain(`ATTESTOR_KEY=${hex("attestor/forecast")} `);
  expect(command).toContain(`PAYER_KEY=${hex("merchant/forecast")} `);
});

test(
  "the README's program, with the client that the service hands out, pays and ends with verified evidence; run again it pays nothing, and the fourth payment of a day is beyond its limit",
  async () => {
    const service = services.start(await services.alone());
    const url = await service.url;
    await synced(url);
    await installFrom(url, directory.path);
    const [paid, settled] = await runReadme(url, directory.path);
    expect(paid).toMatch(/^paid into [1-9A-HJ-NP-Za-km-z]{32,44}$/);
    expect(settled).toBe("Fulfilled verified");
    const program = Bun.spawn([Bun.which("node") ?? process.execPath, "agent.mjs"], {
      cwd: directory.path,
      stdout: "pipe",
      stderr: "inherit",
    });
    expect((await new Response(program.stdout).text()).trim().split("\n")).toEqual([
      paid ?? "",
      "Fulfilled verified",
    ]);
    // Each run is a process of its own, and the day's limit is over all of them.
    for (const nonce of ["order-2", "order-3"])
      expect(await tryReadme(url, directory.path, nonce)).toMatchObject({ code: 0 });
    const fourth = await tryReadme(url, directory.path, "order-4");
    expect(fourth).toMatchObject({
      code: 1,
      lines: [""],
      errors: expect.stringContaining("1.500000 USDC on top of 4.500000 USDC is more than 5 a day"),
    });
  },
  LONG_MS,
);
