import {
  type ForeignText,
  foreignLines,
  foreignText,
} from "../../core/domain/encoding/foreign-text.ts";
import type { HttpOperations } from "../generated/contract.ts";
import { departure, type Form, FORMS, MEMBER_FORMS, textOf } from "../service/forms.ts";
import type { JsonSchema } from "./parameter.ts";

/** A value in a tool's result. Whatever a service answers is held to it before a model sees it. */
export type Field<T> = {
  readonly schema: JsonSchema;
  /** A value of this form. @throws SettlementError `unexpected_answer`, which names `path` and quotes nothing. */
  readonly held: (value: unknown, path: string) => T;
};

/** A field and where it stands in the service's answer, names with dots between. */
type Placed<Place extends string, T> = Field<T> & { readonly from: Place };

const { address, base64, count, cursor, hash, list, time, units, word } = FORMS;
const flag: Form<boolean> = {
  words: "true or false",
  type: "boolean",
  fits: (value) => typeof value === "boolean",
};

/** The forms of the members that tools show, by their names. */
const SHOWN_FORMS = {
  ...MEMBER_FORMS,
  action: word,
  address,
  budget: units,
  by: word,
  calls: count,
  closes_at: time,
  cluster: word,
  count,
  decimals: count,
  digest_sha256: hash,
  finality: word,
  genesis_hash: address,
  http_status: count,
  last_valid_block_height: count,
  left: units,
  matches: flag,
  message_base64: base64,
  more: count,
  next_cursor: cursor,
  outcome: word,
  price: units,
  reason: word,
  recreatable_escrow: address,
  reputation: count,
  rest: units,
  safe_to_sign_again: flag,
  same_name: count,
  session: address,
  timestamp: time,
  transaction: base64,
  until: time,
  used: units,
  verdict: word,
} as const satisfies Readonly<Record<string, Form>>;

type Forms = typeof SHOWN_FORMS;
type Member = keyof Forms;
/** A place whose last name says the form. */
type MemberPlace = Member | `${string}.${Member}`;
type FormedBy<Name> = Name extends Member ? (Forms[Name] extends Form<infer T> ? T : never) : never;
type FormAt<Place extends string> = Place extends `${string}.${infer Rest}`
  ? FormAt<Rest>
  : FormedBy<Place>;

/**
 * A result's member: the place that it is taken from, or a field, which stands under its own name unless it says
 * another place.
 */
type Shown<Place extends string = string> = Place | (Field<unknown> & { readonly from?: Place });

/** The members of a result by their names. */
export type Fields = Readonly<Record<string, Shown>>;

/** A result that was held to its fields. */
export type HeldTo<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer T>
    ? T
    : F[Name] extends string
      ? FormAt<F[Name]>
      : never;
};

/** Where a record has members, names with dots between. */
type PlaceIn<T> = T extends ReadonlyArray<unknown> | string | number | boolean | null
  ? never
  : {
      [Name in keyof T & string]-?: string extends Name
        ? never
        : Name | `${Name}.${PlaceIn<NonNullable<T[Name]>>}`;
    }[keyof T & string];

/** The fields that a tool can take out of such a record. */
export type ShownOf<T> = Readonly<Record<string, Shown<PlaceIn<T>>>>;

/** The fields that a tool can take out of an operation's answer. */
export type ShownBy<Operation extends keyof HttpOperations> = ShownOf<
  HttpOperations[Operation]["answer"]
>;

const field = <T>(form: Form<T>, description?: string): Field<T> => ({
  schema: { type: form.type, ...(description === undefined ? {} : { description }) },
  held: (value, path) => {
    if (!form.fits(value)) throw departure(path, form.words);
    return value;
  },
});

/** A member of the service's answer, in the form of its name. */
export const at = <const Place extends MemberPlace>(
  from: Place,
  description?: string,
): Placed<Place, FormAt<Place>> => {
  const name = from.slice(from.lastIndexOf(".") + 1) as Member;
  return { ...field(SHOWN_FORMS[name] as Form<FormAt<Place>>, description), from };
};

/** A word that the tool finds itself. */
export const aWord = (description?: string): Field<string> => field(word, description);
/** True or false, which the tool finds itself. */
export const aFlag = (description?: string): Field<boolean> => field(flag, description);

/** A text that anybody may have chosen, of at most `most` characters, as it may be shown. */
export const aForeignText = (most: number): Field<ForeignText> => {
  const raw = field(textOf(most));
  return { ...raw, held: (value, path) => foreignText(raw.held(value, path), most) };
};

