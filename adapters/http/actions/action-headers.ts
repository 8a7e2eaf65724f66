import { Exit } from "effect";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import type { ExchangeSettings } from "../server/exchange.ts";

/** The version of Solana Actions that answers keep to (`@solana/actions-spec` 2.4). */
const ACTION_VERSION = "2.4";

/** CAIP-2 cuts a genesis hash to 32 characters (namespaces.chainagnostic.org, solana). */
const CHAIN_ID_LENGTH = 32;

const genesisHash = Ledger.use((ledger) => ledger.genesisHash);

/**
 * The headers by which a wallet knows the version and the ledger of an answer. The ledger's is left out while its genesis hash is
 * not known.
 */
export const actionHeaders = async ({
  run,
}: Pick<ExchangeSettings, "run">): Promise<Readonly<Record<string, string>>> => {
  const exit = await run(genesisHash);
  const chain = Exit.isSuccess(exit)
    ? { "x-blockchain-ids": `solana:${exit.value.slice(0, CHAIN_ID_LENGTH)}` }
    : {};
  return { "x-action-version": ACTION_VERSION, ...chain };
};

/** What Solana Actions asks of the answer to OPTIONS, with a preflight's headers or without ("OPTIONS response"). */
export const ACTION_PREFLIGHT = {
  "access-control-allow-methods": "GET,POST,PUT,OPTIONS",
  "access-control-allow-headers":
    "accept, accept-encoding, authorization, content-encoding, content-type, if-none-match, x-accept-action-version, x-accept-blockchain-ids, x-action-version, x-blockchain-ids, x-request-id",
  "access-control-max-age": "86400",
} as const;
