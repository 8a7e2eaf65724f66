import { Effect } from "effect";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { FinishedCall } from "../../../core/use-cases/escrow/prepare/finish-call.ts";
import type { SendingRequest } from "../../../core/use-cases/escrow/prepare/parse-sending.ts";
import {
  prepareArchive,
  prepareRefund,
} from "../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { readEscrow } from "../../../core/use-cases/escrow/read-escrow.ts";
import { Instance } from "../../../ports/instance.ts";
import { PREPARE_PROBLEMS } from "../escrow/prepare/prepared-call-contract.ts";
import { READ_ESCROW_PROBLEMS } from "../escrow/read-escrow.ts";
import { PathAddress } from "../openapi/values.ts";
import { endpoint } from "../server/endpoint.ts";
import { ACTION_PATHS, actionRecord, disabledRecord } from "./action-contract.ts";
import {
  ACTION,
  ACTION_POST,
  actionGet,
  publicAddress,
  transactionAnswer,
} from "./action-operation.ts";
import { archiveTexts, impossibleTexts, refundTexts, refusalMessage } from "./action-texts.ts";

/** What differs between the two actions on an escrow. */
type Kind = {
  readonly name: "Refund" | "Archive";
  readonly prepare: typeof prepareRefund | typeof prepareArchive;
  readonly texts: (
    escrow: Escrow,
    call: FinishedCall,
    mints: Instance["Service"]["supportedMints"],
  ) => { readonly label: string; readonly description: string };
};

const refund: Kind = {
  name: "Refund",
  prepare: prepareRefund,
  texts: (escrow, _call, mints) => refundTexts(escrow, mints),
};

const archive: Kind = {
  name: "Archive",
  prepare: prepareArchive,
  texts: (escrow, { cost }) => archiveTexts(escrow, cost),
};

type Asked = { readonly params: { readonly pda: string }; readonly publicUrl: string | null };

/** What a wallet shows: the action, or why it cannot be run now. */
const showing = ({ name, prepare, texts }: Kind) =>
  Effect.fnUntraced(function* ({ params, publicUrl }: Asked) {
    const base = yield* publicAddress(publicUrl);
    const { escrow } = yield* readEscrow(params.pda);
    const { supportedMints } = yield* Instance;
    return yield* prepare(params.pda, {}).pipe(
      Effect.map((call) => ({
        json: actionRecord(base, texts(escrow, call, supportedMints)),
      })),
      Effect.catchTag("WrongState", (refused) =>
        Effect.succeed({
          json: disabledRecord(base, impossibleTexts(name, escrow), refusalMessage(refused)),
        }),
      ),
    );
  });

/** The transaction that the posted account signs and pays for. */
const running = ({ prepare, texts }: Kind) =>
  Effect.fnUntraced(function* ({
    params,
    publicUrl,
    body,
  }: Asked & { readonly body: { readonly account: string } }) {
    yield* publicAddress(publicUrl);
    const request: SendingRequest = { payer: body.account, wantsTransaction: true };
    const { escrow } = yield* readEscrow(params.pda);
    const call = yield* prepare(params.pda, request);
    const { supportedMints } = yield* Instance;
    const { description } = texts(escrow, call, supportedMints);
    return yield* transactionAnswer(
      call,
      ({ cost }) => `${description} The fee is ${cost.fee} lamports.`,
    );
  });

const shared = {
  ...ACTION,
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  // A wallet posts only its account, so every fault is located there.
  places: { payer: "/account", wantsTransaction: "/account", agentFallbackAccount: "/account" },
} as const;

const reading = {
  ...shared,
  problems: ["wallet_links_off", ...READ_ESCROW_PROBLEMS],
} as const;

const posting = {
  ...shared,
  ...ACTION_POST,
  problems: ["wallet_links_off", "archived_unseen", ...PREPARE_PROBLEMS],
} as const;

/** `GET /v1/actions/refund/{pda}` */
export const readRefundActionEndpoint = endpoint({
  ...reading,
  ...actionGet(() => ({ label: "Refund 1.500000 USDC to the agent" })),
  path: ACTION_PATHS.refund,
  operationId: "readRefundAction",
  summary: "What a wallet shows before it refunds an expired escrow",
  description:
    "The metadata of a link that refunds an expired escrow: who gets what. Before the expiry and after the settlement it is `disabled`, with the reason.",
}).handle(showing(refund));

/** `POST /v1/actions/refund/{pda}` */
export const runRefundActionEndpoint = endpoint({
  ...posting,
  path: ACTION_PATHS.refund,
  operationId: "runRefundAction",
  summary: "The transaction with which any wallet refunds an expired escrow",
  description:
    "The same transaction that `prepareRefund` gives, with the posted account as fee payer and only signer. The money goes to the agent, whoever signs.",
}).handle(running(refund));

/** `GET /v1/actions/archive/{pda}` */
export const readArchiveActionEndpoint = endpoint({
  ...reading,
  ...actionGet(() => ({ label: "Archive escrow and return rent" })),
  path: ACTION_PATHS.archive,
  operationId: "readArchiveAction",
  summary: "What a wallet shows before it archives a settled escrow",
  description:
    "The metadata of a link that archives a settled escrow: who gets the rent back. Earlier than seven days after the settlement it is `disabled`, with the reason.",
}).handle(showing(archive));

/** `POST /v1/actions/archive/{pda}` */
export const runArchiveActionEndpoint = endpoint({
  ...posting,
  path: ACTION_PATHS.archive,
  operationId: "runArchiveAction",
  summary: "The transaction with which any wallet archives a settled escrow",
  description:
    "The same transaction that `prepareArchive` gives, with the posted account as fee payer and only signer. The rent goes to whoever paid it.",
}).handle(running(archive));
