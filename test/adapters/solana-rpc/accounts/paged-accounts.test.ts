import { describe, expect, test } from "bun:test";
import { Effect, Layer, Logger, Stream } from "effect";
import type { Address } from "../../../../core/domain/address.ts";
import { indexedKinds } from "../../../../core/protocol/accounts/program-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { ledgerSolanaRpc } from "../../../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../../../adapters/solana-rpc/pool/node-pool.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { accountScanContract, type ScannedWorld } from "../../../contracts/account-scan.ts";
import { PagingLedger } from "../../../simulation/paging-ledger.ts";
import { type Offers, ChainNode } from "../../../world/chain-node.ts";
import { serveNode } from "../../../simulation/serve-node.ts";
import { configOver, failureOf, runOver, valueOf } from "../ledger-under-test.ts";
import {
  type Behaviour,
  peersOfTests,
  result,
  rpcError,
  type ScriptedPeer,
} from "../scripted-peer.ts";
import type { RpcAnswer } from "../../../world/rpc-answer.ts";

const [, ESCROWS] = indexedKinds(LOCAL_DEPLOYMENT);
if (ESCROWS === undefined) throw new Error("escrows are indexed");
/** Three pages of a node that gives two chunks a page. */
const SIZE = 3600;
const MOST_PER_PAGE = 1700;
const NO_OFFERS: Offers = { pages: false, transactions: false };

const worldOver = (
  { pages }: Pick<Offers, "pages">,
  escrows = SIZE,
  refuses: (
    node: ChainNode<PagingLedger>,
  ) => ((answer: RpcAnswer, filters: number) => RpcAnswer) | null = () => null,
): ScannedWorld => {
  const node = new ChainNode(new PagingLedger(escrows), { ...NO_OFFERS, pages });
  node.mostPerPage = MOST_PER_PAGE;
  const refuse = refuses(node);
  const server = serveNode((call) => {
    const answer = node.answer(call);
    if (refuse === null || call.method !== "getProgramAccounts") return answer;
    const { filters } = call.params[1] as { readonly filters: ReadonlyArray<unknown> };
    return refuse(answer, filters.length);
  });
  const layer = ledgerSolanaRpc.pipe(
    Layer.provide(nodePool(configOver([new URL(server.url)], { backoffBaseMs: 0 }))),
    Layer.provide(Logger.layer([])),
  );
  return {
    layer,
    kind: ESCROWS,
    accounts: () => {
      const accounts = new Map<Address, Uint8Array>();
      for (const [, { address, data }] of node.chain.accountsOf(ESCROWS.program, 0n))
        accounts.set(address, data.slice());
      return accounts;
    },
    change: () => {
      const { slot } = node.chain;
      node.chain.refund(300);
      return Number(slot) + 1;
    },
    isResumable: pages || refuse !== null,
    tellsChanges: pages,
    close: () => server[Symbol.dispose](),
  };
};

const TOO_LARGE: RpcAnswer = { error: { code: -32_012, message: "scan aborted" } };

accountScanContract("one answer", () => worldOver({ pages: false }));
accountScanContract("getProgramAccountsV2", () => worldOver({ pages: true }));
accountScanContract("parts of a node that refuses the whole", () =>
  worldOver({ pages: false }, 600, () => (answer, filters) => (filters < 3 ? TOO_LARGE : answer)),
);

const peerThat = peersOfTests();

const pageOf = (paginationKey: unknown, slot = 40): Behaviour =>
  result({ context: { slot }, value: { accounts: [], paginationKey } });
const many = Ledger.use((ledger) =>
  Stream.runCollect(ledger.programAccounts(ESCROWS, { expected: 1_000_000n })),
);
const methods = (peer: ScriptedPeer) => peer.calls.map(({ method }) => method);

