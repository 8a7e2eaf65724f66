import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { createPublicKey, verify } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main } from "../../../app/commands/webhook.ts";
import { runDemo } from "../../../app/demo/run-demo.ts";
import { withDemoLedger } from "../support/demo-ledger.ts";
import { runHere } from "../support/run-here.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "../support/running-service.ts";
import { silentNarrator } from "./silent-narrator.ts";

type Shown = Readonly<Record<string, unknown>> & {
  readonly position: number;
  readonly kind: string;
  readonly occurred_at: string;
};
type Told = {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly event: Shown;
    readonly escrow: Readonly<Record<string, unknown>>;
  };
};

const EXAMPLES = new URL("../../../examples/", import.meta.url).pathname;

/** A receiver that believes what it can verify, and answers what the test says. */
const receiver = () => {
  const got: Array<{ readonly id: string; readonly told: Told }> = [];
  const state = {
    status: 204,
    check: (_body: string, _headers: Record<string, string>): void => undefined,
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const body = await request.text();
      state.check(body, request.headers.toJSON());
      if (state.status === 204)
        got.push({ id: request.headers.get("webhook-id") ?? "", told: JSON.parse(body) as Told });
      return new Response(null, { status: state.status });
    },
  });
  return { got, state, url: `http://127.0.0.1:${server.port}/in`, stop: () => server.stop(true) };
};

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof runService>>;
let dataDir: string;
const stops: Array<() => unknown> = [];
beforeAll(async () => {
  directory = await temporaryDirectory();
  dataDir = withDemoLedger(directory.path);
  service = await runService(quietEnvironment(dataDir));
}, 120_000);
afterAll(async () => {
  for (const stop of stops) await stop();
  await service.stop();
  await directory.remove();
});

const runWith = (stdin: string, ...args: ReadonlyArray<string>) =>
  runHere((io) => runCommand(main, args, io), { env: { DATA_DIR: dataDir }, stdin });
