import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { launchBrowser } from "../../browser/chromium.ts";
import type { Installed } from "./installed.ts";

const VECTORS = join(import.meta.dir, "../../vectors/evidence");

/**
 * What page.ts says of the installed package, bundled for a browser and run in one as a page of another origin than the
 * service.
 */
export const foundInBrowser = async (
  { folder }: Installed,
  program: string,
  service: string,
): Promise<unknown> => {
  await copyFile(join(import.meta.dir, "page.ts"), join(folder, "page.ts"));
  const built = await Bun.build({ entrypoints: [join(folder, "page.ts")], target: "browser" });
  const [bundle] = built.outputs;
  if (bundle === undefined) throw new Error(built.logs.map(({ message }) => message).join("\n"));
  const script = await bundle.text();
  const served = await (await fetch(`${service}/.well-known/evidence-trust.json`)).text();
  const texts = {
    packet: await readFile(join(VECTORS, "fulfilled.json"), "utf8"),
    trust: await readFile(join(VECTORS, "trust.json"), "utf8"),
    "served-trust": served,
    service,
  };
  const held = Object.entries(texts).map(
    ([name, text]) =>
      `<script type="text/plain" id="${name}">${text.replaceAll("</", "<\\/")}</script>`,
  );
  const html = `<!doctype html><title>page</title>${held.join("")}<script type="module" src="/page.js"></script>`;
  let tell: (value: unknown) => void = () => undefined;
  const told = new Promise<unknown>((resolve) => {
    tell = resolve;
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/found") tell(await request.json());
      if (pathname === "/page.js")
        return new Response(script, { headers: { "content-type": "text/javascript" } });
      return new Response(html, { headers: { "content-type": "text/html" } });
    },
  });
  const browser = await launchBrowser(program);
  try {
    const ended = new Promise((resolve) => {
      browser.on("disconnected", () => resolve("the browser ended"));
    });
    await (await browser.newPage()).goto(server.url.href);
    return await Promise.race([told, ended]);
  } finally {
    await browser.close();
    await server.stop(true);
  }
};
