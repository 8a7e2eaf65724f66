import { afterAll, test } from "bun:test";
import { temporaryDirectory } from "../support/running-service.ts";
import { startedServices } from "../support/started-services.ts";
import { expectSameTree, expectToldOnce } from "./drill.ts";

const { start } = startedServices();
const directories: Array<Awaited<ReturnType<typeof temporaryDirectory>>> = [];
afterAll(() => Promise.all(directories.map(({ remove }) => remove())));

const place = async () => {
  const directory = await temporaryDirectory();
  directories.push(directory);
  return { folder: directory.path, start };
};

test("a service that is backed up under load, killed and restored signs the same tree and no other tail", async () =>
  expectSameTree(await place()));

test("relays that were acknowledged before a backup and after it are told once, and the same", async () =>
  expectToldOnce(await place()));
