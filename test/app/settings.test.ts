import { describe, expect, test } from "bun:test";
import { Effect, Redacted, Result } from "effect";
import { readSettings } from "../../app/config/settings.ts";
import { faultLines } from "../../app/config/variable.ts";

const PROGRAMS = {
  CUSTODY_PROGRAM_ID: "Ed25519SigVerify111111111111111111111111111",
  ATTESTOR_PROGRAM_ID: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
};

const linesOf = (env: Record<string, string>): ReadonlyArray<string> => {
  const result = Effect.runSync(Effect.result(readSettings(env)));
  return Result.isFailure(result) ? faultLines(result.failure.faults) : [];
};

test("an empty environment gives a service on the embedded ledger", () => {
  const settings = Effect.runSync(readSettings({ HOST: "", LOG_LEVEL: "  " }));
  expect(settings).toMatchObject({
    host: "127.0.0.1",
    port: 3000,
    metricsPort: null,
    workers: 1,
    dataDir: "./data",
    ledger: { kind: "embedded", port: 8899, demo: true },
    syncIntervalSeconds: 2,
    scanEverySeconds: 0,
    rateLimits: { reads: 1200, prepare: 600, relay: 120, sync: 20 },
    corsOrigins: ["*"],
    publicUrl: null,
    telemetry: null,
    logLevel: "info",
  });
});

test("a remote ledger has its nodes in order, its programs, and the cluster that its address names", () => {
  const settings = Effect.runSync(
    readSettings({
      ...PROGRAMS,
      SOLANA_RPC_URL: "https://api.devnet.solana.com, https://devnet.example.com/?api-key=k",
    }),
  );
  if (settings.ledger.kind !== "remote") throw new Error("not remote");
  expect(settings.ledger.rpcUrls.map((url) => Redacted.value(url).host)).toEqual([
    "api.devnet.solana.com",
    "devnet.example.com",
  ]);
  expect(settings.ledger.cluster).toBe("devnet");
  expect(Redacted.value(settings.ledger.webSocketUrl).href).toBe("wss://api.devnet.solana.com/");
  expect(String(settings.ledger.deployment.custodyProgram)).toBe(PROGRAMS.CUSTODY_PROGRAM_ID);
  expect(settings.syncIntervalSeconds).toBe(30);
  expect(JSON.stringify(settings)).not.toContain("api-key");
});

test("several workers need a database and a ledger that they share, and none of them is a witness", () => {
  const env = { ...PROGRAMS, SOLANA_RPC_URL: "https://api.devnet.solana.com", WORKERS: "2" };
  expect(linesOf({ ...env, DATABASE_URL: "postgres://u@db/x" })).toEqual([]);
  expect(linesOf({ WORKERS: "2" })).toEqual([
    "WORKERS is 2; expected 1, or DATABASE_URL as well: only one process writes files in DATA_DIR",
    "WORKERS is 2; expected 1, or SOLANA_RPC_URL as well: only one process runs the embedded ledger",
  ]);
  const witness = { WITNESS_LOGS: "/l", WITNESS_KEY_FILE: "/k", WITNESS_NAME: "w" };
  expect(linesOf({ ...env, DATABASE_URL: "postgres://u@db/x", ...witness })).toEqual([
    "WORKERS is 2; expected 1, or no WITNESS_LOGS: a witness is one process; run it as cli witness",
  ]);
});

test("a program's pins are hashes in any case, several separated by commas, and none by default", () => {
  const pin = "0123456789ABCDEF".repeat(4);
  const pinsOf = (env: Record<string, string>) => Effect.runSync(readSettings(env)).programPins;
  expect(pinsOf({})).toEqual({ custody: [], attestor: [] });
  expect(JSON.stringify(pinsOf({ CUSTODY_PROGRAM_SHA256: `${pin}, ${"0".repeat(64)}` }))).toBe(
    JSON.stringify({ custody: [pin.toLowerCase(), "0".repeat(64)], attestor: [] }),
  );
  expect(linesOf({ ATTESTOR_PROGRAM_SHA256: "ab," })).toEqual([
    `ATTESTOR_PROGRAM_SHA256 is "ab,"; expected the SHA-256 of a program's file in 64 hex digits; several separated by commas`,
  ]);
});

test.each([
  [{ SOLANA_RPC_URL: "http://127.0.0.1:8899", SOLANA_CLUSTER: "localnet" }, "ws://127.0.0.1:8900/"],
  [{ SOLANA_RPC_URL: "https://node.example/k" }, "wss://node.example/k"],
  [
    { SOLANA_RPC_URL: "https://node.example/k", SOLANA_WS_URL: "wss://other.example/s" },
    "wss://other.example/s",
  ],
])("the WebSocket of %j is %s", (env, url) => {
  const { ledger } = Effect.runSync(
    readSettings({ ...PROGRAMS, SOLANA_CLUSTER: "devnet", ...env }),
  );
  expect(ledger.kind === "remote" && Redacted.value(ledger.webSocketUrl).href).toBe(url);
});

