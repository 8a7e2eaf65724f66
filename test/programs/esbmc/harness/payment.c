#include "prelude.h"

#define PROGRAM_CUSTODY
#include "generated/attestor.h"
#include "generated/custody.h"

/* The proof is any that a transaction may hold, the terms are any digest: finding the one is the harness `proof`, the other `terms`. */
#define find_proof find_proof_in_transaction
#define hash_terms hash_terms_of_account
#include "custody/proof.h"
#undef find_proof
#undef hash_terms

static Escrow escrow;
static Attestation attestation;
static Voucher voucher;
static Pubkey attestor, session_key;
static Bytes64 signature;

u64 find_proof(const AccountInfo *sysvar, const Named *wanted, bool session, Proof *proof) {
  *proof = (Proof){&attestor, &signature, &attestation, &session_key, &voucher};
  return 0;
}

void hash_terms(const Escrow *hashed, Bytes32 *terms) { *terms = nondet_bytes32(); }

#include "custody/payment.h"

/* What is paid is what is attested and not captured yet: never more than the vault of a Pending escrow owes, so that the vault holds
   the rest afterwards; a capture pays something, and at most what the session key allows. */
int main(void) {
  static AccountInfo sysvar;
  static CustodyConfig config;
  static Payment payment;
  const Pubkey sysvar_key = ADDRESS_INSTRUCTIONS_SYSVAR;
  sysvar.key = &sysvar_key;
  escrow.amount = nondet_u64();
  escrow.released = nondet_u64();
  escrow.deliveries = nondet_u32();
  escrow.session_key = nondet_bytes32();
  escrow.attestor = nondet_bytes32();
  escrow.created_at = nondet_i64();
  escrow.expires_at = nondet_i64();
  escrow.closes_at = nondet_i64();
  attestor = nondet_bytes32();
  session_key = nondet_bytes32();
  attestation.total = nondet_u64();
  attestation.timestamp = nondet_i64();
  attestation.deliveries = nondet_u64();
  voucher.total = nondet_u64();
  voucher.count = nondet_u64();
  u64 held = nondet_u64();
  bool final = nondet_u8() != 0;
  ASSUME(escrow.amount > 0 && escrow.released <= escrow.amount && held >= escrow.amount - escrow.released);
  bool session = is_session(&escrow);
  u64 released = escrow.released;
  u32 deliveries = escrow.deliveries;
  payment.escrow.data = &escrow;
  payment.config = &config;

  u64 error = prove_payment(&sysvar, final, nondet_time(), &payment);
  if (error) return 0;
  CLAIM(payment.total == attestation.total && payment.total <= escrow.amount, "what is attested, within the amount");
  CLAIM(payment.total >= released && payment.due == payment.total - released, "what is not captured yet");
  CLAIM(payment.total > 0 && (final || payment.due > 0), "a capture pays something, a release is of something");
  CLAIM(payment.due <= held && held - payment.due >= escrow.amount - payment.total, "the vault holds the rest afterwards");
  CLAIM(!session || payment.total <= voucher.total, "never more than the session key allows");
  CLAIM(escrow.deliveries >= deliveries && escrow.deliveries == (u32)attestation.deliveries, "deliveries never fall");
  CLAIM(session || escrow.deliveries == 1, "a single payment is one delivery");
  CLAIM(escrow.released == released, "nothing is called released before it is paid");
  return 0;
}
