import type { Static, TSchema } from "@sinclair/typebox";

type DeclaredContent = Readonly<Record<string, { readonly schema: TSchema }>>;
type DeclaredAnswers = Readonly<Record<number, { readonly content: DeclaredContent }>>;

type Scalar = string | number | boolean | null | undefined;

/** A value that is only read: records of the core are, and schemas do not ask for it. */
type Frozen<T> = T extends Scalar
  ? T
  : T extends ReadonlyArray<infer Item>
    ? ReadonlyArray<Frozen<Item>>
    : { readonly [Name in keyof T]: Frozen<T[Name]> };

/** The forms of one body. JSON may also be given as the text that it was made into before. */
type BodyOf<Content extends DeclaredContent> = keyof Content extends never
  ? { readonly text: null }
  :
      | ("application/json" extends keyof Content
          ? { readonly json: Frozen<Static<Content["application/json"]["schema"]>> }
          : never)
      | ("text/event-stream" extends keyof Content
          ? { readonly stream: ReadableStream<Uint8Array> }
          : { readonly text: string });

type IsUnion<T, All = T> = T extends All ? ([All] extends [T] ? false : true) : never;

/** The one status of success, which a handler need not name; never where several are declared. */
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

/** The JSON of an answer, never where it has none. */
export type JsonOf<Given> = Given extends { readonly json: infer Json } ? Json : never;

type Member<T, Name> = T extends unknown ? (Name extends keyof T ? T[Name] : never) : never;
type Names<T> = T extends unknown ? keyof T : never;
type Item<T> = T extends ReadonlyArray<infer Each> ? Each : never;

/** The names in a JSON value that its declaration has not; an object without any declared is open. */
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
