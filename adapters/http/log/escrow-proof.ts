import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { readEscrowProof } from "../../../core/use-cases/log/serving/read-log.ts";
import { PathAddress } from "../openapi/values.ts";
import { fieldPointers } from "../request/request-fields.ts";
import { endpoint } from "../server/endpoint.ts";
import { sampleLog } from "./sample-log.ts";

const pointers = fieldPointers({ pda: "/pda" });

/** `GET /v1/evidence/{pda}/proof` */
export const escrowProofEndpoint = endpoint({
  method: "GET",
  path: "/v1/evidence/{pda}/proof",
  operationId: "readEscrowProof",
  tag: "Evidence",
  summary: "The proof that the settlement log holds an escrow's last event",
  description:
    "`c2sp.org/tlog-proof@v1`, without `extra`: the event's number, its inclusion proof and the published checkpoint. The escrow is read at `finalized`.",
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  answers: {
    200: {
      description: "The proof.",
      content: { "text/plain": { schema: Type.String(), example: () => sampleLog().proof } },
    },
  },
  problems: [
    "invalid_address",
    "escrow_not_found",
    "not_final_yet",
    "not_an_escrow",
    "not_in_log",
    "not_logged_yet",
    "ledger_unavailable",
    "ledger_timeout",
    "store_unavailable",
  ],
}).handle(
  Effect.fnUntraced(function* ({ params }) {
    const text = yield* readEscrowProof(params.pda).pipe(
      Effect.catchTag("InvalidAddress", pointers.invalidAddress),
    );
    return { text };
  }),
);
