// Made from the OpenAPI document of the service by `bun run test:more generate-client`. Do not edit.

/** The commitment of that slot. */
export type Commitment = ("confirmed" | "finalized")
/** Pending can change; Fulfilled, PartiallyFulfilled and Refunded are final. */
export type EscrowState = ("Pending" | "Fulfilled" | "Refunded" | "PartiallyFulfilled")
/** `absent` is optional and not there, `missing` required and not there, `unexpected` not in the template. */
export type DeliveryFieldOutcome = ("ok" | "absent" | "missing" | "invalid" | "unexpected")
/** The JSON type of what is there. */
export type DeliveryFieldFound = ("null" | "boolean" | "integer" | "number" | "string" | "array" | "object")
/** How it was settled. */
export type EscrowSettledBy = ("release" | "refund" | "cancel")
/** What can be done. */
export type NextActionAction = ("capture" | "release_escrow" | "cancel_escrow" | "close_session" | "claim_refund" | "return_rent" | "archive_escrow")
/** Who may do it. */
export type NextActionBy = ("holder_of_attestation" | "merchant_wallet" | "agent_wallet" | "anyone")
/** `attestation`: the signed claim of the escrow's attestor. `attestation_and_voucher`: that claim and the voucher of the session's key. `payout_account`: a token account of the payee that can receive tokens, because the associated one cannot. */
export type NextActionAwaiting = ("attestation" | "attestation_and_voucher" | "payout_account")
/** What the transaction may do with the account. */
export type OpenInstructionAccountRole = ("readonly" | "writable" | "readonly_signer" | "writable_signer")
/** The rule that does not hold. */
export type PreflightBlockerRule = ("unknown_instruction" | "wrong_account_count" | "wrong_account" | "not_an_escrow" | "not_pending" | "expired" | "not_expired" | "amount_out_of_range" | "ttl_out_of_range" | "payout_account_wrong_owner" | "payout_account_wrong_mint" | "ed25519_missing" | "ed25519_misplaced" | "ed25519_malformed" | "ed25519_points_elsewhere" | "attestation_signature_invalid" | "wrong_attestor_key" | "terms_differ" | "message_differs" | "attestation_stale" | "attestation_in_future" | "attestation_outside_escrow" | "escrow_address_taken" | "merchant_unregistered" | "merchant_suspended" | "payout_account_shared" | "payout_account_not_associated" | "payout_account_unusable" | "attestor_changed" | "attestor_revoked" | "attestor_unusable" | "escrow_archived" | "not_settled" | "not_archivable" | "last_bytes_differ" | "not_session" | "session_closing" | "voucher_missing" | "voucher_signature_invalid" | "wrong_session_key" | "wrong_voucher" | "deliveries_fall" | "vault_frozen" | "nothing_left" | "payer_cannot_pay" | "signer_is_derived" | "merchant_exists" | "attestor_unchanged" | "deployment_not_initialized" | "mint_unusable" | "agent_account_missing" | "agent_account_frozen" | "insufficient_funds" | "beta_limit_exceeded")
/** Only an Active merchant can be named by a new escrow. */
export type MerchantStatus = ("Active" | "Suspended")
/** What happened. */
export type EventKind = ("escrow_created" | "escrow_released" | "escrow_partially_released" | "escrow_refunded")
/** How it was settled. */
export type EvidenceEscrowSettledBy = ("release" | "refund" | "cancel")
/** The outcome. */
export type SettlementDecisionStatus = ("released" | "refunded" | "pending")
/** Why. */
export type SettlementDecisionReason = ("awaiting_delivery_proof" | "ttl_expired_refund_available" | "merchant_delivery_proof_verified" | "merchant_partial_delivery_proof_verified" | "ttl_expired_without_delivery_proof" | "session_closed_without_delivery_proof" | "merchant_cancelled")
/** Unsigned when the service has no key. */
export type EvidenceSignatureStatus = ("signed" | "unsigned")
/** The merchant's account, or an event's transaction. */
export type EvidenceReferencesNotFound = ("merchant" | "escrow_created" | "escrow_released" | "escrow_partially_released" | "escrow_refunded")
/** Whether to trust packets that it signed. */
export type JsonWebKeyStatus = ("current" | "retired" | "revoked")
/** `earlier_state`: the ledger's history is the beginning of the index's, or empty. */
export type IndexContradictionKind = ("another_history" | "earlier_state")
/** `degraded` when a dependency does not work or is not known to work. */
export type IndexerStatusStatus = ("online" | "degraded")
/** What it reads. */
export type SyncProgressPhase = ("accounts" | "transactions")
/** `not_served`: no node keeps transaction history. Scans then keep the index up: events within a minute, merchants too, and events have no `signature`. */
export type IndexerStatusHistory = ("followed" | "not_served")
/** `lost`: no node takes the subscription to the ledger's signals now. `silent`: one has taken it and tells of nothing, not even of slots, or a sync has found events that it did not tell of. Syncs then go on by interval. */
export type IndexerStatusSignals = ("live" | "silent" | "lost")
/** What the transaction may do with the account. */
export type InstructionAccountRole = ("readonly" | "writable" | "readonly_signer" | "writable_signer")
/** How it was settled. */
export type LiveEscrowSettledBy = ("release" | "refund" | "cancel")
/** How the nodes stand to that ledger. `unknown`: no genesis hash is known. `recorded`: the store's counts, and no node has answered since the start. `confirmed`: a node has shown it. `contradicted`: the nodes that answer serve another ledger and are not used. */
export type NetworkStatusIdentity = ("unknown" | "recorded" | "confirmed" | "contradicted")
/** Which side. */
export type PayoutWhose = ("merchant" | "agent")
/** The program's instruction. */
export type PreparedAttestorCallOperation = ("create_escrow" | "capture" | "release_escrow" | "cancel_escrow" | "close_session" | "claim_refund" | "return_rent" | "archive_escrow" | "register_merchant" | "rotate_attestor")
/** A warning. The instructions work in spite of it. */
export type PreparedAttestorCallWarnings = ("merchant_account_has_delegate" | "merchant_account_has_close_authority" | "agent_account_has_delegate" | "agent_account_has_close_authority" | "signer_is_derived")
/** The program's instruction. */
export type PreparedEscrowCallOperation = ("create_escrow" | "capture" | "release_escrow" | "cancel_escrow" | "close_session" | "claim_refund" | "return_rent" | "archive_escrow" | "register_merchant" | "rotate_attestor")
/** A warning. The instructions work in spite of it. */
export type PreparedEscrowCallWarnings = ("merchant_account_has_delegate" | "merchant_account_has_close_authority" | "agent_account_has_delegate" | "agent_account_has_close_authority" | "signer_is_derived")
/** The program's instruction. */
export type PreparedMerchantCallOperation = ("create_escrow" | "capture" | "release_escrow" | "cancel_escrow" | "close_session" | "claim_refund" | "return_rent" | "archive_escrow" | "register_merchant" | "rotate_attestor")
/** A warning. The instructions work in spite of it. */
export type PreparedMerchantCallWarnings = ("merchant_account_has_delegate" | "merchant_account_has_close_authority" | "agent_account_has_delegate" | "agent_account_has_close_authority" | "signer_is_derived")
/** Stable machine name of a problem. */
export type ProblemCode = ("malformed_host" | "malformed_json" | "malformed_cursor" | "origin_not_allowed" | "route_not_found" | "escrow_not_found" | "merchant_not_found" | "proof_template_not_found" | "transaction_not_found" | "not_in_log" | "wallet_links_off" | "method_not_allowed" | "not_acceptable" | "wrong_state" | "not_logged_yet" | "not_final_yet" | "archived_unseen" | "idempotency_key_in_flight" | "payload_too_large" | "unsupported_media_type" | "validation_failed" | "invalid_address" | "task_required" | "not_an_escrow" | "not_a_merchant" | "beta_limit_exceeded" | "transaction_malformed" | "transaction_too_large" | "signature_missing" | "signature_invalid" | "program_not_allowed" | "lookup_table_not_allowed" | "durable_nonce_not_allowed" | "compute_budget_exceeded" | "compute_budget_invalid" | "settlement_check_failed" | "fee_payer_cannot_pay" | "transaction_rejected" | "blockhash_expired" | "idempotency_key_reused" | "rate_limited" | "relay_share_full" | "checkpoint_malformed" | "log_signature_invalid" | "log_unknown" | "checkpoint_refused" | "witness_not_ready" | "internal_error" | "ledger_unavailable" | "slot_beyond_reach" | "not_ready" | "client_package_unavailable" | "store_unavailable" | "evidence_key_unavailable" | "relay_queue_full" | "shutting_down" | "ledger_timeout")
/** Whose error it is. */
export type ProgramErrorProgram = ("custody" | "attestor")
/** The rule that does not hold for an instruction of the transaction, or of what is prepared. */
export type ProblemRule = ("unknown_instruction" | "wrong_account_count" | "wrong_account" | "not_an_escrow" | "not_pending" | "expired" | "not_expired" | "amount_out_of_range" | "ttl_out_of_range" | "payout_account_wrong_owner" | "payout_account_wrong_mint" | "ed25519_missing" | "ed25519_misplaced" | "ed25519_malformed" | "ed25519_points_elsewhere" | "attestation_signature_invalid" | "wrong_attestor_key" | "terms_differ" | "message_differs" | "attestation_stale" | "attestation_in_future" | "attestation_outside_escrow" | "escrow_address_taken" | "merchant_unregistered" | "merchant_suspended" | "payout_account_shared" | "payout_account_not_associated" | "payout_account_unusable" | "attestor_changed" | "attestor_revoked" | "attestor_unusable" | "escrow_archived" | "not_settled" | "not_archivable" | "last_bytes_differ" | "not_session" | "session_closing" | "voucher_missing" | "voucher_signature_invalid" | "wrong_session_key" | "wrong_voucher" | "deliveries_fall" | "vault_frozen" | "nothing_left" | "payer_cannot_pay" | "signer_is_derived" | "merchant_exists" | "attestor_unchanged" | "deployment_not_initialized" | "mint_unusable" | "agent_account_missing" | "agent_account_frozen" | "insufficient_funds" | "beta_limit_exceeded")
/** Whose share of the queue is full. */
export type ProblemHolder = ("client" | "fee_payer")
/** `attestation`: the signed claim of the escrow's attestor. `attestation_and_voucher`: that claim and the voucher of the session's key. `payout_account`: a token account of the payee that can receive tokens, because the associated one cannot. */
export type ProblemAwaiting = ("attestation" | "attestation_and_voucher" | "payout_account")
/** The commitment of that slot. */
export type ProblemCommitment = ("processed" | "confirmed" | "finalized")
/** What the field holds. */
export type ProofFieldType = ("constant" | "hash" | "url" | "http_status" | "count" | "time" | "text")
/** What is delivered. */
export type ProofTemplateCategory = ("api" | "travel" | "tickets" | "commerce")
/** `degraded` when a dependency does not work or is not known to work. */
export type ReadsStatusStatus = ("online" | "degraded")
/** `landed`: in a block, with or without an error. `expired`: it never landed and never can. `pending`: neither is known yet. */
export type RelayOutcomeStatus = ("landed" | "pending" | "expired")
/** The commitment of its block. */
export type RelayOutcomeCommitment = ("processed" | "confirmed" | "finalized")
/** A rule that a refusal can name. */
export type RelaySettlementCheckRules = ("unknown_instruction" | "wrong_account_count" | "wrong_account" | "not_an_escrow" | "not_pending" | "expired" | "not_expired" | "amount_out_of_range" | "ttl_out_of_range" | "payout_account_wrong_owner" | "payout_account_wrong_mint" | "ed25519_missing" | "ed25519_misplaced" | "ed25519_malformed" | "ed25519_points_elsewhere" | "attestation_signature_invalid" | "wrong_attestor_key" | "terms_differ" | "message_differs" | "attestation_stale" | "attestation_in_future" | "attestation_outside_escrow" | "escrow_address_taken" | "merchant_unregistered" | "merchant_suspended" | "payout_account_shared" | "payout_account_not_associated" | "payout_account_unusable" | "attestor_changed" | "attestor_revoked" | "attestor_unusable" | "escrow_archived" | "not_settled" | "not_archivable" | "last_bytes_differ" | "not_session" | "session_closing" | "voucher_missing" | "voucher_signature_invalid" | "wrong_session_key" | "wrong_voucher" | "deliveries_fall")
/** Who has a budget of this size. */
export type RelayRateLimitOfEach = ("client" | "fee_payer")
/** `submitted` says nothing about the outcome yet. */
export type RelayResultStatus = ("submitted" | "confirmed" | "finalized")
/** `degraded` when a dependency does not work or is not known to work. */
export type RelayStatusStatus = ("online" | "degraded")
/** What form the text has, which decides what is looked for. */
export type SearchAnswerUnderstoodAs = ("address" | "signature" | "hash" | "log_position" | "name")
/** What it is. Whether there is such a `transaction` is not looked up: its page asks the ledger. */
export type SearchMatchKind = ("escrow" | "wallet" | "merchant" | "transaction" | "log_leaf")
/** By what of it an escrow was found. */
export type SearchMatchBy = ("address" | "task_hash" | "proof_hash" | "packet_digest")
/** `degraded` when a dependency does not work or is not known to work. */
export type ServiceStatusStatus = ("online" | "degraded")
/** What this process does for the log: `no_key`: another process publishes it; `starting`: no sync of this process has reached it yet; `standby`: another replica holds the lease, and publishes. */
export type SettlementLogStatusState = ("no_key" | "starting" | "publishing" | "standby" | "ended")
/** What keeps the log from being published at the index's size. */
export type SettlementLogStatusHindrance = ("nodes_disagree" | "second_node_behind" | "signed_size_not_derived_yet" | "ended" | "store_or_ledger_unavailable" | "quorum_missing" | "witnesses_ahead" | "witness_missing" | "log_key_missing" | "ending" | "log_key_unavailable")
/** `confirmed` shows each event some 12 seconds earlier: first with `finality` `confirmed` and without an `id`, later again as `final` or `retracted`. Without it, only final events come. */
export type StreamCommitment = ("finalized" | "confirmed")
/** With `commitment=confirmed` only. `confirmed`: a supermajority has voted for it, and a fork may still undo it. `final`: the index has it. `retracted`: it did not happen; another event may have its `position`. */
export type StreamedSettlementEventFinality = ("confirmed" | "final" | "retracted")
/** How the accounts were found. */
export type SyncReportMode = ("snapshot" | "incremental")

