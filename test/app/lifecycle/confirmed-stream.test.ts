import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { SettlementEventRecord } from "../../../adapters/http/index/event-contract.ts";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../../client/connect.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { withDemoLedger } from "../support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  synced,
  temporaryDirectory,
} from "../support/running-service.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof runService>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await runService({
    ...quietEnvironment(withDemoLedger(join(directory.path, "service"))),
    // Four seconds from confirmed to final.
    LOCAL_LEDGER_FINALITY_SLOTS: "10",
  });
  await synced(service.url);
});
afterAll(async () => {
  await service.stop();
  await directory.remove();
});

type Told = SettlementEventRecord & { readonly finality?: string };

/** Reads a stream's events one after another. */
const eventsOf = async (query: string) => {
  const response = await fetch(`${service.url}/v1/indexer/events/stream?${query}`);
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  const decoder = new TextDecoder();
  let text = "";
  return {
    next: async (): Promise<{ readonly id: string | null; readonly record: Told }> => {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end < 0) {
          const { done, value } = await reader.read();
          if (done) throw new Error("the stream ended");
          text += decoder.decode(value, { stream: true });
          continue;
        }
        const frame = text.slice(0, end);
        text = text.slice(end + 2);
        const [, id = null, data] = /^(?:id: (.*)\n)?data: (.*)$/.exec(frame) ?? [];
        if (data !== undefined) return { id, record: JSON.parse(data) as Told };
      }
    },
    close: () => reader.cancel(),
  };
};

const count = async (): Promise<number> => {
  const answer = await fetch(`${service.url}/v1/status`);
  return ((await answer.json()) as { data: { indexer: { count: number } } }).data.indexer.count;
};

test("an escrow is streamed when the ledger confirms it, before the index has it, and again once it is final", async () => {
  const before = await count();
  const early = await eventsOf("commitment=confirmed");
  const plain = await eventsOf("");
  const trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
  const merchant = localKey("merchant/forecast").address;
  const paying = connect(service.url, { trust }).pay({
    merchant,
    amount: "1.00",
    task: "GET https://api.example.com/early",
    ttl: 3600,
    nonce: "early-1",
    signer: keySigner(localKey("agent/planner").seed),
  });
  const first = await early.next();
  expect(await count()).toBe(before);
  const late = await eventsOf(`commitment=confirmed&merchant=${merchant}`);
  expect(await late.next()).toEqual(first);
  const { escrow } = await paying;
  expect([first.id, first.record.finality, first.record.escrow_pda]).toEqual([
    null,
    "confirmed",
    escrow,
  ]);
  expect(first.record.position).toBe(before + 1);
  expect(first.record.signature).not.toBeNull();
  const second = await early.next();
  expect(second.id).toEndWith(`-${before + 1}`);
  expect(second.record).toEqual({ ...first.record, finality: "final" });
  expect(await late.next()).toEqual(second);
  const { finality: _, ...record } = second.record;
  expect(await plain.next()).toEqual({ id: second.id, record });
  await Promise.all([early, late, plain].map(({ close }) => close()));
});
