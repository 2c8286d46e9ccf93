#!/bin/sh
# Verifies one webhook that was saved to a file: WEBHOOK_SECRET=... sh receiver.sh body.json SIGNATURE   (needs openssl)
# The signature is that of the header X-Service-Signature. Exit code 0: genuine; 1: not.
set -eu

expected=$(openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r < "$1" | cut -d ' ' -f 1)

if [ "$2" = "$expected" ]; then
  echo "genuine: $(cat "$1")"
else
  echo "the signature does not match" >&2
  exit 1
fi
