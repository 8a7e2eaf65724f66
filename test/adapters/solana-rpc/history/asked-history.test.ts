import { afterEach, expect, test } from "bun:test";
import { Effect } from "effect";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { TOKEN_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, runOver, valueOf } from "../ledger-under-test.ts";
import { atSlot, result, rpcError, ScriptedPeer } from "../scripted-peer.ts";

const opened: Array<ScriptedPeer> = [];
afterEach(() => {
  for (const peer of opened.splice(0)) peer[Symbol.dispose]();
});
const sig = (n: number) => ledgerSignatureFromBytes(new Uint8Array(64).fill(n));
/** A node that stands at a slot and lists what landed up to there. */
const nodeAt = (slot: number, list: ReadonlyArray<{ slot: number; n: number }>) => {
  const peer = new ScriptedPeer((call, request) => {
    const options = (call.params.at(-1) ?? {}) as { minContextSlot?: number };
    if ((options.minContextSlot ?? 0) > slot) return rpcError(-32_016)(call, request);
    switch (call.method) {
      case "getGenesisHash":
        return result(TOKEN_PROGRAM)(call, request);
      case "getEpochInfo":
        return result({ absoluteSlot: slot, blockHeight: slot })(call, request);
      case "getFirstAvailableBlock":
        return result(0)(call, request);
      case "getSignaturesForAddress":
        return result(
          list
            .filter((one) => one.slot <= slot)
            .map((one) => ({ signature: sig(one.n), slot: one.slot, err: null })),
        )(call, request);
      default:
        return atSlot(slot, [null])(call, request);
    }
  });
  opened.push(peer);
  return peer;
};

test("the node that lists an address's history is one that has come to the slot at which the address was seen", async () => {
  const truth = [
    { slot: 900, n: 2 },
    { slot: 50, n: 1 },
  ];
  const stuck = nodeAt(100, truth);
  const healthy = nodeAt(1000, truth);
  const { exit } = await runOver(
    configOver([stuck, healthy]),
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      // as the relay does: accounts at finalized, not before the tip; then the history
      yield* ledger.readAccounts([TOKEN_PROGRAM], "finalized", undefined, 1000n);
      return yield* ledger.history(TOKEN_PROGRAM, null);
    }),
  );
  expect(valueOf(exit).entries.map(({ slot }) => slot)).toEqual([900n, 50n]);
});

test("a transaction that a node shows for a signature is the one that was signed so", async () => {
  const peer = new ScriptedPeer((call, request) =>
    call.method === "getGenesisHash"
      ? result(TOKEN_PROGRAM)(call, request)
      : result({
          slot: 5,
          meta: { err: null, innerInstructions: [] },
          transaction: {
            signatures: [sig(9)], // another one
            message: {
              header: { numRequiredSignatures: 1 },
              accountKeys: [TOKEN_PROGRAM],
              instructions: [],
            },
          },
        })(call, request),
  );
  opened.push(peer);
  const { exit } = await runOver(
    configOver([peer], { attemptsPerNode: 1 }),
    Effect.result(Ledger.use((ledger) => ledger.transaction(sig(8)))),
  );
  expect(valueOf(exit)._tag).toBe("Failure");
});
