/** Where the service's own icon is. */
export const ICON_PATH = "/icon.svg";

/** Where every action begins. */
const ACTIONS = "/v1/actions";

/** The actions' paths, as templates. */
export const ACTION_PATHS = {
  all: `${ACTIONS}/**`,
  create: `${ACTIONS}/create`,
  refund: `${ACTIONS}/refund/{pda}`,
  archive: `${ACTIONS}/archive/{pda}`,
} as const;

/** The HTTPS address of the refund of an escrow, under the configured public address. */
export const refundUrl = (publicUrl: string, escrow: string): string =>
  `${publicUrl}${ACTIONS}/refund/${escrow}`;

/**
 * The Solana Pay link of an HTTPS address, which is encoded where it has a query, so that the protocol's own parameters stay apart
 * (Solana Pay, "Link").
 */
export const solanaPayLink = (url: string): string =>
  `solana:${url.includes("?") ? encodeURIComponent(url) : url}`;
