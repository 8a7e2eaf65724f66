import type { RoutesConfig } from "@x402/core/server";

/**
 * The routes of an x402 server, with HEAD priced wherever GET is. Express and hono answer HEAD with the handler of GET, and x402 compares methods: without this the
 * handler runs unpaid. A route that names no method is priced for all of them already.
 */
export const withHead = (routes: RoutesConfig): RoutesConfig => {
  if ("accepts" in routes) return routes;
  return Object.fromEntries(
    Object.entries(routes).flatMap(([pattern, route]) => {
      const head = pattern.replace(/^get(?=\s)/i, "HEAD");
      return head in routes
        ? [[pattern, route]]
        : [
            [pattern, route],
            [head, route],
          ];
    }),
  );
};
