import { afterAll } from "bun:test";
import { withDemoLedger } from "./demo-ledger.ts";
import { quietEnvironment, temporaryDirectory } from "./running-service.ts";
import { type ServiceProcess, startShortLivedService } from "./service-process.ts";

type Environment = Readonly<Record<string, string>>;

/** The service processes of one test file. When the file ends they are killed and their directories removed. */
export const startedServices = () => {
  const directories: Array<Awaited<ReturnType<typeof temporaryDirectory>>> = [];
  const started: Array<ServiceProcess> = [];
  const kept = (service: ServiceProcess): ServiceProcess => {
    started.push(service);
    return service;
  };
  afterAll(async () => {
    for (const service of started) service.kill("SIGKILL");
    await Promise.all(started.map(({ ended }) => ended));
    await Promise.all(directories.map(({ remove }) => remove()));
  });
  return {
    start: (env: Environment): ServiceProcess => kept(startShortLivedService(env)),
    /** The settings of a service on a directory of its own with the demo data; its log line names its address. */
    alone: async () => {
      const directory = await temporaryDirectory();
      directories.push(directory);
      return { ...quietEnvironment(withDemoLedger(directory.path)), LOG_LEVEL: "info" };
    },
  };
};
