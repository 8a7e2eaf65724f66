import { accessSync, constants, statfsSync } from "node:fs";
import { tmpdir as systemTmpdir } from "node:os";

/** A file system in memory on Linux. In a container it may be small. */
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
 * The folder for the tests' folders: in memory if there is a gigabyte of it. These tests do not depend on the disk, and
 * opening a store waits for it some forty times.
 */
export const tmpdir = (): string => root;
