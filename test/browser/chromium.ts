import { type Browser, chromium } from "playwright-core";

/** The browser's program, null where there is none. Without the parts that only a window has it takes a quarter of the CPU time. */
export const browserProgram =
  Bun.which("chromium-headless-shell") ?? Bun.which("chromium") ?? Bun.which("chromium-browser");

/**
 * Starts the browser at `program` without a window, and without requests of its own. A container's root has no sandbox.
 */
export const launchBrowser = (program: string): Promise<Browser> =>
  chromium.launch({
    executablePath: program,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/** Starts the browser of a test. Without one nothing is tested, which is no success: the process ends. */
export const testBrowser = (): Promise<Browser> => {
  if (browserProgram !== null) return launchBrowser(browserProgram);
  process.stderr.write(
    "chromium is not installed, so nothing was tested. Debian and Ubuntu: apt-get install chromium\n",
  );
  return process.exit(1);
};
