import type { Parsed } from "../parsed.ts";
import { isKeyName } from "../notes/verifier-key.ts";

/** The parts of a log's origin: `<name>/log/<network id>/<generation>`. */
export type LogOrigin = {
  /** The operator's name for its logs, such as `example.com/settlement`. */
  readonly name: string;
  /** What `networkIdOf` says of leaf 0: 16 lower-case hex digits. */
  readonly networkId: string;
  /** How many logs of this name and network ended before it, [0, 999999]. */
  readonly generation: number;
};

const ORIGIN = /^(.+)\/log\/([0-9a-f]{16})\/(0|[1-9][0-9]{0,5})$/;

/** The origin line of a log, which is also the name of its key. @throws RangeError for parts that no origin has. */
export const printLogOrigin = ({ name, networkId, generation }: LogOrigin): string => {
  const origin = `${name}/log/${networkId}/${generation}`;
  if ("fault" in parseLogOrigin(origin))
    throw new RangeError(`${JSON.stringify(origin)} is no log's origin`);
  return origin;
};

/** The parts of an origin line, or what is wrong with it. */
export const parseLogOrigin = (origin: string): Parsed<LogOrigin> => {
  const [, name, networkId, generation] = ORIGIN.exec(origin) ?? [];
  if (!isKeyName(origin) || name === undefined || networkId === undefined)
    return { fault: "an origin is <name>/log/<16 hex digits>/<generation>" };
  return { value: { name, networkId, generation: Number(generation) } };
};
