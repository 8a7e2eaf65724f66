import { policyIn } from "../pinned-policy.ts";
import { signAction } from "./actions.ts";
import { servedTrust } from "./served-trust.ts";
import type { Told } from "./told.ts";
import type { Wallet, WalletAccount } from "./wallet-standard.ts";
import { walletSigner } from "./wallet-signer.ts";

/** The sentences of the page, as the person reads them. */
const shownWords = (): ReadonlyArray<string> =>
  [...document.querySelectorAll("#words li")].map((line) => line.textContent.trim());

/** What stands in the form. Where it was changed after the page was made, the sentences differ, and nothing is signed. */
const inForm = (): ReadonlyMap<string, string> => {
  const form = document.querySelector<HTMLFormElement>("form.prepare");
  const entries = form === null ? [] : [...new FormData(form)];
  return new Map(
    entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
};

/** The wallet whose signature the page's transaction needs. */
const wantedSigner = (): string =>
  document.querySelector<HTMLInputElement>("input[name=agent], input[name=payer]")?.value ?? "";

/**
 * Has a wallet sign the transaction that the page shows, sends it, and tells what became of it. @throws SettlementError
 * for any other transaction, before the wallet is asked.
 */
export const signShown = async (
  does: string,
  wallet: Wallet,
  accounts: ReadonlyArray<WalletAccount>,
  tell: Told,
): Promise<void> => {
  const wanted = wantedSigner();
  const account = accounts.find(({ address }) => address === wanted);
  if (account === undefined)
    return tell(
      `The wallet shows ${accounts.map(({ address }) => address).join(", ") || "no account"}, and ${wanted} must sign. Choose that account in it, or prepare for another one.`,
    );
  const trust = await servedTrust();
  const { cluster } = policyIn(trust);
  tell("The transaction is built here, compared, and goes to the wallet.");
  const signer = walletSigner(wallet, account, { trust, cluster, shown: shownWords() });
  const { escrow, signature } = await signAction(does, inForm(), { trust, signer });
  tell("Done: the service says that it is confirmed.", [
    ["The escrow", `/escrows/${escrow}`],
    ...(signature === null ? [] : [["The transaction", `/transactions/${signature}`] as const]),
  ]);
};
