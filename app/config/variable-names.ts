import { type Config, ConfigProvider, Effect } from "effect";

/** The names of the environment variables that a configuration reads. */
export const variableNames = (config: Config.Config<unknown>): ReadonlyArray<string> => {
  const names = new Set<string>();
  const empty = ConfigProvider.make((path) => {
    if (path.length > 0) names.add(String(path[0]));
    return Effect.succeed(undefined);
  });
  Effect.runSync(Effect.orDie(config.parse(empty)));
  return [...names];
};
