import { join } from "node:path";
import { checkLogged, logRelease, releasePolicy } from "../../app/release/release-log.ts";
import { keySigner } from "../../client/node/key-file.ts";
import { printVerifierKey } from "../../core/log/notes/verifier-key.ts";
import { testKey } from "../core/log/support/test-signer.ts";
import type { PublicWitness } from "./public-witnesses.ts";

const LOG = testKey("example.com/settlement-evidence/releases", "ed25519", 41);
/** The verifier key of the log of releases. */
export const RELEASE_LOG = printVerifierKey(LOG.key);

/** Logs releases with public witnesses, of which each must cosign each: what a stranger does not find shown. */
export const releaseLogFaults = async (
  folder: string,
  witnesses: ReadonlyArray<PublicWitness>,
  releases: number,
): Promise<ReadonlyArray<unknown>> => {
  const policy = releasePolicy(
    [
      `log ${RELEASE_LOG}`,
      ...witnesses.map(({ name, key, url }) => `witness ${name} ${key} ${url}`),
      `group all-of-them all ${witnesses.map(({ name }) => name).join(" ")}`,
      "quorum all-of-them",
      "",
    ].join("\n"),
  );
  const { address, signMessage } = keySigner(LOG.secret);
  const faults: Array<unknown> = [];
  for (let number = 1; number <= releases; number++) {
    const entry = new TextEncoder().encode(`${number}`.padStart(64, "0"));
    const signer = { publicKey: address, sign: signMessage };
    try {
      const proof = await logRelease(join(folder, "releases"), entry, policy, signer);
      const { checkpoint, counted } = checkLogged(entry, proof, policy);
      if (checkpoint.size !== number || counted.length !== witnesses.length)
        faults.push([number, checkpoint.size, counted.length]);
    } catch (cause) {
      faults.push(`release ${number}: ${String(cause)}`);
    }
  }
  return faults;
};
