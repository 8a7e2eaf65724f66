import { attest, type Attestation } from "../settle/attest.ts";
import type { AttestationJournal } from "../settle/attestation-journal.ts";
import { readEscrowTerms } from "../settle/escrow-terms.ts";
import { type MerchantContext, type Released, ReleasedAlready } from "../merchant-context.ts";
import { release } from "../settle/release.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import { judgeExchange, parseExchange } from "./judge-exchange.ts";
import type { Rules } from "./rules.ts";
import type { spendingCeiling } from "./spending-ceiling.ts";

/** What an attestor works with. */
export type AttestorSetup = {
  readonly context: MerchantContext;
  readonly rules: Rules;
  readonly ceiling: ReturnType<typeof spendingCeiling>;
  readonly attestor: MessageSigner;
  readonly journal: AttestationJournal;
  /** Who pays for the release of what was signed; null for no release. */
  readonly payer: MessageSigner | null;
};

/** What became of one exchange. `failed`: it could not be judged or released, and can be given again. */
export type Decision = {
  readonly escrow: string | null;
  readonly decision: "signed" | "refused" | "failed";
  /** Why not; empty when it was signed. */
  readonly reasons: ReadonlyArray<string>;
  readonly rule: string | null;
  /** Null when nothing was signed, and when the escrow was released with this claim before. */
  readonly attestation: Attestation | null;
  readonly released: Released | null;
};

/** A decision, and the error that was in its way; null where nothing was. */
export type Decided = { readonly decision: Decision; readonly cause: SettlementError | null };

const NOTHING = { reasons: [], rule: null, attestation: null, released: null } as const;

/** Codes of faults that lie with the service or the signer, not with the exchange. */
const PASSING: ReadonlySet<string> = new Set([
  "service_unreachable",
  "signer_unusable",
  "not_signed",
  "journal_unusable",
]);

const refused = (escrow: string | null, reasons: ReadonlyArray<string>): Decided => ({
  decision: { ...NOTHING, escrow, decision: "refused", reasons },
  cause: null,
});

const notSigned = (escrow: string, cause: unknown) => {
  if (!(cause instanceof SettlementError)) throw cause;
  const isPassing = PASSING.has(cause.code) || (cause.status ?? 0) >= 500;
  const decision: Decision = {
    ...NOTHING,
    escrow,
    decision: isPassing ? "failed" : "refused",
    reasons: [`${cause.message} ${cause.cure}`],
  };
  return { decision, cause };
};

/** An attestation, or that its escrow was released with it before. */
const orReleased = (signing: Promise<Attestation>): Promise<Attestation | ReleasedAlready> =>
  signing.catch((cause: unknown) => {
    if (cause instanceof ReleasedAlready) return cause;
    throw cause;
  });

/** Judges one line of JSON, and signs what the rules and the ceiling allow. */
export const decide = async (setup: AttestorSetup, line: string): Promise<Decided> => {
  const { context, rules, ceiling, attestor, journal, payer } = setup;
  const parsed = parseExchange(line);
  if ("fault" in parsed) return refused(null, [`no exchange: ${parsed.fault}`]);
  const { escrow } = parsed.value;
  try {
    const terms = await readEscrowTerms(context, escrow);
    const { genesisHash: network, supportedMints } = context.policy;
    const judgement = judgeExchange(rules, parsed.value, { ...terms, network });
    if ("reasons" in judgement) return refused(escrow, judgement.reasons);
    const mint = supportedMints.find(({ address }) => address === terms.mint);
    if (mint === undefined)
      return refused(escrow, [`the trust document does not list ${terms.mint}`]);
    const excess = await ceiling(escrow, mint, terms.amount);
    if (excess !== null) return refused(escrow, [excess]);
    const { rule, payload, template } = judgement;
    const statement = { escrow, payload, template, attestor, journal };
    const attestation = await orReleased(attest(context, statement));
    if (attestation instanceof ReleasedAlready) {
      const { released } = attestation;
      return { decision: { ...NOTHING, escrow, decision: "signed", rule, released }, cause: null };
    }
    const signed: Decision = { ...NOTHING, escrow, decision: "signed", rule, attestation };
    if (payer === null) return { decision: signed, cause: null };
    return await release(context, { attestation, payer }).then(
      (released) => ({ decision: { ...signed, released }, cause: null }),
      (thrown: unknown) => {
        const { decision, cause } = notSigned(escrow, thrown);
        return { decision: { ...decision, rule, attestation, decision: "failed" }, cause };
      },
    );
  } catch (cause) {
    return notSigned(escrow, cause);
  }
};