test("a Yellowstone server has an address of host and port, and a file for its token", () => {
  const yellowstoneOf = (env: Record<string, string>) => {
    const remote = { ...PROGRAMS, SOLANA_RPC_URL: "https://api.devnet.solana.com" };
    const { ledger } = Effect.runSync(readSettings({ ...remote, ...env }));
    return ledger.kind === "remote" ? ledger.yellowstone : undefined;
  };
  const url = "https://grpc.example:10000";
  expect(yellowstoneOf({})).toBeNull();
  expect(yellowstoneOf({ YELLOWSTONE_URL: url })).toEqual({ url: new URL(url), tokenFile: null });
  expect(yellowstoneOf({ YELLOWSTONE_URL: url, YELLOWSTONE_TOKEN_FILE: "/run/token" })).toEqual({
    url: new URL(url),
    tokenFile: "/run/token",
  });
});

test.each([
  "grpc://grpc.example",
  "https://grpc.example/hunter2",
  "https://grpc.example/?token=hunter2",
  "https://user:hunter2@grpc.example",
])("YELLOWSTONE_URL %j stops the start, and is not quoted", (YELLOWSTONE_URL) => {
  const lines = linesOf({
    ...PROGRAMS,
    SOLANA_RPC_URL: "https://api.devnet.solana.com",
    YELLOWSTONE_URL,
  });
  expect(lines).toEqual([expect.stringMatching(/^YELLOWSTONE_URL /) as string]);
  expect(lines[0]).not.toContain("hunter2");
});

test("a NATS server's password is shown to nobody", () => {
  const { natsUrl } = Effect.runSync(
    readSettings({ NATS_URL: "tls://log:s3cret%20@nats.example" }),
  );
  if (natsUrl === null) throw new Error("the server is set");
  expect(Redacted.value(natsUrl).host).toBe("nats.example");
  expect(JSON.stringify(natsUrl)).not.toContain("s3cret");
});

test("a collector's headers are percent-decoded, and shown to nobody", () => {
  const { telemetry } = Effect.runSync(
    readSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://otlp.example:4318/in",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20secret, x-scope=a=b",
    }),
  );
  if (telemetry === null) throw new Error("no collector");
  expect(telemetry.endpoint.href).toBe("https://otlp.example:4318/in");
  expect(Redacted.value(telemetry.headers)).toEqual({
    authorization: "Bearer secret",
    "x-scope": "a=b",
  });
  expect(JSON.stringify(telemetry)).not.toContain("secret");
});

test("all faults are reported at once, one line each, without any secret", () => {
  const lines = linesOf({
    PORT: "70000",
    ENFORCE_BETA_LIMITS: "perhaps",
    SUPPORTED_MINTS: "USDC",
    SOLANA_RPC_URL: "ftp://user:hunter2@node",
    DATABASE_URL: "mysql://u:hunter2@db",
    EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"),
    EVIDENCE_RETIRED_KEYS: "hunter2",
    EVIDENCE_SIGNING_KEY_FILE: "/keys/evidence.json",
    RATE_LIMIT_READ: "5",
  });
  expect(lines.map((line) => line.split(" ")[0])).toEqual([
    "PORT",
    "SOLANA_RPC_URL",
    "SUPPORTED_MINTS",
    "EVIDENCE_RETIRED_KEYS",
    "DATABASE_URL",
    "ENFORCE_BETA_LIMITS",
    "CUSTODY_PROGRAM_ID",
    "ATTESTOR_PROGRAM_ID",
    "EVIDENCE_SIGNING_KEY",
    "RATE_LIMIT_READ",
  ]);
  expect(lines[0]).toBe('PORT is "70000"; expected a whole number from 0 to 65535');
  // Public keys are quoted. Values that can hold a secret are not.
  const secrets = lines.filter((line) => !line.startsWith("EVIDENCE_RETIRED_KEYS"));
  expect(secrets.join("\n")).not.toMatch(/hunter2|BwcH/);
});

test.each([
  "postgres://u:hunter2@db/x?sslmode=on",
  "postgres://u:hunter2@db/x?max=many",
  "postgres://u:hunter2@db/x?application_name=a%00b",
  "postgres://u:hunter2%zz@db/x",
  "postgres://u:hunter2@db/%zz",
])("%s, which no connection can be made by, is one line without the password", (DATABASE_URL) => {
  const lines = linesOf({ DATABASE_URL });
  expect(lines).toEqual([expect.stringMatching(/^DATABASE_URL is set, but malformed; /) as string]);
  expect(lines[0]).toContain("sslmode");
  expect(lines[0]).not.toContain("hunter2");
});

