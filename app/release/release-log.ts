import { dirname, join } from "node:path";
import { Effect, Ref } from "effect";
import { makeFolderDurably, writeDurably } from "../../adapters/bun/durable-file.ts";
import { witnessClientHttp } from "../../adapters/witness-http/witness-client.ts";
import type { MessageSigner } from "../../client/signing/sign-transaction.ts";
import { addressFromBytes } from "../../core/domain/address.ts";
import { checkpointText } from "../../core/log/checkpoint/checkpoint.ts";
import { parseTlogProof, printTlogProof } from "../../core/log/checkpoint/tlog-proof.ts";
import { type NoteSignature, printSignedNote } from "../../core/log/notes/signed-note.ts";
import { noteMessage } from "../../core/log/notes/verify-note.ts";
import { judgeCheckpoint, type JudgedCheckpoint } from "../../core/log/policy/judge-checkpoint.ts";
import type { LogPolicy } from "../../core/log/policy/log-policy.ts";
import { parseLogPolicy, policyFaultText } from "../../core/log/policy/parse-log-policy.ts";
import { decodeEntryBundle } from "../../core/log/tiles/entry-bundle.ts";
import { TileBuilder } from "../../core/log/tiles/tile-builder.ts";
import { type Tile, tilePath, tileWidthIn } from "../../core/log/tiles/tile-path.ts";
import { type HashSource, rootAt } from "../../core/log/tree/subtree.ts";
import {
  consistencyProof,
  inclusionProof,
  verifyInclusion,
} from "../../core/log/tree/tree-proofs.ts";
import { isSameHash, leafHash, nodeHash } from "../../core/log/tree/tree-hash.ts";
import {
  askForCosignature,
  type OfferedCheckpoint,
  type WitnessRecord,
} from "../../core/use-cases/log/witnesses/ask-witness.ts";

/**
 * A log of releases: static files of C2SP tlog-tiles, whose entry for each release is its SHA256SUMS. It has nothing to
 * do with a ledger: witnesses see that it only grows (docs/releases.md).
 */

/** The policy of a text, which names the one log of releases. @throws Error that says what is wrong with it. */
export const releasePolicy = (text: string): LogPolicy => {
  const parsed = parseLogPolicy(text);
  if ("fault" in parsed) throw new Error(`The policy cannot be used: ${policyFaultText(parsed)}`);
  if (parsed.value.logs.length !== 1) throw new Error("The policy must name one log");
  return parsed.value;
};

const CHECKPOINT = "checkpoint";

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** The bytes of a file, null where there is none. */
const bytesAt = async (path: string): Promise<Uint8Array | null> => {
  const file = Bun.file(path);
  return (await file.exists()) ? file.bytes() : null;
};

/** The entries of a log of a size, null where they are not all there. @throws Error for a damaged bundle. */
const entriesOf = async (
  folder: string,
  size: number,
): Promise<ReadonlyArray<Uint8Array> | null> => {
  const entries: Array<Uint8Array> = [];
  for (let index = 0; entries.length < size; index++) {
    const width = tileWidthIn({ level: "entries", index }, size);
    const path = tilePath({ level: "entries", index, width });
    const bytes = await bytesAt(join(folder, path));
    if (bytes === null) return null;
    const bundle = decodeEntryBundle(bytes, width);
    if ("fault" in bundle) throw new Error(`${path}: ${bundle.fault}`);
    entries.push(...bundle.value);
  }
  return entries;
};

const hashesOf = (entries: ReadonlyArray<Uint8Array>): HashSource => {
  const leaves = entries.map(leafHash);
  const hashOf: HashSource = ({ level, index }) => {
    const leaf = leaves[index];
    if (level === 0 && leaf !== undefined) return leaf;
    return nodeHash(
      hashOf({ level: level - 1, index: 2 * index }),
      hashOf({ level: level - 1, index: 2 * index + 1 }),
    );
  };
  return hashOf;
};

/** The log's checkpoint and its entries; no entry before the first. @throws Error unless the one is of the others. */
const openLog = async (folder: string, policy: LogPolicy): Promise<ReadonlyArray<Uint8Array>> => {
  const checkpoint = await bytesAt(join(folder, CHECKPOINT));
  if (checkpoint === null) return [];
  const judged = judgeCheckpoint(policy, new TextDecoder().decode(checkpoint));
  if ("fault" in judged) throw new Error(`The log's checkpoint: ${judged.fault}`);
  const { size, root } = judged.value.checkpoint;
  const entries = await entriesOf(folder, size);
  if (entries === null || !isSameHash(rootAt(size, hashesOf(entries)), root))
    throw new Error(`The entries in ${folder} are not those of its checkpoint`);
  return entries;
};

