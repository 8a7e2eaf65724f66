import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { RoutesConfig } from "@x402/core/server";
import { x402HTTPResourceServer, type x402ResourceServer } from "@x402/core/server";
import { paymentMiddleware as expressPayments } from "@x402/express";
import { paymentMiddleware as honoPayments } from "@x402/hono";
import express, { type NextFunction, type Request, type Response } from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { payFastify } from "../../../client/x402.ts";

/** A running seller. */
export type RunningSeller = { readonly url: string; readonly stop: () => Promise<void> };

/** The routes that every seller has: one delivers, one crashes in the handler, one answers 500. */
export const PATHS = ["/quotes", "/crash", "/broken"] as const;

/** How many times the handler of `/quotes` ran, by the seller's address. */
export const delivered = new Map<string, number>();

type Start = (routes: RoutesConfig, server: x402ResourceServer) => Promise<RunningSeller>;

const QUOTES = { price: "1.50" };
const crash = (): never => {
  throw new Error("the handler crashed");
};

const listening = async (server: Server): Promise<RunningSeller> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const counted = (url: string): typeof QUOTES => {
  delivered.set(url, (delivered.get(url) ?? 0) + 1);
  return QUOTES;
};

const hono: Start = (routes, server) => {
  const app = new Hono();
  app.use(honoPayments(routes, server));
  app.get("/quotes", (c) => c.json(counted(new URL(c.req.url).origin)));
  app.get("/crash", crash);
  app.onError((_, c) => c.json({ error: "crashed" }, 500));
  app.get("/broken", (c) => c.json({ error: "broken" }, 500));
  const running = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch });
  return Promise.resolve({ url: running.url.origin, stop: () => running.stop(true) });
};

const expressSeller: Start = (routes, server) => {
  const app = express();
  app.use(expressPayments(routes, server));
  app.get("/quotes", (request, response) => {
    response.json(counted(`http://${request.headers.host}`));
  });
  app.get("/crash", crash);
  app.get("/broken", (_, response) => {
    response.status(500).json({ error: "broken" });
  });
  app.use((_: Error, __: Request, response: Response, ___: NextFunction) => {
    response.status(500).json({ error: "crashed" });
  });
  return listening(createServer(app));
};

const fastify: Start = async (routes, server) => {
  const app = Fastify();
  payFastify(app, new x402HTTPResourceServer(server, routes));
  app.get("/quotes", (request) => Promise.resolve(counted(`http://${request.host}`)));
  app.get("/crash", crash);
  app.get("/broken", (_, reply) => reply.code(500).send({ error: "broken" }));
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return { url, stop: () => app.close() };
};

/** A seller in each framework, hono and express through x402's own packages. */
export const SELLERS: Readonly<Record<string, Start>> = { hono, express: expressSeller, fastify };
