/** The names a cluster can have; `localnet` is any ledger of one's own. */
export const CLUSTERS = ["localnet", "devnet", "testnet", "mainnet-beta"] as const;

/** Which of the known ledgers a service works on. */
export type Cluster = (typeof CLUSTERS)[number];

/** The public clusters' genesis hashes, as their nodes answer `getGenesisHash`. */
const GENESIS_HASHES: Readonly<Record<string, Cluster>> = {
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG: "devnet",
  "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY": "testnet",
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d": "mainnet-beta",
};

/** The cluster of a ledger by its genesis hash: `localnet` for every hash but the public ones. */
export const clusterOfGenesis = (genesisHash: string): Cluster =>
  GENESIS_HASHES[genesisHash] ?? "localnet";

/** The cluster that an RPC address names, undefined when it names none. */
export const clusterOfNode = ({ hostname }: URL): Cluster | undefined => {
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return "localnet";
  const name = /(?:^|[.-])(devnet|testnet|mainnet)(?:[.-]|$)/.exec(hostname)?.[1];
  return name === "mainnet" ? "mainnet-beta" : CLUSTERS.find((cluster) => cluster === name);
};
