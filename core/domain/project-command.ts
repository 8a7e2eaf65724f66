/** The version of Bun that this repository runs by: `engines.bun` of package.json. */
const BUN_VERSION = "1.4.5";

/**
 * A command of this repository, such as `cli verify packet.json`, as a reader can paste it into a clone, with Bun installed
 * or with Node's npm alone.
 */
export const projectCommand = (command: string): string => `npx bun@${BUN_VERSION} run ${command}`;
