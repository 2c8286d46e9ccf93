// Which addresses and URLs a webhook may have: every spelling of a non-public address is rejected.
import fc from 'fast-check'
import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import { reason } from '#core/problems.ts'
import { type GuardOptions, openGuard } from '#outbound/target-guard.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runs } from '../support/runs.ts'

const guard = (options: Partial<GuardOptions> = {}) =>
  openGuard({ allowCidrs: [], allowHttp: true, ownPorts: () => [8080, 8081], databasePorts: [5432], ...options })
const closed = guard()
const development = guard({ allowCidrs: ['127.0.0.0/8', '::1/128', '169.254.0.0/16', '10.0.0.0/8'] })

const SPECIAL = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
]

describe('addresses', () => {
  test('special addresses are rejected, public ones are allowed', () => {
    for (const address of SPECIAL) expect(closed.allows(address, 443), address).toBe(false)
    for (const address of ['1.1.1.1', '8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8']) {
      expect(closed.allows(address, 443), address).toBe(true)
    }
    for (const text of ['', 'localhost', '1', '300.1.1.1', 'example.com']) expect(closed.allows(text, 443), text).toBe(false)
  })

  test('an address outside our IPv4 ranges is public in each of its forms', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const verdict = closed.allows(address, 443)
        expect(closed.allows(`::ffff:${address}`, 443)).toBe(verdict)
        expect(closed.allows(`64:ff9b::${address}`, 443)).toBe(verdict)
        expect(
          closed.allows(
            `2002:${Buffer.from(address.split('.').map(Number))
              .toString('hex')
              .replace(/^(....)/, '$1:')}::1`,
            443,
          ),
        ).toBe(false)
      }),
    )
  })

  test('ranges that the operator allows are allowed, but never metadata, own ports and the database', () => {
    expect(development.allows('127.0.0.1', 9000)).toBe(true)
    expect(development.allows('::ffff:127.0.0.1', 9000)).toBe(true)
    expect(development.allows('::1', 9000)).toBe(true)
    expect(development.allows('192.168.0.1', 9000)).toBe(false)
    for (const address of ['169.254.169.254', '169.254.170.2']) expect(development.allows(address, 80), address).toBe(false)
    for (const port of [8080, 8081, 5432]) {
      expect(development.allows('127.0.0.1', port), String(port)).toBe(false)
      expect(development.allows('10.0.0.7', port), String(port)).toBe(false)
    }
    expect(guard({ allowCidrs: ['0.0.0.0/0', '::/0'] }).allows('100.100.100.200', 80)).toBe(false)
    expect(guard({ allowCidrs: ['0.0.0.0/0', '::/0'] }).allows('168.63.129.16', 80)).toBe(false)
    expect(closed.allows('8.8.8.8', 5432)).toBe(false)
    expect(closed.allows('8.8.8.8', 8080)).toBe(true)
    const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
    const open = guard({ allowCidrs: ['0.0.0.0/0', '::/0'] })
    for (const { address } of own) expect(open.allows(address, 8080), address).toBe(false)
  })
})

describe('URLs', () => {
  test('have a scheme, a host, a port, and at most 500 characters', () => {
    const base = 'https://example.com/'
    expect(closed.problemOf(base + 'a'.repeat(500 - base.length))).toBeNull()
    expect(closed.problemOf(base + 'a'.repeat(501 - base.length))).toEqual(reason('text', { max: 500 }))
    for (const url of [
      'https://example.com',
      'http://example.com:8000/a?b=c#d',
      'HTTPS://EXAMPLE.com',
      'https://köy.example/ğ',
      'https://example.com.',
    ]) {
      expect(closed.problemOf(url), url).toBeNull()
    }
    const wrong = [
      '',
      'example.com',
      '//example.com',
      'https:example.com',
      'https:/example.com',
      'https:///example.com',
      'https://',
      'https://?a',
      'https:\\\\example.com',
      'https://example.com\\@127.0.0.1/',
      'ftp://example.com',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'https://user:pass@example.com',
      'https://user@example.com',
      'https://:pass@example.com',
      'https://example.com:0',
      'https://example.com:99999',
      'https://example.com:-1',
      'https://exa mple.com',
      ' https://example.com',
      'https://example.com\r\nX-Evil: 1',
      'https://example.com/\tx',
      'https://example.com/\u0000',
      'https://[::1',
      'https://%',
    ]
    for (const url of wrong) expect(closed.problemOf(url), JSON.stringify(url)).not.toBeNull()
  })

  test('cannot contain a special address in any spelling', () => {
    const spellings = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '017700000001',
      '127.0.0.1.',
      '１２７.０.０.１',
      '①②⑦.⓪.⓪.①',
      '127。0。0。1',
      '%31%32%37.0.0.1',
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '169.254.169.254',
      '0',
      '10.0.0.1',
      '[fe80::1]',
    ]
    for (const host of spellings) expect(closed.problemOf(`http://${host}/`), host).toEqual(reason('url_private'))
  })

  test('require https unless a setting allows http', () => {
    const strict = guard({ allowHttp: false })
    expect(strict.problemOf('http://example.com')).toEqual(reason('url', { values: ['https://'] }))
    expect(strict.problemOf('https://example.com')).toBeNull()
  })

  test('of any kind return a result, never an exception', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anyCharacter }),
          fc.webUrl(),
          fc.string().map((text) => `https://${text}`),
        ),
        (url) => {
          const problem = closed.problemOf(url)
          if (problem === null) expect(new URL(url).protocol).toMatch(/^https?:$/)
        },
      ),
      { numRuns: runs(100) },
    )
  })
})
