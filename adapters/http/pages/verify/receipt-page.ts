import { DOCUMENTS_ID } from "./receipt-data.ts";
import {
  type Given,
  givenBytes,
  kindOf,
  type Recognised,
  recognised,
  withDocument,
} from "./recognise.ts";
import { showJudged } from "./verdict-html.ts";

// Runs inside a receipt, a file that may ask nobody: it judges the documents that stand in it and those of its reader.

const element = (id: string): HTMLElement => {
  const there = document.getElementById(id);
  if (there === null) throw new Error(`the receipt has no ${id}`);
  return there;
};

/** A document that no service handed out is in the receipt by the word of its maker, not of its reader. */
const MAKER = "whoever made this file";

const held = (
  JSON.parse(element(DOCUMENTS_ID).textContent.trim() || "[]") as ReadonlyArray<Given>
).map(({ name, text, service }): Given => ({ name, text, service: service ?? MAKER }));

const show = (documents: ReadonlyArray<Recognised>): void => showJudged(document, documents, false);

/** Links that save the documents as they stand in the file. */
const links = held.map(({ text }) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = kindOf(text) === "proof" ? "log.proof" : `${kindOf(text)}.json`;
  link.textContent = `Save ${link.download}`;
  link.className = "button";
  return link;
});
element("save").append(...links.flatMap((link) => [link, " "]));

let documents: ReadonlyArray<Recognised> = held.map(recognised);
show(documents);

/** Judges the documents beside the reader's own, each of which takes the place of one of its kind. */
const judgeWith = async (files: ReadonlyArray<File>): Promise<void> => {
  const read = await Promise.all(
    files.map(async (file) => ({
      name: file.name,
      given: givenBytes(file.name, new Uint8Array(await file.arrayBuffer())),
    })),
  );
  for (const { given } of read) if (given !== null) documents = withDocument(documents, given);
  show(documents);
  const unread = read.filter(({ given }) => given === null).map(({ name }) => name);
  element("trouble").textContent =
    unread.length === 0 ? "" : `No text in UTF-8, so not read: ${unread.join(", ")}.`;
};

element("own").addEventListener("change", ({ target }) => {
  if (target instanceof HTMLInputElement) void judgeWith([...(target.files ?? [])]);
});

if (held.length === 0) {
  document.title = "The verifier in one file";
  element("title").textContent = document.title;
  element("holds").textContent = "This file is the verifier, and holds no document yet.";
}
