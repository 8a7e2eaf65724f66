import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../adapters/local-ledger/genesis/signed-transaction.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import {
  registerMerchantInstruction,
  rotateAttestorInstruction,
} from "../../core/protocol/instructions/attestor-instructions.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import { until } from "../app/support/running-service.ts";
import type { History } from "./history.ts";

const MERCHANTS = 12;
const merchants = Array.from({ length: MERCHANTS }, (_, at) =>
  localKey(`merchant of replicas ${at}`),
);

/** A signed transaction and its name. */
type Signed = { readonly signature: string; readonly base64: string };
/** A page that was read, and the slot that it says it is true as of. */
type Page = { readonly beganMs: number; readonly endedMs: number; readonly slot: number };
/** An answer; the status is 0 where none came. */
type Answer = { readonly status: number; readonly body: string };

const answerOf = async (asked: Promise<Response>): Promise<Answer> => {
  try {
    const response = await asked;
    return { status: response.status, body: await response.text() };
  } catch {
    return { status: 0, body: "" };
  }
};

/** How a request with an idempotency key ended for the key; empty where nobody knows. */
const keyOutput = ({ status, body }: Answer): string => {
  if (status === 202) return "ok";
  if (status === 409 && body.includes("idempotency_key_in_flight")) return "in_flight";
  if (status === 422 && body.includes("idempotency_key_reused")) return "reused";
  return "";
};

/** What a look-up shows of a relay; empty where the service could not say. */
const shownBy = ({ status, body }: Answer): string => {
  if (status === 404) return "absent";
  if (status !== 200) return "";
  const { data } = JSON.parse(body) as { readonly data: { readonly status: string } };
  return data.status;
};

