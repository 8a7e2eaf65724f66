/* Attestor: registers merchants with their attestor keys and counts their deliveries for custody. The rules are
   docs/protocol.md, "attestor". One translation unit: the linker takes one object file. */

#define PROGRAM_ATTESTOR
#include "generated/attestor.h"
#include "generated/custody.h"

#include "attestor/administer.h"
#include "attestor/hand-over.h"
#include "attestor/initialize.h"
#include "attestor/record-delivery.h"
#include "attestor/register-merchant.h"
#include "attestor/rotate-attestor.h"
#include "sdk/security-txt.h"

u64 entrypoint(u8 *bytes) {
  Input *input = (Input *)HEAP_INPUT;
  REQUIRE(parse_input(bytes, input), ERROR_TOO_MANY_ACCOUNTS);
  REQUIRE(input->data_len >= 8, ERROR_INVALID_INSTRUCTION);
  switch (read_u64(input->data)) {
    case IX_INITIALIZE_REGISTRY:
      return initialize_registry(input);
    case IX_REGISTER_MERCHANT:
      return register_merchant(input);
    case IX_ROTATE_ATTESTOR:
      return rotate_attestor(input);
    case IX_SET_MERCHANT_STATUS:
      return set_merchant_status(input);
    case IX_SLASH_MERCHANT:
      return slash_merchant(input);
    case IX_PROPOSE_ADMIN:
      return propose_admin(input);
    case IX_ACCEPT_ADMIN:
      return accept_admin(input);
    case IX_RECORD_DELIVERY:
      return record_delivery(input);
    default:
      return ERROR_INVALID_INSTRUCTION;
  }
}
