import { afterEach } from "bun:test";
import { Effect, Exit, Scope } from "effect";
import { connect } from "node:net";
import { serveHttp } from "../../../../adapters/http/server/serve-http.ts";
import { makeSyncedService, type ServiceOptions } from "./service.ts";

/** A service that listens on a free port of loopback until `stop` is called. */
export const startListening = async (options: ServiceOptions = {}) => {
  const service = await makeSyncedService(options);
  const scope = Scope.makeUnsafe();
  const listen = serveHttp(service.app, { hostname: "127.0.0.1", port: 0 });
  const server = await Effect.runPromise(Scope.provide(listen, scope));
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void));
  const close = async () => {
    await stop();
    await service.runtime.dispose();
  };
  return { ...service, ...server, stop, close };
};

/** Starts services that listen until the test that asked for them ends. */
export const listeningServices = () => {
  const opened: Array<() => Promise<unknown>> = [];
  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close();
  });
  return async (options: ServiceOptions = {}) => {
    const service = await startListening(options);
    opened.push(service.close);
    return service;
  };
};

/** Where a server listens: a port of loopback, or the path of a socket. */
export type Address = number | string;

/**
 * A server's answer to raw bytes until it closes the connection. Each character of the text is one byte. `behind` is
 * sent once the answer begins.
 */
export const rawAnswer = (address: Address, bytes: string, behind = ""): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = "";
    const write = (text: string) => socket.write(Buffer.from(text, "latin1"));
    const send = () => write(bytes);
    const socket =
      typeof address === "number" ? connect(address, "127.0.0.1", send) : connect(address, send);
    socket.on("data", (chunk) => {
      if (answer === "" && behind !== "") write(behind);
      answer += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
  });
