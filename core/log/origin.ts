/** What a log's origin says. See docs/log.md, "Origin". */
export type LogOrigin = {
  /** The operator's name for the log, such as `evidence.example.com`. */
  readonly name: string;
  /** The first 16 hex digits of the SHA-256 of leaf 0. */
  readonly networkId: string;
  /** From 1 on; one more for each successor of a log that ended. */
  readonly generation: number;
};

const NAME = /^[a-z0-9](?:[a-z0-9.:_/-]{0,126}[a-z0-9])?$/;
const ORIGIN = /^(.+)\/log\/([0-9a-f]{16})\/([1-9][0-9]{0,5})$/;

/** Whether a text can be a log's name: 1 to 128 of a-z, 0-9 and `.:_/-`, a letter or digit at both ends. */
export const isLogName = (text: string): boolean => NAME.test(text);

/** The origin as a checkpoint's first line and the name of the log's key. */
export const printLogOrigin = ({ name, networkId, generation }: LogOrigin): string =>
  `${name}/log/${networkId}/${generation}`;

/** What an origin says; undefined for a text that `printLogOrigin` would not print so. */
export const parseLogOrigin = (text: string): LogOrigin | undefined => {
  const [, name = "", networkId = "", generation = ""] = ORIGIN.exec(text) ?? [];
  return isLogName(name) ? { name, networkId, generation: Number(generation) } : undefined;
};
