import { afterAll } from "bun:test";
import { blockspaceContract } from "../../contracts/blockspace.ts";
import { broadcasterContract } from "../../contracts/broadcaster.ts";
import { ledgerContract } from "../../contracts/ledger.ts";
import { configOver } from "./ledger-under-test.ts";
import { localLedgerWorld } from "./local-ledger-world.ts";
import { type Behaviour, body, page, result, rpcError, ScriptedPeer } from "./scripted-peer.ts";

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
