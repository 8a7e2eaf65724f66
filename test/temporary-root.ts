import { accessSync, constants, statfsSync } from "node:fs";
import { tmpdir as systemTmpdir } from "node:os";

/** Linux keeps files under it in memory; in a container it may be small. */
const IN_MEMORY = "/dev/shm";
const ENOUGH_BYTES = 2 ** 30;

const hasRoom = (): boolean => {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
};

const root = hasRoom() ? IN_MEMORY : systemTmpdir();

/**
 * The folder for folders of tests: in memory where there is a gigabyte of it. What these tests ask does not depend on
 * the disk, and a store that is opened waits for it some forty times.
 */
export const tmpdir = (): string => root;
