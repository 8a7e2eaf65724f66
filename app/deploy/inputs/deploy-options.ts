import { type Address, parseAddress } from "../../../core/domain/address.ts";
import { EX_USAGE } from "../../command-line/command-line.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import { MAX_PRIORITY_FEE } from "../cluster/priority-fee.ts";
import { SBPF_VERSIONS, type SbpfVersion } from "../cluster/require-funds.ts";

/** What a deployment is asked for, checked as far as that goes without a node. */
export type DeployOptions = {
  readonly rpc: URL;
  /** A node that must show the same genesis hash. */
  readonly secondRpc: URL | undefined;
  /** The path of the payer's key. */
  readonly payer: string;
  readonly newPayer: boolean;
  /** Whether the cluster's faucet is asked for what the payer lacks. */
  readonly airdrop: boolean;
  readonly mint: string | undefined;
  readonly newMint: boolean;
  /** An address, or the path of a key; undefined to ask for it. */
  readonly admin: string | undefined;
  /** Who shall have the right to upgrade both programs. */
  readonly authority: Address | undefined;
  /** Whether nobody shall have it any more. */
  readonly final: boolean;
  readonly yes: boolean;
  readonly keys: string;
  readonly envFile: string;
  /** Programs whose keys are elsewhere, to be upgraded. */
  readonly custody: Address | undefined;
  readonly attestor: Address | undefined;
  readonly sbpf: SbpfVersion | undefined;
  readonly demo: boolean;
  /** Whether a second pair of programs is wanted beside those that the environment file names. */
  readonly newPrograms: boolean;
  /** Micro-lamports for each compute unit, 0 for none; undefined for what the network's recent prices propose. */
  readonly priorityFee: bigint | undefined;
};

const usage = (message: string): DeployStopped => new DeployStopped(EX_USAGE, message);

const nodeUrl = (option: string, text: string): URL => {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw usage(`--${option}: expected the http:// or https:// address of a node`);
  return url;
};

const addressAt = (
  option: string,
  whose: string,
  text: string | undefined,
): Address | undefined => {
  if (text === undefined) return undefined;
  const parsed = parseAddress(text);
  if (parsed === undefined)
    throw usage(`--${option}: expected ${whose} base58 address of 32 bytes`);
  return parsed;
};

const priorityFeeOf = (text: string | undefined): bigint | undefined => {
  if (text === undefined) return undefined;
  const price = /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
  if (price === undefined || price > MAX_PRIORITY_FEE)
    throw usage(
      `--priority-fee: expected micro-lamports for each compute unit, a whole number from 0 to ${MAX_PRIORITY_FEE}`,
    );
  return price;
};

/** The options of a command line. @throws DeployStopped with the first mistake and its cure. */
export const deployOptions = (values: {
  readonly rpc?: string | undefined;
  readonly "second-rpc"?: string | undefined;
  readonly "payer-key"?: string | undefined;
  readonly "new-payer": boolean;
  readonly airdrop: boolean;
  readonly mint?: string | undefined;
  readonly "new-mint": boolean;
  readonly admin?: string | undefined;
  readonly authority?: string | undefined;
  readonly final: boolean;
  readonly yes: boolean;
  readonly keys: string;
  readonly "env-file": string;
  readonly custody?: string | undefined;
  readonly attestor?: string | undefined;
  readonly sbpf?: string | undefined;
  readonly demo: boolean;
  readonly "priority-fee"?: string | undefined;
  readonly "new-programs"?: boolean | undefined;
}): DeployOptions => {
  if (values["payer-key"] === undefined)
    throw usage(
      "--payer-key is missing: name the file of the key that pays, as solana-keygen writes it",
    );
  if (values.mint !== undefined && values["new-mint"])
    throw usage("--mint and --new-mint: give one of the two");
  const sbpf = SBPF_VERSIONS.find((version) => version === values.sbpf);
  if (values.sbpf !== undefined && sbpf === undefined)
    throw usage(`--sbpf: expected ${SBPF_VERSIONS.join(" or ")}`);
  const custody = addressAt("custody", "the program's", values.custody);
  const attestor = addressAt("attestor", "the program's", values.attestor);
  if ((custody === undefined) !== (attestor === undefined))
    throw usage("--custody and --attestor: give both, since each program names the other, or none");
  if (custody !== undefined && custody === attestor)
    throw usage("--custody and --attestor: these are two programs with two addresses");
  const newPrograms = values["new-programs"] === true;
  if (custody !== undefined && newPrograms)
    throw usage("--new-programs and --custody: give one of the two");
  const authority = addressAt("authority", "the new authority's", values.authority);
  if (authority !== undefined && values.final)
    throw usage("--authority and --final: give one of the two");
  if (values.rpc === undefined)
    throw usage(
      "--rpc is missing: give the address of a node, such as https://api.devnet.solana.com",
    );
  const second = values["second-rpc"];
  return {
    rpc: nodeUrl("rpc", values.rpc),
    secondRpc: second === undefined ? undefined : nodeUrl("second-rpc", second),
    payer: values["payer-key"],
    newPayer: values["new-payer"],
    airdrop: values.airdrop,
    mint: values.mint,
    newMint: values["new-mint"],
    admin: values.admin,
    authority,
    final: values.final,
    yes: values.yes,
    keys: values.keys,
    envFile: values["env-file"],
    custody,
    attestor,
    sbpf,
    demo: values.demo,
    newPrograms,
    priorityFee: priorityFeeOf(values["priority-fee"]),
  };
};
