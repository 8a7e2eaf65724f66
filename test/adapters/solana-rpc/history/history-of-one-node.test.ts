import { afterEach, expect, test } from "bun:test";
import { Effect } from "effect";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { TOKEN_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, runOver, valueOf } from "../ledger-under-test.ts";
import { type Behaviour, page, result, rpcError, ScriptedPeer } from "../scripted-peer.ts";

const opened: Array<ScriptedPeer> = [];
const peerThat = (...plan: ReadonlyArray<Behaviour>): ScriptedPeer => {
  const peer = new ScriptedPeer(...plan);
  opened.push(peer);
  return peer;
};
afterEach(() => {
  for (const peer of opened.splice(0)) peer[Symbol.dispose]();
});

const GENESIS = result(TOKEN_PROGRAM);
const METHOD_NOT_FOUND = -32_601;

const signature = (n: number) => {
  const bytes = new Uint8Array(64).fill(1);
  new DataView(bytes.buffer).setUint32(0, n);
  return ledgerSignatureFromBytes(bytes);
};
const listed = (slot: number) => ({ signature: signature(slot), slot, err: null });
const entry = (slot: number) => ({
  signature: signature(slot),
  slot: BigInt(slot),
  failed: false,
});

const historyOver = async (...peers: readonly [ScriptedPeer, ...Array<ScriptedPeer>]) => {
  const { exit } = await runOver(
    configOver(peers),
    Ledger.use((ledger) => ledger.history(TOKEN_PROGRAM, null)),
  );
  return valueOf(exit);
};

test("one and the same node gives a page and says how far back it is complete", async () => {
  // The first node has pruned what the second still has. The first one's silence must not be combined with the second
  // one's range.
  const pruned = peerThat(GENESIS, result([]), page(429));
  const archive = peerThat(GENESIS, result([listed(5)]), result(0));
  expect(await historyOver(pruned, archive)).toEqual({ entries: [entry(5)], keptFrom: 0n });
  expect(archive.calls.map(({ method }) => method)).toEqual([
    "getGenesisHash",
    "getSignaturesForAddress",
    "getFirstAvailableBlock",
  ]);
});

test("a page is used even if its node does not say how far back it goes", async () => {
  const peer = peerThat(result([listed(5)]), rpcError(METHOD_NOT_FOUND));
  expect(await historyOver(peer)).toEqual({ entries: [entry(5)], keptFrom: null });
});

test("a full page says how far back its node goes, as a short one does", async () => {
  const full = Array.from({ length: 1000 }, (_, n) => listed(2000 - n));
  const { entries, keptFrom } = await historyOver(peerThat(result(full), result(0)));
  expect(entries).toHaveLength(1000);
  expect(keptFrom).toBe(0n);
});

test("a list of signatures is asked for without minContextSlot, which some nodes take for a filter, and the node's slot is checked apart", async () => {
  const peer = peerThat(
    result({ context: { slot: 70 }, value: [null] }),
    result({ absoluteSlot: 69, blockHeight: 60 }),
    result({ absoluteSlot: 70, blockHeight: 61 }),
    result([listed(5)]),
    result(0),
  );
  const { exit } = await runOver(
    configOver([peer]),
    Ledger.use((ledger) =>
      Effect.andThen(
        ledger.readAccounts([TOKEN_PROGRAM], "finalized"),
        ledger.history(TOKEN_PROGRAM, null),
      ),
    ),
  );
  expect(valueOf(exit)).toEqual({ entries: [entry(5)], keptFrom: 0n });
  expect<object | undefined>(peer.calls[3]).toEqual({
    jsonrpc: "2.0",
    id: 4,
    method: "getSignaturesForAddress",
    params: [TOKEN_PROGRAM, { commitment: "finalized", limit: 1000 }],
  });
});
