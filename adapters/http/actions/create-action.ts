import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { MAX_NONCE_BYTES, MAX_TASK_INTENT_BYTES } from "../../../core/domain/escrow/task-hash.ts";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../../core/domain/escrow/escrow.ts";
import { offerEscrow } from "../../../core/use-cases/escrow/prepare/offer-escrow.ts";
import { prepareEscrow } from "../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { preflightEscrow } from "../../../core/use-cases/escrow/prepare/preflight-escrow.ts";
import { WrongState } from "../../../core/use-cases/request-errors.ts";
import { Instance } from "../../../ports/instance.ts";
import { SAMPLE, sampleParties } from "../openapi/sample-values.ts";
import { EXAMPLE_MINT, EXAMPLE_WALLET, judged, RequestAddress } from "../openapi/values.ts";
import { fieldsOf } from "../request/request-fields.ts";
import { endpoint } from "../server/endpoint.ts";
import { ACTION_PATHS, actionRecord, disabledRecord } from "./action-contract.ts";
import {
  ACTION,
  ACTION_POST,
  actionGet,
  publicAddress,
  transactionAnswer,
} from "./action-operation.ts";
import { createdMessage, createTexts, refusalMessage } from "./action-texts.ts";

const Terms = Type.Object(
  {
    merchant: RequestAddress("The merchant's wallet, which is paid.", EXAMPLE_WALLET),
    mint: RequestAddress("The token's mint.", EXAMPLE_MINT),
    amount_stroops: Type.String({
      description: "Base units as a decimal integer, 1 to 2^64-1, without sign or leading zero.",
      examples: [SAMPLE.amount.toString()],
      ...judged({ pattern: "^[1-9][0-9]{0,19}$" }),
    }),
    ttl_seconds: Type.Integer({
      examples: [SAMPLE.ttlSeconds],
      ...judged({ minimum: MIN_TTL_SECONDS, maximum: MAX_TTL_SECONDS }),
    }),
    task_intent: Type.String({
      description: `What is paid for, 1 to ${MAX_TASK_INTENT_BYTES} bytes of UTF-8.`,
      examples: [SAMPLE.intent],
      ...judged({ minLength: 1, maxLength: MAX_TASK_INTENT_BYTES }),
    }),
    nonce: Type.String({
      description: `Makes the payment its own, 1 to ${MAX_NONCE_BYTES} bytes of UTF-8: a link that is opened twice by one wallet funds one escrow.`,
      examples: [SAMPLE.nonce],
      ...judged({ minLength: 1, maxLength: MAX_NONCE_BYTES }),
    }),
    attestor: Type.Optional(
      RequestAddress("The key that must be the merchant's attestor; by default its present one."),
    ),
  },
  { additionalProperties: false },
);
type TermsRecord = Static<typeof Terms>;

/** The link's own path and query, in the order of the contract. */
const ownPath = (query: TermsRecord): string =>
  `${ACTION_PATHS.create}?${new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()}`;

const sampleQuery = (): TermsRecord => ({
  merchant: sampleParties().merchant,
  mint: sampleParties().mint,
  amount_stroops: SAMPLE.amount.toString(),
  ttl_seconds: SAMPLE.ttlSeconds,
  task_intent: SAMPLE.intent,
  nonce: SAMPLE.nonce,
});

const shared = {
  ...ACTION,
  path: ACTION_PATHS.create,
  query: Terms,
  places: {
    agentOwner: "/account",
    payer: "/account",
    taskHash: "?task_intent",
    // A link names neither.
    expiresAt: "?ttl_seconds",
    sessionKey: "?attestor",
  },
} as const;

/** `GET /v1/actions/create` */
export const readCreateActionEndpoint = endpoint({
  ...shared,
  ...actionGet(() => ({
    label: `Pay 1.500000 USDC into escrow for wallet ${sampleParties().merchant}`,
    href: ownPath(sampleQuery()),
    button: "Pay 1.500000 USDC",
  })),
  operationId: "readCreateAction",
  summary: "What a wallet shows before it creates an escrow",
  description:
    "The metadata of a link that creates an escrow: the wallet that is paid, the mint, how many merchants share its name, and the terms. A merchant that takes no escrows makes it `disabled`, with the reason.",
  budget: "reads",
  problems: [
    "wallet_links_off",
    "invalid_address",
    "beta_limit_exceeded",
    "ledger_unavailable",
    "ledger_timeout",
  ],
}).handle(
  Effect.fnUntraced(function* ({ query, publicUrl }) {
    const base = yield* publicAddress(publicUrl);
    const offer = yield* offerEscrow(fieldsOf(query)).pipe(
      Effect.catchTag("TaskRequired", Effect.die),
    );
    const { supportedMints } = yield* Instance;
    const { button, ...texts } = createTexts(offer, supportedMints);
    if (offer.blocker !== null)
      return { json: disabledRecord(base, texts, refusalMessage(offer.blocker)) };
    const actions = [{ type: "transaction" as const, href: ownPath(query), label: button }];
    return { json: { ...actionRecord(base, texts), links: { actions } } };
  }),
);

/** Says of an escrow that is there already that the link was paid, because another nonce would pay twice. */
const asPaid = (escrow: string) => (refused: WrongState) => {
  const { rule, state, awaiting, nextActions, at } = refused;
  if (rule !== "escrow_address_taken") return Effect.fail(refused);
  const detail = `this wallet has paid with this link before, into the escrow ${escrow}, and does not pay twice`;
  return Effect.fail(new WrongState({ rule, detail, state, awaiting, nextActions, at }));
};

/** `POST /v1/actions/create` */
export const runCreateActionEndpoint = endpoint({
  ...shared,
  ...ACTION_POST,
  operationId: "runCreateAction",
  summary: "The transaction with which a wallet creates an escrow",
  description:
    "The same transaction that `prepareEscrow` gives, with the posted account as agent and fee payer. The account alone signs it. A second request of the same account is refused once the escrow is there.",
  budget: "prepare",
  problems: [
    "wallet_links_off",
    "invalid_address",
    "beta_limit_exceeded",
    "wrong_state",
    "ledger_unavailable",
    "ledger_timeout",
  ],
}).handle(
  Effect.fnUntraced(function* ({ query, body, publicUrl }) {
    yield* publicAddress(publicUrl);
    const draft = yield* prepareEscrow({ ...fieldsOf(query), agentOwner: body.account }).pipe(
      Effect.catchTag("TaskRequired", Effect.die),
    );
    const { call, prepared } = yield* preflightEscrow(draft, true).pipe(
      Effect.catchTag("WrongState", asPaid(draft.escrow)),
    );
    const { supportedMints } = yield* Instance;
    return yield* transactionAnswer(call, ({ cost }) =>
      createdMessage(prepared, cost, supportedMints),
    );
  }),
);
