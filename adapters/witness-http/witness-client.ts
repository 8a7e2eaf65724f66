import { Duration, Effect, Layer } from "effect";
import { WitnessClient, WitnessUnreachable } from "../../ports/log/log-source.ts";

const TIME_LIMIT = Duration.seconds(10);
/** More than any answer of a witness: a hundred signature lines. */
const MOST_BYTES = 65_536;

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : "no answer");

/** The body's text. Rejects when it is longer than an answer of a witness may be. */
const boundedText = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const parts: Array<Uint8Array> = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST_BYTES) {
      await reader.cancel();
      throw new Error("the answer is longer than 64 KiB");
    }
    parts.push(value);
  }
  return Buffer.concat(parts).toString("utf8");
};

/** Sends checkpoints by HTTP. Redirects are not followed: a witness is where the policy says. */
export const witnessClientHttp = Layer.succeed(WitnessClient, {
  addCheckpoint: (url, body) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(`${url.replace(/\/$/, "")}/add-checkpoint`, {
          method: "POST",
          body,
          headers: { "content-type": "text/plain; charset=utf-8" },
          redirect: "manual",
          signal,
        });
        const type = response.headers.get("content-type") ?? "";
        return {
          status: response.status,
          contentType: (type.split(";")[0] ?? "").trim().toLowerCase(),
          body: await boundedText(response),
        };
      },
      catch: (cause) => new WitnessUnreachable({ reason: reasonOf(cause) }),
    }).pipe(
      Effect.timeoutOrElse({
        duration: TIME_LIMIT,
        orElse: () => Effect.fail(new WitnessUnreachable({ reason: "no answer in ten seconds" })),
      }),
    ),
});
