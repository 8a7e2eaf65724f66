import { afterAll } from "bun:test";
import { blockspaceContract } from "../../contracts/blockspace.ts";
import { broadcasterContract } from "../../contracts/broadcaster.ts";
import { ledgerContract } from "../../contracts/ledger.ts";
import { configOver } from "./ledger-under-test.ts";
import { type Behaviour, body, page, result, rpcError, ScriptedPeer } from "./scripted-peer.ts";
import { Layer, Logger } from "effect";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { manualTime, SLOT_MS } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { blockspaceSolanaRpc } from "../../../adapters/solana-rpc/broadcast/blockspace-solana-rpc.ts";
import { broadcasterSolanaRpc } from "../../../adapters/solana-rpc/broadcast/broadcaster-solana-rpc.ts";
import { ledgerSolanaRpc } from "../../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../../adapters/solana-rpc/pool/node-pool.ts";
import type { SolanaRpcConfig } from "../../../adapters/solana-rpc/pool/pool-config.ts";
import { PLANTED, plantedParts } from "../../contracts/planted-accounts.ts";
import type { LedgerWorld } from "../../contracts/ledger-world.ts";
import { startLedger } from "../local-ledger/ledger-fixture.ts";

const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;

/** A local ledger whose time stands still until `finalize`, read through the nodes at the given addresses. */
const localLedgerWorld = (config: (ledgerUrl: URL) => SolanaRpcConfig): LedgerWorld => {
  const time = manualTime(Date.now());
  const genesis = localGenesis({ demo: false });
  const { ledger, url, stop } = startLedger({
    time,
    genesis: {
      ageMs: genesis.ageMs,
      fill: (opened, advance) => {
        genesis.fill(opened, advance);
        for (const { address, ...state } of PLANTED) {
          opened.plant(address, { ...state, rentEpoch: RENT_EXEMPT_EPOCH });
        }
      },
    },
  });
  return {
    layer: Layer.mergeAll(ledgerSolanaRpc, broadcasterSolanaRpc, blockspaceSolanaRpc).pipe(
      Layer.provide(nodePool(config(new URL(url)))),
      Layer.provideMerge(Logger.layer([])),
    ),
    genesisHash: ledger.genesisHash,
    ...plantedParts(),
    blockhash: () => ledger.latestBlockhash().blockhash,
    finalize: () => time.advance(SLOT_MS),
    close: stop,
  };
};

const direct = () => localLedgerWorld((url) => configOver([url]));

ledgerContract("solana-rpc over the local ledger", direct);
broadcasterContract("solana-rpc over the local ledger", direct);
blockspaceContract("solana-rpc over the local ledger", direct);

/** The ledger's answer. Only a test of mixed-up answers sets another `id`. */
const answerOf = async (url: URL, call: object): Promise<string> =>
  (await fetch(url, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", ...call }) })).text();

/** A node in front of the ledger that gives one answer in seven, and loses, spoils or swaps the others. */
const troubled = (url: URL): Behaviour => {
  let turn = 0;
  const ways: ReadonlyArray<Behaviour> = [
    page(429, { "retry-after": "0" }),
    async (call, request) => body(await answerOf(url, call))(call, request),
    async (call, request) => body((await answerOf(url, call)).slice(0, -20))(call, request),
    // The request reaches the ledger, and only the answer is lost.
    async (call, request) => {
      await answerOf(url, call);
      return page(502)(call, request);
    },
    async (call, request) => body(await answerOf(url, { ...call, id: -1 }))(call, request),
    rpcError(-32016, { contextSlot: 0 }),
    result({ context: { slot: 2 ** 53 }, value: [{}] }),
  ];
  return async (call, request) => {
    try {
      return await (ways[turn++ % ways.length] ?? page(500))(call, request);
    } catch {
      // The ledger is gone: a submission continues in the background, also after its world has ended.
      return page(502)(call, request);
    }
  };
};

const peers: Array<ScriptedPeer> = [];
afterAll(() => {
  for (const peer of peers) peer[Symbol.dispose]();
});

const behindTrouble = () =>
  localLedgerWorld((url) => {
    const peer = new ScriptedPeer(troubled(url));
    peers.push(peer);
    // Without a cool-down, so that the troubled node is asked first every time.
    return configOver([peer, url], { backoffBaseMs: 0 });
  });

ledgerContract("solana-rpc over a troubled node and the local ledger", behindTrouble);
broadcasterContract("solana-rpc over a troubled node and the local ledger", behindTrouble);
blockspaceContract("solana-rpc over a troubled node and the local ledger", behindTrouble);
