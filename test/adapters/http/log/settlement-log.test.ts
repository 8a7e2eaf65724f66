import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Context, Effect } from "effect";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { addressToBytes } from "../../../../core/domain/address.ts";
import { sha256 } from "../../../../core/domain/sha256.ts";
import { parseCheckpoint } from "../../../../core/log/checkpoint/checkpoint.ts";
import { parseTlogProof } from "../../../../core/log/checkpoint/tlog-proof.ts";
import { parseVerifierKey, verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { verifyNote } from "../../../../core/log/notes/verify-note.ts";
import { decodeEntryBundle } from "../../../../core/log/tiles/entry-bundle.ts";
import { verifyInclusion } from "../../../../core/log/tree/tree-proofs.ts";
import { leafHash } from "../../../../core/log/tree/tree-hash.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { IndexSync } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { LogPublisher } from "../../../../core/use-cases/log/log-publisher.ts";
import { makeLogProofs } from "../../../../core/use-cases/log/serving/read-log.ts";
import { SettlementLog } from "../../../../core/use-cases/log/serving/published-log.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { referencePath, referenceRoot } from "../../../core/log/support/reference-tree.ts";
import { escrow, STRANGER } from "../support/parties.ts";
import { until } from "../../../app/support/running-service.ts";
import { checkedClient, dataOf, makeService, problemOf } from "../support/service.ts";

const SEED = new Uint8Array(32).fill(21);

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;

/** Syncs, tells the publisher, and waits until the log is published at the index's size. */
const publish = () =>
  service.runtime.runPromise(
    Effect.gen(function* () {
      yield* (yield* IndexSync).request;
      const { mark } = yield* (yield* IndexReader).summary;
      if (mark === null) throw new Error("the index has no mark");
      yield* (yield* LogPublisher).grown(mark);
      const { published } = yield* SettlementLog;
      for (;;) {
        const log = yield* published;
        if (log?.checkpoint?.size === Number(mark.count) + 1) return log.checkpoint.size;
        yield* Effect.yieldNow;
      }
    }),
  );

const released = escrow("released", "Fulfilled");
const pending = escrow("pending");
const late = escrow("late");
let numbered: ReadonlyArray<typeof released>;

beforeAll(async () => {
  service = await makeService({ logSigner: SEED });
  client = await checkedClient(service);
  const { run } = Context.get(service.context, LogPublisher);
  service.runtime.runFork(run);
  numbered = service.seed({ escrows: [released, pending] });
});
afterAll(() => service.runtime.dispose());

test("before the first checkpoint there is nothing to read", async () => {
  expect(await problemOf(await client.send("/log/checkpoint"))).toBe("404 not_in_log");
  expect(await problemOf(await client.send("/log/tile/0/000.p/1"))).toBe("404 not_in_log");
  const proof = await client.send(`/v1/evidence/${released.address}/proof`);
  expect(await problemOf(proof)).toBe("404 not_in_log");
  expect(proof.headers.get("cache-control")).toBe("no-cache");
});

test("before anything is signed the status shows what the process does and what hinders it", async () => {
  const { log } = await dataOf<{ log: unknown }>(await client.send("/v1/status"));
  expect(log).toMatchObject({ state: "starting", size: null, origin: null, hindrance: null });
});

describe("a published log", () => {
  let size = 0;
  let leaves: ReadonlyArray<Uint8Array> = [];
  beforeAll(async () => {
    size = await publish();
    const bundle = await client.send(`/log/tile/entries/000.p/${size}`);
    const entries = decodeEntryBundle(new Uint8Array(await bundle.arrayBuffer()), size);
    if ("fault" in entries) throw new Error(entries.fault);
    leaves = entries.value;
  });

  test("has a checkpoint that the log's key signed over the root of its entries", async () => {
    const answer = await client.send("/log/checkpoint");
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("public, max-age=5");
    const parsed = parseCheckpoint(await answer.text());
    if ("fault" in parsed) throw new Error(parsed.fault);
    const { checkpoint, note } = parsed.value;
    expect(checkpoint).toMatchObject({ size: 4, root: referenceRoot(leaves) });
    const key = verifierKey(checkpoint.origin, "ed25519", ed25519Key(SEED).publicKey);
    expect(verifyNote(note, [key])).toMatchObject({ value: [{ key }] });
    expect(checkpoint.origin).toMatch(/^log\.example\/log\/[0-9a-f]{16}\/0$/);
  });

  test("has a checkpoint that is revalidated, and answers HEAD", async () => {
    const etag = (await client.send("/log/checkpoint")).headers.get("etag") ?? "";
    const again = await client.send("/log/checkpoint", { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const head = await service.app.handle(
      new Request("http://localhost/log/checkpoint", { method: "HEAD" }),
    );
    expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", etag]);
  });

  test("has tiles of hashes and of entries, which may be kept for ever", async () => {
    for (let width = 1; width <= size; width++) {
      const tile = await client.send(`/log/tile/0/000.p/${width}`);
      expect(tile.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(tile.headers.get("content-type")).toBe("application/octet-stream");
      expect(new Uint8Array(await tile.arrayBuffer())).toEqual(
        Uint8Array.from(leaves.slice(0, width).flatMap((leaf) => [...leafHash(leaf)])),
      );
    }
    const [first] = leaves;
    expect([first?.[0], first?.length]).toEqual([0, 33]);
  });

  test.each([
    "/log/tile/0/000",
    "/log/tile/0/000.p/5",
    "/log/tile/0/000.p/0",
    "/log/tile/0/000.p/01",
    "/log/tile/0/0",
    "/log/tile/0/x000/000.p/1",
    "/log/tile/00/000.p/1",
    "/log/tile/1/000.p/1",
    "/log/tile/64/000.p/1",
    "/log/tile/entries/001.p/1",
    "/log/tile/zzz/000.p/1",
    "/log/tile/0/x001/x234/067.p/12",
  ])("%s is no tile, and the answer is not kept", async (path) => {
    const answer = await client.send(path);
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(await problemOf(answer)).toBe("404 not_in_log");
  });

  test("proves each escrow's last event", async () => {
    for (const row of numbered) {
      const answer = await client.send(`/v1/evidence/${row.address}/proof`);
      expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      const parsed = parseTlogProof(await answer.text());
      if ("fault" in parsed) throw new Error(parsed.fault);
      const { index, proof } = parsed.value;
      expect(index).toBe(Number(row.settledSeq ?? row.createdSeq));
      const leaf = leaves[index] ?? new Uint8Array();
      expect(leaf.slice(2, 34).toHex()).toBe(addressToBytes(row.address).toHex());
      expect(leaf.slice(34).toHex()).toBe(sha256(encodeEscrowAccount(row)).toHex());
      expect(proof).toEqual([...referencePath(index, leaves)]);
      expect(
        verifyInclusion(
          { index, leafHash: leafHash(leaf), head: { size, root: referenceRoot(leaves) } },
          proof,
        ),
      ).toBe(true);
    }
  });

  test("shows in the status and the metrics", async () => {
    const status = await dataOf<{ log: Record<string, unknown> }>(await client.send("/v1/status"));
    expect(status.log).toMatchObject({
      state: "publishing",
      size: 4,
      published_size: 4,
      hindrance: null,
      ended: null,
      witnesses: [],
    });
    const key = parseVerifierKey(String(status.log["vkey"]));
    if ("fault" in key) throw new Error(key.fault);
    expect(key.value.name).toBe(String(status.log["origin"]));
    expect(key.value.publicKey).toEqual(ed25519Key(SEED).publicKey);
    const metrics = await (await client.send("/metrics")).text();
    expect(metrics).toContain("\nsettlement_evidence_log_published_size 4\n");
  });

  test("proves nothing of an escrow that is not in it", async () => {
    const unknown = await client.send(`/v1/evidence/${STRANGER}/proof`);
    expect(await problemOf(unknown)).toBe("404 escrow_not_found");
    const invalid = await client.send("/v1/evidence/zzz/proof");
    expect(await problemOf(invalid)).toBe("422 invalid_address");
    const [row] = service.seed({ escrows: [late] });
    const early = await client.send(`/v1/evidence/${late.address}/proof`);
    expect([early.status, early.headers.get("retry-after")]).toEqual([409, "1"]);
    expect(await early.json()).toMatchObject({
      code: "not_logged_yet",
      index: Number(row?.createdSeq),
      log_size: size,
    });
  });

  test("a proof that is kept is replaced by one under the newest checkpoint", async () => {
    const proofs = await service.runtime.runPromise(makeLogProofs);
    const sizeIn = async (): Promise<number> => {
      const kept = await Effect.runPromise(proofs.ofEscrow(numbered[0] ?? released));
      const parsed = parseTlogProof(kept?.proof ?? "");
      if ("fault" in parsed) throw new Error(parsed.fault);
      const checkpoint = parseCheckpoint(parsed.value.checkpoint);
      if ("fault" in checkpoint) throw new Error(checkpoint.fault);
      return checkpoint.value.checkpoint.size;
    };
    expect(await sizeIn()).toBe(size);
    service.seed({ escrows: [escrow("later")] });
    const grown = await publish();
    expect(grown).toBeGreaterThan(size);
    await until("the proof is under it", sizeIn, (shown) => shown === grown);
  });
});
