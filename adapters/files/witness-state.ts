import { bytesToHex } from "@noble/hashes/utils.js";
import { Effect, Layer, Semaphore } from "effect";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { TreeEdge } from "../../core/log/tree/tree-edge.ts";
import { isSameHash } from "../../core/log/tree/tree-hash.ts";
import {
  type CosignedLog,
  MAX_REFUSED,
  type RefusedCheckpoint,
  WitnessState,
  WitnessStateUnavailable,
} from "../../ports/log/witness-state.ts";
import { makeFolderDurably, readIfThere, writeDurably } from "../bun/durable-file.ts";

/** The first line of the file: the version of its format. */
const VERSION = "witness-state/1";

const digestOf = (text: string): string => bytesToHex(sha256(new TextEncoder().encode(text)));

/** What was cosigned of a log, as text: one value a line. The last line is the SHA-256 of the lines before it. */
const printCosigned = (origin: string, { size, root, head, edge }: CosignedLog): string => {
  const lines = [VERSION, origin, String(size), ...[root, head, ...edge].map(encodeBase64)];
  const text = `${lines.join("\n")}\n`;
  return `${text}${digestOf(text)}\n`;
};

/**
 * Parses a file that `printCosigned` wrote for this origin. @throws Error for any other text. What was cosigned is then
 * unknown, and a new beginning could cosign another history.
 */
const parseCosigned = (origin: string, text: string): CosignedLog => {
  const lines = text.split("\n");
  const [version, of, size, ...rest] = lines.slice(0, -2);
  const body = `${lines.slice(0, -2).join("\n")}\n`;
  if (`${body}${digestOf(body)}\n` !== text || version !== VERSION || of !== origin)
    throw new Error("the file of a cosigned log is damaged");
  const [root, head, ...edge] = rest.map((line) => decodeBase64(line) ?? new Uint8Array());
  if (root === undefined || head === undefined) throw new Error("a cosigned log without a root");
  const cosigned = { size: Number(size), root, head, edge };
  if (!isSameHash(new TreeEdge(cosigned.size, edge).root(), root))
    throw new Error("the root of a cosigned log is not that of its edge");
  return cosigned;
};

/** Hex digits of a hash in a file's name. Enough that names do not collide. */
const NAME_DIGITS = 32;

const nameOf = (text: string): string =>
  bytesToHex(sha256(new TextEncoder().encode(text))).slice(0, NAME_DIGITS);

const pathIn = (folder: string) => (origin: string) => join(folder, nameOf(origin));

const REFUSED = ".refused";

const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, WitnessStateUnavailable> =>
  Effect.tryPromise({ try: work, catch: (cause) => new WitnessStateUnavailable({ cause }) });

/**
 * Keeps a witness's state in files of a folder: `<hash of the origin>` for what was cosigned, and beside it a folder
 * `<hash of the origin>.refused` with one file for each refused checkpoint: the reason, an empty line and the note.
 * Only one process may use the folder.
 */
export const witnessStateFiles = (
  folder: string,
): Layer.Layer<WitnessState, WitnessStateUnavailable> =>
  Layer.effect(
    WitnessState,
    Effect.gen(function* () {
      yield* attempt(() => makeFolderDurably(folder));
      const writing = yield* Semaphore.make(1);
      const pathOf = pathIn(folder);
      const refusedOf = (origin: string) => `${pathOf(origin)}${REFUSED}`;

      const read = async (origin: string): Promise<CosignedLog | null> => {
        const text = await readIfThere(pathOf(origin));
        return text === null ? null : parseCosigned(origin, text);
      };

      const compareAndSet = async (origin: string, expected: number, next: CosignedLog) => {
        if (((await read(origin))?.size ?? 0) !== expected) return false;
        await writeDurably(pathOf(origin), printCosigned(origin, next));
        return true;
      };

      const namesOfRefused = async (origin: string): Promise<ReadonlyArray<string>> => {
        await makeFolderDurably(refusedOf(origin));
        // A draft was left behind by a process that ended.
        return (await readdir(refusedOf(origin))).filter((name) => !name.endsWith(".new"));
      };

      const keepRefused = async (origin: string, refused: RefusedCheckpoint): Promise<void> => {
        const names = await namesOfRefused(origin);
        const name = nameOf(refused.checkpoint);
        if (names.length >= MAX_REFUSED || names.includes(name)) return;
        const text = `${refused.reason}\n\n${refused.checkpoint}`;
        await writeDurably(join(refusedOf(origin), name), text);
      };

      const readRefused = async (origin: string): Promise<ReadonlyArray<RefusedCheckpoint>> => {
        const texts = (await namesOfRefused(origin)).map((name) =>
          readIfThere(join(refusedOf(origin), name)),
        );
        return (await Promise.all(texts)).flatMap((text) => {
          const at = text?.indexOf("\n\n") ?? -1;
          return text === null || at === -1
            ? []
            : [{ reason: text.slice(0, at), checkpoint: text.slice(at + 2) }];
        });
      };

      return WitnessState.of({
        read: (origin) => attempt(() => read(origin)),
        compareAndSet: (origin, expectedSize, next) =>
          writing.withPermit(attempt(() => compareAndSet(origin, expectedSize, next))),
        keepRefused: (origin, refused) =>
          writing.withPermit(attempt(() => keepRefused(origin, refused))),
        refused: (origin) => attempt(() => readRefused(origin)),
      });
    }),
  );