const run = (...args: ReadonlyArray<string>) => runWith("", ...args);
const added = async (...args: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await run("add", ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [, id = "", key = ""] =
    /^(wh_[0-9a-f]{16})\n(?:secret|public key) +(\S+)\n/.exec(stdout) ?? [];
  return { id, key, stdout };
};
const events = async (): Promise<ReadonlyArray<Shown>> => {
  const answer = await fetch(`${service.url}/v1/indexer/events?limit=500`);
  return answer.status === 200
    ? ((await answer.json()) as { data: ReadonlyArray<Shown> }).data
    : [];
};
const inOrder = (shown: ReadonlyArray<Shown>) => shown.toSorted((a, b) => a.position - b.position);
/** What history adds later is left out. */
const settled = (event: Shown) => ({ ...event, signature: null, slot: null });

test("a receiver gets every event as the API shows it, signed as the public library checks it, and new ones as they come", async () => {
  const { got, state, url, stop } = receiver();
  stops.push(stop);
  const { id, key, stdout } = await added(url, "--from", "1");
  expect(stdout).toContain("Events are sent from position 1 on.");
  const oracle = new Webhook(key);
  state.check = (body, headers) => void oracle.verify(body, headers);
  const isAll = async () => {
    const all = await events();
    return all.length > 0 && new Set(got.map((one) => one.id)).size === all.length;
  };
  await until("all events come", isAll, Boolean, 90);
  await runDemo(service.url, silentNarrator);
  await until("the new events come", isAll, Boolean, 90);
  expect(inOrder(got.map(({ told }) => told.data.event)).map(settled)).toEqual(
    inOrder(await events()).map(settled),
  );
  for (const { told } of got) {
    expect([told.type, told.timestamp]).toEqual([
      told.data.event.kind,
      told.data.event.occurred_at,
    ]);
    expect(told.data.escrow["escrow_pda"]).toBe(told.data.event["escrow_pda"]);
  }
  const { escrow, event } = got.at(-1)?.told.data ?? {};
  const listed = await fetch(`${service.url}/v1/indexer?limit=500`);
  const { data } = (await listed.json()) as { data: ReadonlyArray<Record<string, unknown>> };
  const row = data.find((each) => each["escrow_pda"] === event?.["escrow_pda"]);
  expect(Object.keys(escrow ?? {})).toEqual(Object.keys(row ?? {}));
  expect(() =>
    oracle.verify("{}", {
      "webhook-id": "a",
      "webhook-timestamp": "1",
      "webhook-signature": "v1,AA==",
    }),
  ).toThrow();

  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toContain(`settlement_evidence_webhook_delivered{webhook="${id}"} ${got.length}`);
  expect(metrics).toContain(`settlement_evidence_webhook_behind_events{webhook="${id}"} 0`);
  expect(metrics).toContain(`settlement_evidence_webhook_disabled{webhook="${id}"} 0`);

  const { stdout: list } = await run("list");
  expect(list).toContain(`${id}  v1  ${url}`);
  expect(list).toContain(`sent up to position ${got.length}`);
  for (const text of [list, metrics]) expect(text).not.toContain(key);
  expect(statSync(`${dataDir}/webhooks.sqlite`).mode & 0o777).toBe(0o600);

  const before = got.length;
  expect((await run("replay", id, "--from", String(before))).stdout).toContain(
    `from position ${before} on`,
  );
  await until(
    "the last event comes again",
    async () => got.length,
    (count) => count > before,
    60,
  );
  expect(got.at(-1)?.id).toBe(got.find(({ told }) => told.data.event.position === before)?.id);

  state.status = 410;
  expect(await run("test", id)).toEqual({
    code: 1,
    stdout: "the receiver answered 410\n",
    stderr: "",
  });
  await run("replay", id, "--from", "1");
  await until(
    "it is disabled",
    async () => (await run("list")).stdout,
    (text) => text.includes("disabled: the receiver answered 410"),
    60,
  );
  state.status = 200;
  expect((await run("test", id)).stdout).toBe("the receiver answered 200\n");
  expect((await run("remove", id)).stdout).toBe(`${id} is removed\n`);
  expect((await run("list")).stdout).not.toContain(id);
}, 300_000);

test("a key of its own signs too, and a filter keeps to one merchant", async () => {
  const { got, state, url, stop } = receiver();
  stops.push(stop);
  const [first] = await until("there are events", events, (all) => all.length > 0);
  const merchant = String(first?.["merchant"]);
  const { id, key } = await added(url, "--from", "1", "--ed25519", "--merchant", merchant);
  const spki = Buffer.concat([
    Buffer.from("302a300506032b6570032100", "hex"),
    Buffer.from(key.replace(/^whpk_/, ""), "base64"),
  ]);
  const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
  const checks: Array<boolean> = [];
  state.check = (body, headers) => {
    const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    const signature = /^v1a,(.*)$/.exec(headers["webhook-signature"] ?? "")?.[1] ?? "";
    checks.push(verify(null, Buffer.from(content), publicKey, Buffer.from(signature, "base64")));
  };
  const own = (await events()).filter((event) => event["merchant"] === merchant);
  await until(
    "its events come",
    async () => got.length,
    (count) => count >= own.length,
    60,
  );
  expect(got.every(({ told }) => told.data.event["merchant"] === merchant)).toBe(true);
  expect(checks.every(Boolean)).toBe(true);
  expect((await run("list")).stdout).toContain(`${id}  v1a  ${url}\n  merchant ${merchant}; `);
  await run("remove", id);
}, 120_000);

test.each([
  ["a shared secret", []],
  ["a key", ["--ed25519"]],
])(
  "%s is rotated: the one before signs as well until the overlap is over",
  async (_, options) => {
    const { state, url, stop } = receiver();
    stops.push(stop);
    const { id, key } = await added(url, ...options);
    const signatures: Array<ReadonlyArray<string>> = [];
    state.check = (body, headers) => {
      signatures.push((headers["webhook-signature"] ?? "").split(" "));
      if (options.length > 0) return;
      for (const each of keys) new Webhook(each).verify(body, headers);
    };
    const rotated = async (...more: ReadonlyArray<string>) => {
      const { code, stdout } = await run("rotate", id, ...more);
      expect(code).toBe(0);
      return /^wh_\S+\n(?:secret|public key) +(\S+)\n/.exec(stdout)?.[1] ?? "";
    };
    const second = await rotated();
    const third = await rotated();
    let keys = [third, second, key];
    expect((await run("test", id)).code).toBe(0);
    const fourth = await rotated("--overlap", "0");
    keys = [fourth];
    expect((await run("test", id)).code).toBe(0);
    expect(new Set([key, second, third, fourth]).size).toBe(4);
    expect(second.split("_")[0]).toBe(key.split("_")[0] ?? "");
    expect(signatures.map(({ length }) => length)).toEqual([3, 1]);
    await run("remove", id);
  },
  60_000,
);

describe("the examples", () => {
  const commands = [
    ["TypeScript", [process.execPath, `${EXAMPLES}webhook-receiver.ts`]],
    ["Python", [process.env["PYTHON"] ?? "python3", `${EXAMPLES}webhook_receiver.py`]],
  ] as const;
  test.each(commands.filter(([, [tool]]) => Bun.which(tool) !== null))(
    "in %s print what is signed, once, and refuse anything else",
    async (_name, command) => {
      const free = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
      const { port } = free;
      await free.stop(true);
      const url = `http://127.0.0.1:${port}/`;
      const { id, key } = await added(url, "--from", "1");
      const child = Bun.spawn([...command], {
        env: { PATH: process.env["PATH"] ?? "", WEBHOOK_SECRET: key, PORT: String(port) },
        stdout: "pipe",
        stderr: "inherit",
      });
      try {
        const count = (await events()).length;
        const lines: Array<string> = [];
        const isWhole = Promise.withResolvers<void>();
        void (async () => {
          let text = "";
          for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
            text += chunk;
            lines.splice(0, lines.length, ...text.split("\n").slice(1, -1));
            if (lines.length >= count) isWhole.resolve();
          }
        })();
        await isWhole.promise;
        const positions = lines.map((line) => (JSON.parse(line) as Told).data.event.position);
        expect(positions.toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, at) => at + 1),
        );
        const headers = {
          "webhook-id": "a",
          "webhook-timestamp": "1",
          "webhook-signature": "v1,é",
        };
        expect((await fetch(url, { method: "POST", headers, body: "{}" })).status).toBe(401);
        await run("replay", id, "--from", String(count));
        await until(
          "it is sent again",
          async () => (await run("list")).stdout,
          (list) => list.includes(`sent up to position ${count}`),
          60,
        );
        expect((await run("test", id)).code).toBe(0);
        expect(lines.filter((line) => line.includes(`"position":${count},`))).toHaveLength(1);
      } finally {
        child.kill();
        await child.exited;
        await run("remove", id);
      }
    },
    120_000,
  );
});

