import { resolve } from "node:path";
import type { Address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { programHash } from "../../core/protocol/accounts/loader-v3.ts";
import { type Cluster, clusterOfGenesis } from "../config/cluster.ts";
import { type ClusterRpc, clusterRpc } from "./cluster/cluster-rpc.ts";
import { type DeployContext, deploymentOf, type ProgramTarget } from "./deploy-context.ts";
import { costText, deployCost, solText } from "./deploy-cost.ts";
import { requireSamePrograms } from "./inputs/same-programs.ts";
import { proposedPrice } from "./cluster/priority-fee.ts";
import { programTargets, settlementMint, wantedAdmin } from "./inputs/deploy-inputs.ts";
import { keptKey, keyFolder, readDeployKey } from "./inputs/deploy-keys.ts";
import type { DeployOptions } from "./inputs/deploy-options.ts";
import { DeployStopped } from "./deploy-stopped.ts";
import {
  deployableVersions,
  requireFunds,
  SBPF_VERSIONS,
  type SbpfVersion,
} from "./cluster/require-funds.ts";
import {
  handOverAdmin,
  initialisePrograms,
  readConfiguration,
} from "./programs/initialise-programs.ts";
import { type Choice, placeProgram } from "./programs/place-program.ts";
import { programBinary, type ProgramName } from "./programs/program-buffer.ts";
import {
  deployedBinary,
  type ProgramState,
  readProgram,
  requireUpgradeable,
} from "./programs/program-state.ts";
import {
  proposalText,
  type ProposedUpgrade,
  proposeUpgrade,
  readProposal,
} from "./programs/proposed-upgrade.ts";
import {
  authorityText,
  giveAuthority,
  isToBeGiven,
  wantedAuthority,
} from "./programs/upgrade-authority.ts";
import { makeMint } from "./settlement-mint.ts";
import { type Pins, writeServiceSettings } from "./settings/service-settings.ts";
import { DEMO_LAMPORTS } from "../demo/paid-demo.ts";

/** Nobody has agreed to the cost. */
const NOT_AGREED = 2;

/** How the command speaks with whoever runs it. */
export type Conversation = {
  readonly say: (line: string) => void;
  /** Asks a question and returns the answer; null without a terminal. */
  readonly ask: ((question: string) => string) | null;
};

/** A deployment that stands. */
export type Deployed = {
  readonly deployment: Deployment;
  readonly mint: Address;
  readonly cluster: Cluster;
  /** The absolute path of the environment file. */
  readonly envFile: string;
  readonly context: DeployContext;
};

const choiceOf = async (
  name: ProgramName,
  versions: ReadonlyArray<SbpfVersion>,
  wanted: SbpfVersion | undefined,
): Promise<Choice> => ({
  // What stands may be of a version that could not be deployed any more: it goes on running.
  accepted: await Promise.all(
    (wanted === undefined ? SBPF_VERSIONS : [wanted]).map((version) =>
      programBinary(name, version),
    ),
  ),
  candidates: await Promise.all(versions.map((version) => programBinary(name, version))),
});

/**
 * The upgrade to propose where a program differs from the built files and another key may upgrade it. @throws
 * DeployStopped when nobody may
 */
const proposalFor = async (
  context: DeployContext,
  target: ProgramTarget,
  state: ProgramState,
  choice: Choice,
): Promise<ProposedUpgrade | undefined> => {
  const authority = state.data?.upgradeAuthority;
  const [binary] = choice.candidates;
  if (binary === undefined || deployedBinary(state, choice.accepted) !== undefined)
    return undefined;
  if (authority && authority !== context.payer.address)
    return readProposal(context, target, binary, authority);
  requireUpgradeable(target, state, context.payer.address);
  return undefined;
};

/** The programs keep the genesis hash for good, so a second node may have to show it too. @throws DeployStopped */
const requireSameLedger = async (
  { shown }: ClusterRpc,
  genesisHash: string,
  second: URL | undefined,
): Promise<void> => {
  if (second === undefined) return;
  const other = clusterRpc(second);
  const otherHash = await other.connect();
  if (otherHash !== genesisHash)
    throw new DeployStopped(
      1,
      `--second-rpc: ${other.shown} serves the ledger of genesis ${otherHash}, and ${shown} that of ${genesisHash}; name two nodes of one cluster`,
    );
};

const openContext = async (options: DeployOptions, say: (line: string) => void) => {
  // The faults of the command line come before those of the node.
  const readPayer = () =>
    options.newPayer
      ? keptKey(options.payer)
      : readDeployKey("--payer-key", options.payer, ", or add --new-payer");
  const payer = await readPayer();
  const rpc: ClusterRpc = clusterRpc(options.rpc);
  const genesisHash = await rpc.connect();
  await requireSameLedger(rpc, genesisHash, options.secondRpc);
  const priorityFee = options.priorityFee ?? proposedPrice(await rpc.recentPrices());
  const context: DeployContext = { rpc, payer, say, priorityFee };
  return { context, genesisHash };
};

const confirmCost = (conversation: Conversation, yes: boolean, isFinal: boolean): void => {
  if (yes) return;
  if (conversation.ask === null)
    throw new DeployStopped(
      NOT_AGREED,
      "nobody can agree to this cost without a terminal; add --yes to agree beforehand",
    );
  const answer = conversation.ask(isFinal ? "Type final to go on:" : "Go on? [y/N]").trim();
  if (isFinal ? answer !== "final" : !/^y(es)?$/i.test(answer))
    throw new DeployStopped(NOT_AGREED, "stopped; nothing was sent");
};

/** A program to deploy, as it stood before. */
type Plan = {
  readonly target: ProgramTarget;
  readonly name: ProgramName;
  readonly state: ProgramState;
  readonly choice: Choice;
  /** The upgrade that another authority must sign, in place of one by the payer. */
  readonly proposal: ProposedUpgrade | undefined;
};

/**
 * Compares what stands with the built files, says so, and returns the hashes for the service's pins: what stands and
 * what is proposed.
 */
const checkHashes = async (context: DeployContext, plans: ReadonlyArray<Plan>): Promise<Pins> => {
  const pins: Pins = { custody: [], attestor: [] };
  for (const { target, choice, proposal } of plans) {
    const state = await readProgram(context, target);
    const standing = state.data === null ? [] : [programHash(state.data.elf)];
    pins[target.name].push(...standing);
    // The authority may have signed by now.
    if (proposal !== undefined && !standing.includes(proposal.binary.sha256)) {
      context.say(proposalText(proposal, context.payer.address, standing));
      pins[target.name].push(proposal.binary.sha256);
      continue;
    }
    const binary = deployedBinary(state, [...choice.candidates, ...choice.accepted]);
    if (binary === undefined)
      throw new DeployStopped(
        1,
        `${target.name}: what stands at ${target.address} is not the built file; run the command again, which upgrades it`,
      );
    context.say(
      `  ${target.name.padEnd(8)} ${target.address}  SBPF ${binary.version}, programs/${binary.file}, sha256 ${binary.sha256}`,
    );
  }
  return pins;
};

const adminOf = async (
  options: DeployOptions,
  conversation: Conversation,
  payer: Address,
  present: Address | undefined,
) => {
  if (options.admin !== undefined) return wantedAdmin(options.admin, payer);
  if (present !== undefined) return undefined;
  const answer =
    options.yes || conversation.ask === null
      ? ""
      : conversation.ask(
          `Admin of the merchant registry, an address or the file of a key [${payer}]:`,
        );
  return wantedAdmin(answer.trim() === "" ? undefined : answer.trim(), payer);
};

/**
 * Brings a cluster to a deployed and initialised service, from wherever it stands, and writes the service's settings.
 * @throws DeployStopped with one line that names the mistake and its cure.
 */
export const runDeploy = async (
  options: DeployOptions,
  conversation: Conversation,
): Promise<Deployed> => {
  const { say } = conversation;
  const { context, genesisHash } = await openContext(options, say);
  const { rpc, payer } = context;
  const cluster = clusterOfGenesis(genesisHash);
  say(`${rpc.shown}: ${cluster}, genesis ${genesisHash}`);
  const versions = await deployableVersions(rpc, options.sbpf);
  say(`its loader takes SBPF ${versions.join(" and ")}`);
  if (options.priorityFee === undefined && context.priorityFee > 0n)
    say(
      `recent blocks propose ${context.priorityFee} micro-lamports for each compute unit; --priority-fee N offers another, 0 none`,
    );

  const envFile = resolve(options.envFile);
  await requireSamePrograms(context, options, { genesisHash, envFile });
  const folder = resolve(await keyFolder(options.keys, genesisHash));
  const targets = await programTargets(options, folder);
  say(`keys are kept in ${folder} (mode 0700, files 0600): keep a copy`);
  const deployment = deploymentOf(targets);
  const wanted = wantedAuthority(options);
  const plans: Array<Plan> = [];
  const given: Array<ProgramName> = [];
  for (const target of targets) {
    const { name } = target;
    const choice = await choiceOf(name, versions, options.sbpf);
    const state = await readProgram(context, target);
    if (isToBeGiven(target, state, payer.address, wanted)) given.push(name);
    const proposal = await proposalFor(context, target, state, choice);
    plans.push({ target, name, state, choice, proposal });
  }
  const configuration = await readConfiguration(context, deployment, genesisHash);
  const { registry } = configuration;
  if (registry === null || configuration.config === null)
    for (const { target, state } of plans) requireUpgradeable(target, state, payer.address);
  const mint = await settlementMint(context, options, folder, genesisHash, registry);
  const admin = await adminOf(options, conversation, payer.address, registry?.admin);

  const cost = await deployCost(rpc, {
    programs: plans,
    configuration,
    mint,
    handsOver: admin !== undefined && admin.address !== (registry?.admin ?? payer.address),
    givesAuthority: given.length > 0,
    demo: options.demo ? DEMO_LAMPORTS : 0n,
    priorityFee: context.priorityFee,
  });
  if (cost.lines.length === 0) say("nothing is left to deploy");
  else {
    say(`this costs payer ${payer.address}:\n${costText(cost)}`);
    if (wanted !== undefined && given.length > 0) say(authorityText(given, wanted));
    await requireFunds(context, cost.needed, options.airdrop);
    confirmCost(conversation, options.yes, wanted === null && given.length > 0);
  }
  const before = await rpc.balance(payer.address);
  await makeMint(context, mint);
  for (const { target, choice, proposal } of plans)
    if (proposal === undefined) await placeProgram(context, target, choice);
  for (const { proposal } of plans)
    if (proposal !== undefined) await proposeUpgrade(context, proposal);
  await initialisePrograms(context, deployment, { settlementMint: mint.address, genesisHash });
  if (admin !== undefined) await handOverAdmin(context, deployment, admin);
  if (wanted !== undefined) await giveAuthority(context, targets, wanted);
  const spent = before - (await rpc.balance(payer.address));
  say(`deployed and initialised; the payer spent ${spent} lamports (${solText(spent)} SOL):`);
  const pins = await checkHashes(context, plans);
  say(`  mint     ${mint.address}, ${mint.decimals} decimals`);

  await writeServiceSettings(context, {
    options,
    deployment,
    pins,
    mint,
    cluster,
    folder,
    envFile,
  });
  return { deployment, mint: mint.address, cluster, envFile, context };
};
