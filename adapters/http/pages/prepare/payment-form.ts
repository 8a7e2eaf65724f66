import { parseUnits } from "../../../../core/domain/amount.ts";
import { listedMint, type SupportedMint } from "../../../../core/domain/supported-mint.ts";
import { escapeHtml } from "../shell/escape.ts";
import { html, Html, type Inner, sentence } from "../shell/html.ts";
import { key } from "../shell/parts.ts";
import type { ShownProblem } from "../shell/problem-screen.ts";

/** Each field of the form: its name in the address, the member that it fills, and what people read. */
const FIELDS = [
  ["agent", "agent_owner", "Agent's wallet", "It pays, and signs."],
  ["merchant", "merchant", "Merchant's wallet", "It is paid when its attestor signs a claim."],
  ["amount", "amount_stroops", "Amount", "Such as 1.50."],
  ["mint", "mint", "Token", ""],
  ["ttl", "ttl_seconds", "Seconds to deliver", "1 to 604800; then the agent can have it back."],
  ["task", "task_intent", "Task", "What is to be done, such as the request that is paid for."],
  [
    "nonce",
    "nonce",
    "Order",
    "The same agent, task and order are one payment, however often it is sent.",
  ],
] as const;
type Name = (typeof FIELDS)[number][0];

/** The names of the form's fields, as the page's address has them. */
export const FIELD_NAMES: ReadonlyArray<string> = FIELDS.map(([name]) => name);

/** What stands in the form. */
export type Filled = Readonly<Partial<Record<Name, string>>>;

/**
 * The request that a filled form makes. It has the members that the service asks for, each of its type, so that the
 * service judges them all at once: an amount that is none of the mint goes as it was typed, and 0 for what is no number.
 */
export const requestOf = (filled: Filled, mints: ReadonlyArray<SupportedMint>) => {
  const { agent = "", merchant = "", amount = "", mint = "", ttl = "", task = "", nonce } = filled;
  const listed = listedMint(mints, mint);
  const units = listed === undefined ? undefined : parseUnits(amount, listed.decimals);
  return {
    agent_owner: agent,
    merchant,
    mint,
    amount_stroops: units?.toString() ?? amount,
    ttl_seconds: /^\d{1,15}$/.test(ttl) ? Number(ttl) : 0,
    task_intent: task,
    ...(nonce === undefined || nonce === "" ? {} : { nonce }),
  };
};

/** What is wrong with an amount of money that is none of the mint, which the service is sent as base units. */
const amountFault = ({ amount = "", mint = "" }: Filled, mints: ReadonlyArray<SupportedMint>) => {
  const listed = listedMint(mints, mint);
  if (listed === undefined || (parseUnits(amount, listed.decimals) ?? 0n) > 0n) return null;
  return `must be an amount above 0 with at most ${listed.decimals} decimals after a point`;
};

const faultsAt = (problem: ShownProblem | null, member: string): ReadonlyArray<string> =>
  (problem?.errors ?? []).flatMap(({ pointer, detail }) =>
    pointer === `/${member}` ? [detail] : [],
  );

/** Whether each fault of a problem stands beside a field. */
export const isOfFields = ({ errors = [] }: ShownProblem): boolean =>
  errors.length > 0 &&
  errors.every(({ pointer }) => FIELDS.some(([, member]) => pointer === `/${member}`));

/** A value exactly as it was sent, however long: what the reader typed must not change under the form. */
const asTyped = (value: string): Html => new Html(escapeHtml(value));

/** A field with its label, its hint and its faults. `described` are what a reader's aid reads with it. */
const field = (
  { name, label, hint }: { readonly name: string; readonly label: string; readonly hint: string },
  faults: ReadonlyArray<string>,
  control: (attributes: Html) => Html,
): Html => {
  const attributes = html`id="p-${name}" name="${name}"
  aria-describedby="p-${name}-hint"${faults.length > 0 && html` aria-invalid="true"`}`;
  return html`<div>
    <label for="p-${name}">${label}</label>
    ${control(attributes)}
    <div id="p-${name}-hint" class="note">
      ${hint}${faults.map((fault) => html` <strong class="fault">✗ ${sentence(fault)}</strong>`)}
    </div>
  </div>`;
};

const typed =
  (value: string) =>
  (attributes: Html): Html =>
    html`<input ${attributes} value="${asTyped(value)}" autocomplete="off" spellcheck="false" />`;

/** The form of a payment, with the faults that the service found beside their fields. */
export const paymentForm = (
  filled: Filled,
  mints: ReadonlyArray<SupportedMint>,
  problem: ShownProblem | null,
): Html => {
  const control = (name: Name): ((attributes: Html) => Html) =>
    name === "mint"
      ? (attributes) =>
          html`<select ${attributes}>
            ${mints.map(
              ({ address, symbol }): Inner =>
                html`<option value="${address}" ${address === filled.mint && html` selected`}>
                  ${symbol}, ${key(address).text.replaceAll(/<[^>]*>/g, "")}
                </option>`,
            )}
          </select>`
      : typed(filled[name] ?? "");
  const faultsOf = (name: Name, member: string): ReadonlyArray<string> => {
    const faults = faultsAt(problem, member);
    const own = name === "amount" && faults.length > 0 ? amountFault(filled, mints) : null;
    return own === null ? faults : [own];
  };
  return html`<form class="prepare" action="/prepare">
    ${FIELDS.map(([name, member, label, hint]) => field({ name, label, hint }, faultsOf(name, member), control(name)))}
    <button>Prepare</button>
  </form>`;
};

/** The form that asks who sends an action and pays its fee. */
export const payerForm = (
  escrow: string,
  action: string,
  payer: string,
  problem: ShownProblem | null,
): Html =>
  html`<form class="prepare" action="/prepare">
    <input type="hidden" name="escrow" value="${escrow}" />
    <input type="hidden" name="action" value="${action}" />
    ${field({ name: "payer", label: "Who sends it", hint: "This wallet pays the fee, and signs." }, faultsAt(problem, "payer"), typed(payer))}
    <button>Prepare</button>
  </form>`;
