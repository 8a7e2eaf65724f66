import { type TObject, Type } from "@sinclair/typebox";
import { html, type Html } from "../shell/html.ts";

/** A member of a list's query, as a form sends it: an empty text where nothing was filled in. */
const Text = Type.Optional(Type.String({ maxLength: 200 }));

/** The query of a list's page: the filters of these names, the page's place, and the form it is wanted in. */
export const listQuery = (filters: ReadonlyArray<string>): TObject =>
  Type.Object(
    Object.fromEntries([...filters, "cursor", "limit", "format"].map((name) => [name, Text])),
    { additionalProperties: false },
  );

/** What a reader asked a list for; members that are empty are left out. */
export const askedOf = (query: unknown): URLSearchParams => {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Readonly<Record<string, unknown>>))
    if (typeof value === "string" && value !== "" && name !== "format") asked.set(name, value);
  return asked;
};

/** A path with a query, without a question mark where the query is empty. */
export const pathWith = (path: string, asked: URLSearchParams): string =>
  asked.size === 0 ? path : `${path}?${asked}`;

const withMember = (asked: URLSearchParams, name: string, value: string): URLSearchParams => {
  const more = new URLSearchParams(asked);
  more.set(name, value);
  return more;
};

/** The way to the next page, and the same rows as files. */
export const listFoot = (path: string, asked: URLSearchParams, next: string | null): Html => {
  const first = new URLSearchParams(asked);
  first.delete("cursor");
  return html`<p class="foot">
    ${asked.has("cursor") && html`<a href="${pathWith(path, first)}">First page</a> · `}
    ${next !== null && html`<a rel="next" href="${pathWith(path, withMember(asked, "cursor", next))}">Next page</a> · `}
    These rows as <a href="${pathWith(path, withMember(asked, "format", "csv"))}">CSV</a> or
    <a href="${pathWith(path, withMember(asked, "format", "jsonl"))}">JSONL</a>
  </p>`;
};

/** A field of a filter form. */
export const textField = (name: string, label: string, asked: URLSearchParams): Html =>
  html`<div>
    <label for="f-${name}">${label}</label
    ><input
      id="f-${name}"
      name="${name}"
      value="${asked.get(name) ?? ""}"
      spellcheck="false"
      autocomplete="off"
    />
  </div>`;

/** A choice of a filter form; the first option means any. */
export const choiceField = (
  name: string,
  label: string,
  asked: URLSearchParams,
  options: ReadonlyArray<readonly [value: string, label: string]>,
): Html =>
  html`<div>
    <label for="f-${name}">${label}</label
    ><select id="f-${name}" name="${name}">
      ${options.map(
        ([value, text]) =>
          html`<option value="${value}" ${value === (asked.get(name) ?? "") && html` selected`}>
            ${text}
          </option>`,
      )}
    </select>
  </div>`;

/** A form of filters that stand in the address. */
export const filterForm = (path: string, fields: ReadonlyArray<Html>): Html =>
  html`<form class="filters" action="${path}">${fields}<button>Show</button></form>`;
