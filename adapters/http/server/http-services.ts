import type { ArchivedEscrows } from "../../../core/use-cases/escrow/archived-escrows.ts";
import type { IndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import type { RelayDelivery } from "../../../core/use-cases/relay/relay-delivery.ts";
import type { LedgerPulse } from "../../../core/use-cases/service/ledger-pulse.ts";
import type { IndexClock } from "../../../core/use-cases/index/index-query.ts";
import type { ConfirmedEvents } from "../../../core/use-cases/index/confirmed/confirmed-events.ts";
import type { IndexGrowth } from "../../../core/use-cases/index/follow-events.ts";
import type { DailyOutcomesCount } from "../../../core/use-cases/index/daily-outcomes.ts";
import type { RecentPages } from "../../../core/use-cases/index/recent-pages.ts";
import type { SettledEvidence } from "../../../core/use-cases/evidence/settled-evidence.ts";
import type { LogProofs } from "../../../core/use-cases/log/serving/read-log.ts";
import type { TransactionTerms } from "../../../core/use-cases/service/transaction-terms.ts";
import type { LogPublisher } from "../../../core/use-cases/log/log-publisher.ts";
import type { SettlementLog } from "../../../core/use-cases/log/serving/published-log.ts";
import type { Witness } from "../../../core/use-cases/witness/witness.ts";
import type { ClientPackage } from "../../../ports/client-package.ts";
import type { Broadcaster } from "../../../ports/ledger/broadcaster.ts";
import type { IndexReader } from "../../../ports/index/index-reader.ts";
import type { LogIdentity } from "../../../ports/log/log-signer.ts";
import type { LogStore } from "../../../ports/log/log-store.ts";
import type { EvidenceSigner } from "../../../ports/evidence-signer.ts";
import type { WitnessPolicies } from "../../../core/use-cases/log/witness-policies.ts";
import type { Instance } from "../../../ports/instance.ts";
import type { Ledger } from "../../../ports/ledger/ledger.ts";
import type { OutcomeLog } from "../../../ports/outcome-log.ts";
import type { RateLimiter } from "../../../ports/rate-limiter.ts";

/** Every service that an operation can use. */
export type HttpServices =
  | ArchivedEscrows
  | Broadcaster
  | ClientPackage
  | ConfirmedEvents
  | DailyOutcomesCount
  | IndexClock
  | IndexGrowth
  | IndexReader
  | LogIdentity
  | LogPublisher
  | LogStore
  | EvidenceSigner
  | IndexSync
  | Instance
  | Ledger
  | LedgerPulse
  | LogProofs
  | OutcomeLog
  | RateLimiter
  | RecentPages
  | RelayDelivery
  | SettledEvidence
  | SettlementLog
  | TransactionTerms
  | Witness
  | WitnessPolicies;
