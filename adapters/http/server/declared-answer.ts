import type { Static, TSchema } from "@sinclair/typebox";

type DeclaredContent = Readonly<Record<string, { readonly schema: TSchema }>>;
type DeclaredAnswers = Readonly<Record<number, { readonly content: DeclaredContent }>>;

type Scalar = string | number | boolean | null | undefined;

/** A read-only form of a type. Records of the core are read-only, and types made from schemas are not. */
type Frozen<T> = T extends Scalar
  ? T
  : T extends ReadonlyArray<infer Item>
    ? ReadonlyArray<Frozen<Item>>
    : { readonly [Name in keyof T]: Frozen<T[Name]> };

declare const Value: unique symbol;

/** The JSON of a value of this type as text; only `jsonText` makes it. */
export type JsonText<T> = string & { readonly [Value]: T };

/** A value's JSON, for an answer that is cached as text. */
export const jsonText = <const T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>;

/** The JSON text of a value of this type under a content coding (RFC 9110, section 8.4). */
export type CodedJson<T> = Uint8Array<ArrayBuffer> & { readonly [Value]: T };

type JsonBody<Json> =
  | { readonly json: Json }
  | { readonly jsonText: JsonText<Json> }
  /** The handler names the coding in `Content-Encoding`. */
  | { readonly codedJson: CodedJson<Json> };

/** The forms of one body. */
type BodyOf<Content extends DeclaredContent> = keyof Content extends never
  ? { readonly text: null }
  :
      | ("application/json" extends keyof Content
          ? JsonBody<Frozen<Static<Content["application/json"]["schema"]>>>
          : never)
      | ("text/event-stream" extends keyof Content
          ? { readonly stream: ReadableStream<Uint8Array> }
          : never)
      | ("application/octet-stream" extends keyof Content
          ? { readonly bytes: Uint8Array<ArrayBuffer> }
          : never)
      | (Exclude<
          keyof Content,
          "application/json" | "text/event-stream" | "application/octet-stream"
        > extends never
          ? never
          : /** The handler names the coding of the bytes in `Content-Encoding`. */
            { readonly text: string } | { readonly bytes: Uint8Array<ArrayBuffer> });

type IsUnion<T, All = T> = T extends All ? ([All] extends [T] ? false : true) : never;

/** The one status of success, which a handler need not name; never when several are declared. */
type UsualStatus<Status extends number> =
  IsUnion<Extract<`${Status}`, `2${string}`>> extends false
    ? Extract<`${Status}`, `2${string}`>
    : never;

type StatusMember<Status extends number, All extends number> =
  `${Status}` extends UsualStatus<All> ? { readonly status?: Status } : { readonly status: Status };

/** What a handler may answer with: a status that is declared, with a body of its schema. */
export type AnswerOf<Answers extends DeclaredAnswers> = {
  [Status in keyof Answers & number]: StatusMember<Status, keyof Answers & number> & {
    readonly headers?: Readonly<Record<string, string>>;
  } & BodyOf<Answers[Status]["content"]>;
}[keyof Answers & number];

/** The JSON of an answer, never when it has none. */
export type JsonOf<Given> = Given extends { readonly json: infer Json }
  ? Json
  : Given extends { readonly jsonText: JsonText<infer Json> }
    ? Json
    : Given extends { readonly codedJson: CodedJson<infer Json> }
      ? Json
      : never;

type Member<T, Name> = T extends unknown ? (Name extends keyof T ? T[Name] : never) : never;
type Names<T> = T extends unknown ? keyof T : never;
type Item<T> = T extends ReadonlyArray<infer Each> ? Each : never;

/** The members of a JSON value that its declaration lacks. An object that declares no members is open. */
export type Undeclared<Given, Declared> = Given extends Scalar
  ? never
  : Given extends ReadonlyArray<infer Each>
    ? Undeclared<Each, Item<Declared>>
    : [Names<Exclude<Declared, Scalar | ReadonlyArray<unknown>>>] extends [never]
      ? never
      : {
          [Name in keyof Given]-?: Name extends Names<
            Exclude<Declared, Scalar | ReadonlyArray<unknown>>
          >
            ? Undeclared<
                Given[Name],
                Member<Exclude<Declared, Scalar | ReadonlyArray<unknown>>, Name>
              >
            : Name;
        }[keyof Given];
