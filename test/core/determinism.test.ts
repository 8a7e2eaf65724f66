import { expect, test } from "bun:test";
import { join } from "node:path";
import { determinismProbe } from "./determinism-probe.ts";

const places = [
  { TZ: "Pacific/Kiritimati", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
  { TZ: "America/St_Johns", LANG: "ar_EG.UTF-8", LC_ALL: "ar_EG.UTF-8" },
];

test("the same input gives the same bytes in another process, time zone and locale", async () => {
  const outputs = places.map(async (place) => {
    const probe = Bun.spawn([process.execPath, join(import.meta.dir, "determinism-probe.ts")], {
      env: { ...process.env, ...place },
      stdout: "pipe",
    });
    return new Response(probe.stdout).text();
  });
  const here = determinismProbe();
  expect(here.split("\n")).toHaveLength(4);
  for (const output of outputs) expect(await output).toBe(here);
});
