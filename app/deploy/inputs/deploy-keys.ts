import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Redacted, Result } from "effect";
import { parseSeedText, SEED_TEXT_FORMS } from "../../../adapters/signer/ed25519-key.ts";
import { createKeyFile, readKeyFile } from "../../../adapters/signer/key-file.ts";
import { keyText, looksLikeKey } from "../../../client/node/key-file.ts";
import { parseAddress } from "../../../core/domain/address.ts";
import { EX_NOINPUT, EX_USAGE } from "../../command-line/command-line.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import { type DeployKey, deployKeyOf } from "./deploy-key.ts";

/**
 * The key in a file that an option names. `orElse` is what else the command offers where there is no such file. The
 * message never shows what the option or the file holds. @throws DeployStopped
 */
export const readDeployKey = async (
  option: string,
  path: string,
  orElse = "",
): Promise<DeployKey> => {
  if (looksLikeKey(path))
    throw new DeployStopped(
      EX_USAGE,
      `${option}: this is a key itself, which other users can see on the command line; write it to a file with mode 0600, name the file, and use another key where this one holds anything of worth`,
    );
  if (parseAddress(path) !== undefined && !(await Bun.file(path).exists()))
    throw new DeployStopped(
      EX_NOINPUT,
      `${option}: ${path} is an address; name the file of its key, as solana-keygen writes it`,
    );
  const read = await Effect.runPromise(Effect.result(readKeyFile(path)));
  if (Result.isFailure(read)) {
    const missing = read.failure.reason.includes("ENOENT");
    throw new DeployStopped(
      EX_NOINPUT,
      `${option}: ${path}: ${missing ? `there is no such file; make one with solana-keygen new -o${orElse}` : read.failure.reason}`,
    );
  }
  const seed = parseSeedText(Redacted.value(read.success));
  if (seed === undefined)
    throw new DeployStopped(
      EX_NOINPUT,
      `${option}: ${path} holds no key; it must be ${SEED_TEXT_FORMS}`,
    );
  return deployKeyOf(seed);
};

/** The key in a file, which is made, durable and with mode 0600, where there is none. @throws DeployStopped */
export const keptKey = async (path: string): Promise<DeployKey> => {
  const text = keyText(crypto.getRandomValues(new Uint8Array(32)));
  const made = await Effect.runPromise(Effect.result(createKeyFile(path, Redacted.make(text))));
  if (Result.isFailure(made))
    throw new DeployStopped(EX_NOINPUT, `${path}: ${made.failure.reason}; name another --keys`);
  return readDeployKey("--keys", path);
};

/** The folder of one ledger's keys below `root`, made with mode 0700. A program id belongs to one ledger only. */
export const keyFolder = async (root: string, genesisHash: string): Promise<string> => {
  const folder = join(root, genesisHash);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  return folder;
};
