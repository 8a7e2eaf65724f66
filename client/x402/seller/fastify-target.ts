/** What names a fastify request's route. */
type Targeted = {
  readonly method: string;
  /** The request's target as it came. */
  readonly url: string;
  /** The route that fastify found; undefined where there is none. */
  readonly routeOptions?: { readonly url?: string | undefined };
};

/** A method and a path under which a request may have to be paid. */
export type Candidate = { readonly method: string; readonly path: string };

/** Path and query of a request. A target in absolute form (RFC 9112, 3.2.2) has scheme and host too, which fastify's router drops. */
export const fastifyTarget = ({ url }: Pick<Targeted, "url">): string =>
  url.startsWith("/") ? url : url.replace(/^https?:\/\/.*?\//i, "/");

const pathOf = (request: Targeted): string => fastifyTarget(request).split(/[?#]/, 1)[0] ?? "/";

/**
 * Every method and path that fastify may have found the handler of a request by, the request's own first. Its router may end a path at a semicolon, and answers HEAD
 * with the handler of GET; x402 does neither, so a route is paid when one of them is.
 */
export const fastifyCandidates = (request: Targeted): ReadonlyArray<Candidate> => {
  const path = pathOf(request);
  const paths = [path, path.split(";", 1)[0] ?? path, request.routeOptions?.url ?? path];
  const methods = request.method === "HEAD" ? ["HEAD", "GET"] : [request.method];
  return methods.flatMap((method) => paths.map((each) => ({ method, path: each })));
};
