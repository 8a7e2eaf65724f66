import { Data, Effect, Redacted } from "effect";

/** The file of the access token cannot be used. */
export class AccessTokenUnusable extends Data.TaggedError("AccessTokenUnusable")<{
  readonly reason: string;
}> {}

/** gRPC metadata takes printable ASCII only. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** The access token in a file, without white space around it. Fails when the file cannot be read or holds no token. */
export const readAccessToken = (
  path: string,
): Effect.Effect<Redacted.Redacted, AccessTokenUnusable> =>
  Effect.tryPromise({
    try: () => Bun.file(path).text(),
    catch: () => new AccessTokenUnusable({ reason: "its file cannot be read" }),
  }).pipe(
    Effect.flatMap((text) =>
      TOKEN.test(text.trim())
        ? Effect.succeed(Redacted.make(text.trim()))
        : Effect.fail(
            new AccessTokenUnusable({
              reason: "its file does not hold one line of printable ASCII",
            }),
          ),
    ),
  );
