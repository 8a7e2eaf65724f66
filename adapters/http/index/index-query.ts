import { type Static, Type } from "@sinclair/typebox";
import type { IndexQuery } from "../../../core/use-cases/index/index-query.ts";
import { pageParameters } from "../openapi/envelopes.ts";
import { EscrowState, RequestAddress } from "../openapi/values.ts";

/** The query parameters of the index's two lists. */
export const IndexParameters = Type.Object(
  {
    merchant: Type.Optional(
      Type.String({ ...RequestAddress("Only of this merchant wallet."), maxLength: 64 }),
    ),
    agent_owner: Type.Optional(
      Type.String({ ...RequestAddress("Only of this agent wallet."), maxLength: 64 }),
    ),
    state: Type.Optional(EscrowState),
    refundable: Type.Optional(
      Type.Literal(true, {
        type: "boolean",
        description: "Only Pending escrows that have expired.",
      }),
    ),
    ...pageParameters,
  },
  { additionalProperties: false },
);

/** The filters that these parameters select. */
export const indexQueryOf = (query: Static<typeof IndexParameters>): IndexQuery => ({
  merchant: query.merchant,
  agentOwner: query.agent_owner,
  state: query.state,
  refundable: query.refundable,
});