/** Why it cannot be done now, and what to do. */
export interface ActionError {
message: string
}
/** The buttons, where the label is too long for one. */
export interface ActionLinks {
actions: LinkedAction[]
}
/** A button. */
export interface LinkedAction {
type: "transaction"
/** Where the wallet posts its account. */
href: string
/** The button's text. */
label: string
}
/** What a wallet shows: `ActionGetResponse` of Solana Actions, and with `label` and `icon` the answer that Solana Pay asks for. */
export interface ActionMetadata {
type: "action"
/** The service's icon, an SVG. */
icon: string
/** Who asks. */
title: string
/** What happens, and who gets what. */
description: string
/** What happens, in short. */
label: string
/** It cannot be done now. */
disabled?: true
error?: ActionError
links?: ActionLinks
}
/** Which wallet asks. */
export interface ActionRequest {
/** The wallet that pays and signs. Base58 of 32 bytes. */
account: string
}
/** A mapping of paths. */
export interface ActionRule {
/** The paths that it maps. */
pathPattern: string
/** The actions that they lead to. */
apiPath: string
}
/** An unsigned transaction: `TransactionResponse` of Solana Actions, and the answer that Solana Pay asks for. */
export interface ActionTransaction {
type: "transaction"
/** A version 0 transaction; the account alone signs it, and pays for it. */
transaction: string
/** What the transaction does. */
message: string
}
/** Which paths of this address are actions. */
export interface ActionsJson {
rules: ActionRule[]
}
export interface ArazzoDocument {
arazzo: "1.0.1"
info: {
[k: string]: unknown
}
sourceDescriptions: {
[k: string]: unknown
}[]
workflows: {
[k: string]: unknown
}[]
[k: string]: unknown
}
/** Planned limits of the limited beta. */
export interface BetaLimits {
status: "planned_limited_beta"
first_wedge: string
max_escrow_usdc: string
max_ttl_seconds: number
supported_assets: string[]
required_controls: string[]
}
/** What it costs, in lamports. */
export interface Cost {
/** What the ledger takes for signatures and priority. */
fee: string
deposits: Deposit[]
/** What `return_rent` gives back to the escrow's rent payer once the escrow is settled and its vault closed: within this call where `return_rent` is among its instructions. */
returned_at_settlement: string
/** What the escrow's rent payer gets back when it is archived. */
returned_at_archiving: string
/** What is never returned: it stays in the escrow's account and in the accounts of others. */
kept: string
}
/** The lamports that the payer must put into a new account. */
export interface Deposit {
/** The account. */
account: string
/** How much. */
lamports: string
}
/** The newest days with events, counted. */
export interface DailyOutcomes {
/** Newest first. A day without events is left out. */
data: DayOutcomes[]
/** The number of the last event that is counted. */
counted_to: number
/** The number of the last event that the index holds. */
count: number
}
/** What happened on one day of the ledger's clock. */
export interface DayOutcomes {
/** The day, in UTC. */
date: string
/** Escrows that were created. */
created: number
/** Escrows that settled with all of it paid. */
fulfilled: number
/** Escrows that settled with a part paid. */
partially_fulfilled: number
/** Escrows that settled with nothing paid. */
refunded: number
/** Of the mints that this service lists. */
amounts: DayAmounts[]
}
/** Base units of one listed mint that moved on a day. */
export interface DayAmounts {
/** The mint. */
mint: string
/** The symbol of the mint in this service's list; null for a mint that is not listed. */
symbol: (string | null)
/** Into escrows. */
created_stroops: string
/** To merchants, when escrows settled. */
released_stroops: string
/** Back to agents, when nothing had been paid. */
refunded_stroops: string
}
/** What the merchant's attestor asserted. */
export interface DeliveryClaim {
/** Null: none yet. */
proof_hash: (string | null)
/** How the claim was checked. */
verification: string
attestor: (string | null)
attested_at: (string | null)
attestation: (EvidenceAttestation | null)
claim: (string | null)
}
/** The signature over the claim, checkable offline. */
export interface EvidenceAttestation {
message_hex: string
/** Ed25519, 64 bytes. */
signature: string
/** The attestor's key. */
public_key: string
}
/** How a delivery payload compares with an escrow. It shows whether this payload's hash was signed, and not that anything was delivered. */
export interface DeliveryComparison {
/** The escrow. */
escrow_pda: string
state: EscrowState
/** Whether the two hashes are the same; null until the escrow has one. A session's is the root over its deliveries. */
matches: (boolean | null)
/** What `matches` means, in words. */
meaning: string
/** SHA-256 of the payload's RFC 8785 bytes. */
payload_proof_hash: string
/** Null until the escrow is released. */
escrow_proof_hash: (string | null)
/** Whether the payload's `task_hash` is the escrow's; null when the payload has none. */
task_hash_bound: (boolean | null)
/** What was paid for. */
escrow_task_hash: string
/** Whether the payload's `network` is the genesis hash of the escrow's ledger; null when the payload has none. */
network_bound: (boolean | null)
/** Null when no template was named, or the payload names an unknown one. */
template: (DeliveryTemplateComparison | null)
}
/** The payload compared with its template. */
export interface DeliveryTemplateComparison {
id: string
/** Whether every field is as the template asks. */
valid: boolean
fields: DeliveryField[]
}
/** How one member compares with the template. */
export interface DeliveryField {
name: string
outcome: DeliveryFieldOutcome
/** Null when nothing is wrong. */
expected: (string | null)
/** Null when nothing is there. */
found: (DeliveryFieldFound | null)
}
/** One resource, read from the ledger. */
export interface DeliveryComparisonRead {
data: DeliveryComparison
context: ReadContext
}
/** The slot, commitment and ledger time of a live read. */
export interface ReadContext {
/** The slot that was read. */
slot: number
commitment: Commitment
/** The ledger's clock at that slot, which decides expiry. */
ledger_time: string
/** Present where no node answered: the index has what is shown, and is complete up to that slot. */
source?: "index"
}
/** Describes this deployment. */
export interface Descriptor {
name: string
status: "online"
role: string
phase: string
/** Address of the ledger node, without credentials. */
network: string
programs: DescriptorPrograms
protocol: string
settlement: string
thesis: string
/** The first use case of the service. */
primary_wedge: "api_data_commerce"
mainnet_beta_limits: BetaLimits
links: DescriptorLinks
endpoints: DescriptorEndpoints
}
/** The two programs. */
export interface DescriptorPrograms {
/** The custody program. */
custody: string
/** The attestor program. */
attestor: string
}
/** Addresses. */
export interface DescriptorLinks {
site: string
docs: string
demo: string
api: string
}
/** Paths, with a method where it is not GET. */
export interface DescriptorEndpoints {
health: string
openapi: string
arazzo: string
llms: string
version: string
status: string
escrowPrepare: string
escrow: string
evidence: string
merchant: string
merchantRegistry: string
proofTemplates: string
relay: string
indexer: string
indexerEvents: string
indexerSync: string
}
/** A log that ended before it. */
export interface EndedLog {
origin: string
/** Leaves that were signed last. */
size: number
cause: string
}
/** One escrow. */
export interface Escrow {
/** The escrow's own address. */
escrow_pda: string
state: EscrowState
/** The agent's wallet, which paid. */
agent_owner: string
/** The merchant's wallet, which receives the payment. */
merchant: string
/** The merchant's account in the attestor program. */
merchant_pda: string
/** The token's mint. */
mint: string
/** Whether this service lists the mint. Anybody can make a mint. */
mint_supported: boolean
/** The symbol of the mint in this service's list; null for a mint that is not listed. */
symbol: (string | null)
/** The account that holds the tokens until settlement. */
vault_token_account: string
/** Who paid the rent and gets it back by `return_rent` and by archiving. */
rent_payer: string
/** Null: a single payment. */
session_key: (string | null)
/** Escrowed base units. */
amount_stroops: string
/** Null unless this service lists the mint as USDC. */
amount_usdc: (string | null)
/** Base units that went to the merchant. Null in lists while Pending: read the escrow itself. */
released_stroops: (string | null)
/** Base units that the merchant can still be paid; 0 once settled. Null in lists while Pending: read the escrow itself. */
left_stroops: (string | null)
/** Base units that went, or can go, back to the agent once it settled. */
refunded_stroops: string
/** Deliveries that the last attestation counts; a released single payment has one. Null in lists while Pending: read the escrow itself. */
deliveries: (number | null)
/** SHA-256 of the task that is paid for. */
task_hash: string
proof_hash: (string | null)
/** The only key that can release it: the merchant's attestor at its creation. */
attestor: string
attested_at: (string | null)
/** When the escrow was created, by the ledger's clock. */
created_at: string
/** From here on it can only be refunded, or from `closes_at` on. */
expires_at: string
/** Null: not closed. In lists also null while Pending. */
closes_at: (string | null)
settled_at: (string | null)
/** Null while Pending. */
settled_by: (EscrowSettledBy | null)
/** The number of its creation among all events of the custody program. */
created_seq: string
/** Pending, and past its end. */
refundable: boolean
/** What is left to do. Lists show none of a settled escrow. */
next_actions: NextAction[]
}
/** Something that can be done with an escrow now. */
export interface NextAction {
action: NextActionAction
by: NextActionBy
/** What must be obtained first; null when nothing. */
awaiting: (NextActionAwaiting | null)
/** Null: never too late. */
until: (string | null)
prepare: PrepareCall
/** The unsigned instructions of a refund or a return of rent, in order. Empty while something is awaited, and for actions whose instructions only `prepare` gives. Only the live read of one escrow checks the account that they pay. */
instructions: OpenInstruction[]
}
/** The operation that gives the instructions. */
export interface PrepareCall {
method: "POST"
/** The path on this service. */
path: string
body: PrepareCallBody
}
/** The members that the body must have. */
export interface PrepareCallBody {
/** The caller fills it in. */
proof_hash?: null
/** The caller fills it in. */
timestamp?: null
/** The caller fills it in. */
amount_stroops?: null
/** The caller fills it in. */
deliveries?: null
/** The caller fills it in. */
attestation_signature?: null
/** The caller fills it in. */
voucher?: null
}
/** An unsigned instruction that anyone may send: put your own address where an account's is null. */
export interface OpenInstruction {
/** The program that is called. */
program_address: string
accounts: OpenInstructionAccount[]
/** The instruction's data. */
data_base64: string
}
/** One account of an open instruction. */
export interface OpenInstructionAccount {
/** Null: the sender's own. */
address: (string | null)
role: OpenInstructionAccountRole
}
/** A page of a list out of the index. */
export interface EscrowPage {
data: Escrow[]
page: Page
index: IndexFreshness
}
/** How to get the next page of a list. */
export interface Page {
limit: number
/** Send it back as `cursor` for the next page; null on the last. */
next_cursor: (string | null)
}
/** The slot up to which the index is complete. */
export interface IndexFreshness {
/** Null before the first sync. */
last_synced_slot: (number | null)
/** Null before the first sync. */
last_synced_at: (string | null)
/** Archived escrows that no list shows, because nobody has shown their bytes. */
unseen: number
/** Present while no node shows the ledger of the index: none has answered since the service began, or those that answer serve another ledger. */
stale?: true
}
/** Whether creating the escrow would work now. */
export interface EscrowPreflight {
/** True when `blockers` is empty: relay and ledger would accept the signed transaction. */
ready: boolean
blockers: PreflightBlocker[]
cost: Cost
/** Null: not registered. */
merchant_status: (MerchantStatus | null)
mint_supported: boolean
/** Null: the agent has no token account of the mint. */
agent_balance_stroops: (string | null)
balance_sufficient: boolean
/** True when no escrow was ever made for the task, archived ones included. */
escrow_address_free: boolean
/** The slot that was read. */
slot: number
}
/** Why relay or ledger would refuse the escrow. */
export interface PreflightBlocker {
rule: PreflightBlockerRule
detail: string
/** What to do. */
cure: string
}
/** The numbers among which the first differing event is. */
export interface EventRange {
/** The first of them, as decimal digits. */
from: string
/** The last of them, as decimal digits. */
to: string
}
/** The raw account, to be decoded again. */
export interface EvidenceAccount {
/** The program that owns it. */
owner: string
/** Its bytes. */
data_base64: string
}
/** What the ledger keeps of an archived escrow. */
export interface EvidenceArchived {
/** SHA-256 of the account's bytes, which are those in `data`. */
digest: string
}
/** When a Pending escrow was read. */
export interface EvidenceAsOf {
/** The ledger's slot. */
slot: number
/** The ledger's clock. */
ledger_time: string
}
/** What is digested and signed. */
export interface EvidenceData {
version: "settlement-evidence-v2"
purpose: string
network: EvidenceNetwork
escrow: EvidenceEscrow
account: EvidenceAccount
delivery_claim: DeliveryClaim
settlement_decision: SettlementDecision
/** Null once settled, because the account then never changes. */
as_of: (EvidenceAsOf | null)
}
/** The ledger and programs of the packet's escrow. */
export interface EvidenceNetwork {
cluster: string
genesis_hash: string
/** The custody program. */
custody_program: string
/** The attestor program. */
attestor_program: string
}
/** The escrow account, decoded. */
export interface EvidenceEscrow {
/** The escrow's own address. */
escrow_pda: string
bump: number
state: EscrowState
/** The agent's wallet. */
agent_owner: string
/** The merchant's wallet. */
merchant: string
/** The merchant's account. */
merchant_pda: string
/** The token's mint. */
mint: string
/** The account that held the tokens. */
vault_token_account: string
/** Who paid the vault's rent. */
rent_payer: string
/** The only key that could release it, recorded at its creation. */
attestor: string
/** Null: a single payment. */
session_key: (string | null)
/** SHA-256 of the task that is paid for. */
task_hash: string
/** Escrowed base units. */
amount_stroops: string
/** To the merchant, of a Pending session what was captured so far. */
released_stroops: string
/** Back to the agent. */
refunded_stroops: string
/** Deliveries that the last attestation counts; a single payment has one. */
deliveries: number
created_at: (string | null)
expires_at: (string | null)
/** Null: not closed. */
closes_at: (string | null)
settled_at: (string | null)
/** Null while Pending. */
settled_by: (EvidenceEscrowSettledBy | null)
/** The number of its creation among the custody program's events. */
created_seq: string
/** Null: none yet. */
settled_seq: (string | null)
}
/** What the ledger did with the payment. */
export interface SettlementDecision {
status: SettlementDecisionStatus
reason: SettlementDecisionReason
settled_at: (string | null)
}
/** A proof that the settlement log holds the account's last event. */
export interface EvidenceLogProof {
/** The log's origin line. */
origin: string
/** The leaf's index: the event's number. */
index: number
/** The text of a C2SP tlog-proof@v1, with the signed checkpoint in it. */
proof: string
}
/** The merchant's present standing. */
export interface EvidenceMerchant {
name: string
status: MerchantStatus
/** Its present attestor key. */
current_attestor: string
}
/** Where a Pending escrow was observed. */
export interface EvidenceObserved {
/** The ledger's slot. */
slot: number
commitment: "finalized"
}
/** One escrow's evidence packet. */
export interface EvidencePacket {
data: EvidenceData
signature: EvidenceSignature
references: EvidenceReferences
}
/** Digest and signature of `data`. */
export interface EvidenceSignature {
status: EvidenceSignatureStatus
/** SHA-256 of the RFC 8785 bytes of `data`. */
digest_sha256: string
algorithm: "ed25519"
key_id: (string | null)
public_key: (string | null)
signature: (string | null)
}
/** Facts that can change or be pruned. They are not signed; look them up on the ledger. */
export interface EvidenceReferences {
/** @maxItems 2 */
transactions: []|[EvidenceTransaction]|[EvidenceTransaction, EvidenceTransaction]
merchant: (EvidenceMerchant | null)
/** Of a settled escrow only while no node answers: the packet was then made from the index, which is complete up to that slot. */
observed: (EvidenceObserved | null)
/** Null while the ledger has the whole account. */
archived: (EvidenceArchived | null)
/** Null while no published checkpoint covers that event. */
log: (EvidenceLogProof | null)
/**
 * What could not be found when the packet was made.
 * 
 * @maxItems 3
 */
not_found: []|[EvidenceReferencesNotFound]|[EvidenceReferencesNotFound, EvidenceReferencesNotFound]|[EvidenceReferencesNotFound, EvidenceReferencesNotFound, EvidenceReferencesNotFound]
}
/** A transaction that the index has seen. */
export interface EvidenceTransaction {
/** Its first signature. */
signature: string
/** The ledger's slot. */
slot: number
kind: EventKind
}
/** What a verifier pins beforehand. */
export interface EvidenceTrust {
/** A verifier refuses versions and members that it does not know. */
version: 2
jwks: JsonWebKeySet
genesis_hash: string
cluster: string
/** The custody program. */
custody_program: string
/** The attestor program. */
attestor_program: string
/**
 * What the custody program on the ledger may be. Absent: the operator pins nothing.
 * 
 * @minItems 1
 * 
 * Items: SHA-256 of an ELF without the zero bytes at its end.
 */
custody_program_sha256?: [string, ...(string)[]]
/**
 * What the attestor program on the ledger may be. Absent: the operator pins nothing.
 * 
 * @minItems 1
 * 
 * Items: SHA-256 of an ELF without the zero bytes at its end.
 */
attestor_program_sha256?: [string, ...(string)[]]
/** A payment in any other mint adds `mint_value` to a verdict's `unproven`. */
supported_mints: SupportedMint[]
/** A C2SP tlog-policy: the logs, and witnesses that compare them with a node of their own. Its quorum alone proves an account. Null: none. */
log_on_ledger: (string | null)
/** The same logs, and witnesses that only see that they grow. No key is in both. Null: none. */
log_append_only: (string | null)
}
/** The service's evidence keys. */
export interface JsonWebKeySet {
keys: JsonWebKey[]
}
/** An Ed25519 key that signs or signed evidence. */
export interface JsonWebKey {
kty: "OKP"
crv: "Ed25519"
alg: "Ed25519"
use: "sig"
/** RFC 7638 thumbprint. */
kid: string
/** 32 bytes, base64url. */
x: string
status: JsonWebKeyStatus
/** When it stopped being current, seconds since 1970. */
exp?: number
}
/** A mint whose amounts are shown as money. */
export interface SupportedMint {
/** The mint. */
address: string
decimals: number
symbol: string
}
/** One place where a request breaks the contract. */
export interface Fault {
/** JSON pointer (RFC 6901) into the body, `?name` for a query parameter, `/name` for a path parameter. */
pointer: string
detail: string
}
/** The process runs and answers. */
export interface Health {
status: "ok"
service: string
version: string
uptime_seconds: number
}
/** A state of the custody program's history. */
export interface HistoryHead {
/** Events, as decimal digits. */
count: string
/** The root of the log that holds them. */
root: string
}
/** A program's interface in the form that Anchor 0.30 and later write. */
export interface Idl {
/** The program on this deployment's ledger. */
address: string
metadata: {
[k: string]: unknown
}
/** Discriminators, accounts and arguments. */
instructions: {
[k: string]: unknown
}[]
/** Discriminators of accounts. */
accounts: {
[k: string]: unknown
}[]
/** Discriminators of events. */
events: {
[k: string]: unknown
}[]
/** Codes and messages. */
errors: {
[k: string]: unknown
}[]
/** Layouts. */
types: {
[k: string]: unknown
}[]
/** The program's constants. */
constants: {
[k: string]: unknown
}[]
[k: string]: unknown
}
/** What the ledger shows and the index, which stays as it is, contradicts. Another history replaces it once two nodes show it or the operator approves it. */
export interface IndexContradiction {
kind: IndexContradictionKind
index: HistoryHead
ledger: HistoryHead
/** Null for an earlier state. */
first_difference: (EventRange | null)
}
/** The index. */
export interface IndexerStatus {
status: IndexerStatusStatus
last_synced_slot: (number | null)
last_synced_at: (string | null)
last_snapshot_at: (string | null)
lag_slots: (number | null)
escrows: (number | null)
unseen: (number | null)
count: (number | null)
root: (string | null)
merchants: (number | null)
running: (boolean | null)
/** Null while none runs. */
progress: (SyncProgress | null)
/** Null: nothing contradicts the index, as far as scans have shown. */
contradiction: (IndexContradiction | null)
/** Null: not known. */
history: (IndexerStatusHistory | null)
/** Null: this process listens to none, or it is not known. */
signals: (IndexerStatusSignals | null)
last_error: (string | null)
snapshot_error: (string | null)
}
/** How far the running sync has come. */
export interface SyncProgress {
phase: SyncProgressPhase
/** Read so far. */
done: number
total: (number | null)
}
/** An unsigned instruction: a client in any language can build the transaction from it. */
export interface Instruction {
/** The program that is called. */
program_address: string
accounts: InstructionAccount[]
/** The instruction's data. */
data_base64: string
}
/** One account of an instruction, in the program's order. */
export interface InstructionAccount {
/** The account. */
address: string
role: InstructionAccountRole
}
/** One escrow, as the ledger shows it. */
export interface LiveEscrow {
/** The escrow's own address. */
escrow_pda: string
state: EscrowState
/** The agent's wallet, which paid. */
agent_owner: string
/** The merchant's wallet, which receives the payment. */
merchant: string
/** The merchant's account in the attestor program. */
merchant_pda: string
/** The token's mint. */
mint: string
/** Whether this service lists the mint. Anybody can make a mint. */
mint_supported: boolean
/** The symbol of the mint in this service's list; null for a mint that is not listed. */
symbol: (string | null)
/** The account that holds the tokens until settlement. */
vault_token_account: string
/** Who paid the rent and gets it back by `return_rent` and by archiving. */
rent_payer: string
/** Null: a single payment. */
session_key: (string | null)
/** Escrowed base units. */
amount_stroops: string
/** Null unless this service lists the mint as USDC. */
amount_usdc: (string | null)
/** Base units that went to the merchant, captured ones included. */
released_stroops: string
/** Base units that the merchant can still be paid; 0 once settled. */
left_stroops: string
/** Base units that went, or can go, back to the agent once it settled. */
refunded_stroops: string
/** Deliveries that the last attestation counts; a released single payment has one. */
deliveries: number
/** SHA-256 of the task that is paid for. */
task_hash: string
proof_hash: (string | null)
/** The only key that can release it: the merchant's attestor at its creation. */
attestor: string
attested_at: (string | null)
/** When the escrow was created, by the ledger's clock. */
created_at: string
/** From here on it can only be refunded, or from `closes_at` on. */
expires_at: string
/** Null: not closed. In lists also null while Pending. */
closes_at: (string | null)
settled_at: (string | null)
/** Null while Pending. */
settled_by: (LiveEscrowSettledBy | null)
/** The number of its creation among all events of the custody program. */
created_seq: string
/** Pending, and past its end. */
refundable: boolean
/** What is left to do. Lists show none of a settled escrow. */
next_actions: NextAction[]
/** What the ledger keeps since the escrow was archived; all other members come from bytes with this digest. Null while the escrow is not archived. */
archived: (Tombstone | null)
}
/** What the ledger keeps of an archived escrow. */
export interface Tombstone {
state: EscrowState
/** The number of its creation among all events of the custody program. */
created_seq: string
/** The number of its settlement. */
settled_seq: string
/** SHA-256 of the account's last 416 bytes. */
digest: string
/** SHA-256 of the account's bytes right after its creation. */
pending_digest: string
}
/** One resource, read from the ledger. */
export interface LiveEscrowRead {
data: LiveEscrow
context: ReadContext
}
/** What the proof leads to. */
export interface LogHead {
/** The log's name. */
origin: string
/** Leaves of the published checkpoint. */
size: number
/** Its root. */
root: string
}
/** One leaf of the settlement log with its inclusion proof. */
export interface LogLeaf {
/** The leaf's index, which is the event's `position`. */
index: number
/** The leaf: 66 bytes of an event; 33 of leaf 0, which names ledger and program. */
leaf: string
/** SHA-256 of a zero byte and the leaf. */
leaf_hash: string
/** Null for leaf 0. */
escrow_pda: (string | null)
/** Null for leaf 0, and for an archived escrow of which nobody has shown the bytes. */
event: (SettlementEvent | null)
/** The inclusion proof (RFC 9162), the leaf's sibling first. One that begins behind the leaf is hashed as the right one. */
path: LogPathNode[]
checkpoint: LogHead
}
/** One settlement event. */
export interface SettlementEvent {
/** `<escrow_pda>:<kind>`: the same event always has the same id. */
id: string
kind: EventKind
/** The escrow it happened to. */
escrow_pda: string
/** The agent's wallet. */
agent_owner: string
/** The merchant's wallet. */
merchant: string
/** The token's mint. */
mint: string
/** Whether this service lists the mint. Anybody can make a mint. */
mint_supported: boolean
/** The symbol of the mint in this service's list; null for a mint that is not listed. */
symbol: (string | null)
state: EscrowState
/** Base units that moved. */
amount_stroops: string
/** Null unless this service lists the mint as USDC. */
amount_usdc: (string | null)
proof_hash: (string | null)
/** Null until the ledger's history has been read. */
signature: (string | null)
/** Null until the ledger's history has been read. */
slot: (number | null)
/** By the ledger's clock. */
occurred_at: string
/** The number that the custody program gave the event, from 1. */
position: number
/** The hash of the event's leaf in the settlement log, at the index `position`. */
leaf_hash: string
}
/** One hash of an inclusion proof. */
export interface LogPathNode {
/** The hash of these leaves. */
hash: string
/** The first leaf. */
from: number
/** The leaf after the last one. */
to: number
}
/** One resource. */
export interface LogLeafAnswer {
data: LogLeaf
}
/** What this process knows of a witness. */
export interface LogWitness {
/** Its name in the policy. */
name: string
/** The size that it cosigned last. */
size: number
/** Answers that were no answer of a witness, since the process began. */
nonsense: number
last_problem: (string | null)
}
/** A message of the Model Context Protocol (JSON-RPC 2.0). Batches are not served. */
export interface McpMessage {
/** 2.0 */
jsonrpc?: string
/** Names a request; a notification has none. */
id?: (string | number)
/** What is asked or told. */
method?: string
/** The protocol's own, by method. */
params?: {
[k: string]: unknown
}
/** Of an answer that a client sends; nothing here asks for one. */
result?: {
[k: string]: unknown
}
/** Of such an answer. */
error?: {
[k: string]: unknown
}
}
/** A JSON-RPC 2.0 answer. */
export interface McpReply {
jsonrpc: "2.0"
[k: string]: unknown
}
/** A registered merchant. */
export interface Merchant {
/** The merchant's wallet. */
merchant: string
/** The merchant's account in the attestor program. */
merchant_pda: string
name: string
/** Null: the index does not answer, or has not been synced yet. */
same_name: (number | null)
/** The key that new escrows record, and whose attestations release them. */
attestor: string
/** Null: never rotated. */
previous_attestor: (string | null)
/** When the present attestor was recorded. */
attestor_since: string
/** Escrows created by an event up to this number can only be cancelled or refunded; 0: nothing was revoked. */
revoked_seq: string
status: MerchantStatus
/** Releases in the settlement mint, a session's one, less points taken by the admin. */
reputation: number
/** How often the admin took points. */
slashes: number
/** Escrows released in full; a session counts once. */
deliveries: number
/** Escrows released in part; a session counts once. */
partial_deliveries: number
/** Base units of the settlement mint delivered. */
volume_stroops: string
/** Null unless this service lists the registry's settlement mint as USDC. Other mints do not count. */
volume_usdc: (string | null)
/** When it registered. */
registered_at: string
/** When its account last changed. */
updated_at: string
}
/** One resource, read from the ledger. */
export interface MerchantRead {
data: Merchant
context: ReadContext
}
/** Counts of the indexed escrows that name the merchant; a session counts once, however many deliveries it attests. They are counts, not a rating: anyone can open and refund an escrow that names a merchant. */
export interface MerchantStats {
/** All of them. */
escrows: number
/** Not settled yet. */
pending: number
/** Settled with all of it paid. */
fulfilled: number
/** Settled with a part paid. */
partially_fulfilled: number
/** Settled with nothing paid: refunded or cancelled. */
refunded: number
/** Null unless this service lists the registry's settlement mint as USDC. Other mints do not count. */
volume_usdc: (string | null)
/** Null before the first release. */
median_delivery_seconds: (number | null)
}
/** The ledger. */
export interface NetworkStatus {
cluster: string
/** Without credentials, path or query. */
rpc_address: string
genesis_hash: (string | null)
identity: NetworkStatusIdentity
slot: (number | null)
latency_ms: (number | null)
healthy: boolean
}
export interface OpenApiDocument {
openapi: "3.1.0"
info: {

}
paths: {

}
[k: string]: unknown
}
/** The account that pays one side. */
export interface Payout {
whose: PayoutWhose
/** The token account. */
account: string
/** True: the account that the request named; false: the owner's associated token account. */
is_fallback: boolean
/** Made by the first instructions, at the payer's cost. */
is_created: boolean
}
/** Who archives an escrow; `{}` is enough. */
export interface PrepareArchiveRequest {
/** Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act. Null counts as absent. */
payer?: (string | null)
}
/** What is to be attested: a delivery payload, or its hash. */
export interface PrepareAttestationRequest {
/** The delivery payload, the preimage of the proof hash. Its RFC 8785 bytes are hashed; it is neither stored nor logged. */
payload?: {
[k: string]: unknown
}
/** 32 bytes as 64 hex digits. */
proof_hash?: string
/** The proof template that the payload must meet. By default the payload's own `proof_template_id`. Null counts as absent. */
template_id?: (string | null)
/** Base units for the merchant in all, what was captured included. Leave it out for the escrow's whole amount. */
amount_stroops?: string
/** How many deliveries in all, 1 to 4294967295. 1 when left out; a single payment has no other. */
deliveries?: number
/** Whether nothing follows: true when left out, for a release. False for a capture, which only a session takes. */
final?: boolean
}
/** A merchant's new attestor key. */
export interface PrepareAttestorRequest {
/** The Ed25519 key that later escrows record. Base58 of 32 bytes. */
attestor: string
/** True for a stolen key: escrows made before the change can then only be cancelled or refunded. */
revoke?: boolean
/** Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act. Null counts as absent. */
payer?: (string | null)
}
/** How an escrow is cancelled; `{}` is enough. */
export interface PrepareCancelRequest {
/** Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act. Null counts as absent. */
payer?: (string | null)
/** The settlement alone, without `claim_refund` and `return_rent` behind it. Send it so when the whole one failed. With less than 60 seconds left it is so anyhow. */
bare?: boolean
}
/** A claim on a session that its attestor has signed and that is not final, with a voucher that covers it. */
export interface PrepareCaptureRequest {
/** 32 bytes as 64 hex digits. */
proof_hash: string
/** The time inside the signed message, as YYYY-MM-DDThh:mm:ssZ. */
timestamp: string
/** The attested total: base units for the merchant in all, what was captured included. Leave it out for the escrow's whole amount. */
amount_stroops?: string
/** How many deliveries are attested in all, 1 to 4294967295. 1 when left out; a single payment has no other. */
deliveries?: number
/** 64 bytes as base64. */
attestation_signature: string
voucher?: VoucherRequest
/** A token account of the merchant's wallet, paid when the associated one cannot receive tokens. Null counts as absent. */
merchant_fallback_account?: (string | null)
/** Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act. Null counts as absent. */
payer?: (string | null)
}
/** What the session's key signed: how much may be taken, and for which orders. */
export interface VoucherRequest {
/** The root over the orders, 32 bytes as 64 hex digits. */
orders: string
/** Base units that may be taken in all. */
total_stroops: string
/** How many orders, 1 to 4294967295. */
count: number
/** Whether it closes the session: a release needs that. */
closing: boolean
/** 64 bytes as base64. */
signature: string
}
/** How a session is closed; `{}` is enough. */
export interface PrepareCloseRequest {
/** Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act. Null counts as absent. */
payer?: (string | null)
}
/** What is to be escrowed. */
export interface PrepareEscrowRequest {
/** Agent wallet address. Base58 of 32 bytes. */
agent_owner: string
/** Merchant wallet address. Base58 of 32 bytes. */
merchant: string
/** Token mint address. Base58 of 32 bytes. */
mint: string
/** Base units as a decimal integer, 1 to 2^64-1, without sign or leading zero. */
amount_stroops: string
ttl_seconds: number
/** The end itself, as YYYY-MM-DDThh:mm:ssZ: in the future, and at most ttl_seconds from now. By default ttl_seconds after the creation. Null counts as absent. */
expires_at?: (string | null)
/** The key that signs a session's vouchers: one escrow for many deliveries. By default a single payment. Null counts as absent. */
session_key?: (string | null)
/** 32 bytes as 64 hex digits. It is taken as it is, also beside a task_intent. Null counts as absent. */
task_hash?: (string | null)
/** Text from which task_hash is derived when it is absent, 1 to 4096 bytes of UTF-8. Null counts as absent. */
task_intent?: (string | null)
/** Lets one intent be escrowed more than once, 1 to 128 bytes of UTF-8. Null counts as absent. */
nonce?: (string | null)
/** The key that must be the merchant's attestor when the escrow is made; any key when left out. With `preflight` or `transaction` the default is the merchant's present key. Base58 of 32 bytes. */
attestor?: string
/** Who pays the fee and the rent, and gets the rent back. By default the agent. Null counts as absent. */
payer?: (string | null)
}
/** Who registers as a merchant. */
export interface PrepareMerchantRequest {
/** The merchant's wallet, which must sign. Base58 of 32 bytes. */
merchant: string
/** The Ed25519 key whose attestations release escrows. Base58 of 32 bytes. */
attestor: string
/** 1 to 32 bytes of UTF-8 without control characters, at least one of which shows. */
name: string
/** Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act. Null counts as absent. */
payer?: (string | null)
}
/** How an escrow's money goes back to its agent; `{}` is enough. */
export interface PrepareRefundRequest {
/** A token account of the agent's wallet, paid when the associated one cannot receive tokens. Null counts as absent. */
agent_fallback_account?: (string | null)
/** Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act. Null counts as absent. */
payer?: (string | null)
/** The settlement alone, without `claim_refund` and `return_rent` behind it. Send it so when the whole one failed. With less than 60 seconds left it is so anyhow. */
bare?: boolean
}
/** A final claim that the escrow's attestor has signed; for a session, with the closing voucher of exactly its total and count. */
export interface PrepareReleaseRequest {
/** 32 bytes as 64 hex digits. */
proof_hash: string
/** The time inside the signed message, as YYYY-MM-DDThh:mm:ssZ. */
timestamp: string
/** The attested total: base units for the merchant in all, what was captured included. Leave it out for the escrow's whole amount. */
amount_stroops?: string
/** How many deliveries are attested in all, 1 to 4294967295. 1 when left out; a single payment has no other. */
deliveries?: number
/** 64 bytes as base64. */
attestation_signature: string
voucher?: VoucherRequest
/** A token account of the merchant's wallet, paid when the associated one cannot receive tokens. Null counts as absent. */
merchant_fallback_account?: (string | null)
/** Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act. Null counts as absent. */
payer?: (string | null)
/** The settlement alone, without `claim_refund` and `return_rent` behind it. Send it so when the whole one failed. With less than 60 seconds left it is so anyhow. */
bare?: boolean
}
/** Who has the rent returned; `{}` is enough. */
export interface PrepareRentRequest {
/** Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act. Null counts as absent. */
payer?: (string | null)
}
/** What the escrow's attestor signs. */
export interface PreparedAttestation {
/** The escrow. */
escrow_pda: string
/** The ledger and its custody program: bytes 8 to 39 of the message. */
domain: string
/** The escrow, as the SHA-256 of its account's bytes right after its creation: bytes 40 to 71 of the message. */
terms: string
/** The attested hash, bytes 72 to 103 of the message. */
proof_hash: string
/** The template that the payload meets. */
template_id: (string | null)
/** The ledger's time, which the message carries. Send it to the release as it is. */
timestamp: string
/** Null: the whole amount. */
amount_stroops: (string | null)
/** Bytes 120 to 123 of the message. */
deliveries: number
/** Byte 124 of the message: 1 or 0. */
final: boolean
/** 128 bytes. */
message_hex: string
/** The same bytes. */
message_base64: string
/** The Ed25519 key that must sign the message. */
attestor: string
/** From this second on a release with it is too late, or a capture for one that is not final. */
until: string
}
/** One resource, read from the ledger. */
export interface PreparedAttestationRead {
data: PreparedAttestation
context: ReadContext
}
/** Instructions that the ledger would accept at the slot in `context`. */
export interface PreparedAttestorCall {
/** The merchant's wallet, which must sign. */
merchant: string
/** Its account in the attestor program. */
merchant_pda: string
/** The key that is replaced. */
previous_attestor: string
/** The key that will be recorded. */
attestor: string
/** Whether earlier escrows become impossible to release. */
revoke: boolean
operation: PreparedAttestorCallOperation
before?: PreparedBefore
/** In order, unsigned. An address is null when no payer was named. */
instructions: OpenInstruction[]
/**
 * Who must sign besides the payer.
 * 
 * Items: A signer.
 */
signers: string[]
/** Null: whoever sends it. */
payer: (string | null)
/** Whom the instructions pay, in order; empty when nothing is paid. */
payouts: Payout[]
warnings: PreparedAttestorCallWarnings[]
/** Null: never too late. */
until: (string | null)
cost: Cost
transaction?: UnsignedTransaction
}
/** Only where the payee's missing account does not fit into the same transaction: send these instructions first, and the call once they are confirmed. Signers and fee are those of both. */
export interface PreparedBefore {
/** In order, unsigned. An address is null when no payer was named. */
instructions: OpenInstruction[]
transaction?: UnsignedTransaction
}
/** A version 0 transaction, its signatures left zero. Compare it with what you asked for before you sign it. */
export interface UnsignedTransaction {
/** The wire form, at most 1132 bytes. */
base64: string
/** The recent blockhash that it contains. */
blockhash: string
/** The last block height at which it can land. */
last_valid_block_height: number
/**
 * In the order of the signatures; the payer first.
 * 
 * Items: Who must sign.
 */
signers: string[]
/** Compute units that the transaction requests. */
compute_unit_limit: number
/** Micro-lamports for each of them. */
compute_unit_price: string
}
/** One resource, read from the ledger. */
export interface PreparedAttestorCallRead {
data: PreparedAttestorCall
context: ReadContext
}
/** The bumps of the derived addresses. */
export interface PreparedBumps {
escrow: number
merchant: number
}
/** An escrow's deterministic inputs. None of it needs to exist on the ledger. */
export interface PreparedEscrow {
/** Derived escrow address. */
escrow_pda: string
/** Derived vault token account. */
vault_token_account: string
/** The agent's token account. */
agent_token_account: string
/** Derived merchant address. */
merchant_pda: string
bumps: PreparedBumps
inputs: PreparedInputs
instruction: Instruction
sdk_call: SdkCall
preflight?: EscrowPreflight
transaction?: UnsignedTransaction
}
/** Every input after parsing. */
export interface PreparedInputs {
/** Agent wallet address. */
agent_owner: string
/** Merchant wallet address. */
merchant: string
/** Token mint address. */
mint: string
/** Base units. */
amount_stroops: string
/** The same with six decimals. */
amount_usdc: string
ttl_seconds: number
/** The end itself, when the request names one. */
expires_at?: string
/** The session's key, when the request names one. */
session_key?: string
/** Supplied or derived. */
task_hash: string
/** True when derived from task_intent. */
task_hash_derived: boolean
task_intent: (string | null)
/** Whether the supplied task_hash is that of task_intent and nonce. Null unless both were sent. */
task_intent_matches: (boolean | null)
nonce: (string | null)
/** Whether the nonce went into the task hash. */
nonce_applied: boolean
/** The key that must be the merchant's attestor, when one was named or found by a preflight. */
attestor?: string
/** The payer, when the request names one. */
payer?: string
}
/** How the client library creates this escrow. */
export interface SdkCall {
package: string
/** The method of a client that `connect` made. */
method: string
/** The package's file, for `npm install`: its address under the service's configured public address, or its path where none is configured. */
install: string
/** The field whose owner must sign. */
signer: "agent_owner"
}
/** One resource. */
export interface PreparedEscrowAnswer {
data: PreparedEscrow
}
/** Instructions that the ledger would accept at the slot in `context`. */
export interface PreparedEscrowCall {
/** The escrow. */
escrow_pda: string
operation: PreparedEscrowCallOperation
before?: PreparedBefore
/** In order, unsigned. An address is null when no payer was named. */
instructions: OpenInstruction[]
/**
 * Who must sign besides the payer.
 * 
 * Items: A signer.
 */
signers: string[]
/** Null: whoever sends it. */
payer: (string | null)
/** Whom the instructions pay, in order; empty when nothing is paid. */
payouts: Payout[]
warnings: PreparedEscrowCallWarnings[]
/** Null: never too late. */
until: (string | null)
cost: Cost
transaction?: UnsignedTransaction
}
/** One resource, read from the ledger. */
export interface PreparedEscrowCallRead {
data: PreparedEscrowCall
context: ReadContext
}
/** Instructions that the ledger would accept at the slot in `context`. */
export interface PreparedMerchantCall {
/** The merchant's wallet. */
merchant: string
/** Its account in the attestor program. */
merchant_pda: string
/** The key that will be recorded. */
attestor: string
operation: PreparedMerchantCallOperation
before?: PreparedBefore
/** In order, unsigned. An address is null when no payer was named. */
instructions: OpenInstruction[]
/**
 * Who must sign besides the payer.
 * 
 * Items: A signer.
 */
signers: string[]
/** Null: whoever sends it. */
payer: (string | null)
/** Whom the instructions pay, in order; empty when nothing is paid. */
payouts: Payout[]
warnings: PreparedMerchantCallWarnings[]
/** Null: never too late. */
until: (string | null)
cost: Cost
transaction?: UnsignedTransaction
}
/** One resource, read from the ledger. */
export interface PreparedMerchantCallRead {
data: PreparedMerchantCall
context: ReadContext
}
/** An RFC 9457 problem document. */
export interface Problem {
/** A path of this service that explains the problem. */
type: string
title: string
status: number
detail: string
/** Names this occurrence. */
instance: string
code: ProblemCode
/** What to do. */
cure: string
request_id: string
/** The same in one line, where a wallet reads it. */
message?: string
errors?: Fault[]
/** Which check of an account's bytes failed, or what a node's answer contradicts: `contradicts_index`, `contradicts_relay`. */
reason?: string
/** The transaction's signature. */
signature?: string
/** Whose signature it is. */
signer?: string
program?: (string | null)
error?: (TransactionError | null)
program_error?: (ProgramError | null)
rule?: ProblemRule
/** The instruction that breaks the rule. */
instruction_index?: number
/** What the transaction asks for. */
actual?: string
/** The most that the relay accepts. */
max?: string
holder?: ProblemHolder
/** How many pending transactions the share allows at present. */
share?: number
/** The escrow's state or the merchant's status; null when there is neither. */
state?: ((EscrowState | MerchantStatus) | null)
awaiting?: (ProblemAwaiting | null)
/** What can be done with the escrow instead. */
next_actions?: NextAction[]
/** The ledger's clock at that slot. */
ledger_time?: string
archived?: Tombstone
/** Where the transaction failed, or what was read. */
slot?: number
commitment?: ProblemCommitment
/** How far the ledger is final. */
finalized_slot?: number
/** How long to wait, as `Retry-After` says it. */
wait_seconds?: number
/** Whether it is safe to sign the payment again without paying twice. */
safe_to_sign_again?: boolean
/** How many of the configured addresses of nodes say so: two where two are configured. Two addresses may lead to one node. */
nodes?: number
/** The number of the escrow's last event. */
index?: number
/** Leaves of the published log. */
log_size?: number
logs?: string[]
}
/** Why a transaction fails on the ledger. */
export interface TransactionError {
/** The runtime's name of the error. */
kind: string
instruction_index: (number | null)
instruction_error: (string | null)
custom_code: (number | null)
}
/** What a program's own error number means. */
export interface ProgramError {
code: number
program: ProgramErrorProgram
name: string
message: string
}
/** What a problem means, and its cure. */
export interface ProblemPage {
type: string
code: ProblemCode
status: number
title: string
explanation: string
cure: string
}
/** What the ledger shows of one program. */
export interface ProgramStatus {
/** The program. */
address: string
deployed: (boolean | null)
executable: (boolean | null)
/** Null: nobody can change it, or not known. */
upgrade_authority: (string | null)
sha256: (string | null)
/**
 * With a hash that is not in it the service neither prepares nor relays. Empty: none is pinned.
 * 
 * Items: One that this service accepts.
 */
pinned_sha256: string[]
/** Null: none is pinned, or not known. */
is_pinned: (boolean | null)
/** Null: no ELF, or not known. */
sbpf_version: (number | null)
/** Null: not known. */
is_ours: (boolean | null)
/** Null: not known. */
initialised: (boolean | null)
}
/** Both programs. */
export interface ProgramStatuses {
custody: ProgramStatus
attestor: ProgramStatus
}
/** One field of a delivery payload. */
export interface ProofField {
name: string
type: ProofFieldType
required: boolean
description: string
}
/** How a payload becomes `proof_hash`. */
export interface ProofHashing {
canonicalization: "RFC 8785"
algorithm: "sha256"
}
/** A reusable shape for the payload whose hash an attestor signs as `proof_hash`. */
export interface ProofTemplate {
id: string
wedge: string
category: ProofTemplateCategory
title: string
description: string
fields: ProofField[]
/** JSON Schema 2020-12 of the payload. */
json_schema: {
[k: string]: unknown
}
hashing: ProofHashing
/** A valid payload. */
example: {
[k: string]: unknown
}
/** The proof hash of `example`. */
example_proof_hash: string
}
/** One resource. */
export interface ProofTemplateAnswer {
data: ProofTemplate
}
/** A list that is always answered whole. */
export interface ProofTemplateList {
data: ProofTemplate[]
}
/** Store and ledger answer. */
export interface Readiness {
status: "ready"
index?: StaleIndex
}
/** Present when the index is stale. It still answers. */
export interface StaleIndex {
status: "stale"
/** Slots behind the ledger. */
lag_slots: number
last_error: (string | null)
snapshot_error: (string | null)
}
/** Live reads. */
export interface ReadsStatus {
status: ReadsStatusStatus
commitment: Commitment
}
/** A checkpoint that its log signed, and that this witness refused. */
export interface RefusedCheckpoint {
/** The log. */
origin: string
/** Why it was refused. */
reason: string
/** A signed note with the log's signature alone. */
checkpoint: string
/** At this size, or else the newest; null where the node has shown none. */
config: (ShownConfig | null)
}
/** The custody config account as the witness's node showed it, finalized. It holds the ledger's root. */
export interface ShownConfig {
/** The slot at which the node showed it. */
slot: number
/** The program that owns it. */
owner: string
/** The account's bytes. */
data_base64: string
}
/** What this witness refused. */
export interface RefusedCheckpoints {
/** Of each log the first one and the newest 31, oldest first. */
refused: RefusedCheckpoint[]
}
/** A registered merchant with its counts. */
export interface RegistryEntry {
/** The merchant's wallet. */
merchant: string
/** The merchant's account in the attestor program. */
merchant_pda: string
name: string
/** Null: the index does not answer, or has not been synced yet. */
same_name: (number | null)
/** The key that new escrows record, and whose attestations release them. */
attestor: string
/** Null: never rotated. */
previous_attestor: (string | null)
/** When the present attestor was recorded. */
attestor_since: string
/** Escrows created by an event up to this number can only be cancelled or refunded; 0: nothing was revoked. */
revoked_seq: string
status: MerchantStatus
/** Releases in the settlement mint, a session's one, less points taken by the admin. */
reputation: number
/** How often the admin took points. */
slashes: number
/** Escrows released in full; a session counts once. */
deliveries: number
/** Escrows released in part; a session counts once. */
partial_deliveries: number
/** Base units of the settlement mint delivered. */
volume_stroops: string
/** Null unless this service lists the registry's settlement mint as USDC. Other mints do not count. */
volume_usdc: (string | null)
/** When it registered. */
registered_at: string
/** When its account last changed. */
updated_at: string
stats: MerchantStats
}
/** A page of a list out of the index. */
export interface RegistryEntryPage {
data: RegistryEntry[]
page: Page
index: IndexFreshness
}
/** An account that failed a check. */
export interface RejectedAccount {
address: string
reason: string
}
/** What is known of a transaction. */
export interface RelayOutcome {
/** Names the transaction. */
signature: string
status: RelayOutcomeStatus
commitment: (RelayOutcomeCommitment | null)
slot: (number | null)
/** Why it failed after landing. */
error: (TransactionError | null)
program: (string | null)
program_error: (ProgramError | null)
/** Log lines of a failure, when the ledger has them. */
logs: string[]
last_valid_block_height: (number | null)
/** True only when signing the payment again cannot pay twice: it expired, or failed at `finalized`. A failure is `confirmed` until history and accounts prove it. */
safe_to_sign_again: boolean
/** Null unless it expired and another one did the same. */
superseded_by: (string | null)
/** How many of the configured addresses of nodes say that it failed or expired: two where two are configured. Two addresses may lead to one node. Null when it did neither, and when it is not recorded. */
nodes: (number | null)
/** The creation of this very escrow, with the same agent and task hash, can be signed again at any time: the ledger makes it once. Another nonce is another escrow. Null: this relay did not send it, or it does something else. */
recreatable_escrow: (string | null)
/**
 * The escrows that it creates or changes; of one that failed or has not landed, would have. Empty for a transaction of others that is not final yet, and where no node shows what is in it.
 * 
 * Items: An escrow.
 */
escrows: string[]
/** A page about the transaction. */
explorer_url: string
}
/** One resource. */
export interface RelayOutcomeAnswer {
data: RelayOutcome
}
/** Every rule and number the relay enforces. */
export interface RelayPolicy {
encodings: ("base64")[]
transaction_versions: string[]
/** The most bytes of a serialized transaction. */
max_transaction_bytes: number
/**
 * A transaction must call at least one of these at top level.
 * 
 * Items: A program.
 */
required_programs: string[]
/**
 * It may call no program but these.
 * 
 * Items: A program.
 */
allowed_programs: string[]
signatures: RelaySignaturePolicy
/** They are refused. */
durable_nonces: false
/** The most compute units a transaction may ask for. */
max_compute_units: number
/** The most micro-lamports it may pay for each. */
max_compute_unit_price: number
settlement_check: RelaySettlementCheck
/** How often a transaction that has not landed is sent again. */
rebroadcast_ms: number
queue: RelayQueue
/** How long an Idempotency-Key is kept. */
idempotency_key_seconds: number
/** A simulation runs first; `skip_preflight` ignores the errors of programs in it. */
preflight: "unless_skipped"
/** The errors of a simulation that `skip_preflight` does not ignore, because no instruction can run after them. Invalid Compute Budget data and a fee payer with too little rent are refused too. */
never_skipped: string[]
/** How long `confirm` waits. */
confirm_timeout_ms: number
beta_limits_enforced: boolean
rate_limit: RelayRateLimit
private_keys: "never accepted"
}
/** The requirements on signatures. */
export interface RelaySignaturePolicy {
/** Every required signature must be present. */
all_required: true
/** Each is verified, strictly, before anything is sent. */
verified_before_sending: true
}
/** What is checked against the live escrow. */
export interface RelaySettlementCheck {
rules: RelaySettlementCheckRules[]
/** How far the ledger's clock may be off in these checks. */
clock_margin_seconds: number
}
/** How many transactions may wait for their outcome. */
export interface RelayQueue {
/** Of everyone. */
capacity: number
/** The share of one client address in an empty queue; an IPv6 address counts as its /64. The share shrinks with the square of the queue's free part, down to one. */
share_of_client: number
/** The largest share of one fee payer; it shrinks in the same way. */
share_of_fee_payer: number
}
/** The budget of one client address, and of one fee payer. */
export interface RelayRateLimit {
/** Requests per window; one with a large body counts as several. */
requests: number
/** Window length, seconds. */
window_seconds: number
of_each: RelayRateLimitOfEach[]
/** What a relay costs when a check or simulation finds it would fail. */
failed_preflight_cost: number
/** The total cost of a relay that expires without landing. */
expired_cost: number
/** How many further windows such costs can use up at most. */
max_owed_windows: number
}
/** One resource. */
export interface RelayPolicyAnswer {
data: RelayPolicy
}
/** A fully signed transaction. */
export interface RelayRequest {
/** The serialized, fully signed transaction in base64. */
signed_transaction: string
encoding?: "base64"
/** Wait for a confirmation, up to the policy's limit. */
confirm?: boolean
/** Send the transaction even when a program fails in the simulation. A transaction that can never run is still refused. */
skip_preflight?: boolean
}
/** What became of the transaction so far. */
export interface RelayResult {
/** Names the transaction. Sending it again is safe. */
signature: string
status: RelayResultStatus
/** Null while only submitted. */
slot: (number | null)
/** Who pays the fee. */
fee_payer: string
/** A page about the transaction. */
explorer_url: string
}
/** One resource. */
export interface RelayResultAnswer {
data: RelayResult
}
/** The relay. It is degraded also while transactions cannot be recorded. */
export interface RelayStatus {
status: RelayStatusStatus
}
/** What a text names. */
export interface SearchAnswer {
understood_as: SearchAnswerUnderstoodAs
/** At most 20 merchants, or as many escrows of a hash and one of a digest. */
data: SearchMatch[]
}
/** One thing that the text names. */
export interface SearchMatch {
kind: SearchMatchKind
/** Its page for people, on this service. Of a transaction `/transactions/{q}`: no answer repeats 64 bytes that could be a private key, so put in what you sent. */
path: string
/** Null for a transaction. */
label: (string | null)
/** Null for what is no escrow. */
by: (SearchMatchBy | null)
/** False for a merchant of whose name or addresses the text is a part only. */
is_exact: boolean
}
/** The state of the service. A null value could not be read in time. */
export interface ServiceStatus {
status: ServiceStatusStatus
version: string
network: NetworkStatus
programs: ProgramStatuses
/** Null: not known. */
settlement_mint: (string | null)
/** The mints whose amounts this service shows as money. */
supported_mints: SupportedMint[]
relay: RelayStatus
reads: ReadsStatus
indexer: IndexerStatus
/** Null: no log, or not known. */
log: (SettlementLogStatus | null)
}
/** How the settlement log stands. */
export interface SettlementLogStatus {
state: SettlementLogStatusState
/** Null before anything is signed, as are `vkey`, `size` and `root`. */
origin: (string | null)
vkey: (string | null)
/** Null unless keys are rotated. */
next_vkey: (string | null)
size: (number | null)
root: (string | null)
/** Null before the first. */
published_size: (number | null)
/** Null without witnesses, and before the first. */
quorum: (string | null)
/** Null without one. */
cosigned_at: (string | null)
/** Null: nothing does. */
hindrance: (SettlementLogStatusHindrance | null)
/** Null while it goes on. */
ended: (string | null)
/** Oldest first. */
predecessors: EndedLog[]
/** By name; those that this process has offered a checkpoint. */
witnesses: LogWitness[]
/** The names of those that have not cosigned for ten seconds, whether the quorum is met or not. */
missing_witnesses: string[]
}
/** One resource. */
export interface ServiceStatusAnswer {
data: ServiceStatus
}
/** A page of a list out of the index. */
export interface SettlementEventPage {
data: SettlementEvent[]
page: Page
index: IndexFreshness
}
/** One settlement event in the stream. */
export interface StreamedSettlementEvent {
/** `<escrow_pda>:<kind>`: the same event always has the same id. */
id: string
kind: EventKind
/** The escrow it happened to. */
escrow_pda: string
/** The agent's wallet. */
agent_owner: string
/** The merchant's wallet. */
merchant: string
/** The token's mint. */
mint: string
/** Whether this service lists the mint. Anybody can make a mint. */
mint_supported: boolean
/** The symbol of the mint in this service's list; null for a mint that is not listed. */
symbol: (string | null)
state: EscrowState
/** Base units that moved. */
amount_stroops: string
/** Null unless this service lists the mint as USDC. */
amount_usdc: (string | null)
proof_hash: (string | null)
/** Null until the ledger's history has been read. */
signature: (string | null)
/** Null until the ledger's history has been read. */
slot: (number | null)
/** By the ledger's clock. */
occurred_at: string
/** The number that the custody program gave the event, from 1. */
position: number
/** The hash of the event's leaf in the settlement log, at the index `position`. */
leaf_hash: string
finality?: StreamedSettlementEventFinality
}
/** What the sync did with the accounts of one kind. */
export interface SyncCounts {
/** Accounts read. */
seen: number
/** Rows added. */
created: number
/** Rows changed. */
updated: number
/** Rows left as they were. */
unchanged: number
/** Accounts that failed a check and were not stored. */
rejected: number
}
/** What the sync did with events. */
export interface SyncEvents {
/** Events added. */
added: number
}
/** What one completed sync did. */
export interface SyncReport {
sync_id: string
status: "completed"
mode: SyncReportMode
/** Where the count was read. */
slot: number
/** The number of the last event: the index now holds exactly the events up to it. */
count: number
escrows: SyncCounts
merchants: SyncCounts
events: SyncEvents
/**
 * The first rejected accounts, at most 100.
 * 
 * @maxItems 100
 */
rejected: RejectedAccount[]
/**
 * Indexed merchants that the ledger shows no longer, at most 100. Their rows stay.
 * 
 * @maxItems 100
 * 
 * Items: The account.
 */
vanished: string[]
/** Archived escrows that no list shows, because their last bytes were not found so far. Later syncs go on searching. */
unseen: number
/** How long it took. */
duration_ms: number
}
/** One resource. */
export interface SyncReportAnswer {
data: SyncReport
}
/** A delivery payload to compare with an escrow. */
export interface VerifyDeliveryRequest {
/** The payload whose hash the attestor signed, every member of it. Numbers that JSON does not carry exactly are refused. */
payload: {
[k: string]: unknown
}
/** The proof template; by default the payload's own `proof_template_id`. Null counts as absent. */
template_id?: (string | null)
}
/** Which version of the contract and of the service this is. */
export interface Version {
name: string
contract_version: string
evidence_format: string
/** The package's version. */
version: string
/** The source revision it was started from; null when not known. */
revision: (string | null)
links: {
/**
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^(.*)$".
 */
[k: string]: string
}
}
/** One resource. */
export interface VersionAnswer {
data: Version
}
/** What a webhook sends of an event. */
export interface WebhookEvent {
type: EventKind
/** When it occurred, by the ledger's clock. */
timestamp: string
data: WebhookEventData
}
export interface WebhookEventData {
event: SettlementEvent
escrow: Escrow
}
/** A kind of payment. */
export interface X402Kind {
x402Version: number
scheme: string
/** CAIP-2. */
network: string
extra: X402KindExtra
}
/** The programs that hold the money. */
export interface X402KindExtra {
/** The custody program. */
custody: string
/** The attestor program. */
attestorProgram: string
}
/** What a buyer sends with the request that it pays for. */
export interface X402Payment {
x402Version: number
/** What x402 says of the resource; not judged. */
resource?: {
[k: string]: unknown
}
accepted: X402Requirements
/** `agent`, `nonce`, `escrow` and `create`; `type` and `transaction`. */
payload: {
[k: string]: unknown
}
/** x402's extensions; not judged. */
extensions?: {
[k: string]: unknown
}
}
/** What a seller asks for one request. */
export interface X402Requirements {
/** `auth-capture`. */
scheme: string
/** CAIP-2: `solana:` and the first 32 characters of the genesis hash. */
network: string
/** The mint. Base58 of 32 bytes. */
asset: string
/** Base units, decimal. */
amount: string
/** The merchant's wallet. Base58 of 32 bytes. */
payTo: string
/** Seconds from the offer to its deadlines. */
maxTimeoutSeconds: number
/** What docs/x402.md lists, and what x402 adds. */
extra?: {
[k: string]: unknown
}
}
/** A payment and the requirements that it is for. */
export interface X402Request {
x402Version: number
paymentPayload: X402Payment
paymentRequirements: X402Requirements
}
/** What became of a settlement. */
export interface X402Settled {
success: boolean
/** A stable code. */
errorReason?: string
/** What is wrong, and the cure. */
errorMessage?: string
/** The agent. */
payer?: string
/** The transaction's signature; empty where another one had done the same. */
transaction: string
/** CAIP-2. */
network: string
/** Base units: held by an authorization, else what went to the merchant. */
amount?: string
extra?: X402SettledExtra
}
/** The escrow, and where its evidence is. */
export interface X402SettledExtra {
/** The escrow of the payment. */
escrow: string
/** The address of its evidence packet. */
packet: string
/** Null while the escrow is Pending: its packet is made anew at each reading. */
digest_sha256?: (string | null)
state?: EscrowState
/** To the merchant. */
released_stroops?: string
/** Back to the agent. */
refunded_stroops?: string
/** From here on it can only be refunded. */
expires_at?: string
}
/** What sellers can offer with this facilitator. */
export interface X402Supported {
kinds: X402Kind[]
/** None. */
extensions: string[]
/** None: this facilitator signs nothing. */
signers: {
[k: string]: unknown
}
}
/** Whether settling would work now. */
export interface X402Verified {
isValid: boolean
/** A stable code. */
invalidReason?: string
/** What is wrong, and the cure. */
invalidMessage?: string
/** The agent. */
payer?: string
}
/** By method and path: what a request of the operation carries, and the JSON of its usual answer; `object` for none. */
export interface HttpOperations {
  "POST /v1/escrows/prepare": { path: object; query: { preflight?: boolean; transaction?: boolean }; body: PrepareEscrowRequest; answer: PreparedEscrowAnswer };
  "GET /v1/escrows/{pda}": { path: { pda: string }; query: object; body: object; answer: LiveEscrowRead };
  "POST /v1/escrows/{pda}/attestation/prepare": { path: { pda: string }; query: object; body: PrepareAttestationRequest; answer: PreparedAttestationRead };
  "POST /v1/escrows/{pda}/capture/prepare": { path: { pda: string }; query: { transaction?: boolean }; body: PrepareCaptureRequest; answer: PreparedEscrowCallRead };
  "POST /v1/escrows/{pda}/release/prepare": { path: { pda: string }; query: { transaction?: boolean }; body: PrepareReleaseRequest; answer: PreparedEscrowCallRead };
  "POST /v1/escrows/{pda}/close/prepare": { path: { pda: string }; query: { transaction?: boolean }; body: PrepareCloseRequest; answer: PreparedEscrowCallRead };
  "POST /v1/escrows/{pda}/refund/prepare": { path: { pda: string }; query: { transaction?: boolean }; body: PrepareRefundRequest; answer: PreparedEscrowCallRead };
  "POST /v1/escrows/{pda}/cancel/prepare": { path: { pda: string }; query: { transaction?: boolean }; body: PrepareCancelRequest; answer: PreparedEscrowCallRead };
  "POST /v1/escrows/{pda}/rent/prepare": { path: { pda: string }; query: { transaction?: boolean }; body: PrepareRentRequest; answer: PreparedEscrowCallRead };
  "POST /v1/escrows/{pda}/archive/prepare": { path: { pda: string }; query: { transaction?: boolean }; body: PrepareArchiveRequest; answer: PreparedEscrowCallRead };
  "GET /v1/evidence/{pda}": { path: { pda: string }; query: { download?: "json" }; body: object; answer: EvidencePacket };
  "GET /v1/evidence/{pda}/proof": { path: { pda: string }; query: object; body: object; answer: object };
  "POST /v1/evidence/{pda}/verify": { path: { pda: string }; query: object; body: VerifyDeliveryRequest; answer: DeliveryComparisonRead };
  "GET /.well-known/jwks.json": { path: object; query: object; body: object; answer: JsonWebKeySet };
  "GET /.well-known/evidence-trust.json": { path: object; query: object; body: object; answer: EvidenceTrust };
  "GET /v1/merchants/{pubkey}": { path: { pubkey: string }; query: object; body: object; answer: MerchantRead };
  "POST /v1/merchants/prepare": { path: object; query: { transaction?: boolean }; body: PrepareMerchantRequest; answer: PreparedMerchantCallRead };
  "POST /v1/merchants/{pubkey}/attestor/prepare": { path: { pubkey: string }; query: { transaction?: boolean }; body: PrepareAttestorRequest; answer: PreparedAttestorCallRead };
  "GET /v1/registry/merchants": { path: object; query: { status?: MerchantStatus; q?: string; min_reputation?: number; limit?: number; cursor?: string }; body: object; answer: RegistryEntryPage };
  "GET /v1/proof-templates": { path: object; query: { wedge?: string }; body: object; answer: ProofTemplateList };
  "GET /v1/proof-templates/{id}": { path: { id: string }; query: object; body: object; answer: ProofTemplateAnswer };
  "GET /log/checkpoint": { path: object; query: object; body: object; answer: object };
  "GET /log/tile/{level}/{first}": { path: { level: string; first: string }; query: object; body: object; answer: object };
  "GET /log/tile/{level}/{first}/{second}": { path: { level: string; first: string; second: string }; query: object; body: object; answer: object };
  "GET /log/tile/{level}/{first}/{second}/{third}": { path: { level: string; first: string; second: string; third: string }; query: object; body: object; answer: object };
  "GET /log/tile/{level}/{first}/{second}/{third}/{fourth}": { path: { level: string; first: string; second: string; third: string; fourth: string }; query: object; body: object; answer: object };
  "GET /v1/log/leaves/{index}": { path: { index: string }; query: object; body: object; answer: LogLeafAnswer };
  "GET /v1/indexer": { path: object; query: { merchant?: string; agent_owner?: string; state?: EscrowState; refundable?: true; expiring_within?: number; limit?: number; cursor?: string }; body: object; answer: EscrowPage };
  "GET /v1/indexer/events": { path: object; query: { merchant?: string; agent_owner?: string; state?: EscrowState; refundable?: true; expiring_within?: number; limit?: number; cursor?: string; escrow?: string }; body: object; answer: SettlementEventPage };
  "GET /v1/indexer/days": { path: object; query: { days?: number }; body: object; answer: DailyOutcomes };
  "GET /v1/search": { path: object; query: { q: string }; body: object; answer: SearchAnswer };
  "GET /v1/indexer/events/stream": { path: object; query: { merchant?: string; agent_owner?: string; state?: EscrowState; escrow?: string; commitment?: StreamCommitment; after?: string }; body: object; answer: object };
  "POST /v1/indexer/sync": { path: object; query: { snapshot?: boolean }; body: object; answer: SyncReportAnswer };
  "GET /v1/relay": { path: object; query: object; body: object; answer: RelayPolicyAnswer };
  "POST /v1/relay": { path: object; query: object; body: RelayRequest; answer: RelayResultAnswer };
  "GET /v1/relay/{signature}": { path: { signature: string }; query: object; body: object; answer: RelayOutcomeAnswer };
  "GET /actions.json": { path: object; query: object; body: object; answer: ActionsJson };
  "GET /icon.svg": { path: object; query: object; body: object; answer: object };
  "GET /v1/actions/create": { path: object; query: { merchant: string; mint: string; amount_stroops: string; ttl_seconds: number; task_intent: string; nonce: string; attestor?: string }; body: object; answer: ActionMetadata };
  "POST /v1/actions/create": { path: object; query: { merchant: string; mint: string; amount_stroops: string; ttl_seconds: number; task_intent: string; nonce: string; attestor?: string }; body: ActionRequest; answer: ActionTransaction };
  "GET /v1/actions/refund/{pda}": { path: { pda: string }; query: object; body: object; answer: ActionMetadata };
  "POST /v1/actions/refund/{pda}": { path: { pda: string }; query: object; body: ActionRequest; answer: ActionTransaction };
  "GET /v1/actions/archive/{pda}": { path: { pda: string }; query: object; body: object; answer: ActionMetadata };
  "POST /v1/actions/archive/{pda}": { path: { pda: string }; query: object; body: ActionRequest; answer: ActionTransaction };
  "GET /x402/supported": { path: object; query: object; body: object; answer: X402Supported };
  "POST /x402/verify": { path: object; query: object; body: X402Request; answer: X402Verified };
  "POST /x402/settle": { path: object; query: object; body: X402Request; answer: X402Settled };
  "POST /witness/add-checkpoint": { path: object; query: object; body: object; answer: object };
  "GET /witness/refused": { path: object; query: object; body: object; answer: RefusedCheckpoints };
  "GET /": { path: object; query: object; body: object; answer: Descriptor };
  "GET /client/settlement-evidence.tgz": { path: object; query: object; body: object; answer: object };
  "GET /.well-known/settlement-evidence.json": { path: object; query: object; body: object; answer: Descriptor };
  "GET /idl/custody.json": { path: object; query: object; body: object; answer: Idl };
  "GET /idl/attestor.json": { path: object; query: object; body: object; answer: Idl };
  "GET /v1": { path: object; query: object; body: object; answer: VersionAnswer };
  "GET /v1/status": { path: object; query: object; body: object; answer: ServiceStatusAnswer };
  "GET /health": { path: object; query: object; body: object; answer: Health };
  "GET /ready": { path: object; query: object; body: object; answer: Readiness };
  "GET /metrics": { path: object; query: object; body: object; answer: object };
  "GET /openapi.json": { path: object; query: object; body: object; answer: OpenApiDocument };
  "GET /arazzo.json": { path: object; query: object; body: object; answer: ArazzoDocument };
  "GET /llms.txt": { path: object; query: object; body: object; answer: object };
  "POST /mcp": { path: object; query: object; body: McpMessage; answer: McpReply };
  "GET /docs": { path: object; query: object; body: object; answer: object };
  "GET /docs.md": { path: object; query: object; body: object; answer: object };
  "GET /docs/{page}": { path: { page: string }; query: object; body: object; answer: object };
  "GET /problems/{code}": { path: { code: string }; query: object; body: object; answer: ProblemPage };
}
