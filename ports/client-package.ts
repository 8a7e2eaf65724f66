import { Context, Data, type Effect } from "effect";

/** The client package could not be built, so none can be handed out. */
export class ClientPackageUnavailable extends Data.TaggedError("ClientPackageUnavailable")<{
  readonly cause: unknown;
}> {}

/** The client package whose version matches this service. */
export class ClientPackage extends Context.Service<
  ClientPackage,
  {
    /** The package as `npm install` takes it, a gzipped tar archive. The same service gives the same bytes. */
    readonly bytes: Effect.Effect<Uint8Array<ArrayBuffer>, ClientPackageUnavailable>;
  }
>()("settlement-evidence/ports/ClientPackage") {}
