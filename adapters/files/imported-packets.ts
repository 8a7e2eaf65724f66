import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Layer } from "effect";
import type { Address } from "../../core/domain/address.ts";
import { MAX_PACKET_BYTES } from "../../core/protocol/evidence/evidence-packet.ts";
import { ImportedPackets } from "../../ports/index/imported-packets.ts";
import { makeFolderDurably, replaceFile, syncFolder } from "../bun/durable-file.ts";

const FILE = /^[1-9A-HJ-NP-Za-km-z]{32,44}\.json$/;

/** The folder in a data directory where packets wait for the next sync. */
export const importFolder = (dataDir: string): string => join(dataDir, "imports");

/** Writes packets durably to where the next sync takes them, in place of earlier ones of the same escrows. Rejects like the file system. */
export const importPackets = async (
  dataDir: string,
  packets: ReadonlyMap<Address, Uint8Array>,
): Promise<void> => {
  const folder = importFolder(dataDir);
  await makeFolderDurably(folder);
  for (const [escrow, packet] of packets)
    await replaceFile(join(folder, `${escrow}.json`), packet, 0o600);
  await syncFolder(folder);
};

/** The file's bytes; a file that is too long to be a packet is read as none, so that it is refused and taken away. */
const read = async (path: string): Promise<Uint8Array> => {
  const { size } = await stat(path);
  return size > MAX_PACKET_BYTES ? new Uint8Array() : Bun.file(path).bytes();
};

/** The packets that wait in a data directory. */
export const importedPacketFiles = (dataDir: string): Layer.Layer<ImportedPackets> => {
  const folder = importFolder(dataDir);
  return Layer.succeed(ImportedPackets, {
    waiting: (limit) =>
      Effect.tryPromise(async () => {
        const names = (await readdir(folder)).filter((name) => FILE.test(name)).slice(0, limit);
        return Promise.all(
          names.map(async (name) => ({ name, bytes: await read(join(folder, name)) })),
        );
      }).pipe(Effect.orElseSucceed(() => [])),
    forget: (name) =>
      Effect.ignore(Effect.tryPromise(() => rm(join(folder, name), { force: true }))),
  });
};
