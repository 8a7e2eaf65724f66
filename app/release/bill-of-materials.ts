import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a release is made of besides its own sources, in CycloneDX's words (ECMA-424, 1.6). */
type Component = {
  readonly type: "library" | "application";
  /** The package's URL, which nothing else in the bill has. */
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: ReadonlyArray<
    { readonly expression: string } | { readonly license: { readonly id: string } }
  >;
  /** SHA-512 of the package's file, 128 hex digits, as the lock file has it. */
  readonly hashes?: ReadonlyArray<{ readonly alg: "SHA-512"; readonly content: string }>;
};

/** A bill of materials. The same lock file and the same packages give the same one. */
export type BillOfMaterials = {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: ReadonlyArray<Component>;
  readonly dependencies: ReadonlyArray<{
    readonly ref: string;
    readonly dependsOn: ReadonlyArray<string>;
  }>;
};

/** Names and ranges, of which only the names matter here: the lock file has chosen the versions. */
type Ranges = Readonly<Record<string, string>>;

/** What the lock file says of a package: name and version, nothing, what it wants, and its file's integrity. */
type Locked = readonly [
  string,
  string,
  {
    readonly dependencies?: Ranges;
    readonly optionalDependencies?: Ranges;
    readonly peerDependencies?: Ranges;
    /** Those peers that may be absent. */
    readonly optionalPeers?: ReadonlyArray<string>;
  },
  string,
];

/** `bun.lock`. A package's key is where it lies: `a` is at the top, `a/b` is the `b` that only `a` sees. */
type Lock = { readonly packages: Readonly<Record<string, Locked>> };

const PACKAGE_NAME = /@[^/]+\/[^/]+|[^/]+/g;

/** The key of what the package at `key` gets when it imports `name`; undefined where nothing is installed. */
const resolved = (lock: Lock, key: string, name: string): string | undefined => {
  const around = key.match(PACKAGE_NAME) ?? [];
  for (let depth = around.length; depth >= 0; depth--) {
    const candidate = [...around.slice(0, depth), name].join("/");
    if (Object.hasOwn(lock.packages, candidate)) return candidate;
  }
  return undefined;
};

const purlOf = (name: string, version: string): string =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`;

const licencesOf = (stated: unknown): Pick<Component, "licenses"> => {
  if (typeof stated !== "string") return {};
  // A text of several licences is an expression of SPDX, a single one an identifier.
  const isSingle = /^[\w.+-]+$/.test(stated);
  return { licenses: [isSingle ? { license: { id: stated } } : { expression: stated }] };
};

/** Where the `package.json` of an installed package is. */
const manifestPath = (root: string, key: string): string => {
  const place = (key.match(PACKAGE_NAME) ?? []).map((name) => join("node_modules", name));
  return join(root, ...place, "package.json");
};

const licenceOf = (path: string): unknown =>
  (JSON.parse(readFileSync(path, "utf8")) as { readonly license?: unknown }).license;

const componentOf = (root: string, lock: Lock, key: string): Component => {
  const [named = "", , , integrity = ""] = lock.packages[key] ?? [];
  const at = named.lastIndexOf("@");
  const [name, version] = [named.slice(0, at), named.slice(at + 1)];
  const [, sha512] = /^sha512-(.+)$/.exec(integrity) ?? [];
  const hash =
    sha512 === undefined
      ? {}
      : {
          hashes: [
            { alg: "SHA-512", content: Buffer.from(sha512, "base64").toString("hex") },
          ] as const,
        };
  return {
    type: "library",
    "bom-ref": purlOf(name, version),
    name,
    version,
    purl: purlOf(name, version),
    ...licencesOf(licenceOf(manifestPath(root, key))),
    ...hash,
  };
};

/** By the URL, of which each stands there once: one version may lie in several places. */
const once = <T>(all: ReadonlyArray<T>, urlOf: (each: T) => string): ReadonlyArray<T> =>
  [...new Map(all.map((each) => [urlOf(each), each])).entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, each]) => each);

/**
 * The packages that the service below `root` runs with, by its `package.json` and `bun.lock`: what `dependencies` leads
 * to, with what each wants for itself, as installed for this platform. `at` is the time that the bill states, as ISO
 * 8601. @throws Error when a wanted package is not in the lock file or not installed.
 */
export const billOfMaterials = (root: string, at: string): BillOfMaterials => {
  const lock = Bun.JSONC.parse(readFileSync(join(root, "bun.lock"), "utf8")) as Lock;
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly license: string;
    readonly dependencies: Ranges;
  };
  const wanted = (key: string): ReadonlyArray<string> => {
    const { dependencies, optionalDependencies, peerDependencies, optionalPeers } =
      lock.packages[key]?.[2] ?? {};
    const needed = Object.keys({ ...dependencies, ...peerDependencies })
      .filter((name) => optionalPeers?.includes(name) !== true)
      .map((name) => {
        const place = resolved(lock, key, name);
        if (place === undefined) throw new Error(`bun.lock has no ${name}, which ${key} needs`);
        return place;
      });
    // What is for another platform is in the lock file, and is not installed.
    const possible = Object.keys(optionalDependencies ?? {})
      .flatMap((name) => resolved(lock, key, name) ?? [])
      .filter((place) => existsSync(manifestPath(root, place)));
    return [...needed, ...possible];
  };
  const direct = Object.keys(manifest.dependencies);
  const keys = new Set<string>();
  const open = [...direct];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (keys.has(key)) continue;
    keys.add(key);
    open.push(...wanted(key));
  }
  const components = new Map([...keys].map((key) => [key, componentOf(root, lock, key)]));
  const refsOf = (some: ReadonlyArray<string>): ReadonlyArray<string> =>
    [...new Set(some.flatMap((key) => components.get(key)?.purl ?? []))].toSorted();
  const itself = purlOf(manifest.name, manifest.version);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: at,
      component: {
        type: "application",
        "bom-ref": itself,
        name: manifest.name,
        version: manifest.version,
        purl: itself,
        ...licencesOf(manifest.license),
      },
    },
    components: once([...components.values()], ({ purl }) => purl),
    dependencies: once(
      [
        { ref: itself, dependsOn: refsOf(direct) },
        ...[...components].map(([key, { purl }]) => ({
          ref: purl,
          dependsOn: refsOf(wanted(key)),
        })),
      ],
      ({ ref }) => ref,
    ),
  };
};
