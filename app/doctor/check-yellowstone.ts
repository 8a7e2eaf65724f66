import { Deferred, Duration, Effect } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { Settings } from "../config/settings.ts";
import { Problem } from "./finding.ts";

/** How long a server may take to answer the first ping. */
const ANSWER_WITHIN = Duration.seconds(5);

type Yellowstone = NonNullable<
  Extract<Settings["ledger"], { readonly kind: "remote" }>["yellowstone"]
>;

/** The problem at a host, by how the stream ended. */
const problemAt = (host: string, reason: string): Problem => {
  if (/^(UNAUTHENTICATED|PERMISSION_DENIED)/.test(reason))
    return new Problem({
      message: `${host}: ${reason}; check the token in the file of YELLOWSTONE_TOKEN_FILE`,
    });
  if (/^(UNIMPLEMENTED|INVALID_ARGUMENT|INTERNAL)/.test(reason))
    return new Problem({
      message: `${host}: ${reason}; it is not a Yellowstone gRPC server that takes this subscription; check YELLOWSTONE_URL`,
    });
  return new Problem({
    message: `${host}: ${reason}; check YELLOWSTONE_URL: scheme, host and port, the certificate of an https address, and the network`,
    isUnavailable: true,
  });
};

/**
 * Whether the Yellowstone server takes the service's subscription and answers a ping. Does not read the server's
 * version, because only the subscription matters.
 */
export const checkYellowstone = Effect.fnUntraced(function* (
  { url, tokenFile }: Yellowstone,
  programs: ReadonlyArray<Address>,
) {
  const { geyserStream } = yield* Effect.promise(
    () => import("../../adapters/yellowstone/geyser-stream.ts"),
  );
  const { readAccessToken } = yield* Effect.promise(
    () => import("../../adapters/yellowstone/ledger-signals-yellowstone.ts"),
  );
  const { subscriptionTo } = yield* Effect.promise(
    () => import("../../adapters/yellowstone/geyser-stream.ts"),
  );
  const token =
    tokenFile === null
      ? null
      : yield* Effect.mapError(
          readAccessToken(tokenFile),
          ({ reason }) =>
            new Problem({ message: `YELLOWSTONE_TOKEN_FILE ${tokenFile}: ${reason}` }),
        );
  const answered = yield* Deferred.make<null>();
  const stream = geyserStream(url, token, subscriptionTo(programs, null), (update) => {
    // Other updates do not prove that the server works.
    if (update.pong !== undefined || update.slot !== undefined)
      Deferred.doneUnsafe(answered, Effect.succeed(null));
  });
  const reason = yield* Effect.raceFirst(stream, Deferred.await(answered)).pipe(
    Effect.timeoutOrElse({
      duration: ANSWER_WITHIN,
      orElse: () => Effect.succeed("it answers nothing within 5 s"),
    }),
  );
  if (reason === null) return `${url.host} takes the subscription`;
  return yield* problemAt(url.host, reason);
});
