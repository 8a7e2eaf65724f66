import { Clock, Effect, Exit, Redacted } from "effect";
import { AccountScan } from "../accounts/account-scan.ts";
import {
  errorCodeMeaning,
  type NodeFailure,
  NodeFault,
  type NodeFaultKind,
  NodeUnable,
  redactedRpcAddress,
  retryAfterMs,
  RpcRefusal,
} from "./rpc-failure.ts";
import { type Envelope, parseBatch, parseEnvelope, responseText } from "./rpc-envelope.ts";
import { scanBody, scanMethod, type ScanSink } from "../accounts/scan-body.ts";
import { CallTally } from "./call-tally.ts";
import { SharedBatches } from "./shared-batches.ts";
import type { PoolLimits } from "../pool/pool-config.ts";

/** Sends one request to one node, once, and returns the unchecked `result`. */
export type JsonRpcClient = {
  /** Redacted address. */
  readonly node: string;
  readonly ask: (
    method: string,
    params: ReadonlyArray<unknown>,
    limits: PoolLimits,
  ) => Effect.Effect<unknown, NodeFailure>;
  /**
   * As `ask`, in one batch with the requests of this method that are made at the same time, if the node takes batches.
   */
  readonly askTogether: JsonRpcClient["ask"];
  /**
   * getProgramAccounts, or a page of it where the sink asks for one. Hands accounts on as they arrive, and returns
   * their slot once the answer is complete. The time limits count the node's time, not the consumer's.
   */
  readonly scanAccounts: (
    params: ReadonlyArray<unknown>,
    limits: PoolLimits,
    sink: ScanSink,
  ) => Effect.Effect<number, NodeFailure>;
};

type HttpAnswer = {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Awaited<ReturnType<typeof responseText>>;
};

const requestOf = (id: number, method: string, params: ReadonlyArray<unknown>) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

const post = (url: URL, body: string, signal: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body,
    signal,
    // A redirect would send the request, and perhaps the key in the address, to another host.
    redirect: "manual",
  });

const wholeAnswer = async (response: Response, maxBodyBytes: number): Promise<HttpAnswer> => ({
  status: response.status,
  retryAfter: response.headers.get("retry-after"),
  body: await responseText(response, maxBodyBytes),
});

/**
 * The runtime's short name of a connection error, such as ECONNREFUSED. Its message is never used, because it quotes
 * the URL.
 */
