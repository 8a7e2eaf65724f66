import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { connect } from "../../../client/connect.ts";
import { fileSessions, type HeldSessions } from "../../../client/node/file-sessions.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { sessionClaimFiles } from "../../../client/node/session-claims.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { payFetch } from "../../../client/sessions/agent/pay-fetch.ts";
import {
  attestorService,
  keepingAttestor,
  remoteAttestor,
  type SessionSeller,
  sessionSeller,
} from "../../../client/sessions.ts";
import { verifyCall } from "../../../core/protocol/verification/verify-call.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { failureOf } from "../support/failure-of.ts";
import {
  agentKey,
  attestorKey,
  merchantKey,
  payerKey,
  sellerFixture,
  signerOf,
} from "./seller-fixture.ts";

const TOKEN = "a token of thirty-two characters";
const signer = keySigner(agentKey.seed);

let fixture: Awaited<ReturnType<typeof sellerFixture>>;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let store: HeldSessions;
let seller: SessionSeller;
let url: string;
let stop: () => Promise<void>;

/** Streams three events, the next one once the agent has asked for it, at 0.003 each. */
const sold = new Map<string, () => void>();
const eventsOf = (path: string, charge: (units: bigint) => void): ReadableStream<Uint8Array> => {
  let sent = 0;
  return new ReadableStream({
    pull: async (controller) => {
      if (sent > 0) await new Promise<void>((resolve) => sold.set(path, resolve));
      if (sent === 3) return controller.close();
      sent += 1;
      charge(BigInt(3000 * sent));
      controller.enqueue(new TextEncoder().encode(`data: ${path} ${sent}\n\n`));
    },
  });
};

/** A seller over HTTP whose attestor is another server, and whose store is a folder. */
beforeAll(async () => {
  fixture = await sellerFixture();
  folder = await temporaryDirectory();
  store = await fileSessions(join(folder.path, "sessions"));
  const claims = sessionClaimFiles(join(folder.path, "claims"));
  const attestor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: attestorService(keepingAttestor(signerOf(attestorKey), claims), TOKEN),
  });
  seller = sessionSeller({
    service: fixture.service.url,
    trust: fixture.trust,
    rpc: fixture.rpc,
    merchant: merchantKey.address,
    attestor: remoteAttestor(attestor.url.href, { publicKey: attestorKey.address, token: TOKEN }),
    payer: signerOf(payerKey),
    store,
    webSocket: null,
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      seller.handle(request, "0.01", (asked, call) => {
        const events = eventsOf(new URL(asked.url).pathname, call.charge);
        return new Response(events, { headers: { "content-type": "text/event-stream" } });
      }),
  });
  url = server.url.origin;
  stop = async () => {
    await server.stop(true);
    await seller.close();
    await store.stop();
    await attestor.stop(true);
    await folder.remove();
    await fixture.stop();
  };
}, 120_000);
afterAll(() => stop());

/** Reads a stream to its end, and asks for each event once the one before is there. */
const eventsIn = async (path: string, answer: Response): Promise<ReadonlyArray<string>> => {
  const events: Array<string> = [];
  for await (const bytes of answer.body ?? []) {
    events.push(new TextDecoder().decode(bytes));
    sold.get(path)?.();
  }
  return events;
};

const wanted = (path: string) => [1, 2, 3].map((sent) => `data: ${path} ${sent}\n\n`);

test("payFetch gives a stream event by event, and fails it when its receipt is a lie", async () => {
  let isLie = false;
  const pay = payFetch(
    {
      service: fixture.service.url,
      trust: fixture.trust,
      rpc: fixture.rpc,
      signer,
      maxPrice: "0.01",
      budget: "1.00",
      allowRent: true,
      journal: memorySessionJournal,
    },
    async (asked, init) => {
      const answer = await fetch(asked, init);
      if (!isLie || answer.headers.get("settlement-receipt") !== "in-stream") return answer;
      const lie = new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, controller) =>
          controller.enqueue(bytes.map((byte, at) => (at === 0 && byte === 100 ? 68 : byte))),
      });
      return new Response(answer.body?.pipeThrough(lie) ?? null, answer);
    },
  );
  expect(await eventsIn("/first", await pay(`${url}/first`))).toEqual(wanted("/first"));
  isLie = true;
  const failure = await failureOf(eventsIn("/lie", await pay(`${url}/lie`)));
  expect(failure.code).toBe("another_payload");
  isLie = false;
  expect((await failureOf(pay(`${url}/next`))).code).toBe("offer_refused");
  expect((await pay.close()).map((each) => each.ended?.used)).toEqual(["9000"]);
}, 120_000);

test("a call by hand is told of its stream, says at the end what it cost, and is proved", async () => {
  const client = connect(fixture.service.url, { trust: fixture.trust, rpc: fixture.rpc });
  const plan = { merchant: merchantKey.address, budget: "1.00", ttl: 3600 };
  const session = await client.session({ ...plan, signer, journal: memorySessionJournal() });
  let events: Promise<ReadonlyArray<string>> = Promise.resolve([]);
  const { response, count, price } = await session.call(`${url}/own`, {
    limit: "0.02",
    onStream: (answer) => {
      events = eventsIn("/own", answer);
    },
  });
  const body = await response.bytes();
  expect([count, price, new TextDecoder().decode(body)]).toEqual([
    1,
    "9000",
    wanted("/own").join(""),
  ]);
  expect(await events).toEqual(wanted("/own"));
  expect((await session.close()).outcome).toBe("settled");
  const { verdict, call, checks } = verifyCall(await session.evidence(1, { body }), fixture.policy);
  expect([verdict, call?.settlement]).toEqual(["verified", "paid"]);
  expect(checks.find(({ name }) => name === "call_payload")?.outcome).toBe("passed");
}, 120_000);
