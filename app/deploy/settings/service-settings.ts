import { join } from "node:path";
import { readIfThere, writeDurably } from "../../../adapters/bun/durable-file.ts";
import type { Hash32 } from "../../../core/domain/hash32.ts";
import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import type { Cluster } from "../../config/cluster.ts";
import { webSocketUrlOf } from "../../config/settings.ts";
import { USDC_MINTS } from "../../config/supported-mints.ts";
import type { DeployContext } from "../deploy-context.ts";
import { keptKey } from "../inputs/deploy-keys.ts";
import type { DeployOptions } from "../inputs/deploy-options.ts";
import type { ProgramName } from "../programs/program-buffer.ts";
import type { SettlementMint } from "../settlement-mint.ts";

/** A setting that the file must have: it stays as it is where `isMet` says that its value serves, or is replaced. */
type EnvSetting = {
  readonly name: string;
  readonly value: string;
  /** Whether another value serves as well; without it only the same value does. */
  readonly isMet?: (present: string) => boolean;
};

/** A change of an environment file. */
type EnvChange = { readonly name: string; readonly change: "added" | "replaced" };

/** Only its owner may read the file: a node's address can hold a key. */
const MODE = 0o600;

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/;

const unquoted = (text: string): string =>
  /^"[^"]*"$|^'[^']*'$/.test(text) ? text.slice(1, -1) : text;

/**
 * The lines with the settings, and what changed. All other lines stay as they are; of a name twice, the last line
 * counts.
 */
const withSettings = (
  text: string,
  settings: ReadonlyArray<EnvSetting>,
): { readonly text: string; readonly changes: ReadonlyArray<EnvChange> } => {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const changes: Array<EnvChange> = [];
  for (const { name, value, isMet } of settings) {
    const at = lines.findLastIndex((line) => LINE.exec(line)?.[1] === name);
    if (at === -1) {
      lines.push(`${name}=${value}`);
      changes.push({ name, change: "added" });
      continue;
    }
    const present = unquoted(LINE.exec(lines[at] ?? "")?.[2] ?? "");
    if (present === value || isMet?.(present) === true) continue;
    lines[at] = `${name}=${value}`;
    changes.push({ name, change: "replaced" });
  }
  return { text: `${lines.join("\n")}\n`, changes };
};

/** The value of a setting in an environment file's text, undefined where it has none. */
export const settingIn = (text: string, name: string): string | undefined => {
  const line = text.split("\n").findLast((each) => LINE.exec(each)?.[1] === name);
  return line === undefined ? undefined : unquoted(LINE.exec(line)?.[2] ?? "");
};

/** Puts settings into an environment file, which it makes if need be, and returns what changed. */
const writeEnvFile = async (
  path: string,
  settings: ReadonlyArray<EnvSetting>,
): Promise<ReadonlyArray<EnvChange>> => {
  const { text, changes } = withSettings((await readIfThere(path)) ?? "", settings);
  if (changes.length > 0) await writeDurably(path, text, MODE);
  return changes;
};

/** The hashes that the service accepts of each program: the one that stands, then one that is proposed. */
export type Pins = Readonly<Record<ProgramName, Array<Hash32>>>;

/** What the settings are made from. */
type ServiceFacts = {
  readonly options: Pick<DeployOptions, "rpc" | "mint">;
  readonly deployment: Deployment;
  readonly pins: Pins;
  readonly mint: SettlementMint;
  readonly cluster: Cluster;
  readonly folder: string;
  readonly envFile: string;
};

const listed = (list: string): ReadonlyArray<string> => list.split(",").map((each) => each.trim());

/**
 * The mint as SUPPORTED_MINTS has it. What is not the cluster's USDC gets a symbol of its own, except on a private
 * ledger.
 */
const mintSetting = ({ mint, cluster }: ServiceFacts): string => {
  if (USDC_MINTS[cluster].some(({ address }) => address === mint.address)) return mint.address;
  return `${mint.address}:${mint.decimals}:${cluster === "localnet" ? "USDC" : "TEST"}`;
};

/**
 * Writes what the service needs into the environment file, with an evidence key unless one is set there, and says what
 * it wrote.
 */
export const writeServiceSettings = async (
  { say }: DeployContext,
  facts: ServiceFacts,
): Promise<void> => {
  const { options, deployment, pins, mint, cluster, folder, envFile } = facts;
  const present = (await readIfThere(envFile)) ?? "";
  const isListed = (urls: string): boolean =>
    listed(urls).some((each) => URL.parse(each)?.href === options.rpc.href);
  // Another node's WebSocket, such as a provider's own, stays with its node.
  const keepsNode = isListed(settingIn(present, "SOLANA_RPC_URL") ?? "");
  const settings: Array<EnvSetting> = [
    { name: "SOLANA_RPC_URL", value: options.rpc.href, isMet: isListed },
    {
      name: "SOLANA_WS_URL",
      value: webSocketUrlOf(options.rpc).href,
      isMet: (url) => keepsNode && url !== "",
    },
    { name: "SOLANA_CLUSTER", value: cluster },
    { name: "CUSTODY_PROGRAM_ID", value: deployment.custodyProgram },
    { name: "ATTESTOR_PROGRAM_ID", value: deployment.attestorProgram },
    { name: "CUSTODY_PROGRAM_SHA256", value: pins.custody.join(",") },
    { name: "ATTESTOR_PROGRAM_SHA256", value: pins.attestor.join(",") },
    {
      name: "SUPPORTED_MINTS",
      value: mintSetting(facts),
      isMet: (mints) => listed(mints).some((each) => each.split(":")[0] === mint.address),
    },
  ];
  if (!/^\s*(?:export\s+)?EVIDENCE_SIGNING_KEY\s*=/m.test(present)) {
    const path = join(folder, "evidence-key.json");
    await keptKey(path);
    settings.push({
      name: "EVIDENCE_SIGNING_KEY_FILE",
      value: path,
      isMet: (other) => other !== "",
    });
  }
  const changes = await writeEnvFile(envFile, settings);
  if (changes.length === 0) return say(`${envFile} has these settings already`);
  for (const kind of ["added", "replaced"] as const) {
    const names = changes.filter(({ change }) => change === kind).map(({ name }) => name);
    if (names.length > 0) say(`${kind} in ${envFile}: ${names.join(", ")}`);
  }
};
