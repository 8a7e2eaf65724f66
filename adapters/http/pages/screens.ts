import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { RouteNotFound } from "../problems/http-failures.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { escrowScreen } from "./escrow/escrow-screen.ts";
import { escrowsScreen } from "./lists/escrows-screen.ts";
import { merchantsScreen } from "./lists/merchants-screen.ts";
import { logScreen } from "./log/log-screen.ts";
import { merchantScreen } from "./merchant/merchant-screen.ts";
import { prepareScreen } from "./prepare/prepare-screen.ts";
import { searchScreen } from "./search/search-screen.ts";
import { assetAnswer } from "./shell/assets.ts";
import { type Screen, screenEndpoint } from "./shell/screen.ts";
import { transactionScreen } from "./transaction/transaction-screen.ts";
import { receiptScreen } from "./verify/receipt-screen.ts";
import { verifyScreen } from "./verify/verify-screen.ts";
import { walletScreen } from "./wallet/wallet-screen.ts";

/** Every page for people but `/`, which is the descriptor for programs. */
const SCREENS: ReadonlyArray<Screen> = [
  escrowsScreen,
  escrowScreen,
  merchantsScreen,
  merchantScreen,
  walletScreen,
  transactionScreen,
  prepareScreen,
  verifyScreen,
  receiptScreen,
  logScreen,
  searchScreen,
];

const FILE = { schema: Type.String(), example: () => "" };

/** `GET /assets/{name}`: the files that pages load. */
export const assetsEndpoint: Endpoint = {
  method: "GET",
  path: "/assets/{name}",
  isPage: true,
  operationId: "page assets",
  tag: "Pages",
  summary: "",
  description: "",
  budget: null,
  params: { name: Type.String() },
  query: Type.Object({}, { additionalProperties: false }),
  answers: {
    200: {
      description: "The file.",
      content: { "text/css": FILE, "text/javascript": FILE, "text/html": FILE },
    },
  },
  problems: [],
  handle: Effect.fnUntraced(function* ({ params, headers }) {
    const { name = "" }: Readonly<Record<string, string>> = params;
    const answer = yield* Effect.promise(() => assetAnswer(name, headers));
    return answer === null ? yield* new RouteNotFound() : answer;
  }),
};

/** The operations of the pages. They stand in no OpenAPI document. */
export const pageEndpoints: ReadonlyArray<Endpoint> = [
  ...SCREENS.map(screenEndpoint),
  assetsEndpoint,
];
