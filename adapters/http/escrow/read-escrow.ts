import { Effect } from "effect";
import { readActionGround } from "../../../core/use-cases/escrow/read-escrow.ts";
import { showEscrow } from "../../../core/use-cases/escrow/settled-in-index.ts";
import { Instance } from "../../../ports/instance.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../openapi/envelopes.ts";
import { PathAddress } from "../openapi/values.ts";
import { endpoint } from "../server/endpoint.ts";
import { LiveEscrow, liveEscrowExample, liveEscrowRecord } from "./escrow-contract.ts";

/** The problems of every operation that reads one escrow. */
export const READ_ESCROW_PROBLEMS = [
  "invalid_address",
  "escrow_not_found",
  "not_an_escrow",
  "archived_unseen",
  "ledger_unavailable",
  "ledger_timeout",
] as const;

/** `GET /v1/escrows/{pda}` */
export const readEscrowEndpoint = endpoint({
  method: "GET",
  path: "/v1/escrows/{pda}",
  operationId: "readEscrow",
  tag: "Escrows",
  summary: "Read one escrow from the ledger",
  description:
    "A live read at `confirmed`. An archived escrow is read at `finalized`, with the last bytes of its account. `next_actions` tells who can do what now, with ready, unsigned instructions. While no node answers, a settled escrow is the index's, which proved it against the ledger's root: `context.source` is then `index`, `context.slot` the finalized slot up to which the index is complete, and `archived` is not known.",
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  answers: {
    200: {
      description: "The escrow.",
      content: {
        "application/json": {
          schema: ledgerRead(LiveEscrow),
          example: () => ({ data: liveEscrowExample(), context: READ_CONTEXT_EXAMPLE }),
        },
      },
    },
  },
  problems: READ_ESCROW_PROBLEMS,
}).handle(
  Effect.fnUntraced(function* ({ params }) {
    const live = yield* showEscrow(params.pda);
    const ground = live.isFromIndex === true ? {} : yield* readActionGround(live);
    const instance = yield* Instance;
    return {
      json: {
        data: liveEscrowRecord(live, instance, ground),
        context: readContext(live),
      },
    };
  }),
);
