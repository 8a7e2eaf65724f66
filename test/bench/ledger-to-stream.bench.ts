import { localKey, LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { startChild } from "./support/child.ts";
import { report, sizeOf } from "./support/report.ts";

const ESCROWS = sizeOf({ quick: 30, long: 200 });
/** The first ones find code that is not compiled yet. */
const WARM_UP = 10;
const GOAL_MS = 100;
const agent = localKey("agent/planner");

const post = async (address: string, body: object): Promise<unknown> => {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return answer.json();
};

type Prepared = {
  readonly data: {
    readonly escrow_pda: string;
    readonly transaction: { readonly base64: string; readonly signers: ReadonlyArray<string> };
  };
};

/**
 * How long after the ledger's own word each of some creations arrives in the stream of a commitment, milliseconds,
 * where a slot is final after `finalitySlots` others.
 */
const measure = async (
  commitment: "confirmed" | "finalized",
  finalitySlots: number,
): Promise<ReadonlyArray<number>> => {
  const directory = await temporaryDirectory();
  const service = await startChild(
    `${import.meta.dir}/support/servers/serve-local.ts`,
    directory.path,
    String(finalitySlots),
  );
  const [url, rpcUrl] = [await service.line(), await service.line()];

  /** A signed transaction that creates an escrow, and the escrow's address. */
  const creation = async (number: number) => {
    const { data } = (await post(`${url}/v1/escrows/prepare?transaction=true`, {
      agent_owner: agent.address,
      merchant: localKey("merchant/forecast").address,
      mint: LOCAL_USDC_MINT,
      amount_stroops: "1000",
      ttl_seconds: 3600,
      task_intent: "GET https://api.example.com",
      nonce: `bench-${number}`,
    })) as Prepared;
    const { base64, signers } = data.transaction;
    if (signers.length !== 1)
      throw new Error(`${signers.length} have to sign, not the agent alone`);
    const bytes = decodeBase64(base64) ?? new Uint8Array();
    bytes.set(agent.sign(bytes.slice(65)), 1);
    return { escrow: data.escrow_pda, base64: encodeBase64(bytes) };
  };

  /** Arrivals of escrows' creations in the stream, each as it is waited for. */
  const arrivals = new Map<string, (atMs: number) => void>();
  const stream = await fetch(`${url}/v1/indexer/events/stream?commitment=${commitment}`);
  const reading = (async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      const atMs = performance.now();
      text += decoder.decode(chunk, { stream: true });
      const messages = text.split("\n\n");
      text = messages.pop() ?? "";
      for (const message of messages) {
        const escrow = /"escrow_pda":"([^"]+)"/.exec(message)?.[1];
        if (escrow !== undefined) arrivals.get(escrow)?.(atMs);
      }
    }
  })().catch(() => undefined);

  /** When the ledger told that transactions had reached the commitment, by signature. */
  const reached = new Map<string, number>();
  const ledger = new WebSocket(rpcUrl.replace("http", "ws"));
  ledger.addEventListener("message", ({ data }) => {
    const signature = /"signature":"([^"]+)"/.exec(String(data))?.[1];
    if (signature !== undefined) reached.set(signature, performance.now());
  });
  await new Promise((resolve) => ledger.addEventListener("open", resolve));
  const mentions = [{ mentions: [agent.address] }, { commitment }];
  ledger.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "logsSubscribe", params: mentions }));

  const took: Array<number> = [];
  for (let number = 0; number < WARM_UP + ESCROWS; number++) {
    const { escrow, base64 } = await creation(number);
    const arrived = new Promise<number>((resolve) => void arrivals.set(escrow, resolve));
    const params = [base64, { encoding: "base64", skipPreflight: true }];
    const sent = (await post(rpcUrl, {
      jsonrpc: "2.0",
      id: 1,
      method: "sendTransaction",
      params,
    })) as { readonly result?: string };
    if (sent.result === undefined) throw new Error(`the ledger answered ${JSON.stringify(sent)}`);
    const atMs = await arrived;
    const reachedMs = reached.get(sent.result);
    if (reachedMs === undefined)
      throw new Error("the stream was faster than the ledger's own news");
    if (number >= WARM_UP) took.push(atMs - reachedMs);
  }
  ledger.close();
  await service.stop();
  await reading;
  await directory.remove();
  return took;
};

for (const [commitment, finalitySlots] of [
  ["finalized", 0],
  ["confirmed", 32],
] as const) {
  const took = await measure(commitment, finalitySlots);
  const sorted = took.toSorted((a, b) => a - b);
  const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  report({
    name: `ledger to stream, ${commitment}, p99 of ${ESCROWS} creations`,
    goal: `<= ${GOAL_MS} ms`,
    figure: quantile(0.99),
    unit: "ms",
    ratio: `p50 ${quantile(0.5).toFixed(0)} ms, longest ${sorted.at(-1)?.toFixed(0)} ms`,
    pass: quantile(0.99) <= GOAL_MS,
  });
}
