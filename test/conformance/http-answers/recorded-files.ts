import { bodyText, sectionText, usualHeadersText } from "./answer-text.ts";
import type { Scene } from "./exchange.ts";
import { type Recorded, recorder } from "./record-exchange.ts";
import { SCENES } from "./scenes.ts";
import { fixedWorld } from "./world/fixed-world.ts";

const recordScene = async (scene: Scene, before: number): Promise<ReadonlyArray<Recorded>> => {
  const { name, options, isSynced, exchanges } = scene;
  const world = await fixedWorld(options, isSynced);
  const record = recorder(world);
  const all: Array<Recorded> = [];
  try {
    for (const exchange of exchanges) {
      const number = before + all.length;
      const client = `10.0.${number >> 8}.${number & 255}`;
      all.push(
        await record(exchange, client).catch((cause: unknown) => {
          const { operation, title } = exchange;
          throw new Error(`${operation}: "${title}" (${name}) could not be recorded`, { cause });
        }),
      );
    }
  } finally {
    await world.end();
  }
  return all;
};

/** Every exchange with its answer, in the order of the scenes. @throws Error that names the exchange that failed. */
export const recordScenes = async (): Promise<ReadonlyArray<Recorded>> => {
  const all: Array<Recorded> = [];
  for (const scene of SCENES) all.push(...(await recordScene(scene, all.length)));
  return all;
};

/**
 * Every file of test/vectors/http-answers by its name: one for each operation, one for each `bodyFile`, and the usual headers.
 * @throws Error when two exchanges of an operation have the same title.
 */
export const recordedFiles = (recorded: ReadonlyArray<Recorded>): ReadonlyMap<string, string> => {
  const files = new Map([["usual-headers.txt", usualHeadersText()]]);
  for (const [operation, group] of Map.groupBy(recorded, ({ exchange }) => exchange.operation)) {
    const titles = group.map(({ exchange }) => exchange.title);
    const twice = titles.find((title, at) => titles.indexOf(title) !== at);
    if (twice !== undefined) throw new Error(`${operation} has two exchanges titled "${twice}"`);
    files.set(`${operation}.txt`, group.map(sectionText).join("\n"));
  }
  for (const { exchange, headers, body } of recorded)
    if (exchange.bodyFile !== undefined)
      files.set(exchange.bodyFile, `${bodyText(body, headers)}\n`);
  return files;
};