/** A text of several lines that anybody may have chosen, as it may be shown; more than 16,384 characters are cut. */
export const aLongForeignText = (description?: string): Field<ForeignText> => {
  const raw = field(textOf(Number.POSITIVE_INFINITY), description);
  return { ...raw, held: (value, path) => foreignLines(raw.held(value, path)) };
};

const orNull = <T>({ schema, held }: Field<T>): Field<T | null> => ({
  schema: { ...schema, type: [schema["type"] ?? "object", "null"] },
  held: (value, path) => (value === null ? null : held(value, path)),
});

/** A text that anybody may have chosen, or null. */
export const aForeignTextOrNull = (most: number): Field<ForeignText | null> =>
  orNull(aForeignText(most));

/** A word that the tool finds itself, or null. */
export const aWordOrNull = (description?: string): Field<string | null> =>
  orNull(aWord(description));

/** A member of the service's answer that can be null. */
export const atOrNull = <const Place extends MemberPlace>(
  from: Place,
  description?: string,
): Placed<Place, FormAt<Place> | null> => ({ ...orNull(at(from, description)), from });

/** A list at a place of the service's answer, of at most `most` values. */
const aList = <const Place extends string, T>(
  from: Place,
  of: Field<T>,
  most: number,
  description?: string,
): Placed<Place, Array<T>> => {
  const short: Form<Array<unknown>> = {
    ...list,
    words: `a list of at most ${most}`,
    fits: (value): value is Array<unknown> => list.fits(value) && value.length <= most,
  };
  const { schema, held } = field(short, description);
  return {
    from,
    schema: { type: short.type, items: of.schema, ...schema },
    held: (value, path) => held(value, path).map((row, i) => of.held(row, `${path}/${i}`)),
  };
};

const fieldOf = (shown: Shown): Field<unknown> & { readonly from?: string } =>
  typeof shown === "string" ? at(shown as MemberPlace) : shown;

/** What stands at a place of an answer, names with dots between; undefined where there is nothing. */
export const memberOf = (answer: unknown, place: string): unknown =>
  place.split(".").reduce<unknown>((part, name) => {
    const isThere = typeof part === "object" && part !== null && Object.hasOwn(part, name);
    return isThere ? (part as Readonly<Record<string, unknown>>)[name] : undefined;
  }, answer);

/** The part of a service's answer that a result shows. @throws SettlementError `unexpected_answer` */
export const heldTo = <const F extends Fields>(fields: F, answer: unknown, path = ""): HeldTo<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, shown]) => {
      const { from = name, held } = fieldOf(shown);
      return [name, held(memberOf(answer, from), `${path}/${from.replaceAll(".", "/")}`)];
    }),
  ) as HeldTo<F>;

/** The schemas of fields, as members of an object's schema. */
export const schemasOf = (fields: Fields): { [name: string]: JsonSchema } =>
  Object.fromEntries(Object.entries(fields).map(([name, shown]) => [name, fieldOf(shown).schema]));

/** The rows of a list, of which clients read the members that they need. */
export const rowsAt = <const Place extends string, const F extends Fields>(
  from: Place,
  members: F,
  most: number,
): Placed<Place, Array<HeldTo<F>>> =>
  aList(
    from,
    {
      schema: { type: "object", properties: schemasOf(members) },
      held: (value, path) => heldTo(members, value, path),
    },
    most,
  );

const signersAt = <const Place extends string>(from: Place) =>
  aList(from, field(address), 12, "Who must sign, in order");

/** What a caller needs of every prepared transaction to sign it. */
export const PREPARED = {
  escrow: "data.escrow_pda",
  transaction: at("data.transaction.base64", "Unsigned, base64"),
  signers: signersAt("data.transaction.signers"),
  last_valid_block_height: "data.transaction.last_valid_block_height",
} as const satisfies ShownBy<"POST /v1/escrows/prepare"> &
  ShownBy<"POST /v1/escrows/{pda}/refund/prepare">;

/** A prepared transaction as a tool shows it. */
export type Prepared = HeldTo<typeof PREPARED>;

/** What the wallet must sign where a tool says so, to be relayed before the same call is made again. */
export const UNSIGNED = {
  transaction: atOrNull("transaction", "Unsigned, base64: sign, relay_transaction, call again"),
  signers: signersAt("signers"),
} as const satisfies Fields;
