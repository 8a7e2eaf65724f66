import { join } from "node:path";
import { readIfThere } from "../../../adapters/bun/durable-file.ts";
import { type Address, parseAddress } from "../../../core/domain/address.ts";
import { programDataAddress } from "../../../core/protocol/addresses/addresses.ts";
import type { DeployContext } from "../deploy-context.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import { PROGRAM_NAMES } from "../programs/program-buffer.ts";
import { settingIn } from "../settings/service-settings.ts";
import { readDeployKey } from "./deploy-keys.ts";
import type { DeployOptions } from "./deploy-options.ts";

/** The address of a program's key in the folder, undefined where there is none. Makes nothing. */
const keptAddress = async (path: string): Promise<Address | undefined> =>
  (await Bun.file(path).exists()) ? (await readDeployKey("--keys", path)).address : undefined;

/**
 * Refuses to make a second pair of programs where the environment file names another than the folder of keys: it would
 * cost the deposits again, and the service would lose the first pair's escrows from sight. `--new-programs` asks for
 * it. @throws DeployStopped
 */
export const requireSamePrograms = async (
  { rpc }: Pick<DeployContext, "rpc">,
  options: Pick<DeployOptions, "keys" | "custody" | "newPrograms">,
  { genesisHash, envFile }: { readonly genesisHash: string; readonly envFile: string },
): Promise<void> => {
  if (options.newPrograms || options.custody !== undefined) return;
  const text = (await readIfThere(envFile)) ?? "";
  const named = [settingIn(text, "CUSTODY_PROGRAM_ID"), settingIn(text, "ATTESTOR_PROGRAM_ID")];
  const [custody, attestor] = named.map((each) => each && parseAddress(each));
  if (!custody || !attestor) return;
  const folder = join(options.keys, genesisHash);
  const kept = await Promise.all(
    PROGRAM_NAMES.map(async (name) => ({
      name,
      address: await keptAddress(join(folder, `${name}-program.json`)),
    })),
  );
  const isSame = kept.every(
    ({ name, address }) => address === (name === "custody" ? custody : attestor),
  );
  if (isSame) return;
  const standing = await rpc.accounts([custody, attestor].map(programDataAddress));
  const isLive = standing.every((account) => account !== null);
  throw new DeployStopped(
    1,
    isLive
      ? `${envFile} names the programs ${custody} and ${attestor}, which stand on this ledger, and ${folder} does not hold their keys; bring the folder back or name it with --keys, upgrade them with --custody ${custody} --attestor ${attestor}, or add --new-programs for a second pair that takes their place in the file`
      : `${envFile} names the programs ${custody} and ${attestor}, which do not stand on this ledger; name another --env-file, or add --new-programs to have them replaced there`,
  );
};
