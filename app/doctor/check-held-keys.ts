import { resolve } from "node:path";
import { Clock, Effect, Logger, Option, Redacted } from "effect";
import { GENERATED_KEY_FILE } from "../../adapters/signer/evidence-signer.ts";
import { readKeyFile } from "../../adapters/signer/key-file.ts";
import { isHeldKey, keyOfText } from "../../adapters/signer/key-text.ts";
import { generatedKeyPath, logKeyFiles } from "../../adapters/signer/log-signer.ts";
import type { Settings } from "../config/settings.ts";
import { type Finding, finding, Problem } from "./finding.ts";

/** What a key's holder is asked to sign. It is no packet, no checkpoint and no transaction. */
const PROBE = new TextEncoder().encode("settlement-evidence doctor: this signature says nothing\n");

/** A key's name in messages, and its text or the file where that would be. */
type Place = {
  readonly name: string;
  readonly text?: Redacted.Redacted | null;
  readonly path: string;
};

const placesOf = (settings: Settings): ReadonlyArray<Place> => {
  const dataDir = resolve(settings.dataDir);
  const { evidenceKey, evidenceKeyFile, logKey, logKeyFile, witness } = settings;
  const log = logKeyFiles(logKeyFile ?? generatedKeyPath(dataDir));
  return [
    {
      name: "the evidence key",
      text: evidenceKey,
      path: evidenceKeyFile ?? resolve(dataDir, GENERATED_KEY_FILE),
    },
    { name: "the log's key", text: logKey, path: log.key },
    ...(logKey === null ? [{ name: "the log's second key", path: log.next }] : []),
    ...(witness === null ? [] : [{ name: "the witness's key", path: witness.keyFile }]),
  ];
};

const signsOnce = Effect.fnUntraced(function* (name: string, text: Redacted.Redacted) {
  const key = keyOfText(text);
  const beganMs = yield* Clock.currentTimeMillis;
  if (key !== undefined)
    yield* key.sign(PROBE).pipe(
      // The finding says it.
      Effect.provide(Logger.layer([])),
      Effect.mapError(({ message, said }) => {
        const last = said === null ? "" : ` It said: ${said.split("\n").at(-1)}.`;
        const cure = 'See docs/keys.md, "What a file of a key says"';
        return new Problem({ message: `${name}: ${message.replace(/\.?$/, ".")}${last} ${cure}` });
      }),
    );
  return `${name} is held by somebody else, who signed in ${(yield* Clock.currentTimeMillis) - beganMs} ms`;
});

/**
 * Has each key that an agent or a command holds sign a fixed message once, which says how long that takes. A key that
 * is in its file is not asked, and one that cannot be read is another check's.
 */
export const checkHeldKeys = Effect.fnUntraced(function* (
  settings: Settings,
): Effect.fn.Return<ReadonlyArray<Finding>> {
  const findings: Array<Finding> = [];
  for (const { name, text, path } of placesOf(settings)) {
    const given = text ?? Option.getOrNull(yield* Effect.option(readKeyFile(path)));
    if (given !== null && isHeldKey(Redacted.value(given)))
      findings.push(yield* finding("key", signsOnce(name, given)));
  }
  return findings;
});
