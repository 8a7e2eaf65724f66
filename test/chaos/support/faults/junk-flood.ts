import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { ESCROW_DISCRIMINATOR } from "../../../../core/protocol/accounts/escrow-account.ts";
import { indexedKinds } from "../../../../core/protocol/accounts/program-account.ts";
import { accountOf } from "../../../doubles/accounts.ts";
import { isOfKind } from "../../../simulation/account-filters.ts";
import { labelled, pendingOf, walletOf, worldEscrow } from "../../../simulation/world-escrow.ts";
import { accountText, ChainNode } from "../../../world/chain-node.ts";
import { ignoringFilters } from "../../../world/node-faults.ts";
import type { SettlementChain } from "../../../world/settlement-chain.ts";
import { called, transactionOf } from "../../../world/settlement-transactions.ts";
import { type RpcCall, answerText } from "../../../world/rpc-answer.ts";

/** Accounts that custody owns but has not made. */
export type Flood = {
  /** The number of accounts of 0 to 700 bytes. Every fourth is as long as an escrow. */
  readonly small: number;
  readonly large: number;
  readonly largeBytes: number;
  /**
   * A stranger can make `zeros` on a real ledger. Only a lying node can make up random bytes, with or without an
   * escrow's discriminator.
   */
  readonly contents: "zeros" | "random" | "forged";
};

/** How a node answers getProgramAccounts. */
export type Manner = "follows filters" | "ignores filters" | "gives parts only";

const { custodyProgram } = LOCAL_DEPLOYMENT;
const [, ESCROWS] = indexedKinds(LOCAL_DEPLOYMENT);
if (ESCROWS?.program !== custodyProgram) throw new Error("custody's kind comes second");
const ESCROW_LENGTH = ESCROWS.length;
/** JSON-RPC's "scan aborted" (Agave `rpc-client-api`, `custom_error`). */
const SCAN_ABORTED = -32_012;

const contentsOf = (flood: Flood, length: number, random: () => number): Uint8Array => {
  if (flood.contents === "zeros") return new Uint8Array(length);
  // One random byte in a thousand is enough, and keeps large accounts cheap.
  const data = new Uint8Array(length).fill(Math.floor(random() * 256));
  for (let at = 0; at < length; at += 1 + Math.floor(random() * Math.max(8, length / 1000)))
    data[at] = Math.floor(random() * 256);
  if (flood.contents === "forged" && length >= 8) data.set(ESCROW_DISCRIMINATOR);
  return data;
};

/**
 * Floods a world. Returns the addresses of the large accounts, and how many small ones a node lists that applies
 * filters.
 */
export const floodWorld = (node: SettlementChain, flood: Flood, random: () => number) => {
  let ofKind = 0;
  for (let number = 0; number < flood.small; number++) {
    const length = number % 4 === 0 ? ESCROW_LENGTH : Math.floor(random() * 700);
    const data = contentsOf(flood, length, random);
    const account = accountOf(walletOf(`junk ${node.size}`), custodyProgram, data);
    node.put(account);
    if (isOfKind(account, ESCROWS)) ofKind += 1;
  }
  const data = contentsOf(flood, flood.largeBytes, random);
  const large: Array<Address> = [];
  for (let number = 0; number < flood.large; number++) {
    const address = walletOf(`junk ${node.size}`);
    // For scans without filters, `serveFlooded` repeats one account instead of holding all of them.
    node.put({ ...accountOf(address, custodyProgram, data), listedBy: walletOf("nobody") });
    large.push(address);
  }
  return { large, ofKind };
};

/** A transaction that opens an escrow and names other accounts too, which anybody may send. */
export const openNaming = (
  node: SettlementChain,
  number: number,
  named: ReadonlyArray<Address>,
) => {
  const escrow = pendingOf(worldEscrow(number));
  node.putEscrow(escrow);
  const { accounts, instructions, time } = transactionOf(LOCAL_DEPLOYMENT, escrow, node.slot);
  for (const { program, accounts: own, data } of instructions)
    node.record(
      called({
        label: `naming ${number}`,
        program,
        accounts: [...own, ...named],
        others: accounts,
        data: data ?? new Uint8Array(),
        slot: node.slot,
        time,
      }),
    );
};

/** The text of an answer with `times` copies of a record at the start of its list. */
function* withMore(text: string, record: Buffer, times: number): Generator<Uint8Array> {
  const list = '"value":[';
  const at = text.indexOf(list) + list.length;
  yield Buffer.from(text.slice(0, at));
  for (let n = 0; n < times; n++) yield record;
  yield Buffer.from(text.slice(at));
}

/** A node of a flooded world. It holds one large account, however many it lists. */
export const serveFlooded = (node: SettlementChain, flood: Flood, manner: Manner) => {
  const isUnfiltered = manner === "ignores filters";
  const honest = new ChainNode(node).answer;
  const answers = isUnfiltered ? ignoringFilters(honest) : honest;
  const data = contentsOf(flood, flood.largeBytes, () => 0.5);
  const address = addressFromBytes(labelled("junk"));
  const account = accountText({ owner: custodyProgram, data });
  const record = Buffer.from(`{"account":${account},"pubkey":"${address}"},`);
  const answer = (call: RpcCall): string | ReadableStream => {
    const { id, method, params } = call;
    const isScan = method === "getProgramAccounts";
    const filters = (params[1] as { readonly filters?: ReadonlyArray<object> } | undefined)
      ?.filters;
    if (isScan && manner === "gives parts only" && (filters?.length ?? 0) < 3)
      return answerText(id, { error: { code: SCAN_ABORTED, message: "scan aborted" } });
    const text = answerText(id, answers(call));
    if (!isScan || !isUnfiltered || params[0] !== custodyProgram) return text;
    const pieces = withMore(text, record, flood.large);
    return new ReadableStream({
      pull: (controller) => {
        const { value, done } = pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const call = (await request.json()) as RpcCall | ReadonlyArray<RpcCall>;
      return "method" in call
        ? new Response(answer(call))
        : new Response("This node takes no batches.", { status: 400 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
};