describe("refuses", () => {
  const remote = { ...PROGRAMS, SOLANA_RPC_URL: "https://rpc.example.com/k" };
  const twoClusters = "https://api.devnet.solana.com,https://api.testnet.solana.com";
  const cases: ReadonlyArray<readonly [string, Record<string, string>, string]> = [
    ["a port in another base", { PORT: "0x10" }, "PORT"],
    ["the service's own port for the metrics", { METRICS_PORT: "3000" }, "METRICS_PORT"],
    ["the service's own port for the ledger", { LOCAL_LEDGER_PORT: "3000" }, "LOCAL_LEDGER_PORT"],
    [
      "the service's own port for the ledger's WebSocket",
      { PORT: "8900", LOCAL_LEDGER_PORT: "8899" },
      "LOCAL_LEDGER_PORT",
    ],
    ["the port of the metrics for the ledger", { METRICS_PORT: "8899" }, "LOCAL_LEDGER_PORT"],
    [
      "a server behind a pooler without the pooler",
      { DATABASE_DIRECT_URL: "postgres://db/x" },
      "DATABASE_URL",
    ],
    ["a standby without its primary", { DATABASE_READ_URL: "postgres://db/x" }, "DATABASE_URL"],
    [
      "a collector's headers without the collector",
      { OTEL_EXPORTER_OTLP_HEADERS: "authorization=x" },
      "OTEL_EXPORTER_OTLP_ENDPOINT",
    ],
    [
      "a collector's header without a value",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_EXPORTER_OTLP_HEADERS: "authorization" },
      "OTEL_EXPORTER_OTLP_HEADERS",
    ],
    ["a misspelt port for the metrics", { METRICS_PROT: "9100" }, "METRICS_PROT"],
    ["one origin where origins are listed", { CORS_ORIGIN: "*" }, "CORS_ORIGIN"],
    ["a limit without its s", { ENFORCE_BETA_LIMIT: "true" }, "ENFORCE_BETA_LIMIT"],
    ["a log level in one word", { LOGLEVEL: "debug" }, "LOGLEVEL"],
    [
      "a node's address in small letters",
      { solana_rpc_url: "https://x.example" },
      "solana_rpc_url",
    ],
    ["a negative interval", { SYNC_INTERVAL_SECONDS: "-1" }, "SYNC_INTERVAL_SECONDS"],
    ["a host with a scheme", { HOST: "http://0.0.0.0" }, "HOST"],
    ["an origin with a path", { CORS_ORIGINS: "https://a.example/x" }, "CORS_ORIGINS"],
    ["a block that is too wide", { TRUSTED_PROXIES: "10.0.0.0/33" }, "TRUSTED_PROXIES"],
    ["an empty item of a list", { TRUSTED_PROXIES: "10.0.0.1,,10.0.0.2" }, "TRUSTED_PROXIES"],
    [
      "an evidence key that is too short",
      { EVIDENCE_SIGNING_KEY: "c2hvcnQ=" },
      "EVIDENCE_SIGNING_KEY",
    ],
    ["a log's name with a scheme", { LOG_NAME: "https://log.example" }, "LOG_NAME"],
    ["a log's name with a plus", { LOG_NAME: "log+1.example" }, "LOG_NAME"],
    ["a log key that is too short", { LOG_SIGNING_KEY: "c2hvcnQ=" }, "LOG_SIGNING_KEY"],
    [
      "two log keys",
      { LOG_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"), LOG_SIGNING_KEY_FILE: "/k" },
      "LOG_SIGNING_KEY",
    ],
    ["a misspelt log key", { LOG_SIGNING_KEYFILE: "/k" }, "LOG_SIGNING_KEYFILE"],
    ["a misspelt list of witnesses", { LOG_WITNESS: "/p" }, "LOG_WITNESS"],
    [
      "a log key on a remote ledger without the log's name",
      { ...remote, SOLANA_CLUSTER: "devnet", LOG_SIGNING_KEY_FILE: "/k" },
      "LOG_NAME",
    ],
    [
      "a log's name on a remote ledger without its key",
      { ...remote, SOLANA_CLUSTER: "devnet", LOG_NAME: "log.example" },
      "LOG_NAME",
    ],
    [
      "witnesses on a remote ledger without a log key",
      { ...remote, SOLANA_CLUSTER: "devnet", LOG_WITNESSES: "/p" },
      "LOG_WITNESSES",
    ],
    [
      "append-only witnesses on a remote ledger without a log key",
      { ...remote, SOLANA_CLUSTER: "devnet", LOG_WITNESSES_APPEND_ONLY: "/p" },
      "LOG_WITNESSES_APPEND_ONLY",
    ],
    [
      "a NATS server on a remote ledger without a log key",
      { ...remote, SOLANA_CLUSTER: "devnet", NATS_URL: "nats://nats.example:4222" },
      "NATS_URL",
    ],
    ["a NATS server over HTTP", { NATS_URL: "http://nats.example" }, "NATS_URL"],
    ["a NATS server without a host", { NATS_URL: "nats:4222" }, "NATS_URL"],
    ["a NATS server with a path", { NATS_URL: "nats://nats.example/log" }, "NATS_URL"],
    ["a NATS password without a name", { NATS_URL: "nats://:pass@nats.example" }, "NATS_URL"],
    ["a NATS password with a bare %", { NATS_URL: "tls://log:1%@nats.example" }, "NATS_URL"],
    ["a public address without HTTPS", { PUBLIC_URL: "http://evidence.example" }, "PUBLIC_URL"],
    ["a public address with a path", { PUBLIC_URL: "https://evidence.example/" }, "PUBLIC_URL"],
    ["a public address with a user", { PUBLIC_URL: "https://a:b@evidence.example" }, "PUBLIC_URL"],
    ["a misspelt public address", { PUBLIC_URLS: "https://evidence.example" }, "PUBLIC_URLS"],
    ["an unknown level", { LOG_LEVEL: "loud" }, "LOG_LEVEL"],
    ["a remote ledger of no known cluster", remote, "SOLANA_CLUSTER"],
    [
      "a Yellowstone server without a remote ledger",
      { YELLOWSTONE_URL: "https://grpc.example" },
      "YELLOWSTONE_URL",
    ],
    [
      "a Yellowstone token without its server",
      { ...remote, SOLANA_CLUSTER: "devnet", YELLOWSTONE_TOKEN_FILE: "/t" },
      "YELLOWSTONE_URL",
    ],
    ["nodes of two clusters", { ...remote, SOLANA_RPC_URL: twoClusters }, "SOLANA_RPC_URL"],
    ["a public cluster's name without its nodes", { SOLANA_CLUSTER: "devnet" }, "SOLANA_CLUSTER"],
    [
      "programs without a remote ledger",
      { CUSTODY_PROGRAM_ID: PROGRAMS.CUSTODY_PROGRAM_ID },
      "CUSTODY_PROGRAM_ID",
    ],
  ];
  for (const [what, env, variable] of cases)
    test(what, () => {
      const lines = linesOf(env);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toStartWith(`${variable} `);
    });
});

