// Explains why a TLS connection to PostgreSQL failed, and which setting helps.
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** The error with advice in its message if TLS is the cause; otherwise unchanged. */
export function explainTls(error: Error): Error {
  const advice = adviceOn(error)
  if (advice !== null) error.message = `${error.message}: ${advice}`
  return error
}

function adviceOn({ message, ...error }: Error): string | null {
  const code = 'code' in error ? String(error.code) : ''
  if (UNTRUSTED.has(code))
    return "PostgreSQL's certificate is signed by an authority that is not trusted; add sslrootcert=/path/to/ca.pem to DATABASE_URL, or set NODE_EXTRA_CA_CERTS to that file"
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'use the name in the certificate as the host of DATABASE_URL'
  if (message === 'The server does not support SSL connections')
    return 'enable ssl in PostgreSQL, or add sslmode=disable to DATABASE_URL if the network between them is private'
  return code === '28000' && message.endsWith('no encryption') ? 'PostgreSQL requires TLS; add sslmode=verify-full to DATABASE_URL' : null
}
