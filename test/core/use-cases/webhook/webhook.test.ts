import { describe, expect, test } from "bun:test";
import { Redacted } from "effect";
import fc from "fast-check";
import { createHmac, createPublicKey, verify } from "node:crypto";
import { inspect } from "node:util";
import {
  parseWebhookUrl,
  rotated,
  secretsAt,
  type Webhook,
  webhookIdOf,
  webhookOf,
  webhookText,
} from "../../../../core/use-cases/webhook/webhook.ts";
import {
  isWebhookSecret,
  receiverKey,
  webhookHeaders,
  webhookSecret,
} from "../../../../core/use-cases/webhook/webhook-signature.ts";
import { walletOf } from "../../../simulation/world-escrow.ts";

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

describe("signatures", () => {
  test("the published example of the specification's libraries", () => {
    // standard-webhooks/standard-webhooks, libraries/*/webhook.test.*, "sign function works".
    const headers = webhookHeaders(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      atSeconds: 1_614_265_330,
      body: '{"test": 2432232314}',
    });
    expect(headers["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  test("node:crypto checks them over id, time and the bytes of the body", () => {
    fc.assert(
      fc.property(bytes32, fc.string({ unit: "binary" }), fc.nat(), (bytes, body, atSeconds) => {
        const content = Buffer.from(`wh_1-2-3.${atSeconds}.${body}`);
        const message = { id: "wh_1-2-3", atSeconds, body };
        const own = webhookHeaders([webhookSecret("hmac", bytes)], message);
        const mac = createHmac("sha256", bytes).update(content).digest("base64");
        expect(own).toEqual({
          "webhook-id": "wh_1-2-3",
          "webhook-timestamp": String(atSeconds),
          "webhook-signature": `v1,${mac}`,
        });
        const secret = webhookSecret("ed25519", bytes);
        const [version, signature = ""] = (
          webhookHeaders([secret], message)["webhook-signature"] ?? ""
        ).split(",");
        expect(version).toBe("v1a");
        const [, publicKey = ""] = /^whpk_(.*)$/.exec(receiverKey(secret)) ?? [];
        const key = createPublicKey({
          key: Buffer.concat([SPKI, Buffer.from(publicKey, "base64")]),
          format: "der",
          type: "spki",
        });
        expect(verify(null, content, key, Buffer.from(signature, "base64"))).toBe(true);
      }),
      { numRuns: 4 },
    );
  });

  test("a secret is of one of the two kinds and lengths, and nothing else", () => {
    const secret = webhookSecret("hmac", new Uint8Array(32).fill(7));
    expect(receiverKey(secret)).toBe(secret);
    for (const text of [
      "",
      "whsec_",
      "whsec_AAAA",
      "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      secret.slice(6),
      `whpk_${secret.slice(6)}`,
    ])
      expect(isWebhookSecret(text)).toBe(false);
    expect(() => webhookHeaders(["whsec_AAAA"], { id: "a", atSeconds: 1, body: "" })).toThrow();
  });
});

const anyWebhook: fc.Arbitrary<Webhook> = fc.record({
  id: fc.uint8Array({ minLength: 8, maxLength: 8 }).map(webhookIdOf),
  url: fc.constant("https://hooks.example/in"),
  secret: fc
    .tuple(fc.constantFrom("hmac" as const, "ed25519" as const), bytes32)
    .map(([scheme, bytes]) => Redacted.make(webhookSecret(scheme, bytes))),
  formers: fc.array(
    fc.record({
      secret: bytes32.map((bytes) => Redacted.make(webhookSecret("hmac", bytes))),
      untilMs: fc.nat(),
    }),
    { maxLength: 3 },
  ),
  merchant: fc.option(fc.constant(walletOf("merchant"))),
  agentOwner: fc.option(fc.constant(walletOf("agent"))),
  allowPrivate: fc.boolean(),
  edition: fc.nat(),
  position: fc.option(fc.bigInt({ min: 0n, max: 10n ** 17n })),
  failures: fc.nat(),
  failingSinceMs: fc.option(fc.nat()),
  ended: fc.option(fc.constantFrom("gone" as const, "failing" as const)),
});

describe("records", () => {
  test("a webhook is read back as it was written, and shows its secret to nobody who prints it", () => {
    fc.assert(
      fc.property(anyWebhook, (webhook) => {
        const text = webhookText(webhook);
        const again = webhookOf({ id: webhook.id, text });
        if (again === null) throw new Error(text);
        const open = { secret: null, formers: null };
        expect({ ...again, ...open }).toEqual({ ...webhook, ...open });
        const ends = ({ formers }: Webhook) => formers.map(({ untilMs }) => untilMs);
        expect(ends(again)).toEqual(ends(webhook));
        const secrets = secretsAt(webhook, -1);
        expect(secretsAt(again, -1)).toEqual(secrets);
        expect(secrets.length).toBe(1 + webhook.formers.length);
        for (const secret of secrets) {
          expect(JSON.stringify({ ...again, position: null })).not.toContain(secret);
          expect(inspect(again)).not.toContain(secret);
        }
      }),
      { numRuns: 50 },
    );
  });

  test("whoever has a secret whose time is not over can check, however often it was rotated since", () => {
    fc.assert(
      fc.property(anyWebhook, fc.array(fc.nat(100), { maxLength: 7 }), (begun, waits) => {
        let webhook: Webhook = { ...begun, formers: [] };
        let nowMs = 0;
        const givenUntil: Array<readonly [string, number]> = [];
        for (const [at, waitMs] of waits.entries()) {
          const next = webhookSecret("hmac", new Uint8Array(32).fill(at));
          givenUntil.push([Redacted.value(webhook.secret), nowMs + 250]);
          webhook = rotated(webhook, Redacted.make(next), { nowMs, overlapMs: 250 });
          nowMs += waitMs;
          const usable = givenUntil.filter(([, untilMs]) => nowMs < untilMs);
          const expected = [next, ...usable.map(([secret]) => secret).toReversed()];
          expect(secretsAt(webhook, nowMs)).toEqual(expected);
        }
        const last = webhookSecret("hmac", new Uint8Array(32).fill(99));
        const alone = rotated(webhook, Redacted.make(last), { nowMs, overlapMs: 0 });
        expect(secretsAt(alone, nowMs)).toEqual([last]);
        expect(alone.formers).toEqual([]);
      }),
    );
  });

  test("no other text is a webhook", () => {
    const [webhook] = fc.sample(anyWebhook, { seed: 1, numRuns: 1 });
    if (webhook === undefined) throw new Error("one was asked for");
    const text = webhookText(webhook);
    const { id } = webhook;
    for (const other of ["", "{}", "null", "[1]", text.slice(1), text.replace("wh", "no")])
      expect(webhookOf({ id, text: other })).toBeNull();
    expect(webhookOf({ id: "wh_1.2", text })).toBeNull();
  });
});

test("a receiver is https, or http on this machine, without credentials", () => {
  for (const text of [
    "https://hooks.example/in?token=a",
    "https://hooks.example:8443/",
    "http://localhost:3000/in",
    "http://127.0.0.1/",
    "http://[::1]:3000/",
  ])
    expect(parseWebhookUrl(text)).toEqual({ url: new URL(text) });
  for (const text of [
    "hooks.example",
    "http://hooks.example/",
    "http://10.0.0.1/",
    "http://localhost.example/",
    "http://127.0.0.1.example/",
    "ftp://hooks.example/",
    "file:///etc/passwd",
    "https://user:password@hooks.example/",
    "https://hooks.example/#part",
    "https://hooks.example/one\nhttps://hooks.example/two",
    "https://hooks.example/a b",
    `https://hooks.example/${"a".repeat(2048)}`,
  ])
    expect(parseWebhookUrl(text)).toHaveProperty("fault");
});
