import { Effect, Layer, Redacted } from "effect";
import { isKeyName } from "../../core/log/notes/verifier-key.ts";
import { WitnessKey, WitnessUnusable } from "../../ports/log/witness-key.ts";
import { type NamedKey, sameKeys } from "./distinct-keys.ts";
import { ed25519Key } from "./ed25519-key.ts";
import { readKeyFile } from "./key-file.ts";
import { parseSeedText, SEED_TEXT_FORMS } from "./seed-text.ts";

/** The witness's own setting, as messages name it. */
const SOURCE = "WITNESS_KEY_FILE";

/**
 * Signs cosignatures under a name with the key in a file, in one of the forms of seed-text.ts. Only the file's owner may be
 * able to read it. The key must differ from all `others`: each states something else by its signature.
 */
export const witnessKeyFromFile = (
  name: string,
  path: string,
  others: ReadonlyArray<NamedKey>,
): Layer.Layer<WitnessKey, WitnessUnusable> =>
  Layer.effect(
    WitnessKey,
    Effect.gen(function* () {
      const unusable = (reason: string) => new WitnessUnusable({ source: path, reason });
      if (!isKeyName(name))
        return yield* new WitnessUnusable({
          source: "WITNESS_NAME",
          reason: "it must have no spaces and no plus",
        });
      const text = yield* readKeyFile(path).pipe(Effect.mapError(({ reason }) => unusable(reason)));
      const seed = parseSeedText(Redacted.value(text));
      if (seed === undefined) return yield* unusable(`it must be ${SEED_TEXT_FORMS}`);
      const { publicKey, sign } = ed25519Key(seed);
      const same = sameKeys([{ setting: SOURCE, publicKey }, ...others]);
      if (same !== null) return yield* unusable(same);
      return WitnessKey.of({
        name,
        publicKey,
        sign: (message) => Effect.sync(() => sign(message)),
      });
    }),
  );