const runtimeCode = (cause: unknown): string | null => {
  const code = (cause as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" && /^[A-Za-z_]{1,40}$/.test(code) ? code : null;
};

/**
 * What a promise gives within `ms` milliseconds, `late` after them. Its signal aborts when nobody waits for it any
 * more. Only the clock gets a fiber: a race with it takes another one, and both cost a tenth of a read.
 */
const promiseInTime = <A, E>(
  ms: number,
  ask: (signal: AbortSignal) => Promise<A>,
  { unreachable, late }: { readonly unreachable: (cause: unknown) => E; readonly late: () => E },
): Effect.Effect<A, E> =>
  Effect.withFiber(({ context }) =>
    Effect.callback<A, E>((resume) => {
      const controller = new AbortController();
      const asked = Promise.try(ask, controller.signal);
      const clock = Effect.runForkWith(context)(Effect.sleep(ms));
      const end = (outcome: Effect.Effect<A, E>): void => {
        clock.interruptUnsafe();
        resume(outcome);
      };
      clock.addObserver((exit) => {
        if (!Exit.isSuccess(exit)) return;
        controller.abort();
        resume(Effect.fail(late()));
      });
      asked.then(
        (value) => end(Effect.succeed(value)),
        (cause: unknown) => end(Effect.suspend(() => Effect.fail(unreachable(cause)))),
      );
      return Effect.sync(() => {
        clock.interruptUnsafe();
        controller.abort();
      });
    }),
  );

/** Statuses that invite a retry (RFC 9110, section 15; RFC 6585, section 4; RFC 8470). */
const isTransient = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429 || status < 400;

/** Logs skipped records. A node that applies a scan's filters lists none. */
const tellPassedOver = (node: string, { records, bytes }: AccountScan["passedOver"]) =>
  Effect.logWarning("a ledger node listed accounts that it was not asked for").pipe(
    Effect.annotateLogs({ node, records, bytes }),
  );

/** JSON-RPC error codes with which providers refuse a request beyond the plan, with or without HTTP status 429. */
const LIMIT_CODES: ReadonlySet<number> = new Set([429, -32_429]);

/** One node behind one address, whose calls are counted in `tally`. */
export const jsonRpcClient = (
  address: Redacted.Redacted<URL>,
  tally = new CallTally(),
): JsonRpcClient => {
  const url = Redacted.value(address);
  const node = redactedRpcAddress(url);
  const batches = new Map<string, SharedBatches<NodeFailure>>();
  let lastId = 0;

  /** How requests of one method to this node fail. */
  const failing = (method: string) => {
    const fault = (
      kind: NodeFaultKind,
      code: number | string | null = null,
      retryAfter: number | null = null,
    ) => new NodeFault({ node, method, kind, code, retryAfterMs: retryAfter });
    const errorFailure = (code: number, data: unknown): NodeFailure => {
      if (LIMIT_CODES.has(code)) return fault("rate_limited", code);
      const meaning = errorCodeMeaning(code);
      if (meaning === "refused") return new RpcRefusal({ node, method, code, data });
      if (meaning === "unwell") return fault("unwell", code);
      const kind = meaning === "behind" ? "behind" : "rpc_error";
      return new NodeUnable({ node, method, kind, code });
    };
    const fromEnvelope = (envelope: Envelope): Effect.Effect<unknown, NodeFailure> => {
      if (typeof envelope === "string") return Effect.fail(fault(envelope));
      if ("result" in envelope) return Effect.succeed(envelope.result);
      return Effect.fail(errorFailure(envelope.error.code, envelope.error.data));
    };
    const fromHttp = (
      { status, retryAfter, body }: HttpAnswer,
      id: number,
      nowMs: number,
    ): Effect.Effect<unknown, NodeFailure> => {
      const ok = status >= 200 && status < 300;
      if (!ok && isTransient(status)) {
        const kind = status === 429 ? "rate_limited" : "http_status";
        return Effect.fail(fault(kind, status, retryAfterMs(retryAfter, nowMs)));
      }
      if (body === "oversize") return Effect.fail(fault("oversize"));
      const envelope = body === "not_utf8" ? "not_json" : parseEnvelope(body.text, id);
      // Some providers send a JSON-RPC error with a 4xx status. Otherwise only the status is known.
      if (!ok && (typeof envelope === "string" || "result" in envelope)) {
        return Effect.fail(new NodeUnable({ node, method, kind: "http_status", code: status }));
      }
      return fromEnvelope(envelope);
    };
    const unreachable = (cause: unknown) => fault("unreachable", runtimeCode(cause));
    const inTime = <A>(limits: PoolLimits, ask: (signal: AbortSignal) => Promise<A>) =>
      promiseInTime(limits.requestTimeoutMs, ask, { unreachable, late: () => fault("timeout") });
    return { fault, errorFailure, fromEnvelope, fromHttp, unreachable, inTime };
  };

  /** The HTTP answer to one body. */
  const send = (method: string, body: unknown, limits: PoolLimits) =>
    failing(method).inTime(limits, async (signal) =>
      wholeAnswer(await post(url, JSON.stringify(body), signal), limits.maxBodyBytes),
    );

  const ask: JsonRpcClient["ask"] = Effect.fnUntraced(function* (method, params, limits) {
    const id = ++lastId;
    yield* tally.count(method);
    const answer = yield* send(method, requestOf(id, method, params), limits);
    return yield* failing(method).fromHttp(answer, id, yield* Clock.currentTimeMillis);
  });

  const askBatch = Effect.fnUntraced(function* (
    method: string,
    all: ReadonlyArray<ReadonlyArray<unknown>>,
    limits: PoolLimits,
  ) {
    const { fault, fromEnvelope } = failing(method);
    const requests = all.map((params) => requestOf(++lastId, method, params));
    yield* tally.count(method, requests.length);
    const sent = yield* Effect.result(send(method, requests, limits));
    const failedAll = (failure: NodeFailure, isLimited: boolean) => ({
      answers: all.map(() => Effect.fail(failure)),
      isLimited,
    });
    if (sent._tag === "Failure") return failedAll(sent.failure, false);
    const { status, retryAfter, body } = sent.success;
    if (status === 429) {
      const waitMs = retryAfterMs(retryAfter, yield* Clock.currentTimeMillis);
      return failedAll(fault("rate_limited", status, waitMs), true);
    }
    const answers =
      typeof body === "string"
        ? undefined
        : parseBatch(
            body.text,
            requests.map(({ id }) => id),
          );
    return answers === undefined
      ? ("refused" as const)
      : { answers: answers.map(fromEnvelope), isLimited: false };
  });

  return {
    node,
    ask,
    askTogether: (method, params, limits) => {
      const existing = batches.get(method);
      const shared = existing ?? new SharedBatches<NodeFailure>();
      if (existing === undefined) batches.set(method, shared);
      return shared.ask(params, {
        single: (each) => ask(method, each, limits),
        batch: (all) => askBatch(method, all, limits),
      });
    },
    scanAccounts: (params, limits, sink) =>
      Effect.acquireUseRelease(
        Effect.sync(() => new AbortController()),
        Effect.fnUntraced(function* ({ signal }) {
          const id = ++lastId;
          const method = scanMethod(sink);
          const { fault, errorFailure, fromHttp, unreachable, inTime } = failing(method);
          const body = JSON.stringify(requestOf(id, method, params));
          yield* tally.count(method);
          const response = yield* inTime(limits, () => post(url, body, signal));
          if (response.status !== 200 || response.body === null) {
            const answer = yield* inTime(limits, () => wholeAnswer(response, limits.maxBodyBytes));
            yield* fromHttp(answer, id, yield* Clock.currentTimeMillis);
            return yield* fault("malformed");
          }
          const scan = new AccountScan(id, sink.paged === undefined ? "list" : "page");
          const end = yield* scanBody(response.body, scan, limits, sink, {
            fault: (kind) => fault(kind),
            unreachable,
            behind: () => new NodeUnable({ node, method, kind: "behind", code: null }),
          });
          if (scan.passedOver.records > 0) yield* tellPassedOver(node, scan.passedOver);
          if ("slot" in end) {
            sink.paged?.(end.next ?? null);
            return end.slot;
          }
          return yield* errorFailure(end.error.code, end.error.data);
        }),
        // Ends a body that was not read to its end.
        (controller) => Effect.sync(() => controller.abort()),
      ),
  };
};
