import { ARCHIVED_ESCROW_LENGTH } from "../../../core/protocol/accounts/archived-escrow-account.ts";
import { ESCROW_ACCOUNT_LENGTH } from "../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import type { RpcAnswer, RpcCall } from "../../world/rpc-answer.ts";
import { denyingLag } from "../../world/node-faults.ts";
import type { Reply, Scenario, Stage } from "../scenario.ts";
import { scenarioOf } from "../scenarios.ts";

/** One way in which the first node denies what is there, or gives no answer. */
export type Fault = Pick<Scenario, "name" | "does" | "play" | "notify">;

/** The share of answers that are spoiled where not all are. */
const SPOILED = 0.3;
/** The bytes of a huge answer. */
const HUGE = new Uint8Array(30 * 1024 * 1024).fill(0x20);
const ERROR = { InstructionError: [0, { Custom: 6025 }] };

type Context = { readonly slot: number };
type AtSlot = { readonly context: Context; readonly value: unknown };

/** The result of an answer as JSON that may be changed, null for an error. */
const resultOf = (answer: RpcAnswer): unknown =>
  "result" in answer ? structuredClone(answer.result) : null;
const atSlotIn = (answer: RpcAnswer): AtSlot | null => resultOf(answer) as AtSlot | null;

/** A node that changes the results of some methods. */
const changing =
  (methods: ReadonlyArray<string>, change: (result: never, stage: Stage) => unknown) =>
  (stage: Stage) =>
  async (call: RpcCall): Promise<Reply> => {
    const answer = await stage.backend.answer(call);
    if (!methods.includes(call.method) || "error" in answer) return answer;
    return { result: change(resultOf(answer) as never, stage) };
  };

/** A node that answers some methods in its own way. */
const answering =
  (own: Readonly<Record<string, (call: RpcCall, stage: Stage) => Reply | Promise<Reply>>>) =>
  (stage: Stage) =>
  (call: RpcCall): Reply | Promise<Reply> =>
    own[call.method]?.(call, stage) ?? stage.backend.answer(call);

const withValue = (value: (old: unknown) => unknown) => (result: AtSlot) => ({
  ...result,
  value: value(result.value),
});

const each =
  (change: (one: unknown) => unknown) =>
  (value: unknown): unknown =>
    Array.isArray(value) ? value.map(change) : value;

const failed = (one: unknown): unknown =>
  one === null ? null : { ...(one as object), err: ERROR, status: { Err: ERROR } };
const failedMeta = (one: { readonly meta: object } | null): unknown =>
  one === null ? null : { ...one, meta: { ...one.meta, err: ERROR } };

/** Accounts as they were some slots ago, under the newest slot. */
const oldState = (stage: Stage) => {
  const earlier = denyingLag((call) => stage.backend.answer(call));
  /** What each account was when it was first asked for at `finalized`. */
  const first = new Map<string, unknown>();
  return async (call: RpcCall): Promise<Reply> => {
    const answer = await stage.backend.answer(call);
    if (call.method !== "getMultipleAccounts" || "error" in answer) return answer;
    const now = atSlotIn(answer);
    const params = call.params.map((one) =>
      Array.isArray(one) ? one : { ...(one as object), commitment: "finalized" },
    );
    const before = atSlotIn(await earlier({ ...call, params }));
    if (now === null || before === null) return answer;
    const addresses = call.params[0] as ReadonlyArray<string>;
    const value = (before.value as ReadonlyArray<unknown>).map((account, at) => {
      const key = `${addresses[at]} ${JSON.stringify(call.params[1])}`;
      // Sysvars and programs move on, so that the state looks fresh.
      if (addresses[at]?.startsWith("Sysvar") === true) return account;
      if (!first.has(key)) first.set(key, account);
      return first.get(key);
    });
    return { result: { ...now, value } };
  };
};

type Encoded = { readonly owner: string; readonly space: number } | null;

/** Whether an account is an escrow's, whole or archived. */
const isEscrow = (account: unknown): boolean => {
  const shown = account as Encoded;
  const lengths: ReadonlyArray<number | undefined> = [
    ESCROW_ACCOUNT_LENGTH,
    ARCHIVED_ESCROW_LENGTH,
  ];
  return shown?.owner === LOCAL_DEPLOYMENT.custodyProgram && lengths.includes(shown.space);
};

const custodyless = withValue(each((account) => (isEscrow(account) ? null : account)));

const spoiling =
  (reply: (answer: RpcAnswer, call: RpcCall) => Reply, share = SPOILED) =>
  ({ backend, random }: Stage) =>
  async (call: RpcCall): Promise<Reply> => {
    const answer = await backend.answer(call);
    return random() < share ? reply(answer, call) : answer;
  };

const http = (status: number, body: string | Uint8Array<ArrayBuffer>): Reply => ({
  http: { status, headers: { "content-type": "application/json" }, body },
});

/** A scenario of the other tests under its own name. */
const known = (name: string): Fault => scenarioOf(name);

type Shifted = Partial<AtSlot> & { readonly absoluteSlot?: number };