/** Writes the tiles that a log of these entries has and that are not there yet. */
const putTiles = async (folder: string, entries: ReadonlyArray<Uint8Array>): Promise<void> => {
  const tiles: Array<readonly [Tile, Uint8Array]> = [];
  const builder = new TileBuilder((tile, bytes) => void tiles.push([tile, bytes]));
  for (const entry of entries) builder.append(entry);
  builder.writePartials();
  for (const [tile, bytes] of tiles) {
    const path = join(folder, tilePath(tile));
    await makeFolderDurably(dirname(path));
    await writeDurably(path, bytes);
  }
};

/** The cosignatures that the policy's witnesses give, and why others gave none. */
const cosignaturesOf = async (
  checkpoint: OfferedCheckpoint,
  policy: LogPolicy,
  source: HashSource,
) => {
  const { size } = checkpoint.head;
  const ask = Effect.gen(function* () {
    const records = yield* Ref.make<ReadonlyMap<string, WitnessRecord>>(new Map());
    const given = yield* Effect.forEach(
      policy.witnesses,
      (witness) =>
        askForCosignature(
          (oldSize) => Effect.succeed(consistencyProof(oldSize, size, source)),
          checkpoint,
          witness,
          records,
        ),
      { concurrency: "unbounded" },
    );
    return { given, records: yield* Ref.get(records) };
  });
  const { given, records } = await Effect.runPromise(Effect.provide(ask, witnessClientHttp));
  return {
    signatures: given.filter(
      (each): each is NoteSignature => each !== null && each !== "not_ready",
    ),
    problems: [...records].flatMap(([name, { lastProblem }]) =>
      lastProblem === null ? [] : [`${name}: ${lastProblem}`],
    ),
  };
};

/**
 * Appends a release's SHA256SUMS to the log in `folder`, signs the log's new size, has the witnesses cosign it, and gives
 * the proof of the entry (C2SP tlog-proof). The same release again gives its proof anew. Each file is on disk before the
 * next, and the checkpoint is replaced last: whatever stops before it, the next call goes on with the same entry. @throws Error where the log's files are not its
 * own, the signer is another one, another entry waits, or the witnesses make no quorum.
 */
export const logRelease = async (
  folder: string,
  entry: Uint8Array,
  policy: LogPolicy,
  signer: MessageSigner,
): Promise<string> => {
  const [log] = policy.logs;
  if (log === undefined || signer.publicKey !== addressFromBytes(log.key.publicKey))
    throw new Error(`The signer's key ${signer.publicKey} is not that of the policy's log`);
  const before = await openLog(folder, policy);
  const known = before.findIndex((each) => isSame(each, entry));
  const waiting = (await entriesOf(folder, before.length + 1))?.at(-1) ?? entry;
  // Witnesses may have cosigned it already, and cosign no other one of that size.
  if (known === -1 && !isSame(waiting, entry))
    throw new Error("Another release waits for its cosignatures: log that one first");
  const entries = known === -1 ? [...before, entry] : before;
  await putTiles(folder, entries);
  const source = hashesOf(entries);
  const size = entries.length;
  const text = checkpointText({ origin: log.key.name, size, root: rootAt(size, source) });
  const signature = await signer.sign(noteMessage(text));
  const own = { name: log.key.name, id: log.key.id, signature };
  const offered = { text, signatures: [own], head: { size } };
  const { signatures, problems } = await cosignaturesOf(offered, policy, source);
  const checkpoint = printSignedNote({ text, signatures: [own, ...signatures] });
  const judged = judgeCheckpoint(policy, checkpoint);
  if ("fault" in judged) throw new Error(`The signer's checkpoint: ${judged.fault}`);
  const { quorum } = judged.value;
  if (!quorum.isMet) throw new Error([quorum.reason, ...problems].join("; "));
  await writeDurably(join(folder, CHECKPOINT), checkpoint);
  const index = known === -1 ? before.length : known;
  return printTlogProof({ index, proof: inclusionProof(index, size, source), checkpoint });
};

/**
 * The checkpoint under which a proof shows a release's SHA256SUMS in the log of a policy. Offline. @throws Error that
 * says what the proof does not show.
 */
export const checkLogged = (
  entry: Uint8Array,
  proofText: string,
  policy: LogPolicy,
): JudgedCheckpoint => {
  const parsed = parseTlogProof(proofText);
  if ("fault" in parsed) throw new Error(`The proof: ${parsed.fault}`);
  const { index, proof, checkpoint } = parsed.value;
  const judged = judgeCheckpoint(policy, checkpoint);
  if ("fault" in judged) throw new Error(`The checkpoint: ${judged.fault}`);
  const { checkpoint: head, quorum } = judged.value;
  if (!verifyInclusion({ index, leafHash: leafHash(entry), head }, proof))
    throw new Error("The proof does not lead from these sums to the checkpoint");
  if (!quorum.isMet) throw new Error(quorum.reason);
  return judged.value;
};
