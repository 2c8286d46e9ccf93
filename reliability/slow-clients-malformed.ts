// Malformed or nearly malformed HTTP requests: bytes to send, and the acceptable statuses.

export interface Malformed {
  what: string
  bytes: string
  /** 0: closed without a response, acceptable if no response could be understood */
  statuses: readonly number[]
}

/** @param key of a plan that allows the requests */
export function malformedRequests(key: string): Malformed[] {
  const auth = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`
  const post = `POST /graphql HTTP/1.1\r\n${auth}Content-Type: application/json\r\n`
  const get = (line: string, headers = auth) => `${line}\r\n${headers}Connection: close\r\n\r\n`
  return [
    { what: 'not HTTP', bytes: 'HELLO\r\n\r\n', statuses: [400] },
    { what: 'HTTP/0.9', bytes: 'GET /api/v1/items\r\n\r\n', statuses: [400, 401] },
    { what: 'HTTP/2 preface', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', statuses: [400] },
    { what: 'TLS', bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', statuses: [400] },
    { what: 'an unknown version', bytes: get('GET /api/v1/items HTTP/9.9'), statuses: [400] },
    { what: 'an unknown method', bytes: get('BREW /api/v1/items HTTP/1.1'), statuses: [400] },
    { what: 'CONNECT', bytes: get('CONNECT example.com:443 HTTP/1.1'), statuses: [0, 400, 404, 405] },
    { what: 'a header without a colon', bytes: get('GET /api/v1/items HTTP/1.1', `${auth}nonsense\r\n`), statuses: [400] },
    { what: 'a space before the colon', bytes: get('GET /api/v1/items HTTP/1.1', `${auth}X-A : b\r\n`), statuses: [400] },
    { what: 'a folded header', bytes: get('GET /api/v1/items HTTP/1.1', `${auth}X-A: b\r\n c\r\n`), statuses: [200, 400] },
    { what: 'NUL in a header', bytes: get('GET /api/v1/items HTTP/1.1', `${auth}X-A: a\0b\r\n`), statuses: [400] },
    { what: 'lines that end in LF', bytes: 'GET /api/v1/items HTTP/1.1\nHost: x\n\n', statuses: [400] },
    { what: 'no Host', bytes: `GET /api/v1/items HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n\r\n`, statuses: [400] },
    { what: 'two Hosts', bytes: get('GET /api/v1/items HTTP/1.1', `${auth}Host: elsewhere\r\n`), statuses: [400] },
    { what: 'two lengths', bytes: `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`, statuses: [400] },
    { what: 'length and chunks', bytes: `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, statuses: [400] },
    { what: 'an unknown transfer encoding', bytes: `${post}Transfer-Encoding: gzip\r\n\r\nxx`, statuses: [400] },
    { what: 'chunks within chunks', bytes: `${post}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`, statuses: [400] },
    { what: 'a chunk with an invalid size', bytes: `${post}Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n`, statuses: [400] },
    { what: 'a chunk of a huge size', bytes: `${post}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}`, statuses: [400] },
    { what: 'a chunk longer than its size', bytes: `${post}Transfer-Encoding: chunked\r\n\r\n1\r\n{}{}{}\r\n0\r\n\r\n`, statuses: [400] },
    {
      what: 'a chunk with a long extension',
      bytes: `${post}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n`,
      statuses: [400, 413],
    },
    { what: 'a negative length', bytes: `${post}Content-Length: -1\r\n\r\n`, statuses: [400] },
    { what: 'a length that exceeds 64 bits', bytes: `${post}Content-Length: 99999999999999999999999\r\n\r\n`, statuses: [400] },
    { what: 'a length above the limit', bytes: `${post}Content-Length: 99999999999\r\nConnection: close\r\n\r\n`, statuses: [413] },
    { what: 'a space in the path', bytes: get('GET /api/v1/items?search=a b HTTP/1.1'), statuses: [400] },
    { what: 'a URL of 40 KB', bytes: get(`GET /api/v1/items?search=${'x'.repeat(40_000)} HTTP/1.1`), statuses: [431] },
    { what: 'a header of 40 KB', bytes: get('GET /api/v1/items HTTP/1.1', `${auth}X-Long: ${'x'.repeat(40_000)}\r\n`), statuses: [431] },
    { what: '5,000 headers', bytes: get('GET /api/v1/items HTTP/1.1', `${auth}${'X:1\r\n'.repeat(5_000)}`), statuses: [200, 431] },
    {
      what: 'an upgrade',
      bytes: get('GET /api/v1/items HTTP/1.1', `${auth}Upgrade: websocket\r\n`).replace('Connection: close', 'Connection: upgrade, close'),
      statuses: [0, 200, 400],
    },
    {
      what: 'a second request hidden in the body',
      bytes: `${post}Content-Length: 2\r\nConnection: close\r\n\r\n{}GET /api/v1/items HTTP/1.1\r\n${auth}\r\n`,
      statuses: [400],
    },
    { what: 'an empty body', bytes: `${post}Content-Length: 0\r\nConnection: close\r\n\r\n`, statuses: [400] },
  ]
}
