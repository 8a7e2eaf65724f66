import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { RoutesConfig } from "@x402/core/server";
import { x402HTTPResourceServer, type x402ResourceServer } from "@x402/core/server";
import { ExpressAdapter, paymentMiddleware as expressPayments } from "@x402/express";
import { HonoAdapter, paymentMiddleware as honoPayments } from "@x402/hono";
import express, { type NextFunction, type Request, type Response } from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { answerAgain, payFastify } from "../../../client/x402.ts";

/** A running seller. */
export type RunningSeller = { readonly url: string; readonly stop: () => Promise<void> };

/**
 * The routes that every seller has: two deliver, JSON and bytes that are no text, one crashes in the handler, one
 * answers 500.
 */
export const PATHS = ["/quotes", "/chart", "/crash", "/broken"] as const;

/** What `/chart` delivers, with a header of its own. */
export const CHART = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff, 0x00, 0x0d, 0x0a);

/** How many times the handlers of `/quotes` and `/chart` ran, by the seller's address. */
export const delivered = new Map<string, number>();

/** With `asks` it asks `answerAgain` before x402's middleware. */
type Start = (
  routes: RoutesConfig,
  server: x402ResourceServer,
  asks?: boolean,
) => Promise<RunningSeller>;

const QUOTES = { price: "1.50" };
const crash = (): never => {
  throw new Error("the handler crashed");
};

/** The address of a seller that starts: one that ended may have had the same port. */
const fresh = (url: string): string => {
  delivered.delete(url);
  return url;
};

const listening = async (server: Server): Promise<RunningSeller> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: fresh(`http://127.0.0.1:${port}`),
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

const hono: Start = (routes, server, asks = false) => {
  const app = new Hono();
  if (asks) app.use(async (c, next) => (await answerAgain(server, new HonoAdapter(c))) ?? next());
  app.use(honoPayments(routes, server));
  app.get("/quotes", (c) => c.json(counted(new URL(c.req.url).origin)));
  app.get("/chart", (c) => {
    counted(new URL(c.req.url).origin);
    return c.body(CHART, 200, { "content-type": "image/png", "x-width": "2" });
  });
  app.get("/crash", crash);
  app.onError((_, c) => c.json({ error: "crashed" }, 500));
  app.get("/broken", (c) => c.json({ error: "broken" }, 500));
  const running = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch });
  return Promise.resolve({ url: fresh(running.url.origin), stop: () => running.stop(true) });
};

const expressSeller: Start = (routes, server, asks = false) => {
  const app = express();
  if (asks)
    app.use((request, response, next) => {
      const give = async (again: Awaited<ReturnType<typeof answerAgain>>) => {
        if (again === null) return next();
        response.status(again.status).setHeaders(again.headers);
        response.end(Buffer.from(await again.arrayBuffer()));
      };
      void answerAgain(server, new ExpressAdapter(request)).then(give);
    });
  app.use(expressPayments(routes, server));
  app.get("/quotes", (request, response) => {
    response.json(counted(`http://${request.headers.host}`));
  });
  app.get("/chart", (request, response) => {
    counted(`http://${request.headers.host}`);
    response.set({ "content-type": "image/png", "x-width": "2" }).end(Buffer.from(CHART));
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
  app.get("/chart", (request, reply) => {
    counted(`http://${request.host}`);
    return reply
      .code(203)
      .headers({ "content-type": "image/png", "x-width": "2" })
      .send(Buffer.from(CHART));
  });
  app.get("/crash", crash);
  app.get("/broken", (_, reply) => reply.code(500).send({ error: "broken" }));
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return { url, stop: () => app.close() };
};

/** A seller in each framework, hono and express through x402's own packages. */
export const SELLERS: Readonly<Record<string, Start>> = { hono, express: expressSeller, fastify };
