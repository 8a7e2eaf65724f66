import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import type { signShown } from "./sign.ts";
import { failureText, tellIn } from "./told.ts";
import { findWallets, type Wallet, type WalletAccount } from "./wallet-standard.ts";

// What the page `/prepare` does with wallets of the browser: it takes an address into the form, or has the transaction
// signed that the page shows, and nothing else.

/** The most characters of a wallet's name. */
const NAME_LENGTH = 40;

const fill = (account: WalletAccount): void => {
  const field = document.querySelector<HTMLInputElement>("input[name=agent], input[name=payer]");
  if (field !== null) field.value = account.address;
};

/** The module that signs, which is loaded at the first click. */
type Signing = { readonly signShown: typeof signShown };

const panel = document.getElementById("wallet");
const list = document.getElementById("told");
if (panel !== null && list !== null) {
  const does = panel.dataset["does"] ?? "";
  const tell = tellIn(list);
  const use = async (wallet: Wallet, button: HTMLButtonElement): Promise<void> => {
    button.disabled = true;
    list.replaceChildren();
    try {
      const { accounts } = await wallet.features["standard:connect"].connect();
      const [first] = accounts;
      if (does !== "fill") {
        const signing = (await import(panel.dataset["signs"] ?? "")) as Signing;
        await signing.signShown(does, wallet, accounts, tell);
      } else if (first === undefined) tell("The wallet shows no account.");
      else {
        fill(first);
        tell(`${first.address} stands in the form now.`);
      }
    } catch (cause) {
      tell(`Refused. ${failureText(cause)}`);
    }
    button.disabled = false;
  };
  const show = (wallets: ReadonlyArray<Wallet>): void => {
    const buttons = wallets.map((wallet) => {
      const button = document.createElement("button");
      button.type = "button";
      const name = foreignText(wallet.name, NAME_LENGTH);
      button.append(does === "fill" ? `Take the address of ${name}` : `Sign with ${name}`);
      button.addEventListener("click", () => void use(wallet, button));
      return button;
    });
    const none = document.createElement("p");
    none.className = "empty";
    none.append("No wallet of this browser has registered (Wallet Standard).");
    panel.replaceChildren(...(buttons.length === 0 ? [none] : buttons));
  };
  show([]);
  findWallets(show);
}
