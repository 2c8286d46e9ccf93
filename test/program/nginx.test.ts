// nginx accepts the configuration in deploy/.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createCertificate } from '../support/certificate.ts'

const NGINX = 'nginx'
const installed = spawnSync(NGINX, ['-v']).status === 0

test.skipIf(!installed)('deploy/nginx.conf is a valid configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'))
  try {
    const { certificate, key } = createCertificate(folder, 'DNS:cards.example')
    const site = readFileSync('deploy/nginx.conf', 'utf8')
      .replace(/\/etc\/letsencrypt\S+fullchain\.pem/, certificate)
      .replace(/\/etc\/letsencrypt\S+privkey\.pem/, key)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
    writeFileSync(join(folder, 'site.conf'), site)
    writeFileSync(join(folder, 'nginx.conf'), `pid ${folder}/pid; events {} http { access_log off; ${paths} include ${folder}/site.conf; }`)
    const { status, stderr } = spawnSync(NGINX, ['-t', '-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'log')], {
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, expect.stringContaining('test is successful')])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
