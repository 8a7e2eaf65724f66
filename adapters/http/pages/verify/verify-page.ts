import { filledReceipt } from "./receipt-data.ts";
import { type Given, givenBytes, type Recognised, withDocument } from "./recognise.ts";
import type * as Verdict from "./verdict-html.ts";

// Runs in the browser, on /verify. It asks only its own service, for what the reader names; it sends no document. The
// verifier itself is most of the page's bytes, so it is loaded with the first document.

const byId = <E extends HTMLElement>(id: string, kind: new () => E): E => {
  const there = document.getElementById(id);
  if (there instanceof kind) return there;
  throw new Error(`the page has no ${id}`);
};

const verifier = byId("verifier", HTMLElement);
const drop = byId("drop", HTMLElement);
const pasted = byId("pasted", HTMLTextAreaElement);
const files = byId("files", HTMLInputElement);
const save = byId("save", HTMLButtonElement);
const trouble = byId("trouble", HTMLElement);

let documents: ReadonlyArray<Recognised> = [];

/** Runs what may fail, and says why it did. */
const trying = (work: Promise<void>): void => {
  trouble.textContent = "";
  work.catch((cause: unknown) => {
    trouble.textContent = cause instanceof Error ? cause.message : String(cause);
  });
};

const show = async (): Promise<void> => {
  const { showJudged } = (await import(verifier.dataset["verdict"] ?? "")) as typeof Verdict;
  showJudged(document, documents, true);
  for (const button of verifier.querySelectorAll<HTMLButtonElement>(".copy")) button.hidden = false;
  save.disabled = documents.every(({ kind }) => kind === "unknown" || kind === "trust");
};

const add = (given: Given): void => {
  documents = withDocument(documents, given);
  trying(show());
};

const addFiles = async (chosen: ReadonlyArray<File>): Promise<void> => {
  const read = await Promise.all(
    chosen.map(async (file) => ({
      name: file.name,
      given: givenBytes(file.name, new Uint8Array(await file.arrayBuffer())),
    })),
  );
  for (const { given } of read) if (given !== null) add(given);
  const unread = read.filter(({ given }) => given === null).map(({ name }) => name);
  if (unread.length > 0) throw new Error(`No text in UTF-8, so not read: ${unread.join(", ")}.`);
};

/** A text of this service, or its problem as an error. */
const fetched = async (path: string, what: string): Promise<string> => {
  const answer = await fetch(path, { headers: { accept: "application/json, text/html;q=0.5" } });
  if (answer.ok) return answer.text();
  const problem: unknown = await answer.json().catch(() => null);
  const detail =
    typeof problem === "object" && problem !== null && "detail" in problem
      ? String(problem.detail)
      : `status ${answer.status}`;
  throw new Error(`This service does not give ${what}: ${detail}`);
};

const addOwn = async (path: string, name: string): Promise<void> =>
  add({ name, text: await fetched(path, name), service: location.origin });

const addOwnTrust = (): Promise<void> =>
  addOwn("/.well-known/evidence-trust.json", "evidence-trust.json");

const saveReceipt = async (): Promise<void> => {
  const template = await fetched(verifier.dataset["template"] ?? "", "the receipt's template");
  const receipt = filledReceipt(
    template,
    documents.filter(({ kind }) => kind !== "unknown"),
  );
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([receipt], { type: "text/html" }));
  link.download = "receipt.html";
  link.click();
  URL.revokeObjectURL(link.href);
};

files.addEventListener("change", () => {
  const chosen = [...(files.files ?? [])];
  files.value = "";
  trying(addFiles(chosen));
});
byId("add", HTMLButtonElement).addEventListener("click", () => {
  if (pasted.value.trim() === "") return;
  add({ name: "pasted", text: pasted.value, service: null });
  pasted.value = "";
});
byId("own-trust", HTMLButtonElement).addEventListener("click", () => trying(addOwnTrust()));
save.addEventListener("click", () => trying(saveReceipt()));
byId("given", HTMLElement).addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("[data-remove]") : null;
  const at = button?.getAttribute("data-remove") ?? null;
  if (at === null) return;
  documents = documents.filter((_, index) => index !== Number(at));
  trying(show());
});

// A file that misses the box must not make the browser leave the page.
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.classList.add("over");
});
document.addEventListener("dragleave", () => drop.classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  trying(addFiles([...(event.dataTransfer?.files ?? [])]));
});

verifier.hidden = false;
byId("unscripted", HTMLElement).hidden = true;
const carried = sessionStorage.getItem("carried");
sessionStorage.removeItem("carried");
for (const { name, text } of JSON.parse(carried ?? "[]") as ReadonlyArray<Given>)
  add({ name, text, service: null });
const { escrow } = verifier.dataset;
if (escrow !== undefined && escrow !== "")
  trying(
    addOwn(`/v1/evidence/${encodeURIComponent(escrow)}`, "packet.json").then(() => addOwnTrust()),
  );
