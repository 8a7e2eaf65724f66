import { type Static, type TObject, Type } from "@sinclair/typebox";
import { Clock, Effect } from "effect";
import { Instance } from "../../../../ports/instance.ts";
import { isProblemCode, type ProblemCode } from "../../problems/problem-catalogue.ts";
import { chooseForm, codedText, textAnswer } from "../../server/coded-text.ts";
import type { Answer, Endpoint } from "../../server/endpoint.ts";
import { htmlContent } from "../static-page.ts";
import type { Html } from "./html.ts";
import { amountsIn, type AmountOf } from "./parts.ts";
import { problemPage, type ShownProblem } from "./problem-screen.ts";
import { type Page, PAGE_POLICY, pageText } from "./shell.ts";

/** An answer of this service that was a problem. */
export class Refused {
  readonly problem: ShownProblem;
  constructor(problem: ShownProblem) {
    this.problem = problem;
  }
}

/** What a screen is made from. */
export type View<Query> = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /**
   * What the service answers to a GET of this path, or to a POST of `body`, as any other caller gets it, under the
   * reader's own budget: a page shows nothing that the API does not say. A problem is a `Refused`.
   */
  readonly read: <Body>(path: string, body?: object) => Promise<Body | Refused>;
  /** As `read`, of what the service answers as text, such as a checkpoint. */
  readonly readText: (path: string) => Promise<string | Refused>;
  /** The service's clock, Unix milliseconds: how old what others state is. */
  readonly nowMs: number;
  /** Scheme, host and port under which the reader reached the service. */
  readonly origin: string;
  /** The configured address, which wallet links begin with; null for none. */
  readonly publicUrl: string | null;
  readonly amount: AmountOf;
  /** Whether this service runs a local ledger of its own, with play money. */
  readonly isLocal: boolean;
};

/** A screen: a path, and the page that a reader gets there. */
export type Screen<Query extends TObject = TObject, Shown = Page | Refused | Moved | Download> = {
  /** OpenAPI's form: `/escrows/{pda}`. */
  readonly path: string;
  readonly query?: Query;
  readonly show: (view: View<Static<Query>>) => Promise<Shown>;
};

/** Leads the reader to another page of this service. */
export class Moved {
  readonly path: string;
  constructor(path: string) {
    this.path = path;
  }
}

/** A file to save in place of a page. */
export class Download {
  readonly mediaType: string;
  readonly name: string;
  readonly text: string;
  constructor(mediaType: string, name: string, text: string) {
    this.mediaType = mediaType;
    this.name = name;
    this.text = text;
  }
}

const NO_QUERY = Type.Object({}, { additionalProperties: false });

const problemOf = async (answer: Response): Promise<ShownProblem> => {
  const body = (await answer.json()) as Partial<ShownProblem> & { readonly code?: string };
  const code: ProblemCode =
    body.code !== undefined && isProblemCode(body.code) ? body.code : "internal_error";
  return {
    code,
    detail: body.detail ?? "",
    status: answer.status,
    requestId: answer.headers.get("x-request-id"),
    cure: body.cure,
    errors: body.errors,
  };
};

/** What the service answers, as JSON and as text. */
const readersOf = (ask: ScreenInput["ask"]): Pick<View<unknown>, "read" | "readText"> => {
  const answered = async <Body>(
    path: string,
    init: RequestInit,
    bodyOf: (answer: Response) => Promise<Body>,
  ): Promise<Body | Refused> => {
    const answer = await ask(path, init);
    return answer.ok ? bodyOf(answer) : new Refused(await problemOf(answer));
  };
  const accept = "application/json";
  return {
    read: <Body>(path: string, body?: object) =>
      answered(
        path,
        body === undefined
          ? { headers: { accept } }
          : {
              method: "POST",
              headers: { accept, "content-type": accept },
              body: JSON.stringify(body),
            },
        (answer) => answer.json() as Promise<Body>,
      ),
    readText: (path) =>
      answered(path, { headers: { accept: "text/plain" } }, (answer) => answer.text()),
  };
};

/** A page as an answer, coded and with its validator; 304 for a reader who has it. `path` is as `pageText` takes it. */
export const pageAnswer = (page: Page, path: string | null, asked: Headers) =>
  textAnswer(chooseForm(codedText(pageText(page, path)), asked, "accept"), PAGE_POLICY);

/** What a screen takes from a request. */
export type ScreenInput = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly origin: () => string;
  readonly publicUrl: string | null;
  readonly ask: (path: string, init: RequestInit) => Promise<Response>;
};

/** What a screen shows to a request. Never fails. */
export const showScreen = Effect.fnUntraced(function* <Query extends TObject, Shown>(
  { show }: Screen<Query, Shown>,
  input: ScreenInput,
) {
  const { supportedMints, runsLedger } = yield* Instance;
  const nowMs = yield* Clock.currentTimeMillis;
  return yield* Effect.promise(() =>
    show({
      params: input.params,
      query: input.query as Static<Query>,
      ...readersOf(input.ask),
      nowMs,
      origin: input.origin(),
      publicUrl: input.publicUrl,
      amount: amountsIn(supportedMints),
      isLocal: runsLedger,
    }),
  );
});

/**
 * A screen as an operation of the server. It stands in no OpenAPI document: pages are for people, and what they show is
 * the answer of an operation that does.
 */
export const screenEndpoint = <Query extends TObject>(screen: Screen<Query>): Endpoint => {
  const { path } = screen;
  const names = Array.from(path.matchAll(/\{([^}]+)\}/g), ([, name = ""]) => name);
  return {
    method: "GET",
    path,
    isPage: true,
    operationId: `page ${path}`,
    tag: "Pages",
    summary: "",
    description: "",
    budget: null,
    params: Object.fromEntries(names.map((name) => [name, Type.String()])),
    query: screen.query ?? NO_QUERY,
    answers: { 200: { description: "The page.", content: htmlContent("<!doctype html>…") } },
    problems: [],
    handle: Effect.fnUntraced(function* (input) {
      const shown = yield* showScreen(screen, input);
      if (shown instanceof Moved)
        return { status: 302, text: "", headers: { location: shown.path } };
      if (shown instanceof Download)
        return {
          text: shown.text,
          headers: {
            "content-type": `${shown.mediaType}; charset=utf-8`,
            "content-disposition": `attachment; filename="${shown.name}"`,
          },
        };
      const page = shown instanceof Refused ? problemPage(shown.problem) : shown;
      const answer: Answer = pageAnswer(page, path, input.headers);
      const { status = 200 } = page;
      return status === 200 || answer.status === 304 ? answer : { ...answer, status };
    }),
  };
};

/** A part of a page, or why the service does not say it. */
export const partOr = <Body>(
  body: Body | Refused,
  shown: (body: Body) => Html,
  refused: (problem: ShownProblem) => Html,
): Html => (body instanceof Refused ? refused(body.problem) : shown(body));