const USDC_DEVNET = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
const OTHER_MINT = "7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy";

test("a mint is listed with decimals and symbol; USDC needs only its address", () => {
  const mintsOf = (SUPPORTED_MINTS: string) =>
    Effect.runSync(readSettings({ SUPPORTED_MINTS })).supportedMints;
  const usdc = { address: USDC_DEVNET, decimals: 6, symbol: "USDC" };
  expect(mintsOf(USDC_DEVNET)).toEqual([usdc] as never);
  expect(mintsOf(`${OTHER_MINT}:9:SOME, ${USDC_DEVNET}`)).toEqual([
    { address: OTHER_MINT, decimals: 9, symbol: "SOME" },
    usdc,
  ] as never);
});

test.each([
  OTHER_MINT,
  `${OTHER_MINT}:9`,
  `${OTHER_MINT}:256:SOME`,
  `${OTHER_MINT}:09:SOME`,
  `${OTHER_MINT}:9:`,
  `${OTHER_MINT}:9:SO ME`,
  `${OTHER_MINT}:9:SOME:`,
  `${USDC_DEVNET},${USDC_DEVNET}`,
])("SUPPORTED_MINTS %j stops the start", (SUPPORTED_MINTS) => {
  expect(linesOf({ SUPPORTED_MINTS })).toEqual([
    expect.stringMatching(/^SUPPORTED_MINTS /) as string,
  ]);
});

test("a name close to a variable's says which one is meant; names of other programs pass", () => {
  expect(linesOf({ DATABSE_URL: "postgres://db" })).toEqual([
    "DATABSE_URL is not a variable of this service; expected DATABASE_URL",
  ]);
  const others = ["HOSTNAME", "GHOST", "PORTS", "SOLANA_HOME", "PGHOST", "LOGNAME_2", "DATADOG"];
  expect(linesOf(Object.fromEntries(others.map((name) => [name, "1"])))).toEqual([]);
});

test("what ssh, sudo, cron and systemd put into every environment passes", () => {
  const names = ["HOME", "LANG", "LOGNAME", "MAIL", "PATH", "PWD", "SHELL", "TERM", "TZ", "USER"];
  const units = ["INVOCATION_ID", "JOURNAL_STREAM", "LOGS_DIRECTORY", "LOG_NAMESPACE"];
  expect(linesOf(Object.fromEntries([...names, ...units].map((name) => [name, "1"])))).toEqual([]);
});
