#pragma once

#include "../sdk/event.h"
#include "accounts.h"

/* The admin's office goes over in two steps, so that it cannot be lost to a mistyped address: the admin proposes, and only who
   signs for the proposed address takes it. */

NOINLINE u64 propose_admin(Input *input) {
  TRY(require_shape(input, PROPOSE_ADMIN_ACCOUNTS, PROPOSE_ADMIN_SIGNERS, PROPOSE_ADMIN_WRITABLES,
                    PROPOSE_ADMIN_ARGS_SIZE));
  const ProposeAdminArgs *args = (const ProposeAdminArgs *)input->data;
  Registry *registry;
  TRY(load_registry(input, &input->account[PROPOSE_ADMIN_REGISTRY], &registry));
  REQUIRE(same32(input->account[PROPOSE_ADMIN_ADMIN].key, &registry->admin), ERROR_NOT_ADMIN);
  registry->proposed_admin = args->admin;
  const AdminProposed event = {
      .discriminator = EVENT_ADMIN_PROPOSED,
      .admin = registry->admin,
      .proposed_admin = registry->proposed_admin,
  };
  emit(&event, ADMIN_PROPOSED_SIZE);
  return 0;
}

NOINLINE u64 accept_admin(Input *input) {
  TRY(require_shape(input, ACCEPT_ADMIN_ACCOUNTS, ACCEPT_ADMIN_SIGNERS, ACCEPT_ADMIN_WRITABLES,
                    ACCEPT_ADMIN_ARGS_SIZE));
  Registry *registry;
  TRY(load_registry(input, &input->account[ACCEPT_ADMIN_REGISTRY], &registry));
  /* The System program's address is zero and never signs, so that no proposal is nobody's. */
  REQUIRE(same32(input->account[ACCEPT_ADMIN_PROPOSED_ADMIN].key, &registry->proposed_admin), ERROR_NOT_PROPOSED_ADMIN);
  const AdminChanged event = {
      .discriminator = EVENT_ADMIN_CHANGED,
      .previous_admin = registry->admin,
      .admin = registry->proposed_admin,
  };
  registry->admin = registry->proposed_admin;
  registry->proposed_admin = (Pubkey){{0}};
  emit(&event, ADMIN_CHANGED_SIZE);
  return 0;
}
