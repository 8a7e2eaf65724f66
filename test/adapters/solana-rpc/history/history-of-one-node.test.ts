import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { TOKEN_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, runOver, valueOf } from "../ledger-under-test.ts";
import {
  atSlot,
  page,
  peersOfTests,
  result,
  rpcError,
  type ScriptedPeer,
} from "../scripted-peer.ts";

describe("history of one node", () => {
  const peerThat = peersOfTests();

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
});

describe("asked history", () => {
  const open = peersOfTests();

  const sig = (n: number) => ledgerSignatureFromBytes(new Uint8Array(64).fill(n));

  /** A node that stands at a slot and lists what landed up to there. */
  const nodeAt = (slot: number, list: ReadonlyArray<{ slot: number; n: number }>) => {
    return open((call, request) => {
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
    const peer = open((call, request) =>
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
    const { exit } = await runOver(
      configOver([peer], { attemptsPerNode: 1 }),
      Effect.result(Ledger.use((ledger) => ledger.transaction(sig(8)))),
    );
    expect(valueOf(exit)._tag).toBe("Failure");
  });
});
