import { Data, Effect } from "effect";
import type { SupportedMint } from "../core/domain/supported-mint.ts";
import { mintDecimals } from "../core/protocol/accounts/token.ts";
import { Ledger } from "../ports/ledger/ledger.ts";

/** The most accounts of one read (`Ledger.readAccounts`). */
const MOST_ACCOUNTS = 100;

/** A listed mint has other decimals on the ledger, so that its amounts would be shown as what they are not. */
export class MintDecimalsDiffer extends Data.TaggedError("MintDecimalsDiffer")<{
  readonly listed: SupportedMint;
  /** On the ledger. */
  readonly found: number;
}> {
  override get message() {
    const { address, symbol, decimals } = this.listed;
    return `SUPPORTED_MINTS lists ${address} (${symbol}) with ${decimals} decimals, but the mint on the ledger has ${this.found}; amounts would be shown as what they are not`;
  }
}

/**
 * How many of the listed mints are on the ledger. Fails with `MintDecimalsDiffer` where one has other decimals there,
 * and as the ledger does. A mint that is not there cannot be an escrow's.
 */
export const checkMints = Effect.fn("checkMints")(function* (listed: ReadonlyArray<SupportedMint>) {
  const ledger = yield* Ledger;
  let there = 0;
  for (let from = 0; from < listed.length; from += MOST_ACCOUNTS) {
    const part = listed.slice(from, from + MOST_ACCOUNTS);
    const { value } = yield* ledger.readAccounts(
      part.map(({ address }) => address),
      "confirmed",
    );
    for (const [i, mint] of part.entries()) {
      const account = value[i] ?? null;
      const decimals = account === null ? undefined : mintDecimals(account);
      if (decimals === undefined) continue;
      if (decimals !== mint.decimals)
        return yield* new MintDecimalsDiffer({ listed: mint, found: decimals });
      there += 1;
    }
  }
  return there;
});
