import { afterAll, beforeAll, expect, test } from "bun:test";
import { localKey } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import { delivered, merchantFixture } from "../merchant-fixture.ts";

const wallet = localKey("merchant/forecast");
const attestor = localKey("attestor/forecast");

/** Moments at which the first process is killed. */
const MOMENTS = ["while it reads the escrow", "while it signs", "after it has printed"] as const;
const RUNS = Number(process.env["ATTEST_KILLS"] ?? 3);

let merchant: Awaited<ReturnType<typeof merchantFixture>>;
let reached: (() => void) | null = null;
let proxy: ReturnType<typeof Bun.serve>;
beforeAll(async () => {
  merchant = await merchantFixture();
  proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      reached?.();
      const { pathname, search } = new URL(request.url);
      return pathname === "/signing"
        ? new Response("go on")
        : fetch(`${merchant.service.url}${pathname}${search}`);
    },
  });
});
afterAll(async () => {
  await proxy.stop(true);
  await merchant.stop();
});

const hashesIn = (stdout: string): ReadonlyArray<string> =>
  [...stdout.matchAll(/"proof_hash":"([0-9a-f]{64})"/g)].map(([, hash]) => hash ?? "");

/** A signer's command that tells the proxy before it signs. */
const tellingSigner = async (): Promise<string> => {
  const seed = Buffer.from(attestor.seed).toString("hex");
  const script = await merchant.file(
    "telling.ts",
    `import { createPrivateKey, sign } from "node:crypto";
const message = Buffer.from(await Bun.stdin.arrayBuffer());
await (await fetch("http://127.0.0.1:${proxy.port}/signing")).text();
const key = createPrivateKey({ key: Buffer.from("302e020100300506032b657004220420${seed}", "hex"), format: "der", type: "pkcs8" });
process.stdout.write(sign(null, message, key));`,
  );
  return `${process.execPath} ${script}`;
};

for (let run = 0; run < RUNS; run++) {
  const moment = MOMENTS[run % MOMENTS.length] ?? MOMENTS[0];
  test(`killed ${moment}, then two proofs at once: one proof is ever signed (run ${run})`, async () => {
    const { escrow } = await merchant.pay(wallet);
    const first = delivered(await merchant.taskHashOf(escrow), "ab");
    const other = { ...first, content_sha256: "cd".repeat(32) };
    const args = [
      "attest",
      "--trust",
      merchant.there[3] ?? "",
      escrow,
      "--template",
      "api-delivered-v1",
      "--payload",
      "-",
    ];
    const key = ["--key", await merchant.keyFile(attestor)];
    const isReading = moment === "while it reads the escrow";
    const signer =
      moment === "while it signs"
        ? ["--signer-command", await tellingSigner(), "--signer", attestor.address]
        : key;
    const url = isReading ? `http://127.0.0.1:${proxy.port}` : merchant.service.url;
    const child = merchant.start([...args, "--service", url, ...signer], JSON.stringify(first));
    const kill = () => child.kill("SIGKILL");
    reached = moment === "after it has printed" ? null : kill;
    let printed = "";
    for await (const part of child.stdout) {
      printed += new TextDecoder().decode(part);
      if (moment === "after it has printed" && printed.includes("\n")) kill();
    }
    await child.exited;
    reached = null;
    // What has printed may have ended before the signal came.
    if (moment !== "after it has printed") expect(child.signalCode).toBe("SIGKILL");
    const again = [...args, "--service", merchant.service.url, ...key];
    const both = await Promise.all(
      [first, other].map((payload) => merchant.runApart(again, JSON.stringify(payload))),
    );
    expect(both.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 1]);
    const hashes = new Set(
      both.flatMap(({ stdout }) => hashesIn(stdout)).concat(hashesIn(printed)),
    );
    expect(hashes.size).toBe(1);
    // The claim of a process that came to sign stands.
    if (!isReading) expect(both[0]?.code).toBe(0);
  });
}
