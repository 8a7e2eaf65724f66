import { type Static, Type } from "@sinclair/typebox";
import { SERVICE_NAME } from "../openapi/openapi-document.ts";
import { Base64, record } from "../openapi/values.ts";

/** The service's icon: a sealed sheet with a tick, on a square. */
export const ICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="512" height="512"><path fill="#16191d" d="M0 0h64v64H0z"/><path fill="#fff" d="M18 10h21l9 9v35H18z"/><path fill="#c3cad2" d="M39 10v9h9z"/><path fill="none" stroke="#1a7f4b" stroke-width="5" stroke-linecap="round" stroke-linejoin="round" d="M25 37l6 6 11-13"/></svg>`;

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
 * The Solana Pay link of an HTTPS address, which is encoded where it has a query, so that the protocol's own parameters
 * stay apart (Solana Pay, "Link").
 */
export const solanaPayLink = (url: string): string =>
  `solana:${url.includes("?") ? encodeURIComponent(url) : url}`;

const LinkedAction = record("LinkedAction", "A button.", {
  type: Type.Literal("transaction"),
  href: Type.String({ description: "Where the wallet posts its account." }),
  label: Type.String({ description: "The button's text." }),
});

/** What a wallet shows before it asks for a transaction. */
export const ActionMetadata = record(
  "ActionMetadata",
  "What a wallet shows: `ActionGetResponse` of Solana Actions, and with `label` and `icon` the answer that Solana Pay asks for.",
  {
    type: Type.Literal("action"),
    icon: Type.String({ format: "uri", description: "The service's icon, an SVG." }),
    title: Type.String({ description: "Who asks." }),
    description: Type.String({ description: "What happens, and who gets what." }),
    label: Type.String({ description: "What happens, in short." }),
    disabled: Type.Optional(Type.Literal(true, { description: "It cannot be done now." })),
    error: Type.Optional(
      record("ActionError", "Why it cannot be done now, and what to do.", {
        message: Type.String(),
      }),
    ),
    links: Type.Optional(
      record("ActionLinks", "The buttons, where the label is too long for one.", {
        actions: Type.Array(LinkedAction),
      }),
    ),
  },
);
/** What `ActionMetadata` allows, as a type. */
export type ActionMetadataRecord = Static<typeof ActionMetadata>;

/** What a wallet sends. Solana Pay and Solana Actions may add members, which are not read. */
export const ActionRequest = Type.Object(
  { account: Type.String({ description: "The wallet that pays and signs. Base58 of 32 bytes." }) },
  { title: "ActionRequest", description: "Which wallet asks." },
);

/** What a wallet signs. */
export const ActionTransaction = record(
  "ActionTransaction",
  "An unsigned transaction: `TransactionResponse` of Solana Actions, and the answer that Solana Pay asks for.",
  {
    type: Type.Literal("transaction"),
    transaction: Base64("A version 0 transaction; the account alone signs it, and pays for it."),
    message: Type.String({ description: "What the transaction does." }),
  },
);

/** What the texts of an action say. */
type Texts = { readonly label: string; readonly description: string };

/** The metadata of an action that can be run. */
export const actionRecord = (publicUrl: string, { label, description }: Texts) => ({
  type: "action" as const,
  icon: `${publicUrl}${ICON_PATH}`,
  title: SERVICE_NAME,
  description,
  label,
});

/** The metadata of an action that cannot be run, with the reason. */
export const disabledRecord = (publicUrl: string, texts: Texts, message: string) => ({
  ...actionRecord(publicUrl, texts),
  disabled: true as const,
  error: { message },
});
