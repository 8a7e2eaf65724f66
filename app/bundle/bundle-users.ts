import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Has an empty file for each process that loads from the bundle, named by its process id. */
const USERS = "users";

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    // The process of another user is alive as well.
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Whether a process that runs on this machine loads from the bundle in `folder`. Forgets the processes that have ended. */
export const hasUsers = async (folder: string): Promise<boolean> => {
  const users = await readdir(join(folder, USERS)).catch(() => []);
  const ended = users.filter((pid) => !isAlive(Number(pid)));
  await Promise.all(ended.map((pid) => rm(join(folder, USERS, pid), { force: true })));
  return ended.length < users.length;
};

/** Writes down that this process loads from the bundle in `folder`. Rejects when the folder cannot be written. */
export const addUser = async (folder: string): Promise<void> => {
  await hasUsers(folder);
  await mkdir(join(folder, USERS), { recursive: true });
  await writeFile(join(folder, USERS, String(process.pid)), "");
};