const shifted =
  (slots: number) =>
  (stage: Stage) =>
  async (call: RpcCall): Promise<Reply> => {
    const answer = await denyingLag((asked) => stage.backend.answer(asked))(call);
    const result = resultOf(answer) as Shifted | null;
    if (result?.context !== undefined)
      return { result: { ...result, context: { slot: result.context.slot + slots } } };
    if (result?.absoluteSlot === undefined) return answer;
    return { result: { ...result, absoluteSlot: Math.max(0, result.absoluteSlot + slots) } };
  };

const emptied = changing(
  [
    "getMultipleAccounts",
    "getProgramAccounts",
    "getSignaturesForAddress",
    "getSignatureStatuses",
    "getTransaction",
  ],
  (result: AtSlot | ReadonlyArray<unknown> | null) => {
    if (result === null) return null;
    if (Array.isArray(result)) return [];
    const { context, value } = result as AtSlot;
    if (context === undefined) return null;
    return { context, value: Array.isArray(value) ? value.map(() => null) : value };
  },
);

/** The 24 modes of faults. Those that are known from the syncs' scenarios play as they do there. */
export const FAULTS: ReadonlyArray<Fault> = [
  {
    name: "old-state",
    does: "shows an older state of accounts under the newest slot",
    play: oldState,
  },
  {
    name: "hidden-accounts",
    does: "shows nothing at some addresses",
    play:
      ({ backend, random }) =>
      async (call) => {
        const answer = await backend.answer(call);
        const result = atSlotIn(answer);
        if (call.method !== "getMultipleAccounts" || result === null) return answer;
        const hide = each((account) => (random() < SPOILED ? null : account));
        return { result: withValue(hide)(result) };
      },
  },
  {
    name: "hidden-escrows",
    does: "shows no escrow at all",
    play: changing(["getMultipleAccounts"], custodyless),
  },
  { name: "emptied-ledger", does: "is begun anew under the same genesis hash", play: emptied },
  {
    name: "false-errors-in-statuses",
    does: "says in its statuses that every transaction failed",
    play: changing(["getSignatureStatuses"], withValue(each(failed))),
  },
  {
    name: "false-errors",
    does: "says in statuses and in transactions that every one failed",
    play:
      ({ backend }) =>
      async (call) => {
        const answer = await backend.answer(call);
        if ("error" in answer) return answer;
        if (call.method === "getSignatureStatuses")
          return { result: withValue(each(failed))(atSlotIn(answer) as AtSlot) };
        return call.method === "getTransaction"
          ? { result: failedMeta(resultOf(answer) as Parameters<typeof failedMeta>[0]) }
          : answer;
      },
  },
  {
    name: "false-errors-in-simulations",
    does: "says that every simulation fails",
    play: changing(
      ["simulateTransaction"],
      withValue((value) => ({ ...(value as object), err: ERROR })),
    ),
  },
  {
    name: "forgotten-statuses",
    does: "knows the status of no transaction",
    play: changing(["getSignatureStatuses"], withValue(each(() => null))),
  },
  {
    name: "forgotten-history",
    does: "knows no transaction and no history",
    play: answering({
      getTransaction: () => ({ result: null }),
      getSignaturesForAddress: () => ({ result: [] }),
    }),
  },
  {
    name: "no-valid-blockhash",
    does: "says that no blockhash is valid",
    play: changing(
      ["isBlockhashValid"],
      withValue(() => false),
    ),
  },
  {
    name: "swallowed-sendings",
    does: "takes transactions and sends none on",
    play: answering({
      sendTransaction: () => ({ result: "1".repeat(64) }),
    }),
  },
  {
    name: "refused-sendings",
    does: "refuses every transaction as if its blockhash were unknown",
    play: answering({
      sendTransaction: () => ({ error: { code: -32_002, message: "Blockhash not found" } }),
    }),
  },
  {
    name: "huge-answers",
    does: "answers 8 % of the requests with 30 MB",
    play: spoiling(() => http(200, HUGE), 0.08),
  },
  {
    name: "too-many-requests",
    does: "answers 30 % of the requests with 429",
    play: spoiling(() => http(429, "Too many requests")),
  },
  {
    name: "bad-gateway",
    does: "answers 30 % of the requests with 502",
    play: spoiling(() => http(502, "Bad gateway")),
  },
  known("truncated"),
  known("wrong-ids"),
  known("html-pages"),
  known("slow"),
  {
    name: "errors",
    does: "answers 30 % of the requests with an error of its own",
    play: spoiling(() => ({ error: { code: -32_603, message: "Internal error" } })),
  },
  {
    name: "slots-ahead",
    does: "shows slots that the ledger has not reached",
    play: shifted(1_000_000),
  },
  {
    name: "slots-behind",
    does: "shows slots from long ago, whatever it is asked for",
    play: shifted(-500),
  },
  {
    name: "another-ledger",
    does: "serves another ledger at the same address",
    play:
      ({ foreign }) =>
      (call) =>
        foreign.answer(call),
  },
  {
    name: "silent-web-socket",
    does: "notifies of nothing",
    play:
      ({ backend }) =>
      (call) =>
        backend.answer(call),
    notify: () => () => [],
  },
];
