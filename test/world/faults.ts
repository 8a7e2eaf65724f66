import type { RpcAnswer, RpcCall } from "../simulation/serve-node.ts";

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
