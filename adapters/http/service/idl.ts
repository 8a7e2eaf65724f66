import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { deployedIdl } from "../../../core/protocol/addresses/deployed-idl.ts";
import { Instance } from "../../../ports/instance.ts";
import attestor from "../../../programs/attestor.idl.json" with { type: "json" };
import custody from "../../../programs/custody.idl.json" with { type: "json" };
import { Address } from "../openapi/values.ts";
import { endpoint } from "../server/endpoint.ts";

const Parts = (description: string) =>
  Type.Array(Type.Object({}, { additionalProperties: true }), { description });

/** The members that readers of Anchor's format look for; each part of it is open. */
const Idl = Type.Object(
  {
    address: Address("The program on this deployment's ledger."),
    metadata: Type.Object({}, { additionalProperties: true }),
    instructions: Parts("Discriminators, accounts and arguments."),
    accounts: Parts("Discriminators of accounts."),
    events: Parts("Discriminators of events."),
    errors: Parts("Codes and messages."),
    types: Parts("Layouts."),
    constants: Parts("Values that the program knows."),
  },
  {
    title: "Idl",
    description: "A program's interface in the form that Anchor 0.30 and later write.",
    additionalProperties: true,
  },
);

const idlEndpoint = (name: "custody" | "attestor", idl: typeof custody | typeof attestor) =>
  endpoint({
    method: "GET",
    path: `/idl/${name}.json`,
    operationId: name === "custody" ? "readCustodyIdl" : "readAttestorIdl",
    tag: "Service",
    summary: `The ${name} program's interface`,
    description:
      "From it code generators make clients for the program. Its program ids are those on the ledger that this service reads.",
    budget: null,
    answers: {
      200: {
        description: "The interface.",
        content: { "application/json": { schema: Idl, example: () => idl } },
      },
    },
    problems: [],
  }).handle(() =>
    Effect.map(Instance, ({ deployment }) => ({ json: deployedIdl(idl, deployment) })),
  );

/** `GET /idl/custody.json` and `GET /idl/attestor.json` */
export const idlEndpoints = [idlEndpoint("custody", custody), idlEndpoint("attestor", attestor)];
