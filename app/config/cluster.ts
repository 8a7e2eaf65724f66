/** The possible cluster names. `localnet` is any private ledger. */
export const CLUSTERS = ["localnet", "devnet", "testnet", "mainnet-beta"] as const;

/** The cluster that a service works on. */
export type Cluster = (typeof CLUSTERS)[number];

/** The genesis hashes of the public clusters, as `getGenesisHash` returns them. */
const GENESIS_HASHES: Readonly<Record<string, Cluster>> = {
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG: "devnet",
  "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY": "testnet",
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d": "mainnet-beta",
};

/** The cluster with a genesis hash: `localnet` for every hash but the public ones. */
export const clusterOfGenesis = (genesisHash: string): Cluster =>
  GENESIS_HASHES[genesisHash] ?? "localnet";

/** The public cluster that an RPC address names, undefined when it names none. */
export const clusterOfNode = ({ hostname }: URL): Cluster | undefined => {
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return "localnet";
  const name = /(?:^|[.-])(devnet|testnet|mainnet)(?:[.-]|$)/.exec(hostname)?.[1];
  return name === "mainnet" ? "mainnet-beta" : CLUSTERS.find((cluster) => cluster === name);
};
