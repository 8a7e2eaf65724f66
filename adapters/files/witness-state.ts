import { bytesToHex } from "@noble/hashes/utils.js";
import { Effect, Layer, Semaphore } from "effect";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseAddress } from "../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { HASH_LENGTH } from "../../core/log/tree/tree-hash.ts";
import {
  type CosignedLog,
  MAX_REFUSED,
  type RefusedCheckpoint,
  WitnessState,
  WitnessStateUnavailable,
} from "../../ports/log/witness-state.ts";
import { makeFolderDurably, readIfThere, writeDurably } from "../bun/durable-file.ts";

/** The first line of the file, which other forms will change. */
const VERSION = "witness-state/2";

/** The line of a log's last checkpoint. */
const LAST = "last";

const digestOf = (text: string): string => bytesToHex(sha256(new TextEncoder().encode(text)));

/**
 * What was cosigned of a log, as the text of a file: a line each, and the SHA-256 of the lines before it as the last.
 */
const printCosigned = (origin: string, { size, root, isLast }: CosignedLog): string => {
  const lines = [VERSION, origin, String(size), encodeBase64(root), ...(isLast ? [LAST] : [])];
  const text = `${lines.join("\n")}\n`;
  return `${text}${digestOf(text)}\n`;
};

/**
 * What a text says was cosigned of a log. @throws Error for a text that `printCosigned` did not print for this origin:
 * what was cosigned is then unknown, and beginning anew could cosign another history.
 */
const parseCosigned = (origin: string, text: string): CosignedLog => {
  const lines = text.split("\n");
  const [version, of, size, hash = "", ...more] = lines.slice(0, -2);
  const body = `${lines.slice(0, -2).join("\n")}\n`;
  if (`${body}${digestOf(body)}\n` !== text || version !== VERSION || of !== origin)
    throw new Error("the file of a cosigned log is damaged");
  const root = decodeBase64(hash);
  if (root?.length !== HASH_LENGTH) throw new Error("a cosigned log without a root");
  if (more.length === 0) return { size: Number(size), root };
  if (more.join() !== LAST) throw new Error("a cosigned log of another form");
  return { size: Number(size), root, isLast: true };
};

/** Hex digits of a hash in a file's name: none of a few thousand files meets another. */
const NAME_DIGITS = 32;

const nameOf = (text: string): string =>
  bytesToHex(sha256(new TextEncoder().encode(text))).slice(0, NAME_DIGITS);

const pathIn = (folder: string) => (origin: string) => join(folder, nameOf(origin));

const REFUSED = ".refused";

/** Which one of its log a refused checkpoint was, by its file's name, `<number>-<hash>`; 0 without a number. */
const turnOf = (name: string): number => (name.includes("-") ? Number.parseInt(name, 10) : 0);

const byTurn = (a: string, b: string): number => turnOf(a) - turnOf(b) || (a < b ? -1 : 1);

/**
 * A refused checkpoint as the text of a file: the reason, a line of what the node showed where it showed something, an
 * empty line, and the note.
 */
const printRefused = ({ reason, checkpoint, config }: RefusedCheckpoint): string => {
  const shown =
    config === undefined ? "" : `\n${config.slot} ${config.owner} ${encodeBase64(config.data)}`;
  return `${reason}${shown}\n\n${checkpoint}`;
};

/** What `printRefused` printed; nothing for any other text. */
const parseRefused = (text: string): ReadonlyArray<RefusedCheckpoint> => {
  const at = text.indexOf("\n\n");
  if (at === -1) return [];
  const [reason = "", shown = ""] = text.slice(0, at).split("\n");
  const [slot = "", program = "", base64 = ""] = shown.split(" ");
  const owner = parseAddress(program);
  const data = decodeBase64(base64);
  const isShown = /^\d+$/.test(slot) && owner !== undefined && data !== undefined;
  return [
    {
      reason,
      checkpoint: text.slice(at + 2),
      ...(isShown ? { config: { slot: BigInt(slot), owner, data } } : {}),
    },
  ];
};

const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, WitnessStateUnavailable> =>
  Effect.tryPromise({ try: work, catch: (cause) => new WitnessStateUnavailable({ cause }) });

/**
 * Keeps a witness's state in files of a folder: `<hash of the origin>` for what was cosigned, and beside it a folder
 * `<hash of the origin>.refused` with one file `<number>-<hash>` for each refused checkpoint (`printRefused`). Only one process may use the folder.
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
        // A draft is what a process that ended left behind.
        const names = await readdir(refusedOf(origin));
        return names.filter((name) => !name.endsWith(".new")).toSorted(byTurn);
      };

      const keepRefused = async (origin: string, refused: RefusedCheckpoint): Promise<void> => {
        const names = await namesOfRefused(origin);
        const hash = nameOf(refused.checkpoint);
        if (names.some((name) => name.endsWith(hash))) return;
        const last = names.at(-1);
        const name = `${last === undefined ? 1 : turnOf(last) + 1}-${hash}`;
        await writeDurably(join(refusedOf(origin), name), printRefused(refused));
        const dropped = [...names, name].slice(1, -MAX_REFUSED + 1);
        for (const each of dropped) await rm(join(refusedOf(origin), each));
      };

      const readRefused = async (origin: string): Promise<ReadonlyArray<RefusedCheckpoint>> => {
        const texts = (await namesOfRefused(origin)).map((name) =>
          readIfThere(join(refusedOf(origin), name)),
        );
        return (await Promise.all(texts)).flatMap((text) =>
          text === null ? [] : parseRefused(text),
        );
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