/** Clients that relay rotations of merchants' attestors through `url`, on the ledger at `rpcUrl`. */
export const relayLoad = (url: string, rpcUrl: string, history: History, seed: number) => {
  const random = seededRandom(seed);
  const call = async <A>(method: string, ...params: ReadonlyArray<unknown>): Promise<A> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    // The ledger closes connections that rest, also one that is just about to be used.
    const { body: text } = await until(
      "the ledger answers",
      () => answerOf(fetch(rpcUrl, { method: "POST", headers, body })),
      ({ status }) => status === 200,
    );
    return (JSON.parse(text) as { result: A }).result;
  };
  let rotations = 0;
  const sign = async (merchant: (typeof merchants)[number], instruction: Instruction) => {
    const { value } = await call<{ value: { blockhash: string } }>("getLatestBlockhash");
    const { blockhash } = value;
    const bytes = signedTransaction({ payer: merchant, instructions: [instruction], blockhash });
    // One signature, behind the byte that counts it.
    const signature = ledgerSignatureFromBytes(bytes.slice(1, 65));
    return { base64: encodeBase64(bytes), signature };
  };
  const rotation = (): Promise<Signed> => {
    const merchant = merchants[rotations % MERCHANTS] ?? merchants[0];
    if (merchant === undefined) throw new Error("there are merchants");
    const attestor = localKey(`attestor of replicas ${rotations++}`).address;
    const { address } = merchant;
    return sign(
      merchant,
      rotateAttestorInstruction(LOCAL_DEPLOYMENT, { merchant: address, attestor }),
    );
  };
  const post = ({ base64 }: Signed, key?: string): Promise<Answer> =>
    answerOf(
      fetch(`${url}/v1/relay`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(key === undefined ? {} : { "idempotency-key": key }),
        },
        body: JSON.stringify({ signed_transaction: base64 }),
      }),
    );

  /** The signatures whose relay was acknowledged. */
  const acknowledged: Array<string> = [];
  /** As `acknowledged`, of `relayMany`, which no history has. */
  const measured: Array<string> = [];
  /** The pages of events that were read: when each began and ended, and the slot that it says it is true as of. */
  const pages: Array<Page> = [];
  /** When each acknowledged relay began and ended, as `performance.now()`. */
  const successes: Array<readonly [beganMs: number, endedMs: number]> = [];
  const refusals = new Map<number, number>();
  const end = new AbortController();

  const relay = async (client: number, signed: Signed, key: string): Promise<void> => {
    const began = performance.now();
    const answer = await history.run(
      client,
      () => post(signed, key),
      (ended) => [
        { model: "key", object: key, input: signed.signature, output: keyOutput(ended) },
        {
          model: "relay",
          object: signed.signature,
          input: "submit",
          // A key that another transaction has keeps this one from being sent.
          output: ended.status === 202 ? "ok" : keyOutput(ended) === "reused" ? "refused" : "",
        },
      ],
    );
    if (answer.status === 202) {
      acknowledged.push(signed.signature);
      successes.push([began, performance.now()]);
    } else refusals.set(answer.status, (refusals.get(answer.status) ?? 0) + 1);
  };
  const look = (client: number, signature: string): Promise<Answer> =>
    history.run(
      client,
      () => answerOf(fetch(`${url}/v1/relay/${signature}`)),
      (ended) => {
        const output = shownBy(ended);
        // What could not be read says nothing.
        return output === "" ? [] : [{ model: "relay", object: signature, input: "read", output }];
      },
    );

  const readPage = async (): Promise<void> => {
    const beganMs = performance.now();
    const { status, body } = await answerOf(fetch(`${url}/v1/indexer/events?limit=5`));
    if (status !== 200) return;
    const { index } = JSON.parse(body) as { index: { last_synced_slot: number | null } };
    pages.push({ beganMs, endedMs: performance.now(), slot: index.last_synced_slot ?? 0 });
  };

  let keys = 0;
  /** One after the other: a relay, now and then against a rival for the same key, and looks at what was sent. */
  const client = async (number: number): Promise<void> => {
    while (!end.signal.aborted) {
      const key = `key-${seed}-${keys++}`;
      const first = await rotation();
      if (random() < 0.3) {
        const rival = await rotation();
        await Promise.all([relay(number, first, key), relay(number + 100, rival, key)]);
        await look(number, rival.signature);
      } else await relay(number, first, key);
      await look(number, first.signature);
      // Again what was sent once, under the same key.
      if (random() < 0.2) await relay(number, first, key);
      const earlier = acknowledged[Math.floor(random() * acknowledged.length)];
      if (earlier !== undefined) await look(number, earlier);
      await readPage();
      // A service that is away answers at once: the clients leave it time.
      await Bun.sleep(20);
    }
  };

  return {
    acknowledged,
    measured,
    pages,
    successes,
    refusals,
    /** Funds and registers the merchants. */
    prepare: async (): Promise<void> => {
      let last = "";
      for (const { address } of merchants)
        last = await call("requestAirdrop", address, 1_000_000_000, { commitment: "processed" });
      type Statuses = { value: ReadonlyArray<{ confirmationStatus: string } | null> };
      await until(
        "the merchants are funded",
        () => call<Statuses>("getSignatureStatuses", [last]),
        ({ value }) => value[0]?.confirmationStatus === "finalized",
        60,
      );
      for (const [at, merchant] of merchants.entries()) {
        const registration = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
          payer: merchant.address,
          merchant: merchant.address,
          attestor: localKey("attestor of replicas").address,
          name: `Replicated ${at}`,
        });
        const { status, body } = await post(await sign(merchant, registration));
        if (status !== 202) throw new Error(`a merchant was not registered: ${status} ${body}`);
      }
    },
    /** Relays `count` transactions, four at a time, each until it is acknowledged. */
    relayMany: async (count: number): Promise<void> => {
      let left = count;
      const connection = async (): Promise<void> => {
        while (left-- > 0) {
          const signed = await rotation();
          // On a busy machine the database may end a transaction that rests for two seconds: asked again, it is known.
          await until(
            "a relay is acknowledged",
            () => post(signed),
            ({ status }) => status === 202,
          );
          measured.push(signed.signature);
        }
      };
      await Promise.all(Array.from({ length: 4 }, connection));
    },
    /** One more relay beside the clients, of which each waits for its own. */
    probe: async (): Promise<void> => relay(1000 + keys, await rotation(), `key-${seed}-${keys++}`),
    /** Starts clients, which go on until the function that it returns is called. */
    start: (clients: number) => {
      const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
      return async (): Promise<void> => {
        end.abort();
        await running;
      };
    },
  };
};
