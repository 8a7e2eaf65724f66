import { afterAll, describe, expect, test } from "bun:test";
import { Effect, Fiber, Layer } from "effect";
import fc from "fast-check";
import { TestClock } from "effect/testing";
import {
  isPublicAddress,
  type Resolve,
  webhookSenderHttp,
} from "../../../adapters/webhook-http/webhook-sender.ts";
import { WebhookSender } from "../../../ports/webhook-sender.ts";
import { patientClock } from "../../doubles/patient-clock.ts";

const CERTIFICATE = await Bun.file(`${import.meta.dir}/hooks.example.pem`).text();

const asked: Array<{
  readonly method: string;
  readonly url: string;
  readonly host: string | null;
  readonly body: string;
}> = [];
const reached = Promise.withResolvers<void>();
const answers: Readonly<Record<string, () => Response | Promise<Response>>> = {
  "/redirects": () => Response.redirect("http://127.0.0.1:1/elsewhere", 307),
  "/gone": () => new Response("gone", { status: 410 }),
  "/busy": () => new Response("later", { status: 503, headers: { "retry-after": "120" } }),
  "/dated": () =>
    new Response("later", {
      status: 503,
      headers: { "retry-after": "Wed, 21 Oct 2065 07:28:00 GMT" },
    }),
  "/endless": () =>
    new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(65_536)) }), {
      status: 200,
    }),
  "/hangs": () => {
    reached.resolve();
    return new Promise<Response>(() => undefined);
  },
};
const listen = (tls?: { readonly key: string; readonly cert: string }) =>
  Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    ...(tls === undefined ? {} : { tls }),
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      asked.push({
        method: request.method,
        url: request.url,
        host: request.headers.get("host"),
        body: await request.text(),
      });
      return answers[pathname]?.() ?? new Response("taken", { status: 200 });
    },
  });
const plain = listen();
const secure = listen({
  key: CERTIFICATE,
  cert: CERTIFICATE,
});
afterAll(() => Promise.all([plain.stop(true), secure.stop(true)]));

const NAMES: Readonly<Record<string, ReadonlyArray<string>>> = {
  "hooks.example": ["127.0.0.1"],
  "other.example": ["127.0.0.1"],
  "mixed.example": ["93.184.216.34", "10.0.0.7"],
  "metadata.example": ["169.254.169.254"],
  "nothing.example": [],
  localhost: ["127.0.0.1"],
};
const resolve: Resolve = async (host) => NAMES[host] ?? [];

const send = (url: string, allowPrivate = false, name = resolve) =>
  Effect.runPromise(
    WebhookSender.use((sender) =>
      sender.send({ url: new URL(url), allowPrivate, headers: { "webhook-id": "a" }, body: "{}" }),
    ).pipe(
      Effect.catch((failure) => Effect.succeed(failure)),
      Effect.provide(webhookSenderHttp({ resolve: name, ca: CERTIFICATE })),
    ),
  );
const here = `http://localhost:${plain.port}`;

describe("what a receiver answers", () => {
  test("is its status alone; no redirect is followed and no body is read", async () => {
    const before = asked.length;
    expect(await send(`${here}/taken?token=a`)).toEqual({ status: 200, retryAfterSeconds: null });
    expect(await send(`${here}/redirects`)).toEqual({ status: 307, retryAfterSeconds: null });
    expect(await send(`${here}/gone`)).toEqual({ status: 410, retryAfterSeconds: null });
    expect(await send(`${here}/busy`)).toEqual({ status: 503, retryAfterSeconds: 120 });
    expect(await send(`${here}/dated`)).toEqual({ status: 503, retryAfterSeconds: null });
    expect(await send(`${here}/endless`)).toEqual({ status: 200, retryAfterSeconds: null });
    expect(asked.slice(before)).toHaveLength(6);
    expect(asked[before]).toEqual({
      method: "POST",
      url: `${here}/taken?token=a`,
      host: `localhost:${plain.port}`,
      body: "{}",
    });
  });

  test("is waited for for 20 seconds", async () => {
    const failure = await Effect.runPromise(
      Effect.gen(function* () {
        const { send: sendNow } = yield* WebhookSender;
        const request = {
          url: new URL(`${here}/hangs`),
          allowPrivate: false,
          headers: {},
          body: "",
        };
        const asking = yield* Effect.forkChild(Effect.flip(sendNow(request)), {
          startImmediately: true,
        });
        yield* Effect.promise(() => reached.promise);
        yield* TestClock.adjust("20 seconds");
        return yield* Fiber.join(asking);
      }).pipe(Effect.provide(Layer.merge(webhookSenderHttp({ resolve }), patientClock()))),
    );
    expect(failure.reason).toBe("it took more than 20s");
  });

  test("a receiver that is not there fails without the address's path", async () => {
    const closed = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const { port } = closed;
    await closed.stop(true);
    expect(await send(`http://127.0.0.1:${port}/secret-path`)).toMatchObject({
      _tag: "WebhookUnreachable",
      reason: expect.not.stringContaining("secret-path"),
    });
    expect(await send("https://nothing.example/")).toMatchObject({ _tag: "WebhookUnreachable" });
  });
});

