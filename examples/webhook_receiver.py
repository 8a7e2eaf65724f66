"""Receives settlement events and checks who sent them:
    WEBHOOK_SECRET=whsec_... python3 examples/webhook_receiver.py"""

import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
seen = set()  # Keep it, and what you make of the events, where a restart does not lose it.


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        ident, at, given = (self.headers.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
        mac = hmac.new(SECRET, f"{ident}.{at}.".encode() + body, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(mac)
        is_signed = any(hmac.compare_digest(one.encode(), expected) for one in given.split(" "))
        is_good = is_signed and abs(time.time() - int(at)) < 300
        if is_good and ident not in seen:
            seen.add(ident)
            print(body.decode(), flush=True)
        self.send_response(204 if is_good else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 4000))), Receiver)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
