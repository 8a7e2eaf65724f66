import { type RpcCall, type RpcAnswer, parseExactly, resultOf } from "./rpc-answer.ts";

/** How a node answers. A fault is a function from such answers to others, so faults are put one before another. */
export type Answers<A = RpcAnswer | Promise<RpcAnswer>> = (call: RpcCall) => A;

const changed = (call: RpcCall, options: Readonly<Record<string, unknown>>): RpcCall => ({
  ...call,
  params: call.params.map((one) =>
    typeof one === "object" && one !== null && !Array.isArray(one) ? { ...one, ...options } : one,
  ),
});

/** A node that lists every account of a program, whatever the filters. */
export const ignoringFilters =
  <A>(answers: Answers<A>): Answers<A> =>
  (call) =>
    answers(changed(call, { filters: [] }));

/** A node that answers though it has not reached the slot that a request names. */
export const denyingLag =
  <A>(answers: Answers<A>): Answers<A> =>
  (call) =>
    answers(changed(call, { minContextSlot: 0 }));

/** A node of a chain that does not change: each answer is computed once and repeated. */
export const repeating = <A>(answers: Answers<A>): Answers<A> => {
  const given = new Map<string, A>();
  return (call) => {
    const question = JSON.stringify([call.method, call.params]);
    const answer = given.get(question) ?? answers(call);
    given.set(question, answer);
    return answer;
  };
};

/** A node that refuses the calls of which `when` is true: it says that it is behind. */
export const refusing =
  <A>(answers: Answers<A>, when: (call: RpcCall) => boolean): Answers<A | RpcAnswer> =>
  (call) =>
    when(call) ? { error: { code: -32_005, message: "Node is behind" } } : answers(call);

/** A node that holds back its answer to the scan numbered `at`, from 1, and to later ones, until it is released. */
export const holdingScan = (answers: Answers, at: number) => {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let scans = 0;
  return {
    answers: async (call: RpcCall): Promise<RpcAnswer> => {
      if (call.method === "getProgramAccounts" && (scans += 1) >= at) {
        asked.resolve();
        await held.promise;
      }
      return answers(call);
    },
    /** Resolves once the scan is asked for. */
    paused: asked.promise,
    release: held.resolve,
  };
};

/** The answers of the node at an address. */
export const answersOf =
  (url: string): Answers<Promise<RpcAnswer>> =>
  async (call) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", ...call }),
    });
    const answer = parseExactly(await response.text()) as RpcAnswer;
    return "error" in answer ? { error: answer.error } : { result: answer.result };
  };

type Encoded = { readonly owner: string; readonly data: readonly [string, string] } | null;
type Listed = { readonly pubkey: string; readonly account: Encoded };

/** What a node shows of an account. */
export type Shown = { readonly owner: string; readonly data: Uint8Array } | null;

/** What a node shows of the account of an address in place of the truth. */
export type Lie = (address: string, truth: Shown) => Shown;

/** The members of an account that a lie makes up. */
const MADE_UP = { lamports: 1, executable: false, rentEpoch: 0 };

const told = (lie: Lie, address: string, account: Encoded): object | null => {
  const truth = account && {
    owner: account.owner,
    data: new Uint8Array(Buffer.from(account.data[0], "base64")),
  };
  const shown = lie(address, truth);
  if (shown === truth || shown === null) return shown && account;
  const data = [Buffer.from(shown.data).toString("base64"), "base64"];
  return { ...MADE_UP, ...account, owner: shown.owner, data, space: shown.data.length };
};

/** A node that lies about accounts, by `lie` as it is at each answer, null for the truth. */
export const lyingAbout =
  (answers: Answers, lie: () => Lie | null): Answers<Promise<RpcAnswer>> =>
  async ({ method, params, id }) => {
    const answer = await answers({ method, params, id });
    const now = lie();
    const result = resultOf(answer) as { readonly value?: unknown } | undefined;
    if (now === null || result === undefined) return answer;
    const withValue = (value: unknown): RpcAnswer => ({ result: { ...result, value } });
    const listed = (all: ReadonlyArray<Listed>) =>
      all.map(({ pubkey, account }) => ({ pubkey, account: told(now, pubkey, account) }));
    switch (method) {
      case "getAccountInfo":
        return withValue(told(now, String(params[0]), result.value as Encoded));
      case "getMultipleAccounts": {
        const addresses = params[0] as ReadonlyArray<string>;
        const accounts = result.value as ReadonlyArray<Encoded>;
        return withValue(accounts.map((one, i) => told(now, addresses[i] ?? "", one)));
      }
      case "getProgramAccounts":
        return Array.isArray(result)
          ? { result: listed(result as ReadonlyArray<Listed>) }
          : withValue(listed(result.value as ReadonlyArray<Listed>));
    }
    return answer;
  };
