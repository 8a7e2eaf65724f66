import { expect, test } from "bun:test";
import { Effect, Layer, Logger } from "effect";
import { ledgerFloorSolanaRpc } from "../../../../adapters/solana-rpc/ledger-nodes-solana-rpc.ts";
import { ledgerSolanaRpc } from "../../../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../../../adapters/solana-rpc/pool/node-pool.ts";
import { TOKEN_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger, LedgerFloor } from "../../../../ports/ledger/ledger.ts";
import { configOver } from "../ledger-under-test.ts";
import { atSlot, ScriptedPeer } from "../scripted-peer.ts";
import { virtualTime } from "../virtual-time.ts";

const present = {
  lamports: 1,
  owner: TOKEN_PROGRAM,
  executable: false,
  data: ["", "base64"],
  rentEpoch: 0,
  space: 0,
};

/** The slots of two reads, with the floor raised in between. */
const slotsAround = async (raised: bigint, ...slots: ReadonlyArray<number>) => {
  using peer = new ScriptedPeer(...slots.map((slot) => atSlot(slot, [present])));
  const layer = Layer.mergeAll(ledgerSolanaRpc, ledgerFloorSolanaRpc).pipe(
    Layer.provide(nodePool(configOver([peer]))),
    Layer.provideMerge(virtualTime(1000, [])),
    Layer.provideMerge(Logger.layer([])),
  );
  const read = Ledger.use((ledger) => ledger.readAccounts([TOKEN_PROGRAM], "confirmed"));
  const run = Effect.gen(function* () {
    const before = yield* read;
    yield* LedgerFloor.use(({ raise }) => raise(raised));
    return [before.slot, (yield* read).slot];
  });
  return await Effect.runPromise(Effect.provide(run, layer));
};

test("what the index has shown is not read from before it, though a node would answer", async () => {
  expect(await slotsAround(120n, 100, 119, 120)).toEqual([100n, 120n]);
});

test("a slot that the ledger cannot have reached keeps nobody out", async () => {
  expect(await slotsAround(10n ** 12n, 100, 101)).toEqual([100n, 101n]);
});
