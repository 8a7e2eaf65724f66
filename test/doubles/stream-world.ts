import { RECEIPT_HEADER } from "../../core/protocol/calls/call-receipt.ts";
import { callOnce } from "../../client/sessions/agent/call-session.ts";
import { memorySessionJournal } from "../../client/sessions/agent/memory-journal.ts";
import type { AgentContext } from "../../client/sessions/agent/send-call.ts";
import { answerSink } from "../../client/sessions/agent/take-stream.ts";
import { answerCall } from "../../client/sessions/seller/answer-call.ts";
import type { PaidCall, SellerContext } from "../../client/sessions/seller/seller-context.ts";
import {
  keepingAttestor,
  memorySessionClaims,
} from "../../client/sessions/seller/session-attestor.ts";
import { memorySessions, SharedSessions } from "../../client/sessions/store/memory-sessions.ts";
import { NETWORK } from "../arbitraries/evidence.ts";
import { ATTESTOR_SIGNER, KEPT, SESSION_SIGNER, TERMS } from "./session-sides.ts";

/** The bytes of a text. */
export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
/** The text of bytes. */
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
/** An event by its number. */
export const eventOf = (number: number): string => `id: ${number}\ndata: event ${number}\n\n`;
/** The events from 1 to a number. */
export const eventsTo = (number: number): string =>
  Array.from({ length: number }, (_, i) => eventOf(i + 1)).join("");

/** What the handler of a stream writes, bit by bit, from the test. */
export class Source {
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  call: PaidCall | null = null;
  isCancelled = false;
  readonly stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      this.#controller = controller;
    },
    cancel: () => {
      this.isCancelled = true;
    },
  });
  write(text: string): void {
    this.#controller?.enqueue(utf8(text));
  }
  end(): void {
    this.#controller?.close();
  }
  fail(): void {
    this.#controller?.error(new Error("the handler failed"));
  }
}

/** What the agent asks for. */
export const URL_OF_CALLS = "https://api.example.com/stream";

/** A seller whose streams the test writes, in processes over one store, and an agent. */
export const streamWorld = () => {
  const place = new SharedSessions();
  const attestor = keepingAttestor(ATTESTOR_SIGNER, memorySessionClaims());
  const roots = new Map<number, Set<string>>();
  const sources: Array<Source> = [];
  const waiting: Array<(source: Source) => void> = [];
  const broken: Array<unknown> = [];
  let isAttestorLost = false;
  let store = memorySessions(place);
  /** Makes of the body of each answer what the line makes of it. */
  let line: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array> = (body) => body;
  const contextOf = (): SellerContext => ({
    store,
    view: { session: () => Promise.resolve({ session: KEPT }) },
    attestor: {
      publicKey: attestor.publicKey,
      attest: async (session, claim) => {
        roots.set(claim.count, (roots.get(claim.count) ?? new Set()).add(claim.deliveries));
        const signed = await attestor.attest(session, claim);
        if (isAttestorLost) throw new Error("the attestor's answer was lost");
        return signed;
      },
    },
    clock: { nowMs: () => Number(KEPT.createdAt) * 1000, pause: () => Promise.resolve() },
    onClosed: () => undefined,
    onBroken: (_, cause) => broken.push(cause),
  });
  const handler = (call: PaidCall) => {
    const source = new Source();
    source.call = call;
    sources.push(source);
    waiting.shift()?.(source);
    return Promise.resolve({
      status: 200,
      headers: [["content-type", "text/event-stream"]] as const,
      stream: source.stream,
    });
  };
  const agent: AgentContext = {
    session: TERMS,
    network: NETWORK.genesisHash,
    signer: SESSION_SIGNER,
    journal: memorySessionJournal(),
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const { method, headers } = request;
      const body = new Uint8Array(await request.arrayBuffer());
      const asked = { method, url, headers, body, price: 100n };
      const answer = await answerCall(contextOf(), asked, handler);
      if (answer === null) return new Response("", { status: 402 });
      if (answer.headers.get(RECEIPT_HEADER) !== "in-stream" || answer.body === null) return answer;
      return new Response(line(answer.body), answer);
    },
    clock: { nowMs: () => 0, pause: () => Promise.resolve() },
  };
  const call = (path = "") => {
    let begun: (answer: Response) => void = () => undefined;
    const streamed = new Promise<Response>((resolve) => {
      begun = resolve;
    });
    const sink = answerSink(begun);
    const ended = callOnce(agent, { url: URL_OF_CALLS + path, limit: 100n, sink }).then(
      (answer) => {
        sink.end();
        return answer;
      },
      (cause: { readonly code: string }) => {
        sink.fail(cause);
        return cause.code;
      },
    );
    return { streamed, ended };
  };
  return {
    agent,
    call,
    broken,
    roots: () => Array.from(roots.values(), (each) => each.size),
    source: (): Promise<Source> => new Promise((resolve) => void waiting.push(resolve)),
    through: (to: typeof line) => {
      line = to;
    },
    loseAttestor: (is: boolean) => {
      isAttestorLost = is;
    },
    /** Another process has the place; the one before lives on, and holds nothing. */
    crash: () => {
      store.crash();
      store = memorySessions(place);
    },
  };
};

/** A line that is cut behind a number of bytes. `isTold` says whether the seller's side notices. */
export const cutAfter =
  (most: number, isTold: boolean) =>
  (body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
    const reader = body.getReader();
    let bytes = 0;
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (bytes + value.length > most) {
          if (isTold) await reader.cancel();
          return controller.error(new Error("the line was cut"));
        }
        bytes += value.length;
        controller.enqueue(value);
      },
    });
  };

/** A line that the test cuts, as the end of its seller's process does: nobody there is told. */
export const cuttable = (
  body: ReadableStream<Uint8Array>,
): { readonly body: ReadableStream<Uint8Array>; readonly cut: () => void } => {
  const reader = body.getReader();
  let cut: () => void = () => undefined;
  const line = new ReadableStream<Uint8Array>({
    start: (controller) => {
      cut = () => controller.error(new Error("the line was cut"));
    },
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { body: line, cut: () => cut() };
};
