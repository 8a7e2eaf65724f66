import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "../../temporary-root.ts";
import type { Installed } from "./installed.ts";

const VECTORS = join(import.meta.dir, "../../vectors/evidence");

/** The browser's program, null where there is none. */
export const browser = Bun.which("chromium") ?? Bun.which("chromium-browser");

/** What page.ts says of the installed package, bundled for a browser and run in one as a page of another origin than the service. */
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
  const profile = await mkdtemp(join(tmpdir(), "browser-"));
  // A container's root has no sandbox; the page is this test's own.
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
  const quiet = ["--no-first-run", "--disable-background-networking", `--user-data-dir=${profile}`];
  const child = Bun.spawn([program, ...flags, ...quiet, server.url.href], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  try {
    const ended = child.exited.then((code) => `the browser ended with ${code}`);
    return await Promise.race([told, ended]);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    await server.stop(true);
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
};
