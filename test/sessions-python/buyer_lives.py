"""buyer.py for many journals, in one process and without its pauses: to start it costs more than all that a journal's calls do.

JOURNALS has a line for each run: the folder that is JOURNAL. Its seller is SELLER_URL and the name of that folder. Each
run ends with the line `exit CODE`.
"""

import sys
import time
import traceback
from pathlib import Path

from buyer import Session, line, run
from session_service import ENV

time.sleep = lambda _: None
seller = ENV["SELLER_URL"]
for folder in ENV["JOURNALS"].splitlines():
    ENV["JOURNAL"], ENV["SELLER_URL"] = folder, f"{seller}/{Path(folder).name}"
    code = 0
    try:
        run(Session)
    except SystemExit as end:
        code = end.code
    except Exception:
        traceback.print_exc()
        code = 1
    line("exit", code)
sys.exit(0)
