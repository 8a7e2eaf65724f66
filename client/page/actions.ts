import { addressNamed, policyIn } from "../pinned-policy.ts";
import {
  archiveEscrowInstruction,
  returnRentInstruction,
} from "../../core/protocol/instructions/custody-instructions.ts";
import { readInstruction } from "../../core/protocol/instructions/program-call.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { landTransaction } from "../merchant/merchant-context.ts";
import { cancellation } from "../merchant/settle/cancel.ts";
import { readEscrowTerms } from "../merchant/settle/escrow-terms.ts";
import { closeSession } from "../pay/close-session.ts";
import { pay } from "../pay/pay.ts";
import { preparedTransaction, type PrepareContext } from "../pay/prepared-transaction.ts";
import { refund } from "../pay/refund.ts";
import { requestsTo } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import type { AcceptedSigner } from "../signing/sign-transaction.ts";

/** What was done: the escrow, and the transaction where one was needed. */
export type Done = { readonly escrow: string; readonly signature: string | null };

/** What stands in the page's form, by the names of its fields. */
type Asked = ReadonlyMap<string, string>;

type Act = (context: PrepareContext, asked: Asked, signer: AcceptedSigner) => Promise<Done>;

const named = (asked: Asked, name: string): string => asked.get(name) ?? "";

/** The last bytes of an escrow that an archived one's call carries; only the service knows them, and the ledger checks them. */
const lastBytesIn = (deployment: Deployment, prepared: ReadonlyArray<Instruction>) => {
  for (const each of prepared) {
    const call = readInstruction(each, deployment);
    if (call?.name === "return_rent" || call?.name === "archive_escrow") return call.args.lastBytes;
  }
  return new Uint8Array();
};

/** A call that only brings rent home, built here from the escrow's address and its rent payer. */
const bringsRentHome =
  (name: "rent" | "archive", instruction: typeof archiveEscrowInstruction): Act =>
  async (context, asked, signer) => {
    const { escrow, rentPayer } = await readEscrowTerms(context, named(asked, "escrow"));
    const payer = addressNamed(signer.address, "signer");
    const transaction = await preparedTransaction(
      context,
      `POST /v1/escrows/{pda}/${name}/prepare?transaction=true`,
      { pda: escrow, payer },
      (deployment, prepared) => [
        instruction(deployment, {
          escrow,
          rentPayer,
          lastBytes: lastBytesIn(deployment, prepared),
        }),
      ],
      undefined,
    );
    return { escrow, signature: await landTransaction(context, transaction, [signer]) };
  };

/** By the name that the page gives to what it prepared. Each builds its transaction here, and signs only that one. */
const ACTS: Readonly<Record<string, Act>> = {
  pay: (context, asked, signer) =>
    pay(
      // The page offers to sign only what its preflight found ready. A read of nothing is an error in a browser's console.
      { ...context, allow: () => Promise.resolve(), onLedger: null, isFree: true },
      {
        merchant: named(asked, "merchant"),
        amount: named(asked, "amount"),
        mint: named(asked, "mint"),
        ttl: Number(named(asked, "ttl")),
        task: named(asked, "task"),
        nonce: named(asked, "nonce"),
        signer,
      },
    ),
  claim_refund: (context, asked, signer) => refund(context, named(asked, "escrow"), signer),
  close_session: async (context, asked, signer) => {
    const escrow = addressNamed(named(asked, "escrow"), "escrow");
    await closeSession(context, escrow, signer);
    return { escrow, signature: null };
  },
  cancel_escrow: async (context, asked, signer) => {
    const terms = await readEscrowTerms(context, named(asked, "escrow"));
    const parties = { merchant: signer.address, payer: signer.address };
    const { transaction } = await cancellation(context, terms, parties);
    return {
      escrow: terms.escrow,
      signature: await landTransaction(context, transaction, [signer]),
    };
  },
  return_rent: bringsRentHome("rent", returnRentInstruction),
  archive_escrow: bringsRentHome("archive", archiveEscrowInstruction),
};

/**
 * Does with a wallet what the page prepared: builds the transaction from what stands in the page's form, has it
 * signed, sends it through the service, and returns once that is confirmed. @throws SettlementError
 */
export const signAction = (
  does: string,
  asked: Asked,
  { trust, signer }: { readonly trust: string; readonly signer: AcceptedSigner },
): Promise<Done> => {
  const act = ACTS[does];
  if (act === undefined)
    throw new SettlementError(
      "unknown_action",
      `This page cannot sign ${does}.`,
      "Use the client package.",
    );
  const context = { requests: requestsTo(location.origin), policy: policyIn(trust) };
  return act(context, asked, signer);
};