describe("pages of a program's accounts", () => {
  test("are asked for as the providers describe it", async () => {
    const peer = peerThat(pageOf("a"), pageOf(null));
    valueOf((await runOver(configOver([peer]), many)).exit);
    expect(peer.calls.map(({ params }) => params[1])).toEqual([
      expect.objectContaining({ limit: 10_000, withContext: true, commitment: "finalized" }),
      expect.objectContaining({ limit: 10_000, paginationKey: "a", minContextSlot: 40 }),
    ]);
    expect(peer.calls[0]?.params[1]).not.toHaveProperty("paginationKey");
  });

  test("are asked for once where no node offers them", async () => {
    const list = result({ context: { slot: 40 }, value: [] });
    const peer = peerThat(rpcError(-32_601), list, list);
    const twice = Effect.andThen(many, many);
    valueOf((await runOver(configOver([peer]), twice)).exit);
    expect(methods(peer)).toEqual([
      "getProgramAccountsV2",
      "getProgramAccounts",
      "getProgramAccounts",
    ]);
  });

  test.each([-32_600, -32_000, -32_603, -32_403, -32_602])(
    "give way to the classic scan at a node that answers error %d",
    async (code) => {
      const peer = peerThat(({ method, ...call }, request) =>
        method === "getProgramAccounts"
          ? result({ context: { slot: 40 }, value: [] })({ method, ...call }, request)
          : rpcError(code)({ method, ...call }, request),
      );
      expect(valueOf((await runOver(configOver([peer]), many)).exit)).toEqual([
        { slot: 40n, value: [] },
      ]);
    },
  );

  test("are not asked for by a scan that expects few accounts", async () => {
    const peer = peerThat(result({ context: { slot: 40 }, value: [] }));
    const few = Ledger.use((ledger) =>
      Stream.runCollect(ledger.programAccounts(ESCROWS, { expected: 10_000n })),
    );
    valueOf((await runOver(configOver([peer]), few)).exit);
    expect(methods(peer)).toEqual(["getProgramAccounts"]);
  });

  test.each<readonly [string, ReadonlyArray<Behaviour>]>([
    ["stay at one cursor", [pageOf("a"), pageOf("a")]],
    ["go in a circle", [pageOf("a"), pageOf("b"), pageOf("c"), pageOf("a")]],
  ])("fail as retryable when they %s", async (_name, plan) => {
    const peer = peerThat(...plan);
    const { exit } = await runOver(configOver([peer]), many);
    expect(failureOf(exit)).toMatchObject({ _tag: "LedgerUnavailable", retryable: true });
    expect(peer.calls).toHaveLength(plan.length);
  });

  test("fail when a node sends empty pages without end", async () => {
    let page = 0;
    const peer = peerThat((call, request) => pageOf(`page ${page++}`)(call, request));
    const { exit } = await runOver(configOver([peer]), many);
    expect(String((failureOf(exit) as { readonly cause: unknown }).cause)).toContain("empty");
    expect(peer.calls).toHaveLength(1000);
  });

  test.each<readonly [string, unknown]>([
    ["no slot", { accounts: [], paginationKey: null }],
    [
      "a cursor that is no text",
      { context: { slot: 40 }, value: { accounts: [], paginationKey: 1 } },
    ],
    [
      "a long cursor",
      { context: { slot: 40 }, value: { accounts: [], paginationKey: "a".repeat(2000) } },
    ],
    ["no accounts", { context: { slot: 40 }, value: { paginationKey: null } }],
    ["another value", { context: { slot: 40 }, value: 7 }],
  ])("count as not offered by a node whose page has %s", async (_name, value) => {
    const peer = peerThat(({ method, ...call }, request) =>
      method === "getProgramAccounts"
        ? result({ context: { slot: 40 }, value: [] })({ method, ...call }, request)
        : result(value)({ method, ...call }, request),
    );
    valueOf((await runOver(configOver([peer]), many)).exit);
    expect(methods(peer).at(-1)).toBe("getProgramAccounts");
  });

  test("never go back to a slot below one that was seen", async () => {
    const peer = peerThat(pageOf("a", 50), pageOf(null, 49));
    const { exit } = await runOver(configOver([peer]), many);
    expect(failureOf(exit)).toMatchObject({ _tag: "LedgerUnavailable", retryable: true });
  });
});
