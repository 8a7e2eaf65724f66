import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import {
  deployedIdl,
  LOCAL_DEPLOYMENT,
} from "../../../core/protocol/addresses/local-deployment.ts";
import { Instance } from "../../../ports/instance.ts";
import { Address } from "../openapi/values.ts";
import { endpoint } from "../server/endpoint.ts";
import { once } from "../server/once.ts";

const Parts = (description: string) =>
  Type.Array(Type.Object({}, { additionalProperties: true }), { description });

/** The members that readers of Anchor's format look for; each of them may have further members. */
const Idl = Type.Object(
  {
    address: Address("The program on this deployment's ledger."),
    metadata: Type.Object({}, { additionalProperties: true }),
    instructions: Parts("Discriminators, accounts and arguments."),
    accounts: Parts("Discriminators of accounts."),
    events: Parts("Discriminators of events."),
    errors: Parts("Codes and messages."),
    types: Parts("Layouts."),
    constants: Parts("The program's constants."),
  },
  {
    title: "Idl",
    description: "A program's interface in the form that Anchor 0.30 and later write.",
    additionalProperties: true,
  },
);

/** The file of a program's interface, read at its first use. */
const idlOf = (name: "custody" | "attestor") =>
  once(
    () =>
      Bun.file(new URL(`../../../programs/${name}.idl.json`, import.meta.url)).json() as Promise<
        Static<typeof Idl>
      >,
  );

/** An interface whose parts are left out. */
const example = (name: string, address: string) => ({
  address,
  metadata: { name, version: "2.0.0", spec: "0.1.0" },
  instructions: [],
  accounts: [],
  events: [],
  errors: [],
  types: [],
  constants: [],
});

const shared = {
  method: "GET",
  tag: "Service",
  description:
    "Code generators make clients for the program from it. Its program ids are those on the ledger that this service reads.",
  budget: null,
  problems: [],
} as const;

const answers = (name: "custody" | "attestor", address: string) =>
  ({
    200: {
      description: "The interface.",
      content: {
        "application/json": { schema: Idl, example: () => example(name, address) },
      },
    },
  }) as const;

const custodyIdl = idlOf("custody");
const attestorIdl = idlOf("attestor");

/** `GET /idl/custody.json` */
export const custodyIdlEndpoint = endpoint({
  ...shared,
  path: "/idl/custody.json",
  operationId: "readCustodyIdl",
  summary: "The custody program's interface",
  answers: answers("custody", LOCAL_DEPLOYMENT.custodyProgram),
}).handle(
  Effect.fnUntraced(function* () {
    const idl = yield* Effect.promise(custodyIdl);
    const { deployment } = yield* Instance;
    return { json: deployedIdl(idl, deployment) };
  }),
);

/** `GET /idl/attestor.json` */
export const attestorIdlEndpoint = endpoint({
  ...shared,
  path: "/idl/attestor.json",
  operationId: "readAttestorIdl",
  summary: "The attestor program's interface",
  answers: answers("attestor", LOCAL_DEPLOYMENT.attestorProgram),
}).handle(
  Effect.fnUntraced(function* () {
    const idl = yield* Effect.promise(attestorIdl);
    const { deployment } = yield* Instance;
    return { json: deployedIdl(idl, deployment) };
  }),
);
