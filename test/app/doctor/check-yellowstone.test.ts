import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { checkYellowstone } from "../../../app/doctor/check-yellowstone.ts";
import { type Finding, finding } from "../../../app/doctor/finding.ts";
import {
  type GeyserServerOptions,
  startGeyserServer,
} from "../../adapters/yellowstone/geyser-server.ts";
import { walletOf } from "../../simulation/world-escrow.ts";
import { tmpdir } from "../../temporary-root.ts";
import { SILENT_ADDRESS } from "../support/silent-address.ts";

const folder = mkdtempSync(join(tmpdir(), "check-yellowstone-"));
afterAll(() => rmSync(folder, { recursive: true }));

const tokenFile = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const checked = (url: URL, file: string | null): Promise<Finding> =>
  Effect.runPromise(
    finding("yellowstone", checkYellowstone({ url, tokenFile: file }, [walletOf("program")])),
  );

const atServer = async (options: GeyserServerOptions, file: string | null) => {
  const server = await startGeyserServer(options);
  try {
    return await checked(server.url, file);
  } finally {
    await server.stop();
  }
};

test("a server that takes the subscription is well, with a token and without", async () => {
  for (const found of [
    await atServer({}, null),
    await atServer({ token: "right" }, tokenFile("right", "right\n")),
  ]) {
    expect(found).toMatchObject({ check: "yellowstone", ok: true });
    expect(found.text).toMatch(/^127\.0\.0\.1:\d+ takes the subscription$/);
  }
});

test("each problem is named with its cure", async () => {
  const nowhere = new URL(SILENT_ADDRESS);
  const cases: ReadonlyArray<readonly [Finding, ...ReadonlyArray<string>]> = [
    [
      await atServer({ token: "right" }, tokenFile("wrong", "wrong")),
      "UNAUTHENTICATED No valid auth token; check the token in the file of YELLOWSTONE_TOKEN_FILE",
    ],
    [await checked(nowhere, join(folder, "nothing")), "its file cannot be read"],
    [await checked(nowhere, tokenFile("empty", "\n")), "one line of printable ASCII"],
    [await checked(nowhere, null), "UNAVAILABLE", "check YELLOWSTONE_URL"],
  ];
  for (const [{ ok, text }, ...parts] of cases) {
    expect(ok).toBe(false);
    for (const part of parts) expect(text).toContain(part);
  }
});

/** A certificate for localhost that signs itself. */
const selfSigned = () => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const kind = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
  const { exitCode, stderr } = Bun.spawnSync([
    "openssl",
    ...kind.split(" "),
    "-subj",
    "/CN=test",
    "-addext",
    "subjectAltName=DNS:localhost",
    "-keyout",
    key,
    "-out",
    cert,
  ]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return { key, cert };
};

/** The finding of a process that trusts an authority besides the usual ones, or none besides. */
const inProcess = async (url: URL, authority: string | null): Promise<Finding> => {
  const script = join(import.meta.dir, "check-yellowstone-once.ts");
  const child = Bun.spawn([process.execPath, script, url.href], {
    env: {
      PATH: process.env["PATH"] ?? "",
      ...(authority === null ? {} : { NODE_EXTRA_CA_CERTS: authority }),
    },
    stdout: "pipe",
  });
  const text = await new Response(child.stdout).text();
  await child.exited;
  return JSON.parse(text) as Finding;
};

test.if(Bun.which("openssl") !== null)(
  "over TLS, a server is believed under an authority that the process trusts, and only then",
  async () => {
    const { key, cert } = selfSigned();
    const bytes = async (path: string) => Buffer.from(await Bun.file(path).arrayBuffer());
    const tls = { cert: await bytes(cert), key: await bytes(key) };
    const server = await startGeyserServer({ tls });
    try {
      expect(await inProcess(server.url, cert)).toMatchObject({ ok: true });
      const refused = await inProcess(server.url, null);
      expect(refused.ok).toBe(false);
      expect(refused.text).toContain("check YELLOWSTONE_URL");
    } finally {
      await server.stop();
    }
  },
  120_000,
);
