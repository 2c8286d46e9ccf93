# Receives webhooks: WEBHOOK_SECRET=... python3 receiver.py [port]   (Python 3.8 or newer, no packages needed)
import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
# Deliveries may repeat: remember the ids that were processed (in your database, not in memory as here).
processed = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))

        # Over the raw bytes, before the body is parsed, and compared in constant time. The signature covers id and time,
        # too: a request that somebody recorded is refused after five minutes.
        event_id = self.headers.get("webhook-id", "")
        timestamp = self.headers.get("webhook-timestamp", "0")
        signed = f"{event_id}.{timestamp}.".encode() + raw
        expected = b"v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest())
        signatures = self.headers.get("webhook-signature", "").encode().split(b" ")
        is_genuine = any(hmac.compare_digest(expected, given) for given in signatures)
        is_fresh = timestamp.isdigit() and abs(time.time() - int(timestamp)) <= 300
        if not is_genuine or not is_fresh:
            self.send_response(401)
            self.end_headers()
            return

        # Answer at once; long work comes afterwards.
        self.send_response(204)
        self.end_headers()
        self.wfile.flush()

        # Test deliveries hold made-up data: book nothing.
        if self.headers.get("webhook-test") == "true":
            print("test delivery", flush=True)
            return

        if event_id in processed:
            return
        processed.add(event_id)
        body = json.loads(raw)
        print(event_id, body["event"], json.dumps(body["data"]), flush=True)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9000), Receiver)
print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
