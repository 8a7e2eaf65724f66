/* Custody: holds an agent's tokens in escrow until the merchant's attestor proves delivery, or refunds them. The rules
   are docs/protocol.md, "custody". One translation unit: the linker takes one object file. */

#define PROGRAM_CUSTODY
#include "generated/attestor.h"
#include "generated/custody.h"

#include "custody/archive-escrow.h"
#include "custody/cancel-escrow.h"
#include "custody/capture.h"
#include "custody/claim-refund.h"
#include "custody/close-session.h"
#include "custody/create-escrow.h"
#include "custody/initialize.h"
#include "custody/release-escrow.h"
#include "custody/return-rent.h"
#include "sdk/security-txt.h"

u64 entrypoint(u8 *bytes) {
  Input *input = (Input *)HEAP_INPUT;
  REQUIRE(parse_input(bytes, input), ERROR_TOO_MANY_ACCOUNTS);
  REQUIRE(input->data_len >= 8, ERROR_INVALID_INSTRUCTION);
  switch (read_u64(input->data)) {
    case IX_INITIALIZE_CUSTODY:
      return initialize_custody(input);
    case IX_CREATE_ESCROW:
      return create_escrow(input);
    case IX_CAPTURE:
      return capture(input);
    case IX_RELEASE_ESCROW:
      return release_escrow(input);
    case IX_CANCEL_ESCROW:
      return cancel_escrow(input);
    case IX_CLOSE_SESSION:
      return close_session(input);
    case IX_CLAIM_REFUND:
      return claim_refund(input);
    case IX_RETURN_RENT:
      return return_rent(input);
    case IX_ARCHIVE_ESCROW:
      return archive_escrow(input);
    default:
      return ERROR_INVALID_INSTRUCTION;
  }
}
