// A self-signed certificate for tests, created with openssl.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const OPENSSL = 'openssl'

/**
 * @param names such as `DNS:fine.test,IP:127.0.0.1`
 * @returns paths of the files
 */
export function createCertificate(folder: string, names: string): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const form = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=test']
  execFileSync(OPENSSL, ['req', '-x509', ...form, '-addext', `subjectAltName=${names}`, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  return { certificate, key }
}
