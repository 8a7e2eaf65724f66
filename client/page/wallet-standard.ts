/** An account that a wallet lets the page see. */
export type WalletAccount = {
  /** Base58. */
  readonly address: string;
};

type SignedOutput = { readonly signedTransaction: Uint8Array };

/** A wallet of the browser that can connect and sign transactions (Wallet Standard, with Solana's features). */
export type Wallet = {
  readonly name: string;
  readonly features: {
    readonly "standard:connect": {
      readonly connect: () => Promise<{ readonly accounts: ReadonlyArray<WalletAccount> }>;
    };
    readonly "solana:signTransaction": {
      readonly supportedTransactionVersions: ReadonlyArray<"legacy" | number>;
      readonly signTransaction: (input: {
        readonly account: WalletAccount;
        readonly transaction: Uint8Array;
        readonly chain: string;
      }) => Promise<ReadonlyArray<SignedOutput>>;
    };
  };
};

/** Whether an object that registered has what signing here needs: the features, and transactions of version 0. */
const canSign = (wallet: unknown): wallet is Wallet => {
  const { name, features } = (wallet ?? {}) as Partial<Wallet>;
  const signs = features?.["solana:signTransaction"];
  return (
    typeof name === "string" &&
    typeof features?.["standard:connect"]?.connect === "function" &&
    typeof signs?.signTransaction === "function" &&
    signs.supportedTransactionVersions.includes(0)
  );
};

/** What the page offers to wallets; it gives back how a wallet leaves. */
type Register = (...wallets: ReadonlyArray<unknown>) => () => void;

/**
 * Finds the wallets of the browser by the two events of the Wallet Standard: the page says that it is ready, and
 * wallets that come later say so themselves. `changed` gets all of them after each change.
 */
export const findWallets = (changed: (wallets: ReadonlyArray<Wallet>) => void): void => {
  const known = new Set<Wallet>();
  const register: Register = (...wallets) => {
    const usable = wallets.filter(canSign);
    for (const wallet of usable) known.add(wallet);
    changed([...known]);
    return () => {
      for (const wallet of usable) known.delete(wallet);
      changed([...known]);
    };
  };
  const api = Object.freeze({ register });
  addEventListener("wallet-standard:register-wallet", (event) => {
    const { detail } = event as CustomEvent<unknown>;
    if (typeof detail === "function") detail(api);
  });
  dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
};

/** The chain's name for wallets, by the name of the ledger's cluster. */
export const chainOf = (cluster: string): string =>
  `solana:${cluster === "mainnet-beta" ? "mainnet" : cluster}`;
