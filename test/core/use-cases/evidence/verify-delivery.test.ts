import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { PROOF_TEMPLATES } from "../../../../core/domain/evidence/proof-template.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { ArchivedEscrows } from "../../../../core/use-cases/escrow/archived-escrows.ts";
import {
  type DeliveryToVerify,
  verifyDelivery,
} from "../../../../core/use-cases/evidence/verify-delivery.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { canonicalText } from "../../domain/encoding/canonical-text.ts";
import { GOLDEN_ESCROWS } from "../escrow/golden-escrows.ts";
import { accountOf } from "../../../doubles/accounts.ts";
import { indexWithoutRows } from "../../../doubles/index-without-rows.ts";
import { ledgerOfAccounts } from "./golden-packets.ts";
import { testInstance } from "../test-instance.ts";

const goldenEscrow = (name: string): Escrow => {
  const found = GOLDEN_ESCROWS.find((each) => each.name === name);
  if (found === undefined) throw new Error("no such golden escrow");
  return found.escrow;
};
const fulfilled = goldenEscrow("fulfilled");
const [template] = PROOF_TEMPLATES;
if (template === undefined) throw new Error("no proof template");
/** The payload whose hash the golden escrow's attestor signed. */
const payload = { ...template.example, task_hash: fulfilled.taskHash as string };

const verify = (delivery: DeliveryToVerify, escrow = fulfilled) => {
  const owner = LOCAL_DEPLOYMENT.custodyProgram;
  const account = accountOf(escrow.address, owner, encodeEscrowAccount(escrow));
  const ledger = ledgerOfAccounts([account], { slot: 1n, ledgerTime: escrow.createdAt });
  return Effect.runSync(
    Effect.result(verifyDelivery(escrow.address, delivery)).pipe(
      Effect.provideService(Ledger, ledger),
      Effect.provideService(Instance, testInstance()),
      Effect.provideService(IndexReader, indexWithoutRows()),
      Effect.provideService(ArchivedEscrows, { find: () => Effect.die("nothing is archived") }),
    ),
  );
};
const comparison = (delivery: DeliveryToVerify, escrow = fulfilled) => {
  const result = verify(delivery, escrow);
  if (result._tag === "Failure") throw new Error(`refused: ${result.failure._tag}`);
  return result.success;
};

describe("a delivery payload compared with an escrow", () => {
  test("the attested payload matches, is bound to the task and meets its template", () => {
    expect(comparison({ payload })).toMatchObject({
      matches: true,
      taskHashBound: true,
      template: { id: template.id, valid: true },
    });
    const reversed = Object.fromEntries(Object.entries(payload).toReversed());
    expect(comparison({ payload: reversed }).matches).toBe(true);
  });

  test("any other payload does not match, and its own hash is returned", () => {
    const member = fc.tuple(
      fc.string({ unit: anyCharacter }),
      fc.jsonValue().map((v) => v as Json),
    );
    fc.assert(
      fc.property(member, ([name, value]) => {
        const other = Object.fromEntries([...Object.entries<Json>(payload), [name, value]]);
        fc.pre(canonicalText(other) !== canonicalText(payload));
        const result = verify({ payload: other });
        if (result._tag === "Failure") return expect(result.failure._tag).toBe("ValidationFailed");
        const reference = createHash("sha256").update(canonicalText(other)).digest("hex");
        expect(result.success.computedProofHash as string).toBe(reference);
        expect(result.success.matches).toBe(false);
      }),
      runs(50),
    );
  });

  test("before the release there is no proof hash to match, but the task can be compared", () => {
    const pending = goldenEscrow("pending");
    expect(comparison({ payload }, pending)).toMatchObject({
      escrowProofHash: null,
      matches: null,
      taskHashBound: false,
    });
    expect(comparison({ payload: { note: "x" } }, pending)).toMatchObject({
      taskHashBound: null,
      template: null,
    });
  });

  test("the template is the one asked for, or the one the payload names", () => {
    const [, second] = PROOF_TEMPLATES;
    const asked = comparison({ payload, templateId: second?.id ?? "" });
    expect(asked.template).toMatchObject({ id: second?.id, valid: false });
    expect(
      comparison({ payload: { ...payload, proof_template_id: "unknown-v9" } }).template,
    ).toBeNull();
    const unknown = verify({ payload, templateId: "unknown-v9" });
    expect(unknown).toMatchObject({ failure: { _tag: "ProofTemplateNotFound", id: "unknown-v9" } });
  });

  test("a payload without exact canonical bytes is refused, and its member is named", () => {
    for (const bad of ["\ud800", 2 ** 53, Infinity]) {
      expect(verify({ payload: { a: [bad] } })).toMatchObject({
        failure: { _tag: "ValidationFailed", faults: [{ field: "payload", inside: "/a/0" }] },
      });
    }
  });
});
