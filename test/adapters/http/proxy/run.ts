import { readCommandLine } from "../../../../app/command-line/command-line.ts";
import { nginxProgram } from "./nginx.ts";

const HELP = `Runs the tests behind a proxy (*.proxy.ts), or those whose path holds one of the names. Each starts the nginx that it needs.

usage: bun run test:more proxy [name...]

  --help   this text
`;

const { positionals: names } = readCommandLine(HELP, {}, ["[name...]"]);
if (nginxProgram() === undefined) {
  process.stderr.write(
    "nginx is not installed, so nothing was tested. Debian and Ubuntu: apt-get install nginx; macOS: brew install nginx\n",
  );
  process.exit(1);
}
const files = [...new Bun.Glob("test/**/*.proxy.ts").scanSync()]
  .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
  .map((file) => `./${file}`);
if (files.length === 0) {
  process.stderr.write(`No test behind a proxy is named ${names.join(" or ")}\n`);
  process.exit(1);
}
const tests = Bun.spawn([process.execPath, "test", "--timeout", "120000", ...files], {
  stdio: ["inherit", "inherit", "inherit"],
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
await tests.exited;
process.exit(tests.exitCode ?? 1);
