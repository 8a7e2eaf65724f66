import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { formatUsdc } from "../../../core/domain/amount.ts";
import { BETA_LIMITS } from "../../../core/use-cases/escrow/beta-limits.ts";
import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import { Instance } from "../../../ports/instance.ts";
import { ARAZZO_PATH } from "../agents/arazzo.ts";
import { LLMS_PATH } from "../agents/llms.ts";
import { data } from "../openapi/envelopes.ts";
import { SERVICE_NAME } from "../openapi/openapi-document.ts";
import { SAMPLE } from "../openapi/sample-values.ts";
import { Address, oneOf, record } from "../openapi/values.ts";
import { NOT_MODIFIED } from "../agents/markdown-pages.ts";
import { homeScreen } from "../pages/home/home-screen.ts";
import { pageAnswer, showScreen } from "../pages/shell/screen.ts";
import { htmlContent, markdownContent } from "../pages/static-page.ts";
import { chooseForm, type CodedText, textAnswer } from "../server/coded-text.ts";
import { endpoint } from "../server/endpoint.ts";
import { Version, versionExample, versionRecord } from "./health-contract.ts";

const Programs = record("DescriptorPrograms", "The two programs.", {
  custody: Address("The custody program."),
  attestor: Address("The attestor program."),
});

const BetaLimits = record("BetaLimits", "Planned limits of the limited beta.", {
  status: Type.Literal("planned_limited_beta"),
  first_wedge: Type.String(),
  max_escrow_usdc: Type.String(),
  max_ttl_seconds: Type.Integer(),
  supported_assets: Type.Array(Type.String()),
  required_controls: Type.Array(Type.String()),
});

const text = Type.String();

/** The service descriptor document. */
const Descriptor = record("Descriptor", "Describes this deployment.", {
  name: text,
  status: Type.Literal("online"),
  role: text,
  phase: text,
  network: Type.String({ description: "Address of the ledger node, without credentials." }),
  programs: Programs,
  protocol: text,
  settlement: text,
  thesis: text,
  primary_wedge: oneOf(["api_data_commerce"], "The first use case of the service."),
  mainnet_beta_limits: BetaLimits,
  links: record("DescriptorLinks", "Addresses.", { site: text, docs: text, demo: text, api: text }),
  endpoints: record("DescriptorEndpoints", "Paths, with a method where it is not GET.", {
    health: text,
    openapi: text,
    arazzo: text,
    llms: text,
    version: text,
    status: text,
    escrowPrepare: text,
    escrow: text,
    evidence: text,
    merchant: text,
    merchantRegistry: text,
    proofTemplates: text,
    relay: text,
    indexer: text,
    indexerEvents: text,
    indexerSync: text,
  }),
});
/** What this service is and where its parts are, as JSON. */
type DescriptorRecord = Static<typeof Descriptor>;

const ENDPOINTS = {
  health: "/health",
  openapi: "/openapi.json",
  arazzo: ARAZZO_PATH,
  llms: LLMS_PATH,
  version: "/v1",
  status: "/v1/status",
  escrowPrepare: "POST /v1/escrows/prepare",
  escrow: "/v1/escrows/{pda}",
  evidence: "/v1/evidence/{pda}",
  merchant: "/v1/merchants/{pubkey}",
  merchantRegistry: "/v1/registry/merchants",
  proofTemplates: "/v1/proof-templates",
  relay: "POST /v1/relay",
  indexer: "/v1/indexer",
  indexerEvents: "/v1/indexer/events",
  indexerSync: "POST /v1/indexer/sync",
} as const;

/** The descriptor's values from the running instance. */
type DescriptorSource = {
  readonly deployment: Deployment;
  readonly networkAddress: string;
  /** The origin under which the caller reached the service, without a slash at its end. */
  readonly origin: string;
};

