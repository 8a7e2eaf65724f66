import { Effect, Layer } from "effect";
import { tilePath } from "../../core/log/tiles/tile-path.ts";
import { LogSource, LogUnavailable, MAX_BUNDLE_BYTES } from "../../ports/log/log-source.ts";
import { boundedBytes } from "./bounded-bytes.ts";

/** How long one bundle may take, milliseconds. */
const WITHIN_MS = 10_000;

/** The address of a path below a log's address, which may have a path of its own. */
const below = (log: URL, path: string): URL => {
  const url = new URL(log);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${path}`;
  return url;
};

const fetchBundle = async (url: URL, signal: AbortSignal): Promise<Uint8Array | null> => {
  const response = await fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
    // The operator names the log's address; a log may not send its witness elsewhere.
    redirect: "manual",
  });
  if (response.ok) return boundedBytes(response, MAX_BUNDLE_BYTES);
  await response.body?.cancel();
  if (response.status === 404) return null;
  throw new Error(`the log answered ${response.status}`);
};

/** Reads bundles of entries over HTTP: `<log>/log/tile/entries/...` (docs/log.md, "Tiles"). */
export const logSourceHttp: Layer.Layer<LogSource> = Layer.succeed(LogSource, {
  entries: (log, index, width) =>
    Effect.tryPromise({
      try: (signal) =>
        fetchBundle(below(log, `log/${tilePath({ level: "entries", index, width })}`), signal),
      catch: (cause) => new LogUnavailable({ cause }),
    }),
});
