import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { record } from "../openapi/values.ts";
import { endpoint } from "../server/endpoint.ts";
import { ACTION_PATHS, ICON_PATH, ICON_SVG } from "./action-contract.ts";

/** The rules of `actions.json`. */
export const ActionsJson = record("ActionsJson", "Which paths of this address are actions.", {
  rules: Type.Array(
    record("ActionRule", "A mapping of paths.", {
      pathPattern: Type.String({ description: "The paths that it maps." }),
      apiPath: Type.String({ description: "The actions that they lead to." }),
    }),
  ),
});

/** Actions are at their own paths; the rule saves a wallet from guessing. */
const RULES = { rules: [{ pathPattern: ACTION_PATHS.all, apiPath: ACTION_PATHS.all }] };

const shared = { method: "GET", tag: "Wallets", budget: "reads", forWallets: true } as const;

/** `GET /actions.json` */
export const actionsJsonEndpoint = endpoint({
  ...shared,
  path: "/actions.json",
  operationId: "readActionsJson",
  summary: "Which paths are Solana Actions",
  description: "The mapping that wallets look for at the root of an address (Solana Actions).",
  answers: {
    200: {
      description: "The rules.",
      content: { "application/json": { schema: ActionsJson, example: () => RULES } },
    },
  },
  problems: [],
}).handle(() => Effect.succeed({ json: RULES }));

/** `GET /icon.svg` */
export const iconEndpoint = endpoint({
  ...shared,
  path: ICON_PATH,
  operationId: "readIcon",
  summary: "The service's icon",
  description: "What a wallet shows beside an action.",
  answers: {
    200: {
      description: "The icon.",
      content: { "image/svg+xml": { schema: Type.String(), example: () => ICON_SVG } },
    },
  },
  problems: [],
}).handle(() => Effect.succeed({ text: ICON_SVG }));
