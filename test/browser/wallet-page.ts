import type { Browser } from "playwright-core";
import type { LocalKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { openPage } from "./walk.ts";

/** What a fake wallet does with what it is asked to sign. */
export type Manner = "signs" | "changes";

/** A transaction of one signature, signed. */
export const signed = (key: LocalKey, bytes: ArrayLike<number>): Uint8Array => {
  const transaction = Uint8Array.from(bytes);
  transaction.set(key.sign(transaction.slice(65)), 1);
  return transaction;
};

/**
 * A page with a wallet that registers as the Wallet Standard says. It signs with the key of `holder`, which stays in the
 * test; `asked` counts what it was asked to sign.
 */
export const walletPage = async (
  browser: Browser,
  origin: string,
  holder: LocalKey,
  manner: Manner = "signs",
) => {
  const { page, faults, close } = await openPage(browser, origin);
  let asked = 0;
  await page.exposeFunction("signInTest", (bytes: ReadonlyArray<number>) => {
    asked += 1;
    const transaction = signed(holder, bytes);
    if (manner === "changes") transaction[transaction.length - 1] = 7;
    return Array.from(transaction);
  });
  await page.addInitScript(
    ({ address }) => {
      const account = { address, publicKey: new Uint8Array(32), chains: [], features: [] };
      type Signs = (bytes: ReadonlyArray<number>) => Promise<ReadonlyArray<number>>;
      const { signInTest } = window as unknown as { readonly signInTest: Signs };
      const wallet = {
        version: "1.0.0",
        name: "<b>Test</b> wallet",
        icon: "data:image/png;base64,",
        chains: ["solana:localnet"],
        accounts: [account],
        features: {
          "standard:connect": {
            version: "1.0.0",
            connect: () => Promise.resolve({ accounts: [account] }),
          },
          "solana:signTransaction": {
            version: "1.0.0",
            supportedTransactionVersions: ["legacy", 0],
            signTransaction: async ({ transaction }: { readonly transaction: Uint8Array }) => [
              { signedTransaction: Uint8Array.from(await signInTest(Array.from(transaction))) },
            ],
          },
        },
      };
      const register = (api: { readonly register: (wallet: unknown) => void }) =>
        api.register(wallet);
      window.dispatchEvent(
        new CustomEvent("wallet-standard:register-wallet", { detail: register }),
      );
      window.addEventListener("wallet-standard:app-ready", (event) =>
        register((event as CustomEvent).detail),
      );
    },
    { address: holder.address },
  );
  return { page, faults, asked: () => asked, close };
};
