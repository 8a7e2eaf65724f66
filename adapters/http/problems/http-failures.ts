import { Data } from "effect";
import type { NotReadyPart } from "../../../core/use-cases/service/read-readiness.ts";

/** One fault of a request: where it is (RFC 6901 pointer into the body, or `?name` for a query) and what. */
export type RequestFault = { readonly pointer: string; readonly detail: string };

type RequestFaults = { readonly faults: ReadonlyArray<RequestFault> };

/** The request breaks the contract in at least one place. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<RequestFaults> {}

/** Only addresses of the request are wrong. */
export class InvalidRequestAddress extends Data.TaggedError(
  "InvalidRequestAddress",
)<RequestFaults> {}

/** The request, or `instructionIndex` of its transaction, exceeds a limit of the beta. */
export class RequestBeyondBetaLimit extends Data.TaggedError("RequestBeyondBetaLimit")<
  RequestFaults & { readonly instructionIndex?: number }
> {}

/** The request's `Host` header is not one host, with or without a port. */
export class MalformedHost extends Data.TaggedError("MalformedHost") {}

/** The request comes from a page of an origin that the operation does not serve. */
export class OriginNotAllowed extends Data.TaggedError("OriginNotAllowed") {}

/** No operation or page has the request's path. */
export class RouteNotFound extends Data.TaggedError("RouteNotFound") {}

/** No problem has the code in the request's path. */
export class ProblemNotFound extends Data.TaggedError("ProblemNotFound") {}

/** No page of the documentation has the name in the request's path. */
export class DocumentationPageNotFound extends Data.TaggedError("DocumentationPageNotFound") {}

/** The place to begin a stream is not the `id` of an event, or not of an event of this service's log. */
export class MalformedEventId extends Data.TaggedError("MalformedEventId")<{
  readonly fault: "malformed" | "another_log";
}> {}

/** The path exists for other methods, which are named. */
export class MethodNotAllowed extends Data.TaggedError("MethodNotAllowed")<{
  readonly allow: ReadonlyArray<string>;
}> {}

/** The Accept header excludes every media type in `offers`. */
export class NotAcceptable extends Data.TaggedError("NotAcceptable")<{
  readonly offers: ReadonlyArray<string>;
}> {}

/** This request header declares that the body is not JSON in UTF-8, or that it is compressed. */
export class UnsupportedMediaType extends Data.TaggedError("UnsupportedMediaType")<{
  readonly header: "content-type" | "content-encoding";
}> {}

/** The body has more than `maxBytes` bytes. */
export class PayloadTooLarge extends Data.TaggedError("PayloadTooLarge")<{
  readonly maxBytes: number;
}> {}

/** The body is not one well-formed JSON value; `detail` says what is wrong without quoting it. */
export class MalformedJson extends Data.TaggedError("MalformedJson")<{
  readonly detail: string;
}> {}

/** The body ended before the length or the last chunk that its framing promised. */
export class BodyBrokenOff extends Data.TaggedError("BodyBrokenOff") {}

/** The operator configured no public address, so that wallet links have nothing to begin with. */
export class WalletLinksOff extends Data.TaggedError("WalletLinksOff") {}

/** The request costs more than is left of the client's budget. The budget suffices again in `resetSeconds`. */
export class RateLimited extends Data.TaggedError("RateLimited")<{
  readonly resetSeconds: number;
}> {}

/** The instance is shutting down: it finishes its requests and accepts no new ones. */
export class ShuttingDown extends Data.TaggedError("ShuttingDown") {}

/** The service, or the index that an answer needs, is not ready. */
export class NotReady extends Data.TaggedError("NotReady")<{
  readonly missing: ReadonlyArray<NotReadyPart>;
  /** What the operator can do, null or absent where nothing more is known. */
  readonly cure?: string | null;
}> {}
