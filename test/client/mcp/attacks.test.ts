import { afterAll, beforeAll, expect, test } from "bun:test";
import { openStage } from "../../../app/demo/stage.ts";
import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { transferInstruction } from "./transfer-instruction.ts";
