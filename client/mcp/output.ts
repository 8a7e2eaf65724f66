import { type ForeignText, foreignText } from "../../core/domain/encoding/foreign-text.ts";
import {
  departure,
  type Form,
  isAddress,
  isBase64,
  isCount,
  isCursor,
  isHash,
  isSignature,
  isTextOf,
  isTime,
  isUnits,
  isWord,
} from "../service/forms.ts";
import type { JsonSchema } from "./parameter.ts";

/** A value in a tool's result. Whatever a service answers is held to it before a model sees it. */
export type Field<T> = {
  readonly schema: JsonSchema;
  /** Where it stands in the service's answer, names with dots between; its own name when left out. */
  readonly from?: string;
  /** A value of this form. @throws SettlementError `unexpected_answer`, which names `path` and quotes nothing. */
  readonly held: (value: unknown, path: string) => T;
};

/** The values of a result by their names. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** A result that was held to its fields. */
export type HeldTo<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never;
};

const field = <T>(
  schema: JsonSchema,
  form: string,
  fits: Form,
  description?: string,
): Field<T> => ({
  schema: { ...schema, ...(description === undefined ? {} : { description }) },
  held: (value, path) => {
    if (!fits(value)) throw departure(path, form);
    return value as T;
  },
});

const formedText =
  (form: string, fits: Form) =>
  (description?: string): Field<string> =>
    field({ type: "string" }, form, fits, description);

/** An account's address. */
export const anAddress = formedText("an address", isAddress);
/** A transaction's signature. */
export const aSignature = formedText("a transaction's signature", isSignature);
/** A hash, 64 hex digits. */
export const aHash = formedText("64 hex digits", isHash);
/** A second, RFC 3339 in UTC. */
export const aTime = formedText("a time", isTime);
/** Base units from 0. */
export const anAmount = formedText("base units", isUnits);
/** One of the contract's words, such as a state. */
export const aWord = formedText("a word", isWord);
/** What continues a list. */
export const aCursor = formedText("a cursor", isCursor);
/** Bytes in base64, at most those of a transaction. */
export const someBytes = formedText("base64", isBase64);

/** A text that anybody may have chosen, of at most `most` characters, as it may be shown. */
export const aForeignText = (most: number, description?: string): Field<ForeignText> => {
  const raw = field<string>(
    { type: "string" },
    `a text of at most ${most} characters`,
    isTextOf(most),
    description,
  );
  return { ...raw, held: (value, path) => foreignText(raw.held(value, path), most) };
};

/** A whole number from 0. */
export const aNumber = (description?: string): Field<number> =>
  field({ type: "integer" }, "a whole number", isCount, description);

/** True or false. */
export const aFlag = (description?: string): Field<boolean> =>
  field({ type: "boolean" }, "true or false", (value) => typeof value === "boolean", description);

/** A value or null. */
export const maybe = <T>({ schema, held }: Field<T>): Field<T | null> => ({
  schema: { ...schema, type: [schema["type"] ?? "object", "null"] },
  held: (value, path) => (value === null ? null : held(value, path)),
});

/** A field that stands elsewhere in the service's answer. */
export const at = <T>(from: string, of: Field<T>): Field<T> => ({ ...of, from });

/** A list of at most `most` rows. */
export const aList = <T>(of: Field<T>, most: number, description?: string): Field<Array<T>> => {
  const list = field<ReadonlyArray<unknown>>(
    { type: "array", items: of.schema },
    `a list of at most ${most}`,
    (value) => Array.isArray(value) && value.length <= most,
    description,
  );
  return {
    ...list,
    held: (value, path) => list.held(value, path).map((row, i) => of.held(row, `${path}/${i}`)),
  };
};

/** What stands at a place of an answer, names with dots between; undefined where there is nothing. */
export const memberOf = (answer: unknown, place: string): unknown =>
  place.split(".").reduce<unknown>((found, name) => {
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, name);
    return isThere ? (found as Readonly<Record<string, unknown>>)[name] : undefined;
  }, answer);

/** The part of a service's answer that a result shows. @throws SettlementError `unexpected_answer` */
export const heldTo = <const F extends Fields>(fields: F, answer: unknown, path = ""): HeldTo<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { from = name, held }]) => [
      name,
      held(memberOf(answer, from), `${path}/${from.replaceAll(".", "/")}`),
    ]),
  ) as HeldTo<F>;

/** The schemas of fields, as members of an object's schema. */
export const schemasOf = (fields: Fields): { [name: string]: JsonSchema } =>
  Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));

/** An object with these members; clients read those that they need. */
export const anObject = <const F extends Fields>(members: F): Field<HeldTo<F>> => ({
  schema: { type: "object", properties: schemasOf(members) },
  held: (value, path) => heldTo(members, value, path),
});

/** What a caller needs of every prepared transaction to sign it. */
export const PREPARED = {
  escrow: at("data.escrow_pda", anAddress()),
  transaction: at("data.transaction.base64", someBytes("Unsigned, base64")),
  signers: at("data.transaction.signers", aList(anAddress(), 12, "Who must sign, in order")),
  last_valid_block_height: at("data.transaction.last_valid_block_height", aNumber()),
};