test("an address on standard input is added as one in the arguments is, where other users would see it", async () => {
  const { code, stdout } = await runWith("http://localhost:9/in?token=t\n", "add", "-");
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("whsec_") });
  const id = stdout.split("\n")[0] ?? "";
  expect((await run("list")).stdout).toContain(`${id}  v1  http://localhost:9/in?token=t\n`);
  expect(await run("remove", id)).toMatchObject({ code: 0 });
  for (const input of ["", "https://hooks.example/one\nhttps://hooks.example/two\n"])
    expect(await runWith(input, "add", "-")).toMatchObject({
      code: 65,
      stderr: expect.stringContaining("expected an https://"),
    });
});

test("what cannot be added or found is refused with its reason", async () => {
  for (const [args, code, reason] of [
    [["add", "http://hooks.example/"], 65, "expected https://"],
    [["add", "https://hooks.example/", "--from", "0"], 64, "--from"],
    [["add", "https://hooks.example/", "--merchant", "nobody"], 64, "--merchant"],
    [["add"], 64, "expected add URL"],
    [["list", "more"], 64, "expected add URL"],
    [["remove", "wh_0000000000000000"], 65, "there is no webhook"],
    [["replay", "wh_0000000000000000"], 65, "there is no webhook"],
    [["test", "wh_0000000000000000"], 65, "there is no webhook"],
    [["rotate", "wh_0000000000000000"], 65, "there is no webhook"],
    [["rotate", "wh_0000000000000000", "--overlap", "721"], 64, "--overlap"],
    [["nothing"], 64, "expected add URL"],
  ] as const) {
    const { code: ended, stderr } = await run(...args);
    expect({ args, ended, stderr: stderr.includes(reason) }).toEqual({
      args,
      ended: code,
      stderr: true,
    });
  }
  expect((await run("list")).stdout).toBe("There is no webhook.\n");
});
