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

// Runs inside a receipt, a file that may ask nobody: it judges the documents that stand in it.

const element = (id: string): HTMLElement => {
  const there = document.getElementById(id);
  if (there === null) throw new Error(`the receipt has no ${id}`);
  return there;
};

/** A document that no service handed out is in the receipt by the word of its maker, not of its reader. */
const MAKER = "whoever made this file";

const held = (JSON.parse(element(DOCUMENTS_ID).textContent || "[]") as ReadonlyArray<Given>).map(
  ({ name, text, service }): Given => ({ name, text, service: service ?? MAKER }),
);

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

const documents = held.map(recognised);
show(documents);

/** Judges the documents under a trust document of the reader's own. */
const judgeUnder = async (file: File): Promise<void> => {
  const given = givenBytes(file.name, new Uint8Array(await file.arrayBuffer()));
  const isTrust = given !== null && kindOf(given.text) === "trust";
  if (isTrust) show(withDocument(documents, given));
  else element("verdict").textContent = "This file is no trust document, so nothing was judged.";
};

element("trust").addEventListener("change", ({ target }) => {
  const file = target instanceof HTMLInputElement ? target.files?.[0] : undefined;
  if (file === undefined) show(documents);
  else void judgeUnder(file);
});
