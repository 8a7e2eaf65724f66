import type { ServerWebSocket } from "bun";
import { walletOf } from "../simulation/world-escrow.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import { SettlementChain } from "../world/settlement-chain.ts";
import { worldBackend } from "./backends.ts";
import type { Backend, Reply, Scenario } from "./scenario.ts";
import { type RpcCall, parseExactly, printExactly, answerText } from "../world/rpc-answer.ts";

type Subscriber = { readonly ends: Array<() => void> };

const foreignLedger = (): Backend => worldBackend(new SettlementChain(walletOf("another genesis")));

/**
 * A JSON-RPC node on a free port, HTTP and WebSocket, that stands before `backend` and plays a scenario until it is
 * healed. Its faults depend on the seed and the order of the requests alone.
 */
export const hostileNode = ({
  backend,
  scenario,
  seed,
  foreign = foreignLedger(),
}: {
  readonly backend: Backend;
  readonly scenario: Scenario;
  readonly seed: number;
  readonly foreign?: Backend;
}) => {
  const stage = { random: seededRandom(seed), backend, foreign };
  const play = scenario.play(stage);
  const notify = scenario.notify?.(stage) ?? ((notification: unknown) => [notification]);
  const asked: Record<string, number> = {};
  let isHostile = true;

  const replyTo = (call: RpcCall): Reply | Promise<Reply> => {
    asked[call.method] = (asked[call.method] ?? 0) + 1;
    return isHostile ? play(call) : backend.answer(call);
  };
  const respond = async (request: Request): Promise<Response> => {
    const asking = parseExactly(await request.text()) as RpcCall | ReadonlyArray<RpcCall>;
    const calls = Array.isArray(asking) ? (asking as ReadonlyArray<RpcCall>) : [asking as RpcCall];
    const bodies: Array<string> = [];
    for (const call of calls) {
      const reply = await replyTo(call);
      if (reply === "silence") return new Promise(() => undefined);
      if ("http" in reply) {
        const { status, headers = {}, body } = reply.http;
        return new Response(body, { status, headers });
      }
      bodies.push(answerText(call.id, reply));
    }
    const text = Array.isArray(asking) ? `[${bodies.join(",")}]` : (bodies[0] ?? "");
    return new Response(text, { headers: { "content-type": "application/json" } });
  };

  const hear = async (socket: ServerWebSocket<Subscriber>, text: string): Promise<void> => {
    const call = parseExactly(text) as RpcCall;
    if (call.method.endsWith("Unsubscribe")) {
      socket.data.ends[Number(call.params[0]) - 1]?.();
      socket.send(answerText(call.id, { result: true }));
      return;
    }
    if (!call.method.endsWith("Subscribe")) {
      socket.send(answerText(call.id, { error: { code: -32_601, message: "Method not found" } }));
      return;
    }
    const subscription = socket.data.ends.length + 1;
    const tell = (notification: unknown): void => {
      for (const one of isHostile ? notify(notification) : [notification])
        socket.send(
          printExactly({
            jsonrpc: "2.0",
            method: call.method.replace("Subscribe", "Notification"),
            params: { result: one, subscription },
          }),
        );
    };
    socket.data.ends.push(await backend.subscribe(call, tell));
    socket.send(answerText(call.id, { result: subscription }));
  };

  const server = Bun.serve<Subscriber>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, own) =>
      own.upgrade(request, { data: { ends: [] } }) ? undefined : respond(request),
    websocket: {
      message: (socket, text) => hear(socket, String(text)),
      close: ({ data }) => {
        for (const end of data.ends) end();
      },
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    webSocketUrl: `ws://127.0.0.1:${server.port}`,
    /** Requests so far, by method. */
    asked,
    /** The requests so far, of all methods. */
    requests: () => Object.values(asked).reduce((sum, times) => sum + times, 0),
    /** Ends or resumes the scenario. */
    setHostile: (hostile: boolean): void => {
      isHostile = hostile;
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
};
