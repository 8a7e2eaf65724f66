import type { SessionSeller } from "../seller/session-seller.ts";
import { noteCall } from "./paid-call.ts";

/** What is used of hono's context. */
export type HonoContext = { readonly req: { raw: Request }; res: Response | undefined };

/**
 * A middleware for hono that sells what follows it, for at most `price`.
 * @example
 * import { Hono } from "hono";
 * import { sellHono } from "settlement-evidence/sessions";
 *
 * const app = new Hono();
 * app.get("/quotes", sellHono(seller, "0.01"), (c) => c.json({ price: "1.50" }));
 * (await app.request("http://127.0.0.1/quotes")).status; // => 402
 */
export const sellHono = (seller: SessionSeller, price: string) => {
  return async (c: HonoContext, next: () => Promise<void>): Promise<Response | undefined> => {
    if (c.req.raw.method === "OPTIONS") {
      await next();
      return undefined;
    }
    let isRun = false;
    const answer = await seller.handle(c.req.raw, price, async (request, call) => {
      isRun = true;
      c.req.raw = request;
      noteCall(request, call);
      await next();
      return c.res ?? new Response(null, { status: 500 });
    });
    if (!isRun) return answer;
    // Hono merges the headers of the answer before into another one, unless there is none.
    c.res = undefined;
    c.res = answer;
    return undefined;
  };
};