describe("TLS", () => {
  const at = (name: string) => `https://${name}:${secure.port}/in`;

  test("the certificate is that of the name, though the connection goes to the address that was checked", async () => {
    expect(await send(at("hooks.example"), true)).toMatchObject({ status: 200 });
    expect(asked.at(-1)?.host).toBe(`hooks.example:${secure.port}`);
    for (const name of ["other.example", "127.0.0.1"])
      expect(await send(at(name), true)).toMatchObject({
        reason: "it cannot be reached (ERR_TLS_CERT_ALTNAME_INVALID)",
      });
  });
});

describe("addresses", () => {
  test("in private networks are refused unless the operator allowed them, also when only one of several is", async () => {
    const before = asked.length;
    for (const url of [
      `https://hooks.example:${secure.port}/`,
      "https://mixed.example/",
      "https://metadata.example/",
      "https://127.0.0.1/",
      "https://[::1]/",
      "https://[::ffff:127.0.0.1]/",
      "https://0x7f.1/",
      "https://2130706433/",
    ])
      expect(await send(url)).toMatchObject({
        reason: expect.stringContaining("no public network"),
      });
    expect(asked).toHaveLength(before);
  });

  test("without TLS are this machine's alone, whatever was allowed", async () => {
    const elsewhere: Resolve = async () => ["10.0.0.7"];
    expect(await send("http://localhost/", true, elsewhere)).toMatchObject({
      reason: expect.stringContaining("is not this machine"),
    });
  });

  test("a name is asked for once: what it stands for afterwards does not matter", async () => {
    let times = 0;
    const rebinding: Resolve = async () => [++times === 1 ? "127.0.0.1" : "10.0.0.7"];
    expect(await send(`${here}/taken`, false, rebinding)).toMatchObject({ status: 200 });
    expect(times).toBe(1);
  });

  test("are connected to directly: a proxy of the environment would connect to whom it likes", async () => {
    const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];
    const before = names.map((name) => process.env[name]);
    let throughProxy = 0;
    using proxy = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          throughProxy += 1;
          socket.end();
        },
        data: () => undefined,
      },
    });
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    try {
      expect(await send(`${here}/taken`)).toMatchObject({ status: 200 });
      expect(await send(`https://hooks.example:${secure.port}/taken`, true)).toMatchObject({
        status: 200,
      });
    } finally {
      for (const [at, name] of names.entries()) {
        delete process.env[name];
        if (before[at] !== undefined) process.env[name] = before[at];
      }
    }
    expect(throughProxy).toBe(0);
  });

  test("are public only outside of every special network", () => {
    for (const address of [
      "1.1.1.1",
      "93.184.216.34",
      "172.15.0.1",
      "172.32.0.1",
      "168.63.129.15",
      "168.63.129.17",
      "2606:4700::1111",
    ])
      expect({ address, is: isPublicAddress(address) }).toEqual({ address, is: true });
    for (const address of [
      "0.0.0.0",
      "10.1.2.3",
      "100.64.0.1",
      "127.0.0.53",
      "168.63.129.16",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "192.31.196.1",
      "192.52.193.1",
      "192.175.48.1",
      "198.18.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "::ffff:10.0.0.1",
      "64:ff9b::a00:1",
      "fc00::1",
      "fd12::1",
      "fe80::1",
      "ff02::1",
      "2001:db8::1",
      "2002:a00:1::",
      "2620:4f:8000::1",
      "3fff::1",
      "5f00::1",
      "hooks.example",
      "",
    ])
      expect({ address, is: isPublicAddress(address) }).toEqual({ address, is: false });
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0] = address.split(".").map(Number);
        const isPrivate = a === 10 || a === 127 || a === 0 || a >= 224 || (a === 192 && b === 168);
        if (isPrivate) expect(isPublicAddress(address)).toBe(false);
      }),
    );
  });
});