/** The service descriptor document as JSON. */
const descriptorRecord = (source: DescriptorSource): DescriptorRecord => ({
  name: SERVICE_NAME,
  status: "online",
  role: "public relay, indexer, and protocol API surface",
  phase: "devnet headless API",
  network: source.networkAddress,
  programs: {
    custody: source.deployment.custodyProgram,
    attestor: source.deployment.attestorProgram,
  },
  protocol: "Agent Attestation Protocol (AAP)",
  settlement: "merchant attestation, smart-contract custody of funds, and automatic refund",
  thesis:
    "A payment by an agent is settled by an attested delivery claim: the merchant is paid when its attestor signs one, and the agent is refunded when it does not.",
  primary_wedge: "api_data_commerce",
  mainnet_beta_limits: {
    status: BETA_LIMITS.status,
    first_wedge: BETA_LIMITS.firstWedge,
    max_escrow_usdc: formatUsdc(BETA_LIMITS.maxEscrowAmount).slice(0, -4),
    max_ttl_seconds: BETA_LIMITS.maxTtlSeconds,
    supported_assets: [...BETA_LIMITS.supportedAssets],
    required_controls: [...BETA_LIMITS.requiredControls],
  },
  links: {
    site: `${source.origin}/`,
    docs: `${source.origin}/docs`,
    demo: `${source.origin}/#demo`,
    api: `${source.origin}/v1`,
  },
  endpoints: ENDPOINTS,
});

/** The descriptor of the sample instance. */
const descriptorExample = () =>
  descriptorRecord({
    deployment: SAMPLE.deployment,
    networkAddress: "http://127.0.0.1:8899",
    origin: "http://localhost:3000",
  });

const describe = (origin: string) =>
  Effect.map(Instance, ({ deployment, networkAddress }) =>
    descriptorRecord({ deployment, networkAddress, origin }),
  );

/** `GET /.well-known/settlement-evidence.json` */
export const descriptorEndpoint = endpoint({
  method: "GET",
  path: "/.well-known/settlement-evidence.json",
  operationId: "readDescriptor",
  tag: "Service",
  summary: "Service descriptor",
  description: "Describes this deployment.",
  budget: "reads",
  answers: {
    200: {
      description: "The descriptor.",
      content: { "application/json": { schema: Descriptor, example: descriptorExample } },
    },
  },
  problems: [],
}).handle(({ origin }) => Effect.map(describe(origin()), (json) => ({ json })));

/** `GET /`: the descriptor, for a browser the console, and as Markdown the text of `/llms.txt`. */
export const rootEndpoint = (llmsText: () => CodedText) =>
  endpoint({
    method: "GET",
    path: "/",
    operationId: "readRoot",
    tag: "Service",
    summary: "Service descriptor, or the console for a browser",
    description:
      "A caller who prefers `text/html` gets a page for people, one who prefers `text/markdown` what `/llms.txt` answers.",
    budget: "reads",
    answers: {
      200: {
        description: "The descriptor, or the page.",
        content: {
          "application/json": { schema: Descriptor, example: descriptorExample },
          ...htmlContent("<!doctype html>…"),
          ...markdownContent("# …"),
        },
        headers: {
          vary: "The answer depends on `Accept` and, as text, on `Accept-Encoding`.",
          etag: "Of a page or Markdown: its validator.",
        },
      },
      304: NOT_MODIFIED,
    },
    problems: [],
  }).handle(
    Effect.fnUntraced(function* (input) {
      const { mediaType } = input;
      if (mediaType === "text/markdown")
        return textAnswer(chooseForm(llmsText(), input.headers, "accept"));
      if (mediaType !== "text/html")
        return { json: yield* describe(input.origin()), headers: { vary: "accept" } };
      return pageAnswer(yield* showScreen(homeScreen, input), "/", input.headers);
    }),
  );

/** `GET /v1` */
export const versionEndpoint = endpoint({
  method: "GET",
  path: "/v1",
  operationId: "readVersion",
  tag: "Service",
  summary: "Version information",
  description: "Versions of the contract, of the evidence format and of the service.",
  budget: "reads",
  answers: {
    200: {
      description: "The versions.",
      content: {
        "application/json": {
          schema: data(Version),
          example: () => ({ data: versionExample() }),
        },
      },
    },
  },
  problems: [],
}).handle(
  Effect.fnUntraced(function* () {
    const { version, revision } = yield* Instance;
    return { json: { data: versionRecord(version, revision) } };
  }),
);
