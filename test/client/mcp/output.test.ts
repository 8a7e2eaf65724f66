import { expect, test } from "bun:test";
import { ask, membersOf, type ServiceCall } from "../../../client/mcp/ask.ts";
import { at, heldTo, type ShownBy } from "../../../client/mcp/output.ts";
import type { address, text, ValuesOf } from "../../../client/mcp/parameter.ts";

const PDA = "9kKqMtFDcsVU5f4btXxriXm3NB5eqvvxLdQeyc36rLpz";

test("a result takes its members from their places, in the form of their names", () => {
  const fields = { escrow: "data.escrow_pda", amount: at("data.amount_stroops") } as const;
  const held: { readonly escrow: string; readonly amount: string } = heldTo(fields, {
    data: { escrow_pda: PDA, amount_stroops: "5", more: 1 },
  });
  expect(held).toEqual({ escrow: PDA, amount: "5" });
  expect(() => heldTo(fields, { data: { escrow_pda: PDA, amount_stroops: "-5" } })).toThrow(
    "/data/amount_stroops must be base units.",
  );
});

test("a tool that names a member, a place or an operation that the contract does not have does not compile", () => {
  const call: ServiceCall = () => Promise.reject(new Error("nothing is asked"));
  type Asked = ValuesOf<{ readonly escrow: ReturnType<typeof address> }>;
  type Other = ValuesOf<{ readonly nonce: ReturnType<typeof text> }>;
  const wrong = [
    // @ts-expect-error An escrow has no `amount`.
    { amount: "data.amount" } satisfies ShownBy<"GET /v1/escrows/{pda}">,
    // @ts-expect-error Nor a status; a relayed transaction has one.
    { status: at("data.status") } satisfies ShownBy<"GET /v1/escrows/{pda}">,
    // @ts-expect-error No form is known of `bumps`.
    () => at("data.bumps"),
    // @ts-expect-error The index has no argument `escrow`.
    (asked: Asked) => ask(call, "GET /v1/indexer", membersOf(asked)),
    // @ts-expect-error The path needs `escrow`.
    (asked: Other) => ask(call, "GET /v1/escrows/{pda}", membersOf(asked)),
    // @ts-expect-error There is no such operation.
    () => ask(call, "GET /v1/escrow", {}),
  ];
  expect(wrong).toHaveLength(6);
});
